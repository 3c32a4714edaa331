//! What looks at a process that computes on several threads have found: for how long it has, and whether its
//! threads wait for each other by spinning, by samples.

use super::waited_for::Woken;
use crate::observe::proc_pid::Process;
use crate::observe::samples::{Samples, Seen};
use crate::observe::sockets;
use std::io;

/// Looks at which several of its threads were runnable, before a process counts as computing.
const LOOKS: u8 = 3;
/// Looks, one after the other, at which they weren't, after which it counts as resting.
const MISSES: u8 = 5;
/// Looks for which it is looked at more often.
const YOUNG: u8 = 20;
/// A pool that waits for itself waits for a quarter of its time or more. So many samples tell, and fewer if
/// half of them wait.
const WAITS: f64 = 0.25;
const PLENTY: u32 = 40;
const CLEARLY_WAITS: f64 = 0.5;
const ENOUGH: u32 = 12;
/// Samples that count: earlier ones count half.
const MEMORY: u32 = 200;

#[derive(Default)]
pub(super) struct Computing {
    looks: u8,
    misses: u8,
    samples: Option<Samples>,
    seen: Seen,
    /// Samples can't be taken.
    is_blind: bool,
    woken: Woken,
}

impl Computing {
    /// It was looked at, and these of its threads are runnable. Gives what it costs to look at the others.
    /// # Errors
    /// Samples can't be taken. That is said once.
    pub fn look(&mut self, process: &Process, runnable: &[u32]) -> io::Result<u32> {
        if runnable.len() < 2 {
            self.misses += 1;
        } else {
            self.looks = self.looks.saturating_add(1);
            self.misses = 0;
        }
        let cost = self.woken.look(process);
        if self.is_blind {
            return Ok(cost);
        }
        let samples = self.samples.get_or_insert_with(|| Samples::new(process));
        self.seen.add(samples.take(), MEMORY);
        let followed = samples.follow(runnable);
        followed.inspect_err(|_| (self.is_blind, self.samples) = (true, None)).map(|()| cost)
    }

    pub fn is_resting(&self) -> bool {
        self.misses >= MISSES
    }

    /// Whether it was found just now, so that more has to be known soon.
    pub fn is_young(&self) -> bool {
        self.looks < YOUNG && self.spins().is_none()
    }

    /// It isn't adopted for now: asks for a few looks more, unless it isn't known yet who waits for it.
    pub fn put_off(&mut self) {
        if self.woken.is_known() {
            self.looks = 0;
        }
    }

    /// Whether it is known that nobody else waits for it.
    pub fn is_unwaited_for(&self, process: &Process) -> bool {
        self.woken.is_known() && self.woken.by().is_none() && sockets::listens(process) == Some(false)
    }

    pub fn is_computing(&self) -> bool {
        self.looks >= LOOKS
    }

    /// Whether its threads wait by spinning for much of their time, if that is known.
    pub fn spins(&self) -> Option<bool> {
        let share = f64::from(self.seen.waiting) / f64::from(self.seen.all.max(1));
        match self.seen.all {
            PLENTY.. => Some(share >= WAITS),
            ENOUGH.. if share >= CLEARLY_WAITS => Some(true),
            _ => None,
        }
    }

    /// Whether that can't become known.
    pub fn is_blind(&self) -> bool {
        self.is_blind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_samples_say_that_threads_don_t_spin_and_fewer_that_they_do() {
        let spins = |all, waiting| Computing { seen: Seen { all, waiting }, ..Computing::default() }.spins();
        assert_eq!([spins(0, 0), spins(11, 11), spins(39, 1)], [None; 3]);
        assert_eq!([spins(12, 5), spins(39, 19)], [None; 2]);
        assert_eq!([spins(12, 6), spins(39, 20), spins(40, 10), spins(200, 50)], [Some(true); 4]);
        assert_eq!([spins(40, 9), spins(200, 49)], [Some(false); 2]);
    }

    #[test]
    fn it_computes_after_a_few_looks_and_rests_after_some_more() {
        let process = Process::new(std::path::Path::new("/"), std::process::id());
        let mut computing = Computing { is_blind: true, ..Computing::default() };
        let mut look = |runnable: &[u32]| {
            computing.look(&process, runnable).unwrap();
            (computing.is_computing(), computing.is_resting())
        };
        assert_eq!(
            [look(&[1, 2]), look(&[1]), look(&[1, 2]), look(&[2, 1])].map(|it| it.0),
            [false, false, false, true]
        );
        let rests: Vec<bool> = (0..5).map(|_| look(&[1]).1).collect();
        assert_eq!(rests, [false, false, false, false, true]);
    }
}
