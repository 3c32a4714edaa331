//! What the daemon knows of a simulated program, by its own estimators ([`scaf_policy::knowledge`]).

use crate::running::Account;
use scaf_policy::efficiency::Interval;
use scaf_policy::fusion::Measured;
use scaf_policy::knowledge::{Knowledge, Stage, Useful};
use scaf_policy::observed::{Observed, Runs, Spell};

/// The part of an interval in which a grant has to be in effect.
const STEADY: f64 = 0.9;

pub(crate) struct Watch {
    observed: Observed,
    useful: Useful,
    natural: u32,
    since_s: f64,
    stage: Stage,
}

impl Watch {
    pub fn new(now_s: f64, rc_s: f64, natural: u32) -> Watch {
        Watch {
            observed: Observed::default(),
            useful: Useful::new(rc_s),
            natural,
            since_s: now_s,
            stage: Stage::New,
        }
    }

    /// Takes in what it did since the last look, on `dop` contexts; the others may be `lent`.
    pub fn look(&mut self, now_s: f64, dop: u32, lent: bool, account: Account) {
        let dt_s = now_s - self.since_s;
        self.since_s = now_s;
        if dt_s <= 0.0 {
            return;
        }
        let parallel_s = account.parallel_s.min(dt_s);
        self.stage = self.stage.next(parallel_s > 0.0, dt_s, parallel_s);
        if self.stage == Stage::Begins {
            self.useful.forget();
            return;
        }
        // On one context there is nobody to wait for.
        let useful_s = if dop <= 1 { parallel_s } else { account.useful_s };
        // A team that still has another size says nothing of the granted DoP.
        if account.astray_s <= (1.0 - STEADY) * dt_s && !lent && self.stage.is_measured() {
            self.useful.add(dop, &Interval { dt_s, p: f64::from(dop), parallel_s, useful_s });
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
        if self.has_begun() && !(lent && runs.is_empty()) {
            self.observed.add(&Spell { dop, dt_s, parallel_s, runs: &runs });
        }
    }

    /// Whether it has been in a region; before, it doesn't count as serial, as in scafd.
    pub fn has_begun(&self) -> bool {
        self.stage.has_begun()
    }

    /// The DoP changes between two looks: the interval begins anew, but ended pieces are kept.
    pub fn restart(&mut self, now_s: f64, account: &mut Account) {
        self.since_s = now_s;
        account.parallel_s = 0.0;
        account.useful_s = 0.0;
        account.astray_s = 0.0;
    }

    fn knowledge(&self) -> Knowledge<'_> {
        Knowledge { useful: &self.useful, observed: &self.observed, counters: None, natural: self.natural }
    }

    pub fn judged(&self) -> Option<(u32, f64)> {
        self.knowledge().judged()
    }

    pub fn curve(&self) -> Vec<Measured> {
        self.knowledge().curve(1).into_iter().map(|known| known.measured).collect()
    }
}
