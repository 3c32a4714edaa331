//! A program as viewers see it.

use super::program::Program;
use crate::control;

impl Program {
    pub fn snapshot(&self) -> control::Program {
        let (mechanism, mechanism_reason) = self.mechanism();
        let (seen, measured) = (self.evidence.seen, self.evidence.efficiency());
        control::Program {
            id: self.identity.id.0,
            pid: self.identity.pid,
            uid: self.identity.uid,
            name: self.identity.shown(),
            job: self.identity.step.map(|step| step.to_string()),
            attached_ns: self.identity.attached_ns,
            mechanism,
            mechanism_reason,
            permission: self.permission(),
            ungathered: self.ungathered(),
            dop: self.grant.dop,
            granted_ns: self.grant.granted_ns,
            effective_ns: self.grant.effective_ns,
            pus: self.grant.pus.clone(),
            team: seen.map_or(0, |s| s.team),
            in_region: seen.is_some_and(|s| s.in_region),
            natural: self.natural(),
            min: self.limits.min,
            max: self.limits.max,
            weight: self.weight(),
            quota: self.reach.cgroup.quota,
            efficiency: measured.map(|(_, e)| e),
            speedup: measured.map(|(dop, e)| e * f64::from(dop)),
            demand: self.evidence.demand,
            curve: self.evidence.curve_for_people(self.natural()),
            earlier_runs: self.evidence.link.earlier_runs(),
            counters: self.evidence.counters(),
            experiments: self.evidence.trials.snapshot(),
            exact: self.code.exact,
            runtimes: Vec::new(),
            regions: seen.map_or(0, |s| s.regions),
            promised_regions: seen.map_or(0, |s| s.promised),
            reason: self.grant.reason.clone(),
        }
    }
}
