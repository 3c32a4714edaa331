//! What is known of a program's speedup, as a policy and as people are told of it.

use super::Program;
use crate::control;
use scaf_policy::fusion::Measured;
use scaf_policy::knowledge::{Knowledge, MOST_POINTS, promised};
use scaf_policy::observed::Observed;
use scaf_policy::past::Past;
use std::collections::BTreeSet;

impl Program {
    /// The program as a policy sees it.
    pub fn request(&self) -> scaf_policy::Program {
        let judged = self.knowledge().judged();
        scaf_policy::Program {
            id: self.id,
            user: self.uid,
            min: self.wishes.min,
            max: if self.wishes.max == 0 { u32::MAX } else { self.wishes.max },
            weight: self.wishes.weight,
            natural: self.natural(),
            dop: judged.map_or(self.grant.dop.unwrap_or(0), |(dop, _)| dop),
            efficiency: judged.map(|(_, efficiency)| efficiency),
            curve: self.known.iter().map(|known| known.measured).collect(),
            profile: self.profile.clone(),
            serial: self.serial,
            // A team that is too large is folded within milliseconds: no program keeps others waiting until it has adapted.
            team: 0,
            rigid: self.rigid.is_some(),
        }
    }

    fn knowledge(&self) -> Knowledge<'_> {
        let counters = self.counters.speedup().map(|(dop, speedup)| Measured { dop, speedup });
        Knowledge { useful: &self.useful, observed: &self.observed, counters, natural: self.natural() }
    }

    /// Makes `known` anew: once a tick, for decisions may be many more.
    pub fn know(&mut self) {
        let (knowledge, now) = (self.knowledge(), self.contexts());
        let kept = self.useful.efficiency().map_or(now, |(dop, _)| dop);
        self.known = knowledge.curve(kept);
    }

    /// Takes in what earlier runs taught. What they promise as a whole stays the program's profile, unless one was given.
    pub fn remember(&mut self, past: Past) {
        if !self.profile_given {
            let mut alone = Observed::default();
            alone.remember(past.clone());
            self.profile = promised(&alone);
        }
        self.observed.remember(past);
        self.know();
    }

    /// It isn't the program whose earlier runs these were.
    pub fn forget_past(&mut self) {
        if !self.profile_given {
            self.profile.clear();
        }
        self.observed.forget_past();
        self.know();
    }

    /// What is known of its speedup, for people.
    pub(super) fn curve(&self) -> Vec<control::CurvePoint> {
        let ran_at = self.observed.dops();
        if self.useful.efficiency().is_none() && ran_at.is_empty() {
            return Vec::new();
        }
        let knowledge = self.knowledge();
        let point = |dop: u32| {
            let (fused, curve) = knowledge.speedup(dop)?;
            let comparable = || self.observed.dops_beside(dop).contains(&1);
            Some(control::CurvePoint {
                dop,
                speedup: fused.speedup.value,
                error_ratio: fused.speedup.error,
                observed: curve.filter(|_| comparable()).map(|curve| curve.value),
                sources: fused.sources,
            })
        };
        let all: BTreeSet<u32> = ran_at.iter().copied().chain([1, self.natural()]).collect();
        all.into_iter().take(MOST_POINTS).filter_map(point).collect()
    }
}
