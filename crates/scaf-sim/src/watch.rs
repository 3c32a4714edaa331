//! What the daemon knows of a simulated program: the daemon's own estimators, fed as scafd feeds them.
//!
//! As in scafd's registry: an interval's efficiency is smoothed while the DoP stays, pieces that ended make the observed curve,
//! and a policy is told what all sources together say at the DoP that was measured last. There are no counters here.

use crate::running::Account;
use scaf_policy::efficiency::{Interval, LowPass};
use scaf_policy::fusion::{self, Measured, Said};
use scaf_policy::observed::{Observed, Runs, Spell};
use std::collections::BTreeSet;

/// Points of a curve that are told.
const MOST_POINTS: usize = 64;

/// The part of an interval in which a grant has to be in effect.
const STEADY: f64 = 0.9;

/// What is known of one program.
pub(crate) struct Watch {
    observed: Observed,
    efficiency: LowPass,
    measured_dop: u32,
    /// When the interval began.
    since_s: f64,
}

impl Watch {
    pub fn new(now_s: f64, rc_s: f64) -> Watch {
        let efficiency = LowPass::new(rc_s);
        Watch { observed: Observed::default(), efficiency, measured_dop: 0, since_s: now_s }
    }

    /// Takes in what it did since the last look, on `dop` contexts.
    pub fn look(&mut self, now_s: f64, dop: u32, account: Account) {
        let dt_s = now_s - self.since_s;
        self.since_s = now_s;
        if dt_s <= 0.0 {
            return;
        }
        let p = f64::from(dop);
        let parallel_s = account.parallel_s.min(dt_s);
        // On one context there is nobody to wait for.
        let useful_s = if dop <= 1 { parallel_s } else { account.useful_s };
        // What a team does that is still of another size says nothing of the DoP that was granted.
        if account.astray_s <= (1.0 - STEADY) * dt_s {
            if self.measured_dop != dop {
                self.efficiency.reset();
                self.measured_dop = dop;
            }
            self.efficiency.update(dt_s, Interval { dt_s, p, parallel_s, useful_s }.efficiency());
        }
        let runs: Vec<Runs> = account
            .pieces
            .iter()
            .map(|((region, dop), (runs, wall_s))| Runs {
                region: *region,
                dop: *dop,
                runs: *runs,
                count: *runs,
                wall_s: *wall_s,
            })
            .collect();
        self.observed.add(&Spell { dop, dt_s, parallel_s, runs: &runs });
    }

    /// The DoP changes between two looks: the interval begins anew, what ended is kept.
    pub fn restart(&mut self, now_s: f64, account: &mut Account) {
        self.since_s = now_s;
        account.parallel_s = 0.0;
        account.useful_s = 0.0;
        account.astray_s = 0.0;
    }

    fn useful(&self) -> Option<Measured> {
        let dop = self.measured_dop.max(1);
        self.efficiency.value().map(|e| Measured::useful(dop, e * f64::from(dop)))
    }

    fn at(&self, dop: u32) -> Option<Measured> {
        let useful = self.useful();
        let curve = self.observed.speedup(dop, useful.map_or(1.0, Measured::exponent));
        let speedup = fusion::speedup(dop, &Said { useful, curve, counters: None })?.speedup;
        (speedup.value.is_finite() && speedup.error.is_finite()).then_some(Measured { dop, speedup })
    }

    /// The DoP that it is judged by, and its efficiency there.
    pub fn judged(&self) -> Option<(u32, f64)> {
        self.efficiency.value()?;
        let dop = self.measured_dop.max(1);
        let there = self.at(dop)?;
        Some((dop, (there.speedup.value / f64::from(dop)).min(1.0)))
    }

    /// What is known of its speedup, at the DoPs that were observed.
    pub fn curve(&self) -> Vec<Measured> {
        let mut dops: BTreeSet<u32> = self.observed.dops();
        if self.useful().is_some() {
            dops.insert(self.measured_dop.max(1));
        }
        dops.into_iter().take(MOST_POINTS).filter_map(|dop| self.at(dop)).collect()
    }
}
