//! What is remembered of a measure that says nothing on one context.
//!
//! On one context every program has the speedup 1, whatever it could do with more. A policy that judges by
//! the latest measurement has to keep the last one that was made on more; and to forget it after a while,
//! since a program that was serial when last seen, as most are while they read their input, would otherwise
//! stay there for good.

use crate::{Machine, Program, ProgramId};
use std::collections::BTreeMap;

/// After so many decisions on one context (15 s at 4 Hz) what is remembered is forgotten.
const LOOK_AGAIN: u32 = 60;

/// The last value of each program that is known.
#[derive(Debug)]
pub(super) struct Fits<T> {
    known: BTreeMap<ProgramId, (T, u32)>,
}

impl<T: Copy> Fits<T> {
    pub fn new() -> Fits<T> {
        Fits { known: BTreeMap::new() }
    }

    /// Takes in who is there, and what `fit` makes of each now, if anything. True if something was forgotten
    /// after a while.
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

    /// What is known of a program.
    pub fn get(&self, id: ProgramId) -> Option<T> {
        self.known.get(&id).map(|known| known.0)
    }

    /// The mean by weights of those that are known, of what `of` takes from them; `None` where none is.
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
