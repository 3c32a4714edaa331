//! A region on its master's carrier only, which needs no locked instructions for what nobody else changes.
//!
//! Members that meet cost two of these each otherwise. The carrier changes members and counts by plain
//! accesses, and says that it does so meanwhile ([`Alone::by_itself`]). Whoever is about to let another
//! carrier come ends that first ([`Alone::end`]): has all processors see it, and looks whether the carrier is
//! just at it. If so, that is tried again later, so nobody waits for anybody.

use crate::sync::{AtomicU32, Ordering, compiled_in_order};

#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Alone {
    state: AtomicU32,
    /// 1 while the carrier changes something by itself.
    within: AtomicU32,
    /// Whether it can be ended.
    can_end: AtomicU32,
}

/// Several carriers may be there.
const SHARED: u32 = 0;
/// The one carrier is told to take care, and may not have seen it.
const ENDING: u32 = 1;
const ALONE: u32 = 2;

impl Alone {
    #[cfg(not(loom))]
    pub const fn new() -> Alone {
        let [state, within] = [const { AtomicU32::new(0) }; 2];
        Alone { state, within, can_end: AtomicU32::new(0) }
    }

    #[cfg(loom)]
    pub fn new() -> Alone {
        let [state, within] = core::array::from_fn(|_| AtomicU32::new(0));
        Alone { state, within, can_end: AtomicU32::new(0) }
    }

    /// From now on regions on one carrier begin so, or none does.
    pub fn set_can_end(&self, can: bool) {
        self.can_end.store(can.into(), Ordering::Relaxed);
    }

    /// A region begins on so many carriers. Nobody but the caller is at work in it before it is opened.
    #[inline(always)]
    pub fn begin(&self, carriers: u32) {
        let alone = carriers == 1 && self.can_end.load(Ordering::Relaxed) != 0;
        self.state.store(if alone { ALONE } else { SHARED }, Ordering::Relaxed);
    }

    /// A carrier changes something that nobody else does; `None` if others may. Must not wait.
    #[inline(always)]
    pub fn by_itself<R>(&self, change: impl FnOnce() -> R) -> Option<R> {
        if self.state.load(Ordering::Relaxed) != ALONE {
            return None;
        }
        self.within.store(1, Ordering::Relaxed);
        compiled_in_order();
        let result = if self.state.load(Ordering::Relaxed) == ALONE { Some(change()) } else { None };
        self.within.store(0, Ordering::Release);
        result
    }

    /// The one carrier itself ends it.
    #[inline]
    pub fn give_up(&self) {
        self.state.store(SHARED, Ordering::Relaxed);
    }

    /// Whether the carrier is changing something by itself.
    #[inline]
    pub fn is_within(&self) -> bool {
        self.within.load(Ordering::Relaxed) != 0
    }

    /// Whether another carrier may come.
    pub fn is_over(&self) -> bool {
        self.state.load(Ordering::SeqCst) == SHARED
    }

    /// Another thread than the carrier's ends it; `false` if that has to be tried again. `order` puts what
    /// other threads do in order with what the caller does: each has done what it did before that, and sees
    /// what the caller did before; `false` if it can't.
    pub fn end(&self, order: impl FnOnce() -> bool) -> bool {
        if self.is_over() {
            return true;
        }
        let _ = self.state.compare_exchange(ALONE, ENDING, Ordering::SeqCst, Ordering::Relaxed);
        if !order() || self.within.load(Ordering::Acquire) != 0 {
            return false;
        }
        // Another region may have begun so meanwhile.
        self.state.compare_exchange(ENDING, SHARED, Ordering::SeqCst, Ordering::Relaxed) != Err(ALONE)
    }

    /// After a fork, in the child.
    pub fn after_fork(&self) {
        self.set_can_end(false);
        self.give_up();
        self.within.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_carrier_by_itself_is_told_before_another_one_comes() {
        let alone = Alone::new();
        alone.begin(1);
        assert!(alone.is_over() && alone.by_itself(|| ()).is_none());
        alone.set_can_end(true);
        alone.begin(2);
        assert!(alone.is_over() && alone.by_itself(|| ()).is_none());
        alone.begin(1);
        assert_eq!(alone.by_itself(|| 7), Some(7));
        assert!(!alone.is_over());
        // Just within: it has to be tried again. From then on it isn't by itself any more.
        assert_eq!(alone.by_itself(|| alone.end(|| true)), Some(false));
        assert!(!alone.is_over() && alone.by_itself(|| ()).is_none());
        assert!(!alone.end(|| false) && alone.end(|| true) && alone.is_over());
    }

    #[test]
    fn a_region_that_begins_meanwhile_is_ended_anew() {
        let alone = Alone::new();
        alone.set_can_end(true);
        alone.begin(1);
        let begins = || {
            alone.begin(1);
            true
        };
        assert!(!alone.end(begins) && !alone.is_over());
        assert!(alone.end(|| true) && alone.is_over());
        alone.begin(1);
        alone.give_up();
        assert!(alone.end(|| unreachable!()));
        alone.after_fork();
        alone.begin(1);
        assert!(alone.is_over());
    }
}
