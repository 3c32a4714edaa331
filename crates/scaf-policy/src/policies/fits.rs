//! The last measurement of each program on more than one context: on one the speedup is always 1. It is
//! forgotten after a while, or a program that was serial then, as while reading its input, would stay so.

use crate::{Machine, Program, ProgramId};
use std::collections::BTreeMap;

/// Decisions on one context (15 s at 4 Hz) after which the value is forgotten.
const LOOK_AGAIN: u32 = 60;

#[derive(Debug)]
pub(super) struct Fits<T> {
    known: BTreeMap<ProgramId, (T, u32)>,
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
            if let Some(value) = fit(program) {
                known.insert(program.id, (value, 0));
            } else if let Some(&(value, blind)) = self.known.get(&program.id) {
                // Only where there is more to be had.
                let stuck =
                    program.dop == 1 && program.cap() > 1 && machine.capacity as usize > programs.len();
                let blind = if stuck { blind + 1 } else { 0 };
                if blind <= LOOK_AGAIN {
                    known.insert(program.id, (value, blind));
                } else {
                    forgot = true;
                }
            }
        }
        self.known = known;
        forgot
    }

    pub fn get(&self, id: ProgramId) -> Option<T> {
        self.known.get(&id).map(|known| known.0)
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
