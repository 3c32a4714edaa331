//! Exclusive access of a region's only carrier, which then needs no locked instructions to switch and count.
//! It is like biased locking.
//!
//! The carrier uses plain loads and stores in short sections, and marks these ([`Exclusive::exclusively`]).
//! Before another carrier may enter, a thread revokes the access ([`Exclusive::revoke`]): it makes all
//! processors see that, and checks that the carrier isn't in a section. If it is, the revocation is tried
//! again later, so nobody waits.

use crate::sync::{AtomicU32, Ordering, array, compiled_in_order, constructor};

#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Exclusive {
    state: AtomicU32,
    /// 1 while the carrier is in an exclusive section.
    in_section: AtomicU32,
    /// Whether access can be revoked.
    revocable: AtomicU32,
}

/// Several carriers may be in the region.
const SHARED: u32 = 0;
/// Access is being revoked, and the carrier may not have seen that.
const REVOKING: u32 = 1;
const EXCLUSIVE: u32 = 2;

impl Exclusive {
    constructor! {
        pub fn new() -> Self {
            let [state, in_section, revocable] = array![AtomicU32::new(0); 3];
            Exclusive { state, in_section, revocable }
        }
    }

    /// From now on, regions on one carrier begin with exclusive access, or none does.
    pub fn set_revocable(&self, can: bool) {
        self.revocable.store(can.into(), Ordering::Relaxed);
    }

    /// A region begins on so many carriers. Only the caller is in it.
    #[inline(always)]
    pub fn begin(&self, carriers: u32) {
        let exclusive = carriers == 1 && self.revocable.load(Ordering::Relaxed) != 0;
        self.state.store(if exclusive { EXCLUSIVE } else { SHARED }, Ordering::Relaxed);
    }

    /// Makes a change in an exclusive section; `None` without exclusive access. The change must not block.
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

    /// The only carrier gives up its access.
    #[inline]
    pub fn give_up(&self) {
        self.state.store(SHARED, Ordering::Relaxed);
    }

    /// Whether the carrier is in an exclusive section.
    #[inline]
    pub fn is_in_section(&self) -> bool {
        self.in_section.load(Ordering::Relaxed) != 0
    }

    /// Whether another carrier may enter.
    pub fn is_revoked(&self) -> bool {
        self.state.load(Ordering::SeqCst) == SHARED
    }

    /// Another thread revokes the access; `false` if that has to be tried again. `order` is a memory barrier
    /// in all threads: each has completed what it did before, and sees what the caller did before; `false` if
    /// it can't be made.
    pub fn revoke(&self, order: impl FnOnce() -> bool) -> bool {
        if self.is_revoked() {
            return true;
        }
        let _ = self.state.compare_exchange(EXCLUSIVE, REVOKING, Ordering::SeqCst, Ordering::Relaxed);
        if !order() || self.in_section.load(Ordering::Acquire) != 0 {
            return false;
        }
        // Another region may have begun with exclusive access.
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
