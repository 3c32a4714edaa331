//! Regions within a gathered one: in each, a member is alone.

use super::loop_memory::LoopMemory;
use core::cell::Cell;
use scaf_team::gather::worksharing::{Assigned, Came, Loop, Shares};

/// A region within a gathered one, whose team is one thread.
pub struct Inner {
    /// The one around it; null for none.
    pub outer: *const Inner,
    /// Its one open loop.
    share: Shares<1>,
    number: Cell<u32>,
    /// Memory that comes with it.
    pub room: LoopMemory,
    /// What the member has of it.
    assigned: Cell<Assigned>,
}

impl Inner {
    /// Of the region `outer`, begun with a loop or without.
    pub fn new(outer: *const Inner, whole: Option<Loop>) -> Inner {
        let inner = Inner {
            outer,
            share: Shares::new(),
            number: Cell::new(0),
            room: LoopMemory::new(),
            assigned: Cell::new(Assigned::NONE),
        };
        if let Some(whole) = whole {
            inner.open(&whole);
        }
        inner
    }

    /// The member begins a loop or a single.
    pub fn open(&self, whole: &Loop) {
        // It is alone: the loop before is over.
        if self.number.get() != 0 {
            self.share.leave(self.number.get(), 1);
        }
        self.number.set(self.number.get().wrapping_add(1));
        self.assigned.set(Assigned::NONE);
        let _: Came = self.share.come(self.number.get(), whole);
    }

    /// The next chunk of the open loop.
    pub fn deal(&self) -> Option<(u64, u64)> {
        let mut assigned = self.assigned.get();
        let dealt = self.share.deal(self.number.get(), (0, 1), &mut assigned);
        self.assigned.set(assigned);
        dealt
    }
}
