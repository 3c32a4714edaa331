//! What `scaf record` writes, and what would have happened under another policy. A trace has a decision a
//! line, in JSON. From that each program is rebuilt: its presence from the first decision that has it to the
//! first that hasn't, its speedup curve by what was known most surely, its work by the integral of that
//! speedup. Assumed: a program always does the same, can be resized within 10 ms, and slows no other.

use crate::scenario::{self, Permits, ProgramSpec, RegionSpec, Scenario};
use crate::shape::{MOST_CONTEXTS, Shape};
use scaf_policy::fusion::Measured;
use scaf_policy::{Decision, Dop, Machine, ProgramId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of a trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
    /// Names of programs, by their numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<u64, String>,
    /// DoPs that programs had in place of their shares until the next decision.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<u64, u32>,
    /// Number of programs hidden from whoever recorded it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
}

fn is_zero(hidden: &u32) -> bool {
    *hidden == 0
}

impl Line {
    /// A decision of which nothing else is known.
    pub fn of(decision: Decision) -> Line {
        Line { decision, names: BTreeMap::new(), steps: BTreeMap::new(), hidden: 0 }
    }
}

/// Why a trace can't be replayed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A line is no decision.
    #[error("line {line} is no decision of `scaf record` ({reason})")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        reason: serde_json::Error,
    },
    /// Decisions are out of order.
    #[error(
        "line {0}: its time is before that of the line before, or no number; a trace is of one daemon's run"
    )]
    Order(usize),
    /// Programs that shared the machine are hidden.
    #[error(
        "line {line}: {hidden} programs of other users took part and are hidden from whoever recorded this; \
         record as root, or as the user \
         of the daemon"
    )]
    Hidden {
        /// The line's number, from 1.
        line: usize,
        /// How many are hidden.
        hidden: u32,
    },
    /// No program was there for any time.
    #[error("no program is in it for longer than a moment: record for longer, while programs run")]
    Empty,
    /// A number is too large.
    #[error("line {line}: {what}")]
    Size {
        /// The line's number, from 1.
        line: usize,
        /// What is too large.
        what: String,
    },
    /// What was rebuilt can't be simulated.
    #[error("rebuilt from the trace: {0}")]
    Scenario(#[from] scenario::Error),
}

/// Seconds of a run of the rebuilt region, short so that grants take effect at once.
const RUN_S: f64 = 0.01;
const SANE: (f64, f64) = (1e-3, 1e6);

/// Reads a trace; empty lines are passed over.
/// # Errors
/// Lines that are no decisions, out of order, too large or with hidden programs.
pub fn read(text: &str) -> Result<Vec<Line>, Error> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = number + 1;
        let read: Line = serde_json::from_str(text).map_err(|reason| Error::Line { line, reason })?;
        let now_s = read.decision.machine.now_s;
        let in_order = lines.last().is_none_or(|last| last.decision.machine.now_s <= now_s);
        if !now_s.is_finite() || !in_order {
            return Err(Error::Order(line));
        }
        let capacity = read.decision.machine.capacity;
        if capacity > MOST_CONTEXTS {
            return Err(Error::Size { line, what: format!("{capacity} contexts are too many to simulate") });
        }
        if read.hidden > 0 {
            return Err(Error::Hidden { line, hidden: read.hidden });
        }
        lines.push(read);
    }
    Ok(lines)
}

/// What happened to a program, as far as the trace has it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Recorded {
    /// Its name, or its number.
    pub name: String,
    /// When it came, in seconds since the trace began.
    pub arrived_s: f64,
    /// When it was gone for good, or the trace ended, in seconds.
    pub ended_s: f64,
    /// Seconds for which it was there, less those in which it could run nowhere.
    pub time_s: f64,
    /// Whether it was there to the end, so that its further work isn't known.
    pub cut: bool,
    /// Its work, by its curve.
    pub work_s: f64,
    /// Its work over the time that it was there.
    pub speedup: f64,
    /// How often it got another DoP.
    pub changes: u64,
}

/// A trace as a scenario, beside what happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Rebuilt {
    /// The programs, on as many contexts as there were at most.
    pub scenario: Scenario,
    /// What happened to the programs, in the scenario's order.
    pub recorded: Vec<Recorded>,
    /// The policy that decided last.
    pub policy: String,
}

struct Seen {
    name: String,
    arrived_s: f64,
    left_s: Option<f64>,
    /// Seconds for which it was away, as a program that may run nowhere for a while.
    away_s: f64,
    /// By interval: seconds of its turns, contexts, whether serial.
    spells: Vec<(f64, u32, bool)>,
    natural: u32,
    min: u32,
    max: u32,
    weight: f64,
    user: u32,
    rigid: bool,
    /// The surest speedup at each DoP, the last of equals, with its relative error.
    curve: BTreeMap<u32, (f64, f64)>,
}

/// Rebuilds the programs of a trace.
/// # Errors
/// If no program was there, or the result can't be simulated.
pub fn rebuild(lines: &[Line]) -> Result<Rebuilt, Error> {
    let first_s = lines.first().map_or(0.0, |line| line.decision.machine.now_s);
    let mut seen: BTreeMap<ProgramId, Seen> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let decision = &line.decision;
        let now_s = decision.machine.now_s - first_s;
        let dt_s = lines.get(at + 1).map_or(0.0, |next| next.decision.machine.now_s - first_s - now_s);
        for (id, program) in &mut seen {
            if program.left_s.is_none() && !decision.programs.iter().any(|there| there.id == *id) {
                program.left_s = Some(now_s);
            }
        }
        for program in &decision.programs {
            let name = || line.names.get(&program.id.0).cloned();
            let entry = seen.entry(program.id).or_insert_with(|| Seen {
                name: name().unwrap_or_else(|| format!("program {}", program.id.0)),
                arrived_s: now_s,
                left_s: None,
                away_s: 0.0,
                spells: Vec::new(),
                natural: 1,
                min: program.min.clamp(1, MOST_CONTEXTS),
                max: program.max.clamp(1, MOST_CONTEXTS),
                weight: program.sane_weight(),
                user: program.user,
                rigid: program.rigid,
                curve: BTreeMap::new(),
            });
            if let Some(left_s) = entry.left_s.take() {
                entry.away_s += now_s - left_s;
            }
            entry.natural = entry.natural.max(program.natural.min(MOST_CONTEXTS));
            let sane = |value: f64| value.is_finite() && (SANE.0..=SANE.1).contains(&value);
            let judged =
                program.efficiency.map(|e| Measured::useful(program.dop, e * f64::from(program.dop)));
            for Measured { dop, speedup } in program.curve.iter().copied().chain(judged) {
                let error = if speedup.error.is_finite() { speedup.error } else { f64::MAX };
                let surer = entry.curve.get(&dop).is_none_or(|(_, known)| error <= *known);
                if surer && (2..=MOST_CONTEXTS).contains(&dop) && sane(speedup.value) {
                    entry.curve.insert(dop, (speedup.value, error));
                }
            }
            let share = decision.allocation.shares.iter().find(|share| share.id == program.id);
            let step = line.steps.get(&program.id.0).map(|dop| Dop::Contexts(*dop));
            let dop = match step.or(share.map(|share| share.dop)) {
                Some(Dop::Contexts(dop)) => dop.clamp(1, MOST_CONTEXTS),
                _ => entry.natural,
            };
            entry.spells.push((dt_s * decision.allocation.time_share(program.id), dop, program.serial));
        }
    }
    let end_s = lines.last().map_or(0.0, |line| line.decision.machine.now_s - first_s);
    let rebuilt: Vec<(ProgramSpec, Recorded)> =
        seen.into_values().filter_map(|program| program.rebuilt(end_s)).collect();
    if rebuilt.is_empty() {
        return Err(Error::Empty);
    }
    let contexts = lines.iter().map(|line| line.decision.machine.capacity).max().unwrap_or(1).max(1);
    let mut capacity: Vec<(f64, u32)> = Vec::new();
    for Machine { capacity: now, now_s, .. } in lines.iter().map(|line| &line.decision.machine) {
        let now = (*now).max(1);
        if capacity.last().is_none_or(|(_, before)| *before != now) {
            capacity.push((now_s - first_s, now));
        }
    }
    if capacity.len() == 1 {
        capacity.clear();
    }
    let policy = lines.last().map_or_else(String::new, |line| line.decision.policy.clone());
    let (gang, users) = lines.last().map_or_else(Default::default, |line| {
        let machine = &line.decision.machine;
        (machine.gang, machine.users)
    });
    let (programs, recorded) = rebuilt.into_iter().unzip();
    let scenario = Scenario {
        name: "trace".into(),
        description: "Rebuilt from a trace".into(),
        machine: format!("core:{contexts} pu:1"),
        capacity,
        assumptions: [
            "Each program does one thing all the time, with the speedup that was known of it most surely; \
             between the DoPs that were observed, and beyond them, time is a power of the DoP.",
            "Teams can be resized within 10 ms. Contexts are all alike, and nobody slows anybody. As many \
             of them are there as were, whatever the policy.",
            "Programs that were still there when the trace ended have the work that they had done by then.",
        ]
        .map(str::to_owned)
        .to_vec(),
        noise_pct: 0.0,
        contention: scenario::Contention::default(),
        mechanisms: scenario::Mechanisms::default(),
        daemon: scenario::DaemonSettings { gang, users, ..Default::default() },
        programs,
    };
    scenario.check()?;
    Ok(Rebuilt { scenario, recorded, policy })
}

impl Seen {
    /// `None` if it was there for no time.
    fn rebuilt(self, end_s: f64) -> Option<(ProgramSpec, Recorded)> {
        let ended_s = self.left_s.unwrap_or(end_s);
        let time_s = ended_s - self.arrived_s - self.away_s;
        let most = self.spells.iter().map(|spell| spell.1).max().unwrap_or(1).max(self.natural);
        let curve: BTreeMap<u32, f64> =
            self.curve.iter().map(|(dop, (speedup, _))| (*dop, *speedup)).collect();
        let shape = Shape::Points((1..=most).map(|p| (p, power(&curve, p))).collect());
        let speedup = |(_, dop, serial): &(f64, u32, bool)| if *serial { 1.0 } else { shape.at(*dop) };
        let work_s: f64 = self.spells.iter().map(|spell| spell.0 * speedup(spell)).sum();
        if time_s <= 0.0 || work_s < 1e-3 {
            return None;
        }
        let changes = self.spells.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as u64;
        // Short serial phases are in the curve; lasting ones, which were lent, come first.
        let serial_s: f64 = self.spells.iter().filter(|spell| spell.2).map(|spell| spell.0).sum();
        let parallel_s = (work_s - serial_s).max(RUN_S);
        let times = (parallel_s / RUN_S).ceil().clamp(1.0, 1e9);
        let region = RegionSpec {
            seconds: parallel_s / times,
            times: times as u32,
            speedup: shape,
            bandwidth: 0.0,
            waits: 1.0,
            marks: 1,
            mechanism: Permits::Resize,
        };
        let mut spec = ProgramSpec::of_region(&self.name, self.arrived_s, region);
        spec.phases[0].serial_s = serial_s;
        spec.natural = Some(self.natural);
        spec.min = self.min;
        spec.max = Some(self.max);
        spec.weight = self.weight;
        spec.user = self.user;
        spec.rigid = self.rigid;
        let recorded = Recorded {
            name: self.name,
            arrived_s: self.arrived_s,
            ended_s,
            time_s,
            cut: self.left_s.is_none(),
            work_s,
            speedup: work_s / time_s,
            changes,
        };
        Some((spec, recorded))
    }
}

/// The speedup at `p`: a power of p between known DoPs and beyond, where it never falls; p if none is known.
fn power(curve: &BTreeMap<u32, f64>, p: u32) -> f64 {
    let x = f64::from(p).ln();
    let below = curve.range(..=p).next_back().map_or((1, 1.0), |(dop, s)| (*dop, *s));
    let line = |(a, s): (u32, f64), (b, t): (u32, f64)| {
        let (a, b) = (f64::from(a).ln(), f64::from(b).ln());
        (s.ln() + (t / s).ln() * (x - a) / (b - a)).exp()
    };
    let value = match curve.range(p + 1..).next() {
        _ if below.0 == p => below.1,
        Some((dop, s)) => line(below, (*dop, *s)),
        None if below.0 == 1 => f64::from(p),
        None => {
            let before = curve.range(..below.0).next_back().map_or((1, 1.0), |(dop, s)| (*dop, *s));
            line(before, below).max(below.1)
        }
    };
    if p <= 1 { 1.0 } else { value.clamp(SANE.0, SANE.1) }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
