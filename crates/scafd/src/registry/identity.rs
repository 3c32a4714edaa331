//! Who a program is, what it asked for, and which PUs it may use.

use crate::control::LimitValues;
use crate::observe::cgroup::Cgroup;
use crate::observe::priority::Priority;
use crate::observe::slurm_step::Step;
use crate::paths::Scope;
use scaf_policy::{ProgramId, PuSet};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Identity {
    pub id: ProgramId,
    pub pid: u32,
    /// In clock ticks since boot.
    pub starttime: u64,
    pub uid: u32,
    /// The owner of the user id, among whom is divided.
    pub owner: u32,
    pub gid: u32,
    /// What users call it.
    pub name: String,
    /// Counts its user's programs of that name, from 1 on.
    pub number: u32,
    /// The number of its process tree.
    pub tree: u64,
    /// The path of its executable; empty if unknown.
    pub executable: PathBuf,
    /// Its step of a Slurm job.
    pub step: Option<Step>,
    /// In nanoseconds of CLOCK_MONOTONIC.
    pub attached_ns: u64,
}

impl Identity {
    /// Its name, with its number if that isn't 1.
    pub fn shown(&self) -> String {
        if self.number > 1 { format!("{}#{}", self.name, self.number) } else { self.name.clone() }
    }
}

/// What a client asked for when it attached; a `max` of 0 is no limit, a `weight` of 1 is normal.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits {
    /// Team size without us.
    pub natural: u32,
    pub min: u32,
    pub max: u32,
    pub weight: f64,
}

impl Limits {
    /// With these limits in their place; an error says what is out of range.
    pub fn changed(&self, values: LimitValues) -> Result<Limits, String> {
        let changed = Limits {
            natural: self.natural,
            min: values.min.unwrap_or(self.min),
            max: values.max.unwrap_or(self.max),
            weight: values.weight.unwrap_or(self.weight),
        };
        let Limits { min, max, weight, .. } = changed;
        if !(1..=65_535).contains(&min) || max > 65_535 {
            Err("min and max are 1 to 65,535 contexts, and a max of 0 is no limit".into())
        } else if max != 0 && max < min {
            Err(format!("min {min} is more than max {max}"))
        } else if !(0.001..=1000.0).contains(&weight) {
            Err("a weight is 0.001 to 1000".into())
        } else {
            Ok(changed)
        }
    }

    /// Within what the user may ask for: a daemon for all users lets only root put a program before others'.
    #[must_use]
    pub fn permitted(self, scope: Scope, uid: u32) -> Limits {
        match scope {
            Scope::System if uid != 0 => {
                Limits { min: self.min.min(1), weight: self.weight.min(1.0), ..self }
            }
            _ => self,
        }
    }
}

/// Where a program may run, and whether it is managed at all.
#[derive(Clone, Debug)]
pub struct Reach {
    pub own: PuSet,
    /// PUs that it can be granted.
    pub usable: PuSet,
    pub cgroup: Cgroup,
    pub priority: Priority,
    /// Why it is left alone.
    pub alone: Option<String>,
    /// Whether that is only because none of its PUs can be allocated now, and so may change.
    pub stranded: bool,
    pub binding: Binding,
}

/// Who has bound a program's threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// Nobody, as far as is known.
    Unbound,
    /// The program itself, which is left alone for it until it does so no more.
    Own,
    /// Its runtime, as its user's settings say (`OMP_PROC_BIND` and the like): how they lie to each other,
    /// not which PUs are theirs.
    Runtime,
    /// The program itself, and it takes turns: its threads stay where they are.
    Kept,
}

impl Binding {
    /// Whether threads with affinities of their own are no reason to leave the program alone.
    pub fn is_managed(self) -> bool {
        matches!(self, Binding::Runtime | Binding::Kept)
    }
}

impl Reach {
    /// Its weight by the kernel's words, beside a normal program's, which is 1.
    pub fn weight(&self) -> f64 {
        self.priority.weight() * self.cgroup.weight.unwrap_or(1.0)
    }

    /// Whether the kernel puts it behind all others.
    pub fn is_background(&self) -> bool {
        self.priority.is_background() || self.cgroup.weight == Some(0.0)
    }

    /// Its threads, with these affinities, stay on the PUs to which it has bound them, and it isn't left
    /// alone for that. False if it has bound none, or none of their PUs can be allocated.
    pub fn keep(&mut self, masks: &[PuSet], pus: &PuSet) -> bool {
        let bound = masks.iter().filter(|mask| **mask != self.own);
        let Some(mut bound) = bound.cloned().reduce(|all, mask| all.union(&mask)) else { return false };
        if masks.contains(&self.own) {
            // A thread that isn't bound needs one more.
            self.own.difference(&bound).iter().next().map(|pu| bound.insert(pu));
        }
        let usable = usable(&bound, pus, &self.cgroup);
        let can_be = !usable.is_empty();
        if can_be {
            (self.usable, self.binding, self.alone, self.stranded) = (usable, Binding::Kept, None, false);
        }
        can_be
    }

    /// It is left alone again for the threads that it has bound.
    pub fn keep_no_more(&mut self) {
        if self.binding == Binding::Kept {
            self.binding = Binding::Own;
            self.alone = Some("it binds its threads itself".into());
        }
    }

    /// Updates which PUs can be allocated, or are `pretended`; `bound` says why a stranded program stays
    /// alone.
    pub fn follow(&mut self, pus: &PuSet, pretended: bool, bound: impl FnOnce(&PuSet) -> Option<String>) {
        // Threads that are bound can't use other PUs.
        let own = if self.binding == Binding::Kept { &self.usable } else { &self.own };
        self.usable = if pretended { pus.clone() } else { usable(own, pus, &self.cgroup) };
        if self.usable.is_empty() && self.alone.is_none() {
            self.alone = Some(no_pus(&self.own, pus));
            self.stranded = true;
        } else if self.stranded && !self.usable.is_empty() {
            self.stranded = false;
            self.alone = bound(&self.own);
        }
    }
}

/// PUs that a program with this affinity and in this group can be granted, of those that can be allocated.
pub fn usable(own: &PuSet, pus: &PuSet, cgroup: &Cgroup) -> PuSet {
    cgroup.within(&own.intersection(pus))
}

/// Why a program with the affinity `own` can't be given any of `pus`.
pub fn no_pus(own: &PuSet, pus: &PuSet) -> String {
    format!("its affinity {own} has none of the PUs {pus} that can be given away")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_change_one_by_one_and_only_within_their_ranges() {
        let limits = Limits { natural: 8, min: 1, max: 4, weight: 1.0 };
        let same = limits.changed(LimitValues::default()).unwrap();
        assert_eq!(same, limits);
        let min = |min| limits.changed(LimitValues { min: Some(min), ..LimitValues::default() });
        let max = |max| limits.changed(LimitValues { max: Some(max), ..LimitValues::default() });
        let weight = |weight| limits.changed(LimitValues { weight: Some(weight), ..LimitValues::default() });
        assert_eq!(min(3).unwrap(), Limits { min: 3, ..limits.clone() });
        assert_eq!(max(0).unwrap(), Limits { max: 0, ..limits.clone() });
        let greedy = limits.changed(LimitValues { min: Some(4), max: None, weight: Some(9.0) }).unwrap();
        assert_eq!(greedy.permitted(Scope::System, 1000), limits);
        assert!(min(5).unwrap_err().contains("more than max 4"));
        assert!([0, 65_536].into_iter().all(|wrong| min(wrong).is_err()));
        assert!(max(65_536).is_err());
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY, 1000.1].into_iter().all(|wrong| weight(wrong).is_err()));
    }
}
