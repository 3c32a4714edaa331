//! Which regions may be gathered.

use super::gathered_team::MOST;
use super::{cancel, forbids, icvs, member_signals, member_stacks, static_schedule_check, stuck_regions};
use crate::link::pages;
use crate::program::masters::one_master;
use crate::program::promise;
use crate::region::kind::{Kind, Region};
use crate::runtimes::entries::Runtime;
use crate::runtimes::lookup::Code;
use crate::runtimes::modules;
use crate::sys::arch::can_switch;
use crate::sys::settings;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::report::fact;
use scaf_team::gather::obstacle::Obstacle;

/// Fails with the obstacle if `is`.
pub fn no(obstacle: Obstacle, is: bool) -> Result<(), Obstacle> {
    if is { Err(obstacle) } else { Ok(()) }
}

/// Whether the region may be gathered now; else the obstacle.
pub fn possible(region: &Region, size: u32) -> Result<(), Obstacle> {
    let &Region { code, kind, .. } = region;
    no(Obstacle::Size, !has_size(size))?;
    no(Obstacle::Entry, kind == Kind::Opened)?;
    no(Obstacle::Masters, !one_master())?;
    no(Obstacle::Sleeps, stuck_regions::is_folded(code))?;
    permits(code.runtime)?;
    no(Obstacle::Calls, !forbids::nothing(code.runtime))?;
    let word = pages::grant().word();
    no(Obstacle::Code, !word.gathers() || !modules::are_inspected(word))?;
    // A member that finds its region cancelled may not reach a loop, and would have no memory for it.
    no(Obstacle::Cancels, forbids::shares_memory() && cancel::may_be(code.runtime))?;
    no(Obstacle::Handlers, member_signals::forbid())?;
    no(Obstacle::Nested, !has_one_level(code.runtime))
}

fn has_size(size: u32) -> bool {
    (2..=MOST as u32).contains(&size)
}

/// Whether a region with this entry can be gathered midway.
fn has_entry(kind: Kind) -> bool {
    !matches!(kind, Kind::Reductions | Kind::Opened)
}

/// A region begins on threads: whether it may be asked at a barrier later to gather. Other threads ask that,
/// too, so the dynamic linker is asked here.
#[inline(always)]
pub fn may_midway(region: &Region, size: u32) -> bool {
    settings::get().gather
        && has_size(size)
        && has_entry(region.kind)
        && forbids::nothing(region.code.runtime)
}

/// Whether a team without tasks so far may be gathered now. The runtime couldn't be told later what a task
/// group reduces, or that a loop is open: a scan has barriers within.
pub fn may_now(code: Code) -> bool {
    is_wanted(code)
        && permits(code.runtime).is_ok()
        && has_one_level(code.runtime)
        && !forbids::reduces()
        && !forbids::shares_memory()
        && !cancel::may_be(code.runtime)
}

/// What must hold as long as a team is gathered.
pub fn is_wanted(code: Code) -> bool {
    let word = pages::grant().word();
    // A library that a member loads is another matter: code that may do so is never gathered.
    one_master()
        && word.gathers()
        && modules::met_are_inspected(word)
        && !stuck_regions::is_folded(code)
        && !icvs::wants_nesting()
        && !member_signals::forbid()
        && forbids::still_nothing(code.runtime)
}

/// Whether the calling thread's teams aren't nested.
fn has_one_level(runtime: &Runtime) -> bool {
    // Older libgomps have no limit of active levels. LLVM's runtime complains about `omp_get_nested`.
    let most_levels = if runtime.is_llvms() { runtime.omp_get_max_active_levels } else { None };
    let one = match (most_levels, runtime.omp_get_nested) {
        // SAFETY: `omp_get_max_active_levels` takes nothing.
        (Some(most), _) => unsafe { most() <= 1 },
        // SAFETY: `omp_get_nested` takes nothing.
        (None, Some(nested)) => unsafe { nested() == 0 },
        (None, None) => false,
    };
    one && !icvs::wants_nesting()
}

/// Whether processor, kernel, runtime and settings permit gathering.
fn permits(runtime: &Runtime) -> Result<(), Obstacle> {
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
    no(Obstacle::Machine, kernel != CAN)?;
    no(Obstacle::Llvms, runtime.is_llvms() && !is_possible_on_llvms(runtime))?;
    no(Obstacle::Llvms, runtime.omp_get_thread_num.is_none())?;
    no(Obstacle::Stacks, settings.stacks.is_some())?;
    no(Obstacle::Bound, settings.bound)?;
    no(Obstacle::Waits, settings.spin.is_none() || settings.fixed_spin)
}

/// Whether LLVM's runtime is one that we know, there is one copy of it, and its settings are the defaults.
fn is_possible_on_llvms(runtime: &Runtime) -> bool {
    let settings = settings::get();
    !settings.own_llvm
        && !settings.own_blocking
        && !promise::is_recorded(fact::TWO_LLVMS)
        && runtime.omp_get_max_active_levels.is_some()
        && runtime.__kmpc_global_thread_num.is_some()
        && runtime.omp_get_schedule.is_some()
        && static_schedule_check::are_known()
        && member_stacks::are_usual(runtime)
}
