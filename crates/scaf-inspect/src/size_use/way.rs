//! A way around a loop: whether one round of it is as all others.

use crate::decode::{Look, RegisterSet};

/// Most instructions around a spinning loop. Compilers make two to five where they optimise, else up to 20.
pub(crate) const MAX_LOOP: usize = 40;

/// A way through some instructions that change nothing but registers.
#[derive(Clone)]
pub(crate) struct Way {
    length: usize,
    looks: bool,
    written: RegisterSet,
    /// For each register that was written, those whose values at the beginning went into it.
    origins: [RegisterSet; RegisterSet::MOST],
}

impl Way {
    pub fn new() -> Way {
        let none = RegisterSet::default();
        Way { length: 0, looks: false, written: none, origins: [none; RegisterSet::MOST] }
    }

    /// Goes on by an instruction; `false` if the way is too long then.
    pub fn takes(&mut self, look: &Look) -> bool {
        self.length += 1;
        self.looks |= look.reads_memory;
        let mut from = RegisterSet::default();
        for register in look.reads.iter() {
            match self.written.contains(register) {
                true => from.extend(self.origins[register]),
                false => from.insert(register),
            }
        }
        self.written.extend(look.writes);
        look.writes.iter().for_each(|register| self.origins[register] = from);
        self.length <= MAX_LOOP
    }

    /// Whether one of the registers that nothing else writes goes into itself.
    pub fn carries_but(&self, others: RegisterSet) -> bool {
        self.written
            .iter()
            .any(|register| self.origins[register].contains(register) && !others.contains(register))
    }

    /// Whether it reads memory, and registers become the same in each round: no value goes into itself.
    pub fn spins(&self) -> bool {
        let mut changing = self.written;
        loop {
            let mut still = RegisterSet::default();
            let goes_in = |register: &usize| !self.origins[*register].is_disjoint(changing);
            changing.iter().filter(goes_in).for_each(|register| still.insert(register));
            if still == changing {
                return self.looks && still == RegisterSet::default();
            }
            changing = still;
        }
    }
}
