//! Programs that take turns, as the daemon's controller has them do it.

use crate::running::Running;
use crate::scenario::Mechanisms;
use scaf_policy::Turn;

#[derive(Default)]
pub(crate) struct Turns {
    turns: Vec<Turn>,
    now: usize,
    end_s: f64,
}

impl Turns {
    pub fn end_s(&self) -> Option<f64> {
        (!self.turns.is_empty()).then_some(self.end_s)
    }

    /// Takes in the policy's turns; unchanged ones go on undisturbed.
    pub fn decided(&mut self, now_s: f64, turns: &[Turn], mechanisms: &Mechanisms) {
        if self.turns != turns {
            self.turns = turns.to_vec();
            self.begin(0, now_s, mechanisms);
        }
    }

    pub fn next(&mut self, now_s: f64, mechanisms: &Mechanisms) {
        self.begin((self.now + 1) % self.turns.len().max(1), now_s, mechanisms);
    }

    fn begin(&mut self, turn: usize, now_s: f64, mechanisms: &Mechanisms) {
        self.now = turn;
        let slices = self.turns.get(turn).map_or(1, |turn| turn.slices);
        self.end_s = now_s + f64::from(slices) * mechanisms.slice_ms * 1e-3;
    }

    /// Stops and continues programs as the turn wants it. A program that is in no turn runs all the time.
    pub fn take(&self, now_s: f64, programs: &mut [Running], mechanisms: &Mechanisms) {
        for program in programs {
            let waits = |turn: &Turn| turn.members.contains(&program.id);
            let runs = self.turns.get(self.now).is_none_or(waits) || !self.turns.iter().any(waits);
            program.freeze(now_s, !runs, mechanisms);
        }
    }
}
