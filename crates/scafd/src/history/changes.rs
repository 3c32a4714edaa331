//! What changed from one moment to the next, and whether that is worth being kept.
//!
//! Who came and went, and what anyone was granted, is kept at once. Efficiencies are smoothed and move a
//! little all the time: they are kept when they have moved by half a hundredth. Reasons and curves are long
//! and change with them: they are looked at every [`SLOW`] moments, each program at another one.

use crate::control::{CurveOf, CurvePoint, Experiments, Frame, Granted, Numbers, Program, Setting, Snapshot};
use scaf_policy::fusion::Source;

/// 5 seconds' moments at 4 Hz.
const SLOW: u64 = 20;
/// How much a number has to move, as a share of it.
const MOVED: f64 = 0.005;
/// The same of a curve's points.
const BENT: f64 = 0.01;

/// Takes out of a program what isn't kept: counters, which tell more than its user may want, and what only
/// its details show.
pub(super) fn slim(program: &mut Program) {
    program.counters = None;
    program.runtimes = Vec::new();
    program.experiments = Experiments::default();
}

/// What changed from `before`, as viewers know it, to `now`.
pub(super) fn between(before: &Snapshot, now: &Snapshot) -> Frame {
    let mut frame = Frame {
        moment: now.moment,
        now_ns: now.now_ns,
        capacity: now.capacity,
        unmanaged_load: (now.unmanaged_load * 1e3).round() / 1e3,
        decisions: now.decisions,
        decision_ns: now.decision_ns,
        warnings: now.warnings,
        others: now.others,
        ..Frame::default()
    };
    let setting = |of: &Snapshot| Setting {
        policy: of.policy.clone(),
        pus: of.pus.clone(),
        quota: of.quota,
        counters: of.counters,
        turns: of.turns.clone(),
    };
    frame.setting = Some(setting(now)).filter(|new| *new != setting(before)).map(Box::new);
    let mut old = before.programs.iter().peekable();
    for program in &now.programs {
        while let Some(left) = old.next_if(|old| old.id < program.id) {
            frame.left.push(left.id);
        }
        match old.next_if(|old| old.id == program.id) {
            None => frame.arrived.push(program.clone()),
            Some(old) => changes(old, program, now.moment, &mut frame),
        }
    }
    frame.left.extend(old.map(|left| left.id));
    frame
}

fn changes(old: &Program, new: &Program, moment: u64, frame: &mut Frame) {
    let slow = new.id.wrapping_add(moment).is_multiple_of(SLOW);
    if granted(old, new) || slow && Granted::of(old) != Granted::of(new) {
        frame.grants.push(Granted::of(new));
    }
    if moved(old.efficiency, new.efficiency, MOVED)
        || moved(old.speedup, new.speedup, MOVED)
        || old.team != new.team
        || slow && (old.regions != new.regions || old.in_region != new.in_region)
    {
        frame.numbers.push(Numbers::of(new));
    }
    let dops = |of: &Program| of.curve.iter().map(|point| point.dop).collect::<Vec<_>>();
    if dops(old) != dops(new) || slow && bent(&old.curve, &new.curve) {
        frame.curves.push(CurveOf { id: new.id, points: new.curve.iter().map(short).collect() });
    }
}

/// Whether it has other contexts, has them in another way, or is to have other limits.
fn granted(old: &Program, new: &Program) -> bool {
    old.dop != new.dop
        || old.pus != new.pus
        || old.mechanism != new.mechanism
        || old.effective_ns != new.effective_ns
        || (old.min, old.max, old.weight) != (new.min, new.max, new.weight)
}

fn moved(old: Option<f64>, new: Option<f64>, by: f64) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => (new - old).abs() > by * old.abs().max(1e-3),
        (old, new) => old.is_some() != new.is_some(),
    }
}

fn bent(old: &[CurvePoint], new: &[CurvePoint]) -> bool {
    old.iter().zip(new).any(|(old, new)| {
        moved(Some(old.speedup), Some(new.speedup), BENT)
            || (old.error_ratio - new.error_ratio).abs() > BENT
            || moved(old.observed, new.observed, BENT)
            || old.sources != new.sources
    })
}

fn short(point: &CurvePoint) -> CurvePoint {
    let short = |value: f64| (value * 1e4).round() / 1e4;
    CurvePoint {
        speedup: short(point.speedup),
        error_ratio: short(point.error_ratio),
        observed: point.observed.map(short),
        ..point.clone()
    }
}

/// What a frame takes, roughly.
pub(super) fn bytes(frame: &Frame) -> usize {
    let point = size_of::<CurvePoint>() + 2 * size_of::<Source>() + 16;
    let setting = |setting: &Setting| {
        let turns = setting.turns.iter().flat_map(|turns| &turns.round);
        size_of::<Setting>() + 300 + turns.map(|turn| 40 + 8 * turn.members.len()).sum::<usize>()
    };
    let granted = |granted: &Granted| {
        let texts = [&granted.reason, &granted.mechanism_reason, &granted.permission, &granted.ungathered];
        let texts: usize = texts.map(|text| text.len() + 16).iter().sum();
        size_of::<Granted>() + texts + granted.pus.words().len() * 8 + 16
    };
    let arrived = |program: &Program| {
        size_of::<Program>() + granted(&Granted::of(program)) + 64 + program.curve.len() * point
    };
    let curve = |curve: &CurveOf| size_of::<CurveOf>() + 16 + curve.points.len() * point;
    frame.setting.as_deref().map_or(0, setting)
        + frame.arrived.iter().map(arrived).sum::<usize>()
        + frame.grants.iter().map(granted).sum::<usize>()
        + frame.curves.iter().map(curve).sum::<usize>()
        + frame.numbers.len() * size_of::<Numbers>()
        + frame.left.len() * 8
}
