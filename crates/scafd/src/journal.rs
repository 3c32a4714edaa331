//! The decisions of the last minutes, and the changes of the last hours: for `scaf why` and `scaf record`.
//!
//! A decision is kept with all that the policy was given. The latest [`WHOLE`] are all kept; of earlier ones
//! only those that changed something, [`MOST`] and [`MOST_BYTES`] in all.

use scaf_policy::fusion::{Measured, Source};
use scaf_policy::{Allocation, Decision, Dop, Objective, Pool, Program, ProgramId, Settings, Share, Turn};
use scaf_team::choice::Mechanism;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Decisions that are kept.
const MOST: usize = 1_000;
/// The latest ones, kept whatever they decided: a minute's at 4 Hz, within which followers ask.
const WHOLE: usize = 250;
/// Memory that all may take, roughly: of a hundred programs with five points each, some 250 decisions.
const MOST_BYTES: usize = 16 << 20;
/// Bytes of decisions in one answer, roughly: writing them takes a millisecond or two.
const ANSWER_BYTES: usize = 256 << 10;

/// A decision as it is kept and sent; one line of `scaf record`. All but `decision` may be missing in a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// What the policy was given and what it answered.
    #[serde(flatten)]
    pub decision: Decision,
    /// Names of the programs, by their numbers; unmanaged ones included.
    #[serde(default)]
    pub names: BTreeMap<u64, String>,
    /// Number of the first decision of the policy that decided this, where its memory begins; 0 if unknown.
    #[serde(default)]
    pub since: u64,
    /// The objective, for policies that have a choice.
    #[serde(default)]
    pub objective: Objective,
    /// The share of its speedup under equal parts below which no program was to fall.
    #[serde(default = "default_floor")]
    pub floor: f64,
    /// How each DoP was carried out at first.
    #[serde(default, with = "crate::mechanism_names::of_programs")]
    pub mechanisms: BTreeMap<u64, Mechanism>,
    /// What the points of each program's curve rest on, in their order.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<u64, Vec<Vec<Source>>>,
    /// DoPs below the policy's answer that were given until the next decision, to learn the speedup there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<u64, u32>,
    /// Other users' programs that were left out of an answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
}

fn default_floor() -> f64 {
    Settings::default().floor
}

fn is_zero(hidden: &u32) -> bool {
    *hidden == 0
}

impl Entry {
    /// A decision without details.
    pub fn of(decision: Decision) -> Entry {
        Entry {
            decision,
            names: BTreeMap::new(),
            since: 0,
            objective: Objective::default(),
            floor: default_floor(),
            mechanisms: BTreeMap::new(),
            sources: BTreeMap::new(),
            steps: BTreeMap::new(),
            hidden: 0,
        }
    }

    /// The policy's settings.
    pub fn settings(&self) -> Settings {
        Settings { objective: self.objective, floor: self.floor }
    }

    /// What each program got, steps included.
    fn given(&self) -> BTreeMap<u64, Dop> {
        let given = |share: &Share| {
            let step = self.steps.get(&share.id.0).map(|step| Dop::Contexts(*step));
            (share.id.0, step.unwrap_or(share.dop))
        };
        self.decision.allocation.shares.iter().map(given).collect()
    }

    fn bytes(&self) -> usize {
        let points = |program: &Program| program.curve.len() + program.profile.len();
        let programs = self
            .decision
            .programs
            .iter()
            .map(|program| size_of::<Program>() + points(program) * (size_of::<Measured>() + 40));
        let shares = self.decision.allocation.shares.iter().map(|it| size_of::<Share>() + it.reason.len());
        let names = self.names.values().map(|name| 120 + name.len());
        size_of::<Entry>() + programs.chain(shares).chain(names).sum::<usize>()
    }

    /// What the user `uid` may see of it, given the programs' users.
    fn seen_by(&self, uid: u32, owners: &BTreeMap<u64, u32>) -> Entry {
        let theirs = |id: u64| owners.get(&id) == Some(&uid);
        // Only what is sent is copied: a decision about a thousand programs takes half a megabyte.
        let Decision { number, policy, machine, programs, allocation } = &self.decision;
        let seen: Vec<Program> = programs.iter().filter(|it| theirs(it.id.0)).cloned().collect();
        let hidden = u32::try_from(programs.len() - seen.len()).unwrap_or(u32::MAX);
        let shares = allocation.shares.iter().filter(|share| theirs(share.id.0)).cloned().collect();
        let mine =
            |ids: &[ProgramId]| -> Vec<ProgramId> { ids.iter().copied().filter(|id| theirs(id.0)).collect() };
        let turns =
            allocation.turns.iter().map(|turn| Turn { slices: turn.slices, members: mine(&turn.members) });
        let turns = turns.filter(|turn| !turn.members.is_empty()).collect();
        let pools = allocation.pools.iter().map(|pool| Pool { members: mine(&pool.members), ..pool.clone() });
        let pools = pools.filter(|pool| !pool.members.is_empty()).collect();
        let keeps = allocation.keeps.iter().copied().filter(|(id, _)| theirs(id.0)).collect();
        Entry {
            decision: Decision {
                number: *number,
                policy: policy.clone(),
                machine: machine.clone(),
                programs: seen,
                allocation: Allocation { shares, turns, keeps, pools, idle: mine(&allocation.idle) },
            },
            names: those(&self.names, theirs),
            since: self.since,
            objective: self.objective,
            floor: self.floor,
            mechanisms: those(&self.mechanisms, theirs),
            sources: those(&self.sources, theirs),
            steps: those(&self.steps, theirs),
            hidden,
        }
    }
}

fn those<T: Clone>(all: &BTreeMap<u64, T>, theirs: impl Fn(u64) -> bool) -> BTreeMap<u64, T> {
    all.iter().filter(|(id, _)| theirs(**id)).map(|(id, said)| (*id, said.clone())).collect()
}

#[derive(Debug)]
struct Kept {
    entry: Entry,
    owners: BTreeMap<u64, u32>,
    changed: bool,
    bytes: usize,
}

impl Kept {
    fn entry(&self, uid: Option<u32>) -> Entry {
        uid.map_or_else(|| self.entry.clone(), |uid| self.entry.seen_by(uid, &self.owners))
    }

    fn number(&self) -> u64 {
        self.entry.decision.number
    }
}

/// The decisions that are kept, in order of their numbers.
#[derive(Debug, Default)]
pub struct Journal {
    kept: VecDeque<Kept>,
    bytes: usize,
}

impl Journal {
    /// Adds the latest decision; `owners` has the user of each program.
    pub fn add(&mut self, entry: Entry, owners: BTreeMap<u64, u32>) {
        let changed = self.kept.back().is_none_or(|last| {
            let (before, now) = (&last.entry.decision, &entry.decision);
            last.entry.given() != entry.given()
                || before.allocation.turns != now.allocation.turns
                || before.policy != now.policy
        });
        let bytes = entry.bytes();
        self.bytes += bytes;
        self.kept.push_back(Kept { entry, owners, changed, bytes });
        while self.kept.len() > 1 && (self.kept.len() > MOST || self.bytes > MOST_BYTES) {
            let old = self.kept.len().saturating_sub(WHOLE);
            let dull = self.kept.iter().take(old).position(|kept| !kept.changed).unwrap_or(0);
            if let Some(gone) = self.kept.remove(dull) {
                self.bytes -= gone.bytes;
            }
        }
    }

    /// Numbers of the oldest and the latest one; 0 if there is none.
    pub fn span(&self) -> (u64, u64) {
        let number = |kept: Option<&Kept>| kept.map_or(0, Kept::number);
        (number(self.kept.front()), number(self.kept.back()))
    }

    /// The one of that number, or the latest one.
    pub fn one(&self, number: Option<u64>, uid: Option<u32>) -> Option<Entry> {
        let kept = match number {
            None => self.kept.back()?,
            Some(number) => self.kept.get(self.kept.binary_search_by_key(&number, Kept::number).ok()?)?,
        };
        Some(kept.entry(uid))
    }

    /// The first ones after that number, at least one if there is one, as many as fit one answer.
    pub fn after(&self, number: u64, uid: Option<u32>) -> Vec<Entry> {
        let from = self.kept.partition_point(|kept| kept.number() <= number);
        let mut bytes = 0;
        let fits = |kept: &&Kept| {
            let first = bytes == 0;
            bytes += kept.bytes;
            first || bytes <= ANSWER_BYTES
        };
        self.kept.iter().skip(from).take_while(fits).map(|kept| kept.entry(uid)).collect()
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
