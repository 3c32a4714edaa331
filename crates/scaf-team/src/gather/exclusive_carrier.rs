//! A region on its master's carrier only, which needs no locked instructions for what nobody else changes.
//!
//! Members that meet cost two of these each otherwise. The carrier changes members and counts by plain
//! accesses, and says that it does so meanwhile ([`Exclusive::exclusively`]). Whoever is about to let another
//! carrier come ends that first ([`Exclusive::revoke`]): has all processors see it, and looks whether the
//! carrier is just at it. If so, that is tried again later, so nobody waits for anybody.

use crate::sync::{AtomicU32, Ordering, compiled_in_order};

#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Exclusive {
    state: AtomicU32,
    /// 1 while the carrier changes something by itself.
    in_section: AtomicU32,
    /// Whether it can be ended.
    revocable: AtomicU32,
}

/// Several carriers may be there.
const SHARED: u32 = 0;
/// The one carrier is told to take care, and may not have seen it.
const REVOKING: u32 = 1;
const EXCLUSIVE: u32 = 2;

impl Exclusive {
    #[cfg(not(loom))]
    pub const fn new() -> Exclusive {
        let [state, in_section] = [const { AtomicU32::new(0) }; 2];
        Exclusive { state, in_section, revocable: AtomicU32::new(0) }
    }

    #[cfg(loom)]
    pub fn new() -> Exclusive {
        let [state, in_section] = core::array::from_fn(|_| AtomicU32::new(0));
        Exclusive { state, in_section, revocable: AtomicU32::new(0) }
    }

    /// From now on regions on one carrier begin so, or none does.
    pub fn set_revocable(&self, can: bool) {
        self.revocable.store(can.into(), Ordering::Relaxed);
    }

    /// A region begins on so many carriers. Nobody but the caller is at work in it before it is opened.
    #[inline(always)]
    pub fn begin(&self, carriers: u32) {
        let exclusive = carriers == 1 && self.revocable.load(Ordering::Relaxed) != 0;
        self.state.store(if exclusive { EXCLUSIVE } else { SHARED }, Ordering::Relaxed);
    }

    /// A carrier changes something that nobody else does; `None` if others may. Must not wait.
    #[inline(always)]
    pub fn exclusively<R>(&self, change: impl FnOnce() -> R) -> Option<R> {
        if self.state.load(Ordering::Relaxed) != EXCLUSIVE {
            return None;
        }
        self.in_section.store(1, Ordering::Relaxed);
        compiled_in_order();
        let result = if self.state.load(Ordering::Relaxed) == EXCLUSIVE { Some(change()) } else { None };
        self.in_section.store(0, Ordering::Release);
        result
    }

    /// The one carrier itself ends it.
    #[inline]
    pub fn give_up(&self) {
        self.state.store(SHARED, Ordering::Relaxed);
    }

    /// Whether the carrier is changing something by itself.
    #[inline]
    pub fn is_in_section(&self) -> bool {
        self.in_section.load(Ordering::Relaxed) != 0
    }

    /// Whether another carrier may come.
    pub fn is_revoked(&self) -> bool {
        self.state.load(Ordering::SeqCst) == SHARED
    }

    /// Another thread than the carrier's ends it; `false` if that has to be tried again. `order` puts what
    /// other threads do in order with what the caller does: each has done what it did before that, and sees
    /// what the caller did before; `false` if it can't.
    pub fn revoke(&self, order: impl FnOnce() -> bool) -> bool {
        if self.is_revoked() {
            return true;
        }
        let _ = self.state.compare_exchange(EXCLUSIVE, REVOKING, Ordering::SeqCst, Ordering::Relaxed);
        if !order() || self.in_section.load(Ordering::Acquire) != 0 {
            return false;
        }
        // Another region may have begun so meanwhile.
        self.state.compare_exchange(REVOKING, SHARED, Ordering::SeqCst, Ordering::Relaxed) != Err(EXCLUSIVE)
    }

    /// After a fork, in the child.
    pub fn after_fork(&self) {
        self.set_revocable(false);
        self.give_up();
        self.in_section.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_carrier_by_itself_is_told_before_another_one_comes() {
        let exclusive = Exclusive::new();
        exclusive.begin(1);
        assert!(exclusive.is_revoked() && exclusive.exclusively(|| ()).is_none());
        exclusive.set_revocable(true);
        exclusive.begin(2);
        assert!(exclusive.is_revoked() && exclusive.exclusively(|| ()).is_none());
        exclusive.begin(1);
        assert_eq!(exclusive.exclusively(|| 7), Some(7));
        assert!(!exclusive.is_revoked());
        // Just in_section: it has to be tried again. From then on it isn't by itself any more.
        assert_eq!(exclusive.exclusively(|| exclusive.revoke(|| true)), Some(false));
        assert!(!exclusive.is_revoked() && exclusive.exclusively(|| ()).is_none());
        assert!(!exclusive.revoke(|| false) && exclusive.revoke(|| true) && exclusive.is_revoked());
    }

    #[test]
    fn a_region_that_begins_meanwhile_is_ended_anew() {
        let exclusive = Exclusive::new();
        exclusive.set_revocable(true);
        exclusive.begin(1);
        let begins = || {
            exclusive.begin(1);
            true
        };
        assert!(!exclusive.revoke(begins) && !exclusive.is_revoked());
        assert!(exclusive.revoke(|| true) && exclusive.is_revoked());
        exclusive.begin(1);
        exclusive.give_up();
        assert!(exclusive.revoke(|| unreachable!()));
        exclusive.after_fork();
        exclusive.begin(1);
        assert!(exclusive.is_revoked());
    }
}
