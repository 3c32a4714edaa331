//! One program in time: what it does with its grants, and what the daemon measures of it.

use super::draw::Visit;
use super::setting::TeamSetting;
use crate::mixes::program::normal;
use crate::running::Account;
use crate::scenario::Mechanisms;
use crate::watch::Watch;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::{Program, ProgramId};

pub(super) struct Member<'a> {
    pub id: u64,
    pub visit: &'a Visit,
    /// Work done so far, in seconds on one context.
    pub done: f64,
    contexts: u32,
    /// The grant, and the contexts of the team that runs.
    dop: u32,
    width: u32,
    /// Seconds until its team follows the grant, if it doesn't yet.
    late_s: Option<f64>,
    /// Seconds until its caches are filled.
    cold_s: f64,
    /// Whether the daemon knows that its team is kept.
    steps: bool,
    /// Its true curve, if that is to be known from its first measurement on.
    profile: Vec<Measured>,
    watch: Watch,
    account: Account,
    rng: ChaCha8Rng,
}

impl<'a> Member<'a> {
    pub fn new(id: u64, visit: &'a Visit, contexts: u32, now_s: f64, setting: &TeamSetting) -> Member<'a> {
        let mut rng = ChaCha8Rng::seed_from_u64(setting.seed ^ 0x7ea3);
        rng.set_stream(id);
        let speedup = |dop| Estimate { value: visit.curve.at(dop), error: 0.0 };
        let exact = |dop| Measured { dop, speedup: speedup(dop) };
        Member {
            id,
            visit,
            done: 0.0,
            contexts,
            dop: 0,
            width: 0,
            late_s: None,
            cold_s: 0.0,
            steps: setting.steps,
            profile: if setting.profiled { (2..=contexts).map(exact).collect() } else { Vec::new() },
            watch: Watch::new(now_s, setting.rc_s, contexts),
            account: Account::default(),
            rng,
        }
    }

    /// What the daemon knows of it.
    pub fn seen(&self) -> Program {
        let judged = self.watch.judged();
        Program {
            dop: judged.map_or(self.dop, |(dop, _)| dop),
            efficiency: judged.map(|(_, efficiency)| efficiency),
            curve: self.watch.curve(),
            // The daemon knows a team from its first region on.
            fixed_team: if self.steps && self.watch.has_begun() { self.visit.team } else { 0 },
            profile: if judged.is_some() { self.profile.clone() } else { Vec::new() },
            ..Program::new(ProgramId(self.id), self.contexts)
        }
    }

    /// Takes in a grant.
    pub fn grant(&mut self, dop: u32, now_s: f64, mechanisms: &Mechanisms) {
        if dop == self.dop {
            return;
        }
        if self.dop == 0 {
            self.width = dop;
        } else {
            let more = f64::from(dop.saturating_sub(self.dop)) / f64::from(dop);
            self.cold_s = more * mechanisms.cold_ms * 1e-3;
            self.late_s = Some(match self.visit.team {
                // At the end of the region that runs.
                0 => {
                    let begun = self.done % self.visit.region_s;
                    (self.visit.region_s - begun) / self.visit.curve.at(self.width)
                }
                _ => mechanisms.chunk_ms * 1e-3,
            });
        }
        self.dop = dop;
        self.watch.restart(now_s, &mut self.account);
    }

    pub fn advance(&mut self, mut dt_s: f64, mechanisms: &Mechanisms) {
        while dt_s > 0.0 {
            let step_s = [self.late_s, (self.cold_s > 0.0).then_some(self.cold_s)]
                .into_iter()
                .flatten()
                .fold(dt_s, f64::min);
            self.go_on(step_s, mechanisms);
            dt_s -= step_s;
        }
    }

    fn go_on(&mut self, dt_s: f64, mechanisms: &Mechanisms) {
        let curve = &self.visit.curve;
        let team = f64::from(self.width);
        let folded = self.visit.team == 0 && self.dop < self.width;
        // A team that was larger takes turns until its region ends.
        let used = if folded { self.dop } else { self.width };
        let turns = team / f64::from(used);
        let loss = if folded { (1.0 - mechanisms.fold_loss) * turns / turns.ceil() } else { 1.0 };
        let speed = if self.cold_s > 0.0 { 0.0 } else { curve.at(used) * loss };
        self.done += speed * dt_s;
        self.cold_s = (self.cold_s - dt_s).max(0.0);
        self.account.parallel_s += dt_s;
        self.account.useful_s += speed * dt_s;
        match &mut self.late_s {
            Some(late_s) => {
                self.account.astray_s += dt_s;
                *late_s -= dt_s;
                if *late_s <= 1e-9 {
                    (self.late_s, self.width) = (None, self.dop);
                }
            }
            None if speed > 0.0 => {
                let row = self.account.pieces.entry((0, self.width)).or_default();
                *row = (row.0 + speed * dt_s / self.visit.region_s, row.1 + dt_s);
            }
            None => {}
        }
    }

    /// The daemon looks: what it measures is off by `noise`, a relative standard deviation.
    pub fn look(&mut self, now_s: f64, noise: f64) {
        let off = (noise * normal(&mut self.rng)).exp();
        let mut account = std::mem::take(&mut self.account);
        account.useful_s *= off;
        account.pieces.values_mut().for_each(|(_, wall_s)| *wall_s /= off);
        // Of a run that hasn't ended nothing is reported.
        account.pieces.retain(|_, (runs, _)| *runs >= 1.0);
        self.watch.look(now_s, self.dop, false, account);
    }
}
