//! Folded programs that wait for themselves: their threads spin on flags of their own and make no progress.

use crate::estimate::Seen;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stuck {
    /// In nanoseconds of CLOCK_MONOTONIC.
    pub since_ns: u64,
    cpu_ns: u64,
    progress: u64,
    /// When its threads were last counted, and how often in a row there were too many.
    counted: (u64, u32),
}

/// A program that may spin is stuck after this long without progress,
const STUCK_NS: u64 = 60_000_000;
/// and one whose code is known to spin after this.
const KNOWN_STUCK_NS: u64 = 5_000_000;

/// How often in a row it has to have more runnable threads than contexts, and how far apart.
const COUNTS: u32 = 4;
const APART_NS: u64 = 15_000_000;

impl Stuck {
    /// Watches a program that is folded onto `dop` contexts in a region. True if for [`STUCK_NS`], or
    /// [`KNOWN_STUCK_NS`] if this code did so before, it has made no progress with all its contexts busy.
    ///
    /// Unmanaged programs or a virtual machine's host may take contexts from it. So it is also true if it has
    /// computed as much in a longer time, and was `oversubscribed` meanwhile.
    pub fn watch(
        before: &mut Option<Stuck>,
        (seen, dop): (&Seen, u32),
        (cpu_ns, now_ns): (u64, u64),
        known: bool,
        oversubscribed: impl FnOnce() -> bool,
    ) -> bool {
        let stuck = match before {
            Some(stuck) if stuck.progress == seen.progress => stuck,
            _ => {
                *before =
                    Some(Stuck { since_ns: now_ns, cpu_ns, progress: seen.progress, counted: (now_ns, 0) });
                return false;
            }
        };
        let wall_ns = now_ns.saturating_sub(stuck.since_ns);
        let busy_ns = cpu_ns.saturating_sub(stuck.cpu_ns);
        let keeps_busy_for = |ns: u64| busy_ns as f64 >= 0.7 * ns as f64 * f64::from(dop);
        let enough_ns = if known { KNOWN_STUCK_NS } else { STUCK_NS };
        if wall_ns < enough_ns || !keeps_busy_for(enough_ns) {
            return false;
        }
        if keeps_busy_for(wall_ns) {
            return true;
        }
        let (last_ns, times) = stuck.counted;
        if now_ns.saturating_sub(last_ns) >= APART_NS {
            stuck.counted = (now_ns, if oversubscribed() { times + 1 } else { 0 });
        }
        stuck.counted.1 >= COUNTS
    }
}
