//! Nested regions: in each, a member is alone.

use super::loop_memory::LoopMemory;
use core::cell::Cell;
use scaf_team::gather::worksharing::{Assigned, Came, Loop, Shares};

/// A nested region with a team of one thread.
pub struct Inner {
    /// The nested region around it; null for none.
    pub outer: *const Inner,
    /// Its open worksharing construct.
    share: Shares<1>,
    number: Cell<u32>,
    /// That construct's memory.
    pub room: LoopMemory,
    /// What the member was assigned of it.
    assigned: Cell<Assigned>,
}

impl Inner {
    /// A region within `outer`, which may begin with a loop.
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

    /// Begins a loop or a single.
    pub fn open(&self, whole: &Loop) {
        // The construct before is complete, because the member is alone.
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
