//! What changed from one moment to the next, as far as it is kept: which fields at once and which now and
//! then is declared at the fields (`control/snapshot.rs`). Reasons and curves are long and change with
//! efficiencies: they are compared every [`SLOW`] moments, each program at another one.

use crate::control::field::Value;
use crate::control::shown::{moved, rounded};
use crate::control::{CurveOf, CurvePoint, Experiments, Frame, Granted, Numbers, Program, Setting, Snapshot};

/// 5 seconds' moments at 4 Hz.
const SLOW: u64 = 20;
/// How much a curve's points have to move, as a share.
const BENT: f64 = 0.01;

/// Removes what isn't kept: counters, which reveal more than a user may want, and what only details show.
pub(super) fn slim(program: &mut Program) {
    program.counters = None;
    program.runtimes = Vec::new();
    program.experiments = Experiments::default();
}

/// What changed from `before`, as viewers know it, to `now`.
pub(super) fn between(before: &Snapshot, now: &Snapshot) -> Frame {
    let mut frame = Frame { others: now.others, ..Frame::of(now) };
    frame.setting = Setting::differs(before, now, false).then(|| Box::new(Setting::of(now)));
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
    if Granted::differs(old, new, slow) {
        frame.grants.push(Granted::of(new));
    }
    if Numbers::differs(old, new, slow) {
        frame.numbers.push(Numbers::of(new));
    }
    let dops = |of: &Program| of.curve.iter().map(|point| point.dop).collect::<Vec<_>>();
    if dops(old) != dops(new) || slow && bent(&old.curve, &new.curve) {
        frame.curves.push(CurveOf { id: new.id, points: new.curve.iter().map(short).collect() });
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
    let short = |value: f64| rounded(value, 1e4);
    CurvePoint {
        speedup: short(point.speedup),
        error_ratio: short(point.error_ratio),
        observed: point.observed.map(short),
        ..point.clone()
    }
}

/// What a frame takes beyond its own size, roughly.
pub(super) fn bytes(frame: &Frame) -> usize {
    frame.setting.as_ref().map_or(0, |setting| setting.bytes())
        + frame.arrived.heap_bytes()
        + frame.grants.iter().map(Granted::bytes).sum::<usize>()
        + frame.numbers.len() * size_of::<Numbers>()
        + frame.curves.iter().map(|curve| size_of::<CurveOf>() + curve.points.heap_bytes()).sum::<usize>()
        + frame.left.len() * 8
}
