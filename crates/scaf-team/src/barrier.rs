//! A team's barrier in place of the runtime's, so that its waits can follow the fold. The runtime's own spins
//! for a fixed number of rounds; here each round checks anew. Tasks and cancellation need the runtime's
//! barrier. Where they may come, this one is *handed over*: all threads use the runtime's for the rest of the
//! region. That is safe during a wait, because the thread that does it hasn't arrived: all others go on to
//! the runtime's.

use crate::sync::{AtomicU32, Ordering, in_order};
use crate::{Line, Sleep};

/// Where a barrier was passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Passed {
    /// Here: all threads of the team have arrived.
    Here,
    /// Not here: it was handed over, and the thread has to wait at the runtime's barrier.
    HandedOver,
    /// Here, and the last thread to arrive has decided that the team is gathered from here on.
    Gathered,
}

const HANDED_OVER: u32 = 1;
/// The barrier that was passed last was one where the team was gathered.
const GATHERED: u32 = 2;
const ONE_STEP: u32 = 4;

/// The barrier of a region's team.
#[derive(Debug)]
#[repr(align(64))]
pub struct Barrier {
    /// Threads that have arrived. In a cache line apart from the word that others look at.
    arrived: Line,
    /// Barriers passed so far, times [`ONE_STEP`], [`HANDED_OVER`] and [`GATHERED`]. What threads wait on.
    word: AtomicU32,
    asleep: AtomicU32,
}

#[expect(clippy::new_without_default, reason = "one constructor is enough")]
impl Barrier {
    /// A barrier that nobody has arrived at.
    pub fn new() -> Barrier {
        Barrier { arrived: Line::new(), word: AtomicU32::new(0), asleep: AtomicU32::new(0) }
    }

    /// Waits until all `team` threads have arrived; `spins` says in each round whether to look again or to
    /// sleep. What a thread did before it arrived is seen by all threads after they have passed.
    #[inline]
    pub fn wait(&self, team: u32, sleep: &impl Sleep, spins: impl FnMut() -> bool) -> Passed {
        self.wait_or_gather(team, sleep, spins, || false)
    }

    /// The same; the last to arrive decides by `gathers`, while all others wait.
    #[inline]
    pub fn wait_or_gather(
        &self,
        team: u32,
        sleep: &impl Sleep,
        mut spins: impl FnMut() -> bool,
        gathers: impl FnOnce() -> bool,
    ) -> Passed {
        let word = self.word.load(Ordering::Acquire);
        if word & HANDED_OVER != 0 {
            return Passed::HandedOver;
        }
        if self.arrived.0.fetch_add(1, Ordering::AcqRel).wrapping_add(1) >= team {
            let gathered = gathers();
            self.arrived.0.store(0, Ordering::Relaxed);
            // Only the last to arrive changes that bit or could hand over: all others wait.
            let bit = if gathered { GATHERED } else { 0 };
            self.word.fetch_add(ONE_STEP.wrapping_add(bit).wrapping_sub(word & GATHERED), Ordering::SeqCst);
            self.wake(sleep);
            return if gathered { Passed::Gathered } else { Passed::Here };
        }
        loop {
            let now = self.word.load(Ordering::Acquire);
            if now != word {
                // The barrier may have been passed first, and handed over later for the next one.
                return match now & !HANDED_OVER {
                    same if same == word => Passed::HandedOver,
                    other if other & GATHERED != 0 => Passed::Gathered,
                    _ => Passed::Here,
                };
            }
            if !spins() {
                self.asleep.fetch_add(1, Ordering::SeqCst);
                in_order();
                sleep.sleep(&self.word, word, 0);
                self.asleep.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Leaves this and later barriers to the runtime. For a thread of the team that has not arrived.
    pub fn hand_over(&self, sleep: &impl Sleep) {
        if self.word.load(Ordering::Relaxed) & HANDED_OVER == 0 {
            self.word.fetch_or(HANDED_OVER, Ordering::SeqCst);
            self.wake(sleep);
        }
    }

    /// After a change of the word: either this sees a thread about to sleep, or that thread sees the change.
    fn wake(&self, sleep: &impl Sleep) {
        in_order();
        if self.asleep.load(Ordering::SeqCst) != 0 {
            sleep.wake_all(&self.word);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing::Parking;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    #[test]
    fn nobody_is_early() {
        const TEAM: u32 = 4;
        const STEPS: u64 = 20_000;
        let (barrier, parking) = (Barrier::new(), Parking::default());
        let done: Vec<AtomicU64> = (0..TEAM).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for me in 0..TEAM as usize {
                let (barrier, parking, done) = (&barrier, &parking, &done);
                scope.spawn(move || {
                    for step in 1..=STEPS {
                        done[me].store(step, Ordering::Relaxed);
                        let mut rounds = (step + me as u64) % 3 * 50;
                        let passed = barrier.wait(TEAM, parking, || {
                            rounds = rounds.saturating_sub(1);
                            rounds > 0
                        });
                        assert_eq!(passed, Passed::Here);
                        for other in done {
                            let at = other.load(Ordering::Relaxed);
                            assert!(at == step || at == step + 1, "{at} at {step}");
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_barrier_that_was_handed_over_stays_so() {
        let (barrier, parking) = (Barrier::new(), Parking::default());
        let (waiting, went_on) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                waiting.store(true, Ordering::Release);
                assert_eq!(barrier.wait(2, &parking, || false), Passed::HandedOver);
                went_on.store(true, Ordering::Release);
            });
            while !waiting.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            assert!(!went_on.load(Ordering::Acquire));
            barrier.hand_over(&parking);
        });
        assert_ne!(barrier.word.load(Ordering::Relaxed) & HANDED_OVER, 0);
        assert_eq!(barrier.wait(1, &parking, || true), Passed::HandedOver);
    }
}
