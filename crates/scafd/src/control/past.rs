//! The last minutes, as they are kept and told: the state at one moment, and from there on what changed.
//!
//! A viewer has the state at some moment and asks for the frames after it. [`Snapshot::advance`] makes the
//! state at the next moment from a frame. So all that a view shows is a [`Snapshot`], of now or of then.

use super::snapshot::{CountersAre, CurvePoint, Others, Program, Snapshot, Turns};
use scaf_policy::PuSet;
use scaf_team::choice::Mechanism;
use serde::{Deserialize, Serialize};

/// An answer to [`super::Request::History`]: as many frames as are told at once. Ask again after the last of
/// them until that is the latest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Process id of the daemon; each daemon numbers its moments from 1.
    pub daemon: u32,
    /// Number of the oldest moment that is kept. Ten minutes are, or as many as fit 8 MiB: of 256 programs
    /// that all change all the time some minutes.
    pub oldest: u64,
    /// Number of the latest moment.
    pub latest: u64,
    /// The state before the first frame, where whoever asked can't have it.
    pub base: Option<Box<Snapshot>>,
    /// What changed from each moment to the next, in order.
    pub frames: Vec<Frame>,
}

/// What changed from one moment to the next. Of programs it has who came and went, their grants at once, and
/// smaller changes of numbers, reasons and curves now and then.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Frame {
    /// Number of the moment.
    pub moment: u64,
    /// When it was, in nanoseconds of CLOCK_MONOTONIC.
    pub now_ns: u64,
    /// As in [`Snapshot`].
    pub capacity: u32,
    /// As in [`Snapshot`].
    pub unmanaged_load: f64,
    /// As in [`Snapshot`].
    pub decisions: u64,
    /// As in [`Snapshot`].
    pub decision_ns: u64,
    /// As in [`Snapshot`].
    pub warnings: u64,
    /// What holds for all and seldom changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<Box<Setting>>,
    /// Other users' programs that aren't told of.
    #[serde(default, skip_serializing_if = "nobody")]
    pub others: Others,
    /// Programs that came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrived: Vec<Program>,
    /// Numbers of programs that left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<u64>,
    /// What programs were granted, and how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Granted>,
    /// How programs do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Numbers>,
    /// What is known of programs' speedups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<CurveOf>,
}

fn nobody(others: &Others) -> bool {
    *others == Others::default()
}

/// What holds for all programs and seldom changes; each as in [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Policy in force.
    pub policy: String,
    /// PUs that may be given away.
    pub pus: PuSet,
    /// CPU quota in contexts.
    pub quota: Option<f64>,
    /// Whether hardware counters are read.
    pub counters: CountersAre,
    /// Whose turn it is.
    pub turns: Option<Turns>,
}

/// What a program has and why; each as in [`Program`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // they are those of the program
pub struct Granted {
    pub id: u64,
    pub dop: Option<u32>,
    pub pus: PuSet,
    pub granted_ns: u64,
    pub effective_ns: Option<u64>,
    #[serde(with = "crate::mechanism_names")]
    pub mechanism: Mechanism,
    pub mechanism_reason: String,
    pub permission: String,
    pub ungathered: String,
    pub natural: u32,
    pub min: u32,
    pub max: u32,
    pub weight: f64,
    pub earlier_runs: u32,
    pub reason: String,
}

impl Granted {
    /// What that program has.
    pub fn of(program: &Program) -> Granted {
        Granted {
            id: program.id,
            dop: program.dop,
            pus: program.pus.clone(),
            granted_ns: program.granted_ns,
            effective_ns: program.effective_ns,
            mechanism: program.mechanism,
            mechanism_reason: program.mechanism_reason.clone(),
            permission: program.permission.clone(),
            ungathered: program.ungathered.clone(),
            natural: program.natural,
            min: program.min,
            max: program.max,
            weight: program.weight,
            earlier_runs: program.earlier_runs,
            reason: program.reason.clone(),
        }
    }

    fn hand_to(&self, program: &mut Program) {
        let new = self.clone();
        (program.dop, program.pus) = (new.dop, new.pus);
        (program.granted_ns, program.effective_ns) = (new.granted_ns, new.effective_ns);
        (program.mechanism, program.mechanism_reason) = (new.mechanism, new.mechanism_reason);
        (program.permission, program.ungathered) = (new.permission, new.ungathered);
        (program.natural, program.min, program.max) = (new.natural, new.min, new.max);
        (program.weight, program.earlier_runs, program.reason) = (new.weight, new.earlier_runs, new.reason);
    }
}

/// How a program does; each as in [`Program`]. An array of seven in JSON, for there are many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Packed", into = "Packed")]
#[allow(missing_docs)] // they are those of the program
pub struct Numbers {
    pub id: u64,
    pub efficiency: Option<f64>,
    pub speedup: Option<f64>,
    pub team: u32,
    pub in_region: bool,
    pub regions: u64,
    pub promised_regions: u64,
}

type Packed = (u64, Option<f64>, Option<f64>, u32, bool, u64, u64);

impl From<Packed> for Numbers {
    fn from(packed: Packed) -> Numbers {
        let (id, efficiency, speedup, team, in_region, regions, promised_regions) = packed;
        Numbers { id, efficiency, speedup, team, in_region, regions, promised_regions }
    }
}

impl From<Numbers> for Packed {
    fn from(n: Numbers) -> Packed {
        (n.id, n.efficiency, n.speedup, n.team, n.in_region, n.regions, n.promised_regions)
    }
}

impl Numbers {
    /// How that program does, with numbers of four digits.
    pub fn of(program: &Program) -> Numbers {
        let short = |value: f64| (value * 1e4).round() / 1e4;
        Numbers {
            id: program.id,
            efficiency: program.efficiency.map(short),
            speedup: program.speedup.map(short),
            team: program.team,
            in_region: program.in_region,
            regions: program.regions,
            promised_regions: program.promised_regions,
        }
    }

    fn hand_to(self, program: &mut Program) {
        (program.efficiency, program.speedup) = (self.efficiency, self.speedup);
        (program.team, program.in_region) = (self.team, self.in_region);
        (program.regions, program.promised_regions) = (self.regions, self.promised_regions);
    }
}

/// What is known of a program's speedup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveOf {
    /// Number of the program.
    pub id: u64,
    /// As in [`Program`].
    pub points: Vec<CurvePoint>,
}

impl Snapshot {
    /// Makes this the state at the frame's moment, if it is the one before. Programs that it doesn't have are
    /// passed over.
    pub fn advance(&mut self, frame: &Frame) {
        (self.moment, self.now_ns) = (frame.moment, frame.now_ns);
        (self.capacity, self.unmanaged_load) = (frame.capacity, frame.unmanaged_load);
        (self.decisions, self.decision_ns) = (frame.decisions, frame.decision_ns);
        (self.warnings, self.others) = (frame.warnings, frame.others);
        if let Some(setting) = &frame.setting {
            let Setting { policy, pus, quota, counters, turns } = (**setting).clone();
            (self.policy, self.pus, self.quota) = (policy, pus, quota);
            (self.counters, self.turns) = (counters, turns);
        }
        if !frame.left.is_empty() {
            self.programs.retain(|program| !frame.left.contains(&program.id));
        }
        if !frame.arrived.is_empty() {
            self.programs.extend(frame.arrived.iter().cloned());
            self.programs.sort_by_key(|program| program.id);
        }
        for grant in &frame.grants {
            self.with(grant.id, |program| grant.hand_to(program));
        }
        for numbers in &frame.numbers {
            self.with(numbers.id, |program| numbers.hand_to(program));
        }
        for curve in &frame.curves {
            self.with(curve.id, |program| program.curve.clone_from(&curve.points));
        }
    }

    /// Programs stand in order of their numbers.
    fn with(&mut self, id: u64, change: impl FnOnce(&mut Program)) {
        let found = self.programs.binary_search_by_key(&id, |program| program.id).ok();
        if let Some(program) = found.and_then(|at| self.programs.get_mut(at)) {
            change(program);
        }
    }
}
