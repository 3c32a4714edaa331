//! How many contexts unmanaged processes use: the PUs' busy time less the CPU time of managed programs. Pure.

use scaf_policy::efficiency::LowPass;
use scaf_policy::{ProgramId, PuSet};
use std::collections::BTreeMap;

/// One moment's counters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sample {
    /// CLOCK_MONOTONIC.
    pub t_ns: u64,
    pub pus: PuSet,
    /// Busy time of these, from any start, as the following ones; without threads of a nice level above 0.
    pub busy_s: f64,
    /// With such threads.
    pub nice_s: f64,
    /// Whether these take contexts: not beside managed programs at the usual level.
    pub counts_nice: bool,
    /// CPU time of each managed program.
    pub cpu_ns: BTreeMap<ProgramId, u64>,
    /// CPU time of the daemon, and of its children, which are nice: inspecting a program is no unmanaged
    /// load.
    pub own_ns: u64,
    pub children_ns: u64,
}

/// Contexts busy with unmanaged work between two samples; `None` where they are not apart in time or not of
/// the same PUs, since a new PU brings all the time that it was ever busy.
pub fn unmanaged(now: &Sample, last: &Sample) -> Option<f64> {
    if now.pus != last.pus {
        return None;
    }
    let dt = now.t_ns.checked_sub(last.t_ns).filter(|ns| *ns > 0)? as f64 * 1e-9;
    let used_ns = |(id, ns): (&ProgramId, &u64)| ns.saturating_sub(*last.cpu_ns.get(id).unwrap_or(ns));
    let managed: f64 = now.cpu_ns.iter().map(|used| used_ns(used) as f64 * 1e-9).sum();
    let own = now.own_ns.saturating_sub(last.own_ns) as f64 * 1e-9;
    let children = now.children_ns.saturating_sub(last.children_ns) as f64 * 1e-9;
    let nice = if now.counts_nice { now.nice_s - last.nice_s - children } else { 0.0 };
    Some(((now.busy_s - last.busy_s + nice - managed - own) / dt).max(0.0))
}

/// The smoothed load.
#[derive(Clone, Debug)]
pub struct Load {
    rc_s: f64,
    filter: LowPass,
    last: Option<Sample>,
    /// CPU time of programs that left since `last`, in seconds.
    left_s: f64,
    forgotten: f64,
    taken: u32,
}

impl Load {
    /// No load, smoothed with time constant `rc_s` in seconds.
    pub fn new(rc_s: f64) -> Load {
        Load { rc_s, filter: LowPass::new(rc_s), last: None, left_s: 0.0, forgotten: 0.0, taken: 0 }
    }

    /// Forgets everything, so that the first sample after an idle hour isn't compared with one before it.
    pub fn reset(&mut self) {
        *self = Load::new(self.rc_s);
    }

    pub fn update(&mut self, now: Sample) {
        if let Some(last) = &self.last {
            let dt = now.t_ns.saturating_sub(last.t_ns) as f64 * 1e-9;
            if let Some(raw) = unmanaged(&now, last) {
                self.filter.update(dt, (raw - self.left_s / dt).max(0.0));
                self.forgotten *= 1.0 - dt / (self.rc_s + dt);
                self.taken = contexts(self.contexts_now(), self.taken);
            }
        }
        self.left_s = 0.0;
        self.last = Some(now);
    }

    /// A program became managed that has used `cpu_ns` in `age_s` seconds: takes its part off the load.
    pub fn attach(&mut self, id: ProgramId, now_ns: u64, cpu_ns: u64, age_s: f64) {
        let Some(last) = &mut self.last else { return };
        let age_s = age_s.max(1e-3);
        let rate = cpu_ns as f64 * 1e-9 / age_s;
        let since_s = now_ns.saturating_sub(last.t_ns) as f64 * 1e-9;
        // Within the running interval it counts as managed from the beginning.
        let before_s = rate * since_s.min(age_s);
        last.cpu_ns.insert(id, cpu_ns.saturating_sub((before_s * 1e9) as u64));
        let earlier_s = (age_s - since_s).max(0.0);
        if self.filter.value().is_some() && self.rc_s > 0.0 {
            self.forgotten += rate * (1.0 - (-earlier_s / self.rc_s).exp());
        }
        self.taken = contexts(self.contexts_now(), self.taken);
    }

    /// A program left at `now_ns` that has used `cpu_ns` in all and had `dop` contexts. It counts as having
    /// used all of these since the last sample: better too little load for one interval than a false one.
    pub fn detach(&mut self, id: ProgramId, now_ns: u64, cpu_ns: Option<u64>, dop: u32) {
        if let Some(last) = &mut self.last
            && let Some(before_ns) = last.cpu_ns.remove(&id)
        {
            let all_s = now_ns.saturating_sub(last.t_ns) as f64 * 1e-9 * f64::from(dop);
            let used_s = cpu_ns.map(|ns| ns.saturating_sub(before_ns) as f64 * 1e-9);
            self.left_s += used_s.unwrap_or(0.0).max(all_s);
        }
    }

    /// Contexts that unmanaged processes use, smoothed.
    pub fn contexts_now(&self) -> f64 {
        (self.filter.value().unwrap_or(0.0) - self.forgotten).max(0.0)
    }

    /// Whole contexts that are not given away.
    pub fn taken(&self) -> u32 {
        self.taken
    }
}

/// Whole contexts that a load takes, given how many it took before. The k-th is taken above k - 1 + 0.6 and
/// given back below k - 1 + 0.3, so that a wavering load doesn't change every grant at each tick.
pub fn contexts(load: f64, taken: u32) -> u32 {
    let mut k = taken;
    while k > 0 && load < f64::from(k - 1) + 0.3 {
        k -= 1;
    }
    while load > f64::from(k) + 0.6 && k < 65_536 {
        k += 1;
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ProgramId = ProgramId(1);
    const S: u64 = 1_000_000_000;

    fn sample(t_s: u64, busy_s: f64, cpu: &[(ProgramId, u64)]) -> Sample {
        Sample { t_ns: t_s * S, busy_s, cpu_ns: cpu.iter().copied().collect(), ..Sample::default() }
    }

    #[test]
    fn managed_time_is_not_unmanaged() {
        let last = sample(10, 100.0, &[(A, 5 * S)]);
        assert_eq!(unmanaged(&sample(12, 103.0, &[(A, 7 * S)]), &last), Some(0.5));
        assert_eq!(unmanaged(&sample(12, 102.0, &[(A, 5 * S), (ProgramId(2), 9 * S)]), &last), Some(1.0));
        assert_eq!(unmanaged(&sample(12, 101.0, &[(A, 8 * S)]), &last), Some(0.0));
        assert_eq!(unmanaged(&last, &last), None);
        let [one, two] = ["0", "0-1"].map(|pus| pus.parse::<PuSet>().unwrap());
        let last = Sample { pus: one, ..last };
        let now = Sample { pus: two, ..sample(11, 1_101.0, &[(A, 6 * S)]) };
        assert_eq!(unmanaged(&now, &last), None);
    }

    #[test]
    fn the_daemons_own_time_is_not_unmanaged() {
        let last = Sample { own_ns: S, ..sample(10, 100.0, &[(A, 0)]) };
        let now = Sample { own_ns: S + S / 2, ..sample(11, 101.0, &[(A, S / 4)]) };
        assert_eq!(unmanaged(&now, &last), Some(0.25));
    }

    #[test]
    fn a_context_is_taken_late_and_given_back_late() {
        assert_eq!([0.0, 0.6, 0.61, 1.6, 1.61].map(|load| contexts(load, 0)), [0, 0, 1, 1, 2]);
        assert_eq!([1.31, 1.29, 0.3, 0.29].map(|load| contexts(load, 2)), [2, 1, 1, 0]);
    }

    #[test]
    fn the_first_sample_says_nothing_and_neither_does_one_from_before_a_reset() {
        let mut load = Load::new(1.0);
        load.update(sample(0, 0.0, &[]));
        assert_eq!((load.contexts_now(), load.taken()), (0.0, 0));
        load.update(sample(1, 2.0, &[]));
        assert_eq!((load.contexts_now(), load.taken()), (2.0, 2));
        load.reset();
        load.update(sample(100, 150.0, &[]));
        assert_eq!((load.contexts_now(), load.taken()), (0.0, 0));
    }

    #[test]
    fn a_newcomers_past_is_no_unmanaged_load() {
        let mut load = Load::new(1.0);
        for t in 0..20 {
            load.update(sample(t, t as f64, &[]));
        }
        assert_eq!(load.taken(), 1);
        load.attach(A, 19 * S + S / 2, 19 * S + S / 2, 19.5);
        assert!(load.contexts_now() < 0.01, "{}", load.contexts_now());
        assert_eq!(load.taken(), 0);
        load.update(sample(20, 20.5, &[(A, 20 * S + S / 2)]));
        assert!(load.contexts_now() < 0.3, "{}", load.contexts_now());
    }

    #[test]
    fn a_program_that_left_is_no_unmanaged_load() {
        let mut load = Load::new(0.0);
        load.update(sample(0, 0.0, &[(A, 0)]));
        load.detach(A, S / 2, None, 2);
        load.update(sample(1, 1.0, &[]));
        assert_eq!(load.contexts_now(), 0.0);
    }

    proptest::proptest! {
        #[test]
        fn hysteresis_settles_at_once(load in 0.0f64..100.0, taken in 0u32..100) {
            let k = contexts(load, taken);
            proptest::prop_assert_eq!(contexts(load, k), k);
            proptest::prop_assert!(f64::from(k) > load - 0.7 && f64::from(k) < load + 0.71);
        }
    }
}
