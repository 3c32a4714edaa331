//! Which regions may have a gathered team at all.

use super::team::MOST;
use super::{chosen, dealt, forbids, kernel, stacks};
use crate::program::masters::one_master;
use crate::program::promise;
use crate::program::sampling::Note;
use crate::region::kind::{Kind, Region};
use crate::runtimes::entries::Runtime;
use crate::sys::arch::can_switch;
use crate::sys::settings;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::report::fact;
use scaf_team::gather::obstacle::Obstacle;

/// Whether nothing forbids it, now and for this region; else what does.
pub fn possible(region: &Region, size: u32) -> Result<(), Obstacle> {
    let no = |obstacle, is: bool| if is { Err(obstacle) } else { Ok(()) };
    no(Obstacle::Size, !(2..=MOST as u32).contains(&size))?;
    no(Obstacle::Entry, region.kind == Kind::Opened)?;
    no(Obstacle::Masters, !one_master())?;
    no(Obstacle::Sleeps, Note::of(region.code).is_never_gathered())?;
    is_possible(region.code.runtime)
}

/// Whether a team on threads may be gathered at a barrier. What members of a team that was gathered at its
/// region's beginning have besides, it hasn't: tasks, choices of the program's, and LLVM's numbers.
pub fn may_midway(region: &Region, size: u32) -> bool {
    settings::get().gather
        && !region.code.runtime.is_llvms()
        && region.kind != Kind::Reductions
        && possible(region, size).is_ok()
        && !forbids::has_tasks()
        && !forbids::asks_chosen()
}

/// Whether processor, kernel, runtime and all modules permit it.
fn is_possible(runtime: &Runtime) -> Result<(), Obstacle> {
    static KERNEL: AtomicU32 = AtomicU32::new(0);
    const CAN: u32 = 1;
    const CANNOT: u32 = 2;
    let kernel = match KERNEL.load(Ordering::Relaxed) {
        0 => {
            let kernel = if can_switch() { CAN } else { CANNOT };
            KERNEL.store(kernel, Ordering::Relaxed);
            kernel
        }
        known => known,
    };
    let settings = settings::get();
    // The number of levels that may be active is without a limit in older libgomps. LLVM's runtime complains
    // of the older question.
    let most_levels = if runtime.is_llvms() { runtime.max_active_levels } else { None };
    let one_level = || match (most_levels, runtime.nested) {
        // SAFETY: omp_get_max_active_levels takes nothing.
        (Some(most), _) => unsafe { most() <= 1 },
        // SAFETY: omp_get_nested takes nothing.
        (None, Some(nested)) => unsafe { nested() == 0 },
        (None, None) => false,
    };
    let no = |obstacle, is: bool| if is { Err(obstacle) } else { Ok(()) };
    no(Obstacle::Machine, kernel != CAN)?;
    no(Obstacle::Llvms, runtime.is_llvms() && !is_possible_on_llvms(runtime))?;
    no(Obstacle::Llvms, runtime.thread_num.is_none())?;
    // Where these two are set, `scaf run` sets how threads wait.
    no(Obstacle::Stacks, settings.own_stacks)?;
    no(Obstacle::Bound, settings.bound)?;
    no(Obstacle::Waits, settings.spin.is_none() || settings.fixed_spin)?;
    no(Obstacle::Calls, !forbids::nothing(runtime))?;
    no(Obstacle::Handlers, kernel::lasts())?;
    no(Obstacle::Cancels, forbids::cancels() && may_cancel(runtime))?;
    no(Obstacle::Nested, !one_level() || chosen::wants_nesting())
}

/// Whether constructs that the program cancels are (`OMP_CANCELLATION`).
fn may_cancel(runtime: &Runtime) -> bool {
    // SAFETY: omp_get_cancellation takes nothing.
    runtime.cancellation.is_none_or(|on| unsafe { on() != 0 })
}

/// Whether what LLVM's runtime does is as we know it, and its only copy.
fn is_possible_on_llvms(runtime: &Runtime) -> bool {
    let settings = settings::get();
    !settings.own_llvm
        && !settings.own_blocking
        && !promise::is_noted(fact::TWO_LLVMS)
        && runtime.max_active_levels.is_some()
        && runtime.global_thread_num.is_some()
        && runtime.get_schedule.is_some()
        && dealt::are_known()
        && stacks::are_usual(runtime)
}
