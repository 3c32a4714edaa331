//! Gathering: a team keeps its size, and its threads become *members*. The state of a member is a *fiber*;
//! fewer kernel threads, the *carriers*, run the fibers and switch between them in user mode wherever OpenMP
//! waits. Each member has its own stack ([`member_stacks`]) and the thread-local storage of the runtime's
//! worker of the same number, which sleeps meanwhile ([`worker_tls`]). The runtime doesn't see such a region,
//! so this module answers whatever a member asks of it. A program that may ask for anything else isn't
//! gathered ([`forbids`]).
//!
//! A region that began on real threads is gathered at one of its barriers ([`midway`]).
//!
//! The master's kernel thread is carrier 0. Carriers are added when the grant grows, and where a member
//! blocks in the kernel or computes for long while others are ready ([`carrier_monitor`]).
//!
//! Calls that only LLVM's compilers emit are answered in [`llvm`].
//!
//! Docs: docs/internals/gather.md; the scheduler's protocol: crates/scaf-team/src/gather/README.md.

mod block_cache;
pub mod cancel;
mod carrier_monitor;
mod carriers;
pub mod constructs;
mod current_task;
pub mod depend_list;
pub mod doacross;
mod eligibility;
pub mod explicit_tasks;
mod fibers;
pub mod float_control;
mod forbids;
mod gathered_region;
mod gathered_team;
pub mod gomp_loop_start;
pub mod gomp_reductions;
pub mod icvs;
mod idle_stacks;
mod inner_region;
pub mod llvm;
mod llvm_exit;
pub mod llvm_reductions;
mod llvm_state;
pub mod llvm_tasks;
mod loop_memory;
pub mod loops;
pub mod member_signals;
pub mod member_stacks;
pub mod midway;
mod midway_report;
mod signal_state;
pub mod static_schedule_check;
mod stuck_regions;
mod task_pool;
pub mod taskloop;
pub mod worker_tls;
pub mod yielding_loops;

pub use gathered_region::inner;
pub use gathered_team::{Member, current};

use crate::link::pages;
use crate::program::region_record::Record;
use crate::region::entered::Entered;
use crate::region::kind::{Kind, Region};
use crate::region::thread::Thread;
use crate::sys::arch::ticks;
use crate::sys::settings;
use eligibility::{no, possible};
use gathered_team::take_idle;
use scaf_team::choice::Length;
use scaf_team::gather::obstacle::Obstacle;

/// What is still missing before a region's team can be gathered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It can't be gathered, or not now.
    No,
    /// Its workers' TLS bases have to be recorded, in a run on real threads.
    Unrecorded,
    /// Nothing.
    Ready,
}

/// Whether the region can have a gathered team of `size`; reports the obstacle if not. `this` is the calling
/// thread's state.
#[inline(never)]
pub fn readiness(this: &Thread, region: &Region, length: Length, size: u32) -> Readiness {
    if !settings::get().gather {
        return Readiness::No;
    }
    let found = obstacle(this, region, length, size);
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

fn obstacle(this: &Thread, region: &Region, length: Length, size: u32) -> Result<Readiness, Obstacle> {
    possible(region, size)?;
    no(Obstacle::Nested, this.serial.get() != 0)?;
    // A long region whose members can't be redistributed among more carriers begins on threads and is
    // gathered at a barrier. It returns to threads once it has all its contexts, which a team that was
    // gathered at its beginning can't.
    let on_threads = length != Length::Short && !begins_gathered(region);
    let recorded = !on_threads && worker_tls::is_recorded(this, region.code.runtime, size);
    // Without a record, what the last one showed holds for a while.
    no(Obstacle::Handlers, member_signals::differs() && (recorded || worker_tls::are_new()))?;
    if !recorded {
        no(Obstacle::Workers, worker_tls::is_given_up())?;
        return Ok(if worker_tls::may_record() { Readiness::Unrecorded } else { Readiness::No });
    }
    let ready = worker_tls::are_asleep(region.code.runtime, size) && member_stacks::are_there(size);
    no(Obstacle::Workers, !ready || !carrier_monitor::is_there())?;
    Ok(Readiness::Ready)
}

/// Whether the region is gathered at its beginning even if it is long: its members can be redistributed, or
/// some of them may leave it before they reach a barrier.
#[inline(always)]
fn begins_gathered(region: &Region) -> bool {
    forbids::are_shared_out() || yielding_loops::are_made() || cancel::may_be(region.code.runtime)
}

/// Whether the region can only be gathered at its beginning and only the record is missing. It may be the
/// first region of its program, and all of it.
#[inline(always)]
pub fn needs_rehearsal(this: &Thread, region: &Region, length: Length) -> bool {
    let unrecorded = this.records.get() != 0;
    unrecorded && length != Length::Short && region.kind == Kind::Plain && begins_gathered(region)
}

#[inline(never)]
pub unsafe fn run(this: &Thread, region: &Region, entered: &Entered) {
    let choice = entered.choice;
    // SAFETY: `this` is the calling thread's state, and `readiness` found everything in place.
    unsafe {
        gathered_region::run(this, region, choice.team, choice.ids);
        let left = ticks();
        let wall = left.wrapping_sub(entered.at);
        if let Some(slot) = entered.slot {
            let all = wall.wrapping_mul(u64::from(choice.team));
            slot.leave(left, choice.team, all.saturating_sub(take_idle()));
        }
        Record::learn_length(region.code.record, wall);
        entered.report_run(region, choice.team, wall);
    }
}

/// A library is about to be loaded. It may want executable stacks, and members may call it in this region.
#[inline(always)]
pub fn before_load() {
    if gathered_team::SCHEDULER.is_open() {
        member_stacks::make_executable();
    }
}

pub fn last_size() -> u32 {
    gathered_team::SCHEDULER.size()
}

/// Threads of ours that have nothing to do are to leave, if they are to.
pub fn wake_idle() {
    carriers::wake_idle();
    carrier_monitor::wake_idle();
}

pub fn after_fork() {
    worker_tls::after_fork();
    task_pool::after_fork();
    carriers::after_fork();
    carrier_monitor::after_fork();
    midway_report::after_fork();
}
