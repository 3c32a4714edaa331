//! Deliberate steps: a DoP that a program has for one interval, so that its speedup there is known.

use std::collections::BTreeSet;

/// A program takes at most [`STEPS`] steps in this time, and none to a DoP where nothing was learned.
const STEPS_NS: u64 = 60_000_000_000;
const STEPS: usize = 12;
/// Between two steps to one DoP lies at least this time.
const STEP_REST_NS: u64 = 300_000_000;

#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// A DoP that it has until the next tick.
    pub now: Option<u32>,
    /// DoPs that it was sent to in the last [`STEPS_NS`], and when, in nanoseconds of CLOCK_MONOTONIC.
    taken: Vec<(u32, u64)>,
}

impl Steps {
    /// Takes the step that `choose` names, given the DoPs that it may not name for now. `known` are DoPs at
    /// which something is known.
    pub fn take(
        &mut self,
        known: &BTreeSet<u32>,
        now_ns: u64,
        choose: impl FnOnce(&BTreeSet<u32>) -> Option<u32>,
    ) {
        self.taken.retain(|(_, at_ns)| now_ns.saturating_sub(*at_ns) < STEPS_NS);
        if self.taken.len() < STEPS {
            let rests = |(dop, at_ns): &&(u32, u64)| {
                !known.contains(dop) || now_ns.saturating_sub(*at_ns) < STEP_REST_NS
            };
            self.now = choose(&self.taken.iter().filter(rests).map(|(dop, _)| *dop).collect());
            self.taken.extend(self.now.map(|step| (step, now_ns)));
        }
    }
}
