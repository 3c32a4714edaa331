//! Deliberate steps: a DoP for one interval, to measure the speedup there.

use std::collections::BTreeSet;

/// A program takes at most [`STEPS`] steps in this time, and none to a DoP where nothing was learned.
const STEPS_NS: u64 = 60_000_000_000;
const STEPS: usize = 12;
/// Between two steps to one DoP lies at least this time.
const STEP_REST_NS: u64 = 300_000_000;

#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Its DoP until the next tick.
    pub now: Option<u32>,
    /// The steps of the last [`STEPS_NS`], and when they were taken.
    taken: Vec<(u32, u64)>,
}

impl Steps {
    /// Takes the step that `choose` returns, given the DoPs that are excluded for now. `known` are DoPs of
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
