//! A team keeps its size and its threads become *members*: contexts that fewer kernel threads, *carriers*,
//! run, changing from one to the next in user mode wherever OpenMP waits. Each member has a stack of its own
//! ([`stacks`]) and the thread-local storage of the runtime's own worker of its number, which sleeps
//! meanwhile ([`storage`]). The runtime doesn't learn of such a region, so whatever a member may ask of it is
//! answered here; a program that may ask for anything else isn't gathered ([`forbids`]).
//!
//! The master's kernel thread is carrier 0. More of them come with a larger grant, and where a member sleeps
//! in the kernel or doesn't wait for long while others could run ([`carriers`]).
//!
//! Code of LLVM's compilers asks in its own way ([`llvm`]); what a member is, is the same.
//!
//! Docs: docs/decisions/gather.md.

mod begin;
mod carriers;
pub mod chosen;
mod current;
mod exits;
mod forbids;
mod inner;
pub mod llvm;
pub mod loops;
pub mod needs;
mod own;
mod pool;
mod stacks;
pub mod storage;
pub mod taskloop;
pub mod tasks;
mod team;
mod turns;
pub mod work;

pub use begin::inner;
pub use team::{Member, around};

use super::virtualise;
use crate::link::pages;
use crate::program::masters::one_master;
use crate::program::promise;
use crate::program::sampling::Note;
use crate::region::entered::Entered;
use crate::region::kind::{Kind, Region};
use crate::region::thread::Thread;
use crate::runtimes::entries::Runtime;
use crate::sys::arch::{can_switch, ticks};
use crate::sys::settings;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::report::fact;
use scaf_team::gather::obstacle::Obstacle;
use team::{MOST, take_idle};

/// What is still missing before a region's team can be gathered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It can't be, or not now.
    No,
    /// Its workers' storage has to be noted, in a run on real threads.
    Unnoted,
    /// Nothing.
    Ready,
}

/// Whether the region can have a gathered team of `size`.
#[inline(never)]
pub unsafe fn readiness(this: *mut Thread, region: &Region, note: &Note, size: u32) -> Readiness {
    if !settings::get().gather {
        return Readiness::No;
    }
    // SAFETY: this thread's own state.
    let found = unsafe { obstacle(this, region, note, size) };
    let page = pages::report();
    match found {
        Ok(readiness) => {
            page.set_ungathered(0);
            readiness
        }
        Err(why) => {
            if why == Obstacle::Calls {
                forbids::tell(page);
            }
            page.set_ungathered(why as u32);
            Readiness::No
        }
    }
}

/// What is still missing for it, if it is possible.
unsafe fn obstacle(
    this: *mut Thread,
    region: &Region,
    note: &Note,
    size: u32,
) -> Result<Readiness, Obstacle> {
    let no = |obstacle, is: bool| if is { Err(obstacle) } else { Ok(()) };
    no(Obstacle::Size, !(2..=MOST as u32).contains(&size))?;
    no(Obstacle::Entry, matches!(region.kind, Kind::Reductions | Kind::Opened))?;
    no(Obstacle::Masters, !one_master())?;
    no(Obstacle::Sleeps, note.is_never_gathered())?;
    is_possible(region.code.runtime)?;
    // SAFETY: this thread's own state.
    unsafe {
        no(Obstacle::Nested, (*this).serial != 0)?;
        if !storage::is_noted(this, region.code.runtime, size) {
            no(Obstacle::Workers, storage::is_given_up())?;
            return Ok(if storage::may_note() { Readiness::Unnoted } else { Readiness::No });
        }
    }
    let ready = storage::are_asleep(region.code.runtime, size) && stacks::are_there(size);
    no(Obstacle::Workers, !ready)?;
    Ok(Readiness::Ready)
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
    no(Obstacle::Nested, !one_level() || chosen::wants_nesting())
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
        && virtualise::are_known()
        && virtualise::has_usual_stacks(runtime)
}

/// Runs a region with a gathered team.
#[inline(never)]
pub unsafe fn run(this: *mut Thread, region: &Region, entered: &Entered) {
    let choice = entered.choice;
    // SAFETY: the master's own state; `readiness` has found everything in place.
    unsafe {
        begin::run(this, region, choice.team, choice.ids);
        let left = ticks();
        let wall = left.wrapping_sub(entered.at);
        if let Some(slot) = entered.slot {
            let all = wall.wrapping_mul(u64::from(choice.team));
            slot.leave(left, choice.team, all.saturating_sub(take_idle()));
        }
        Note::learn_length(region.code.note, wall);
        entered.report_run(region, choice.team, wall);
    }
}

/// After a fork, in the child.
pub fn after_fork() {
    storage::after_fork();
    pool::after_fork();
    carriers::after_fork();
}
