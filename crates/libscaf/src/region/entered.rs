//! A region from its entry to its exit: measured, unmeasured, or opened by one call and ended by another.

use super::frame::Frame;
use super::kind::Region;
use super::thread::Thread;
use crate::program::masters::{begin_team, forget_team, join_teams, leave_teams, master};
use crate::program::sampling::{Note, Runs};
use scaf_proto::grant::Word;
use scaf_proto::report::Slot;
use scaf_team::choice::Choice;

#[derive(Clone, Copy)]
pub struct Entered {
    /// Where it is reported; `None` if it isn't measured.
    pub slot: Option<&'static Slot>,
    /// Tick and grant at the entry.
    pub at: u64,
    pub grant: Word,
    pub choice: Choice,
    /// What [`join_teams`] returned.
    shared: u32,
    /// The thread's count of serial regions at the entry.
    serial: u32,
}

impl Entered {
    #[inline(always)]
    pub fn quietly(this: &Thread, region: &Region, choice: Choice) -> Entered {
        this.runtime.set(Some(region.code.runtime));
        master().depth.set(1);
        this.shrunk_in.set(choice.shrunk.then_some(region.code.runtime));
        Entered { slot: None, at: 0, grant: Word::UNMANAGED, choice, shared: 0, serial: this.serial.get() }
    }

    /// Enters a region at tick `at`, reported at `slot`.
    #[inline(always)]
    pub fn new(
        this: &Thread,
        region: &Region,
        choice: Choice,
        slot: Option<&'static Slot>,
        (at, grant): (u64, Word),
    ) -> Entered {
        let shared = join_teams(choice.team);
        // Members yield to each other: a gathered team has carriers.
        if shared == 0 && choice.ids == 0 {
            begin_team(choice.team);
        } else {
            forget_team();
        }
        if let Some(slot) = slot {
            if choice.promised {
                slot.add_promised();
            }
            slot.enter(choice.team, choice.mechanism as u32, at);
        }
        Entered { slot, at, grant, shared, ..Entered::quietly(this, region, choice) }
    }

    #[inline(always)]
    pub fn leave(&self, this: &Thread) {
        this.serial.set(self.serial);
        Entered::leave_unmeasured(this);
        forget_team();
        leave_teams(self.shared);
    }

    /// As [`Entered::leave`], for a region of which nothing was kept.
    #[inline(always)]
    pub fn leave_unmeasured(this: &Thread) {
        master().depth.set(0);
        this.runtime.set(None);
    }

    /// Reports one run of `wall` ticks with a team of so many threads.
    #[inline(always)]
    pub fn report_run(&self, region: &Region, team: u32, wall: u64) {
        self.report_runs(region, Runs { grant: self.grant, team, count: 1, wall, iterations: None });
    }

    #[inline(always)]
    pub fn report_runs(&self, region: &Region, runs: Runs) {
        Note::report(region.code, region.work.body, &Runs { iterations: region.iterations(), ..runs });
    }

    /// Adds the region up and returns its useful ticks. If it had untimed tasks, threads may have worked
    /// while they waited: all their time counts as useful, an upper bound.
    #[inline(always)]
    pub fn add_up(&self, slot: &Slot, frame: &Frame, left: u64, (threads, inside): (u32, u64)) -> u64 {
        let all = left.wrapping_sub(self.at).wrapping_mul(u64::from(threads));
        let all_useful = frame.has_untimed_tasks() || inside > all;
        slot.leave(left, threads, if all_useful { all } else { inside })
    }
}
