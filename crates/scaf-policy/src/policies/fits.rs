//! The last measurement of each program on more than one context. It is forgotten after a while on one, or a
//! program that was serial then, as while reading its input, would stay there.

use crate::{Machine, Program, ProgramId};
use std::collections::BTreeMap;

/// Seconds on one context after which the value is forgotten for the first time; twice as many each time
/// after, up to the second number.
const LOOK_AGAIN_S: f64 = 1.0;
const LOOK_LAST_S: f64 = 15.0;

#[derive(Debug)]
pub(super) struct Fits<T> {
    known: BTreeMap<ProgramId, Known<T>>,
}

#[derive(Debug)]
struct Known<T> {
    value: Option<T>,
    /// Since when it has had one context, if it has: another measurement is waited for so long.
    blind_s: Option<f64>,
    patience_s: f64,
}

impl<T: Copy> Fits<T> {
    pub fn new() -> Fits<T> {
        Fits { known: BTreeMap::new() }
    }

    /// Takes what `fit` makes of each program, if anything. True if an old value was forgotten.
    pub fn update(
        &mut self,
        machine: &Machine,
        programs: &[&Program],
        fit: impl Fn(&Program) -> Option<T>,
    ) -> bool {
        let mut known = BTreeMap::new();
        let mut forgot = false;
        for program in programs {
            let new = || Known { value: None, blind_s: None, patience_s: LOOK_AGAIN_S };
            let mut it = self.known.remove(&program.id).unwrap_or_else(new);
            // Only where there is more to be had.
            let stuck = program.dop == 1 && program.cap() > 1 && machine.capacity as usize > programs.len();
            if let Some(value) = fit(program) {
                (it.value, it.blind_s) = (Some(value), None);
            } else if it.value.is_some() && stuck {
                let since_s = *it.blind_s.get_or_insert(machine.now_s);
                if machine.now_s - since_s > it.patience_s {
                    forgot = true;
                    let patience_s = (2.0 * it.patience_s).min(LOOK_LAST_S);
                    it = Known { value: None, blind_s: None, patience_s };
                }
            } else {
                it.blind_s = None;
            }
            known.insert(program.id, it);
        }
        self.known = known;
        forgot
    }

    pub fn get(&self, id: ProgramId) -> Option<T> {
        self.known.get(&id).and_then(|known| known.value)
    }

    /// The weighted mean of `of` over known programs; `None` where none is known.
    pub fn mean(&self, programs: &[&Program], of: impl Fn(T) -> f64) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for program in programs {
            if let Some(value) = self.get(program.id) {
                sum += program.sane_weight() * of(value);
                weights += program.sane_weight();
            }
        }
        (weights > 0.0).then(|| sum / weights)
    }
}
