//! Folded programs that wait for themselves: their threads spin on flags of their own and finish nothing.

use crate::estimate::Seen;

/// A folded program that has finished no region and no wait for a while.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stuck {
    /// Since when, in nanoseconds of CLOCK_MONOTONIC.
    pub since_ns: u64,
    cpu_ns: u64,
    progress: u64,
}

/// For how long a program that may spin has to get nowhere to be taken for one that does.
const STUCK_NS: u64 = 60_000_000;
/// The same where its code is known to do so.
const KNOWN_STUCK_NS: u64 = 5_000_000;

impl Stuck {
    /// Watches a program that is folded onto `dop` contexts in a region. True if for [`STUCK_NS`], or
    /// [`KNOWN_STUCK_NS`] if this code did so before, it has finished nothing with all its contexts busy.
    pub fn watch(
        before: &mut Option<Stuck>,
        (seen, dop): (&Seen, u32),
        (cpu_ns, now_ns): (u64, u64),
        known: bool,
    ) -> bool {
        let Some(stuck) = before.filter(|stuck| stuck.progress == seen.progress) else {
            *before = Some(Stuck { since_ns: now_ns, cpu_ns, progress: seen.progress });
            return false;
        };
        let wall_ns = now_ns.saturating_sub(stuck.since_ns);
        let busy_ns = cpu_ns.saturating_sub(stuck.cpu_ns);
        wall_ns >= if known { KNOWN_STUCK_NS } else { STUCK_NS }
            && busy_ns as f64 >= 0.7 * wall_ns as f64 * f64::from(dop)
    }
}
