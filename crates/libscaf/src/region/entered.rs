//! A region that has been entered, until it is left: the same for those that are measured, those that aren't,
//! and those that are opened by one call and ended by another.

use super::frame::Frame;
use super::kind::Region;
use super::thread::Thread;
use crate::program::masters::{join_teams, leave_teams};
use crate::program::sampling::{Note, Runs};
use crate::program::thread::master;
use core::ptr::null;
use scaf_proto::grant::Word;
use scaf_proto::report::Slot;
use scaf_team::choice::Choice;

/// The calling thread is the master of a region.
#[derive(Clone, Copy)]
pub struct Entered {
    /// Where it is reported; `None` if it isn't measured.
    pub slot: Option<&'static Slot>,
    /// The tick, and the grant then.
    pub at: u64,
    pub grant: Word,
    /// Its team.
    pub choice: Choice,
    /// Threads by which it has joined the program's teams.
    shared: u32,
    /// What the runtime's own serial regions around it were counted to.
    serial: u32,
}

impl Entered {
    /// Enters a region that isn't measured.
    #[inline(always)]
    pub unsafe fn quietly(this: *mut Thread, region: &Region, choice: Choice) -> Entered {
        // SAFETY: this thread's own state.
        unsafe {
            (*this).runtime = region.code.runtime;
            (*master()).depth = 1;
            (*this).shrunk = u32::from(choice.shrunk);
            Entered { slot: None, at: 0, grant: Word::UNMANAGED, choice, shared: 0, serial: (*this).serial }
        }
    }

    /// Enters a region of this team at tick `at`, reported at `slot`.
    #[inline(always)]
    pub unsafe fn new(
        this: *mut Thread,
        region: &Region,
        choice: Choice,
        slot: Option<&'static Slot>,
        (at, grant): (u64, Word),
    ) -> Entered {
        let shared = join_teams(choice.team);
        if let Some(slot) = slot {
            if choice.promised {
                slot.add_promised();
            }
            slot.enter(choice.team, choice.mechanism as u32, at);
        }
        // SAFETY: this thread's own state.
        let entered = unsafe { Entered::quietly(this, region, choice) };
        Entered { slot, at, grant, shared, ..entered }
    }

    /// The runtime has ended the region.
    #[inline(always)]
    pub unsafe fn leave(&self, this: *mut Thread) {
        // SAFETY: this thread's own state.
        unsafe {
            (*this).serial = self.serial;
            Entered::leave_unmeasured(this);
        }
        leave_teams(self.shared);
    }

    /// The same of one of which nothing was kept.
    #[inline(always)]
    pub unsafe fn leave_unmeasured(this: *mut Thread) {
        // SAFETY: this thread's own state.
        unsafe {
            (*master()).depth = 0;
            (*this).runtime = null();
        }
    }

    /// It took `wall` ticks with teams of so many threads: reports that for its DoP.
    #[inline(always)]
    pub fn report_run(&self, region: &Region, team: u32, wall: u64) {
        self.report_runs(region, Runs { grant: self.grant, team, count: 1, wall, iterations: None });
    }

    /// The same of several runs.
    #[inline(always)]
    pub fn report_runs(&self, region: &Region, runs: Runs) {
        Note::report(region.code, region.work.body, &Runs { iterations: region.iterations(), ..runs });
    }

    /// Adds the region up and returns its useful ticks. A team that had tasks whose time wasn't taken may
    /// have worked while it waited, within the function or after it: all its time counts as useful, an upper
    /// bound.
    #[inline(always)]
    pub fn add_up(&self, slot: &Slot, frame: &Frame, left: u64, (threads, inside): (u32, u64)) -> u64 {
        let all = left.wrapping_sub(self.at).wrapping_mul(u64::from(threads));
        let all_useful = frame.has_untimed_tasks() || inside > all;
        slot.leave(left, threads, if all_useful { all } else { inside })
    }
}
