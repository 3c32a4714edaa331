//! A recording of `scaf record`, as the moments at which it decided.

use anyhow::{Context, Result, ensure};
use scaf_policy::Dop;
use scafd::control::{CurvePoint, Mechanism, Others, Program, Snapshot};
use scafd::journal::Entry;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The moments in that file.
/// # Errors
/// It can't be read, a line is no decision, or there is none.
pub fn read(file: &Path) -> Result<Vec<Snapshot>> {
    let name = || file.display().to_string();
    let lines = BufReader::new(File::open(file).with_context(name)?).lines();
    let mut came = BTreeMap::new();
    let mut moments = Vec::new();
    for (number, line) in lines.enumerate() {
        let line = line.with_context(name)?;
        if line.trim().is_empty() {
            continue;
        }
        let entry: Entry = serde_json::from_str(&line)
            .with_context(|| format!("{}:{}: no decision of `scaf record`", name(), number + 1))?;
        moments.push(moment(&entry, &mut came));
    }
    ensure!(!moments.is_empty(), "{}: no decision is recorded there", name());
    Ok(moments)
}

/// The state after a decision, as far as it is recorded: PUs aren't, and programs' numbers replace process
/// ids. `came` has when each program was first seen.
fn moment(entry: &Entry, came: &mut BTreeMap<u64, u64>) -> Snapshot {
    let decision = &entry.decision;
    let now_ns = (decision.machine.now_s * 1e9) as u64;
    let ids = decision.programs.iter().map(|program| program.id.0);
    // Those that are left alone have a name only.
    let mut ids: Vec<u64> = ids.chain(entry.names.keys().copied()).collect();
    ids.sort_unstable();
    ids.dedup();
    let programs = ids.into_iter().map(|id| {
        let attached_ns = *came.entry(id).or_insert(now_ns);
        program(entry, id, attached_ns)
    });
    Snapshot {
        scope: "recorded".into(),
        now_ns,
        policy: decision.policy.clone(),
        capacity: decision.machine.capacity,
        decisions: decision.number,
        programs: programs.collect(),
        others: Others { programs: entry.hidden, contexts: 0 },
        ..Snapshot::default()
    }
}

fn program(entry: &Entry, id: u64, attached_ns: u64) -> Program {
    let asked = entry.decision.programs.iter().find(|program| program.id.0 == id);
    let share = entry.decision.allocation.shares.iter().find(|share| share.id.0 == id);
    let step = entry.steps.get(&id).copied();
    let dop = share.and_then(|share| match share.dop {
        Dop::Contexts(dop) => Some(step.unwrap_or(dop)),
        Dop::Unmanaged => None,
    });
    let efficiency = asked.and_then(|program| program.efficiency);
    let mechanism = entry.mechanisms.get(&id).copied().unwrap_or(Mechanism::Unmanaged);
    Program {
        id,
        pid: u32::try_from(id).unwrap_or(u32::MAX),
        uid: asked.map_or(0, |program| program.user),
        name: entry.names.get(&id).cloned().unwrap_or_else(|| format!("program {id}")),
        attached_ns,
        mechanism,
        dop,
        effective_ns: Some(0),
        team: asked.map_or(0, |program| program.team),
        in_region: asked.is_some_and(|program| !program.serial),
        natural: asked.map_or(1, |program| program.natural),
        min: asked.map_or(1, |program| program.min),
        max: asked.map_or(0, |program| if program.max == u32::MAX { 0 } else { program.max }),
        weight: asked.map_or(1.0, |program| program.weight),
        efficiency,
        speedup: asked.and_then(|program| Some(program.efficiency? * f64::from(program.dop))),
        curve: asked.map_or_else(Vec::new, |program| curve(entry, program)),
        reason: share.map_or_else(|| "left alone".to_owned(), |share| share.reason.clone()),
        ..Program::default()
    }
}

fn curve(entry: &Entry, program: &scaf_policy::Program) -> Vec<CurvePoint> {
    let sources = entry.sources.get(&program.id.0);
    let point = |(at, point): (usize, &scaf_policy::fusion::Measured)| CurvePoint {
        dop: point.dop,
        speedup: point.speedup.value,
        error_ratio: point.speedup.error,
        observed: None,
        sources: sources.and_then(|all| all.get(at)).cloned().unwrap_or_default(),
    };
    program.curve.iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_policy::{Decision, Machine, ProgramId, Share};

    fn line(number: u64, dop: u32) -> String {
        let share = Share { id: ProgramId(3), dop: Dop::Contexts(dop), reason: "half of it".into() };
        let asked = scaf_policy::Program {
            efficiency: Some(0.5),
            dop: 4,
            user: 1000,
            ..scaf_policy::Program::new(ProgramId(3), 8)
        };
        let entry = Entry {
            names: [(3, "cg".to_owned()), (4, "alone".to_owned())].into(),
            mechanisms: [(3, Mechanism::Resize)].into(),
            ..Entry::of(Decision {
                number,
                policy: "scaf".into(),
                machine: Machine::new(8, number as f64 / 4.0),
                programs: vec![asked],
                allocation: vec![share].into(),
            })
        };
        serde_json::to_string(&entry).unwrap()
    }

    #[test]
    fn each_recorded_decision_is_a_moment() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{}\n{}\n", line(4, 4), line(5, 2))).unwrap();
        let moments = read(file.path()).unwrap();
        assert_eq!(moments.len(), 2);
        assert_eq!((moments[1].now_ns, moments[1].capacity), (1_250_000_000, 8));
        let [cg, alone] = &moments[1].programs[..] else { panic!("{moments:?}") };
        assert_eq!((cg.name.as_str(), cg.dop, cg.speedup, cg.uid), ("cg", Some(2), Some(2.0), 1000));
        assert_eq!((cg.attached_ns, cg.reason.as_str()), (1_000_000_000, "half of it"));
        assert_eq!((alone.name.as_str(), alone.dop), ("alone", None));
    }

    #[test]
    fn what_is_no_recording_is_refused_by_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{}\nnonsense\n", line(4, 4))).unwrap();
        let error = format!("{:#}", read(file.path()).unwrap_err());
        assert!(error.contains(":2: no decision"), "{error}");
        std::fs::write(file.path(), "\n").unwrap();
        assert!(read(file.path()).unwrap_err().to_string().contains("no decision is recorded"));
    }
}
