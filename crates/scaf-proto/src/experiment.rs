//! Serial experiments (SCAF, section 4.3.1): the daemon's order, on the grant page, and the client's account,
//! on the report page. An experiment runs one region once more, on one context, in a copy of the process. The
//! daemon orders one region at a time, and checks the ranges of the client's account.

use crate::seq;
use crate::sync::{AtomicU64, Ordering};

const ADDRESS: u64 = (1 << 48) - 1;

/// Which region is to be tried, and the number of the order. Zero is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Order(u64);

impl Order {
    /// No experiment.
    pub const NONE: Order = Order(0);

    /// An experiment with the region whose outlined function is at `address`; `number` tells orders apart.
    pub fn new(address: u64, number: u16) -> Order {
        Order(address & ADDRESS | u64::from(number) << 48)
    }

    pub(crate) fn from_bits(bits: u64) -> Order {
        Order(bits)
    }

    /// The order as one word; two orders are the same if their words are.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The region, as [`crate::rows::Key::region`] has it.
    pub fn region(self) -> u64 {
        self.0 & ADDRESS
    }

    /// Whether it is about the outlined function at `address`, which isn't 0.
    #[inline(always)]
    pub fn is_for(self, address: usize) -> bool {
        (self.0 ^ address as u64) & ADDRESS == 0
    }
}

/// What became of an experiment, by its number on the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Outcome {
    /// The region ran to its end; the time is known.
    Measured = 1,
    /// There was no experiment: the team could not have been made smaller for as long.
    NoRoom = 2,
    /// There was none: the process has threads, mappings or a debugger that a copy of it could disturb.
    Unsafe = 3,
    /// There was none: the system has no process, timer or filter for it.
    Refused = 4,
    /// Ended at a system call that would have been seen outside of it.
    Forbidden = 5,
    /// Ended at an access to memory that is shared with others, or another fault.
    Fault = 6,
    /// Ended because it would have waited for somebody who isn't there.
    Waits = 7,
    /// Ended by its deadline, or by somebody else.
    Late = 8,
}

impl Outcome {
    /// All of them, by number.
    pub const ALL: [Outcome; 8] = [
        Outcome::Measured,
        Outcome::NoRoom,
        Outcome::Unsafe,
        Outcome::Refused,
        Outcome::Forbidden,
        Outcome::Fault,
        Outcome::Waits,
        Outcome::Late,
    ];

    /// The one of that number.
    pub fn of(number: u32) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| *outcome as u32 == number)
    }
}

/// The latest experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Account {
    /// The address of the region's outlined function.
    pub region: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// CPU time of the region on one context, in nanoseconds; 0 unless [`Outcome::Measured`].
    pub cpu_ns: u64,
    /// The part of it that went into copying memory, which the region doesn't do by itself.
    pub lost_ns: u64,
}

/// The latest experiment, and how many there were. All fields belong to the client.
#[cfg_attr(loom, derive(Default))]
#[repr(C)]
pub struct Experiments {
    seq: AtomicU64,
    region: AtomicU64,
    outcome: AtomicU64,
    cpu_ns: AtomicU64,
    lost_ns: AtomicU64,
    /// How many ended in each way, by the outcome's number.
    counts: [AtomicU64; Outcome::ALL.len() + 1],
}

impl Experiments {
    /// Client: records an experiment that has ended.
    pub fn record(&self, account: &Account) {
        let write = seq::begin(&self.seq);
        self.region.store(account.region & ADDRESS, Ordering::Relaxed);
        self.outcome.store(account.outcome as u64, Ordering::Relaxed);
        self.cpu_ns.store(account.cpu_ns, Ordering::Relaxed);
        self.lost_ns.store(account.lost_ns, Ordering::Relaxed);
        if let Some(count) = self.counts.get(account.outcome as usize) {
            count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
        seq::end(&self.seq, write);
    }

    /// Daemon: how many have ended, and the latest; `None` if there was none, or none that makes sense.
    pub fn latest(&self) -> Option<(u64, Account)> {
        seq::read(&self.seq, || {
            let account = Account {
                region: self.region.load(Ordering::Relaxed) & ADDRESS,
                outcome: Outcome::of(u32::try_from(self.outcome.load(Ordering::Relaxed)).ok()?)?,
                cpu_ns: self.cpu_ns.load(Ordering::Relaxed),
                lost_ns: self.lost_ns.load(Ordering::Relaxed),
            };
            Some((seq::writes(&self.seq), account))
        })?
    }

    /// Daemon: how many ended in this way, as the program says.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.counts.get(outcome as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_order_names_one_region_and_differs_from_the_next() {
        let order = Order::new(0x7f12_3456_7890, 3);
        assert!(order.is_for(0x7f12_3456_7890) && !order.is_for(0x7f12_3456_7880));
        assert_eq!(order.region(), 0x7f12_3456_7890);
        assert_ne!(order, Order::new(0x7f12_3456_7890, 4));
        assert!(!Order::NONE.is_for(0x40_1000));
    }

    #[test]
    fn the_latest_experiment_is_read_back_and_all_are_counted() {
        // SAFETY: atomics only, for which zero is a value.
        let page = unsafe { core::mem::zeroed::<Experiments>() };
        assert_eq!(page.latest(), None);
        let mut account = Account { region: 7, outcome: Outcome::Measured, cpu_ns: 5, lost_ns: 1 };
        page.record(&account);
        account.outcome = Outcome::Late;
        page.record(&account);
        assert_eq!(page.latest(), Some((2, account)));
        assert_eq!(Outcome::ALL.map(|outcome| page.count(outcome)), [1, 0, 0, 0, 0, 0, 0, 1]);
    }
}
