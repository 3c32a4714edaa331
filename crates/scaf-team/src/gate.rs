//! Where threads of a dynamic loop *park*: those whose index is at or above the DoP sleep instead of taking
//! another chunk, which any thread may take. Threads that go on check at each chunk whether the DoP has grown
//! beyond what a parked one saw, and wake it; a thread that finds the loop exhausted wakes all. Both change
//! the sequence word ([`Gate::seq`]) first, and a parking thread reads it before anything else, so no wake-up
//! is lost. Thread 0 never parks, but may wait for a lock that a parked thread holds, or leave the loop. So
//! nobody parks before it has asked for a chunk; if it asks for none within [`PATIENCE_MS`], parked threads
//! go on.

use crate::sync::{AtomicU32, Ordering, in_order};
use crate::{Line, Sleep};

/// How long a parked thread waits for any sign of progress, in milliseconds.
pub const PATIENCE_MS: u32 = 50;

/// The state of parking in a region.
#[derive(Debug)]
pub struct Gate {
    /// Changes whenever a parked thread has to look again.
    seq: AtomicU32,
    parked: AtomicU32,
    /// Smallest DoP for which a thread parked.
    seen: AtomicU32,
    /// All loops of the region before this one are known to be exhausted.
    exhausted: AtomicU32,
    /// `progress` when a thread gave up waiting: as long as it stays there, nobody parks.
    stuck: AtomicU32,
    /// Chunks that thread 0 has asked for, modulo 2^32. Only thread 0 writes here; all others read the rest.
    progress: Line,
}

#[expect(clippy::new_without_default, reason = "one constructor is enough")]
impl Gate {
    /// A gate with nobody before it.
    pub fn new() -> Gate {
        Gate {
            seq: AtomicU32::new(0),
            parked: AtomicU32::new(0),
            seen: AtomicU32::new(u32::MAX),
            exhausted: AtomicU32::new(0),
            stuck: AtomicU32::new(0),
            progress: Line::new(),
        }
    }

    /// Whether thread `index` may take a chunk, with the DoP `now`. If not, it is to [`Gate::park`] first.
    #[inline(always)]
    pub fn lets_through(&self, index: u32, now: u32, sleep: &impl Sleep) -> bool {
        if index == 0 {
            self.progress.0.store(self.progress.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        } else if index >= now {
            return false;
        }
        if self.parked.load(Ordering::Relaxed) != 0 {
            self.call_in(now, sleep);
        }
        true
    }

    #[cold]
    fn call_in(&self, now: u32, sleep: &impl Sleep) {
        if now > self.seen.load(Ordering::Relaxed) {
            // A thread that parks again notes its DoP again, after it has read the new sequence word.
            self.seen.store(u32::MAX, Ordering::Relaxed);
            self.open(sleep);
        }
    }

    /// Sleeps while `dop` leaves no context for `index` and the region's loop `number`, from 0, goes on.
    pub fn park(&self, index: u32, number: u32, sleep: &impl Sleep, dop: impl Fn() -> u32) {
        let mut progress = self.progress.0.load(Ordering::Relaxed);
        if progress == self.stuck.load(Ordering::Relaxed) {
            return;
        }
        loop {
            let seq = self.seq.load(Ordering::SeqCst);
            let now = dop();
            if index < now || self.exhausted.load(Ordering::SeqCst) > number {
                return;
            }
            self.seen.fetch_min(now, Ordering::Relaxed);
            self.parked.fetch_add(1, Ordering::SeqCst);
            in_order();
            let gave_up = sleep.sleep(&self.seq, seq, PATIENCE_MS);
            self.parked.fetch_sub(1, Ordering::Relaxed);
            if gave_up {
                let then = core::mem::replace(&mut progress, self.progress.0.load(Ordering::Relaxed));
                if then == progress {
                    self.stuck.store(progress, Ordering::Relaxed);
                    return;
                }
            }
        }
    }

    /// A thread found the loop `number` exhausted: all threads have to get to its end.
    #[inline(always)]
    pub fn exhausted(&self, number: u32, sleep: &impl Sleep) {
        if self.exhausted.load(Ordering::Relaxed) <= number {
            self.exhausted.fetch_max(number.saturating_add(1), Ordering::SeqCst);
            self.open(sleep);
        }
    }

    /// Nobody parks in this region any more: it is being cancelled, say.
    pub fn close_down(&self, sleep: &impl Sleep) {
        self.exhausted(u32::MAX - 1, sleep);
    }

    fn open(&self, sleep: &impl Sleep) {
        self.seq.fetch_add(1, Ordering::SeqCst);
        in_order();
        if self.parked.load(Ordering::SeqCst) != 0 {
            sleep.wake_all(&self.seq);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing::Parking;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    #[test]
    fn every_chunk_is_done_and_every_thread_returns() {
        const TEAM: u32 = 4;
        const CHUNKS: u64 = 200_000;
        for loops in 0..3u32 {
            let (gate, parking) = (Gate::new(), Parking::default());
            let (next, done, dop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU32::new(1));
            let over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let flipper = scope.spawn(|| {
                    let mut state = 1u32;
                    while !over.load(Ordering::Relaxed) {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        dop.store(1 + (state >> 16) % TEAM, Ordering::Relaxed);
                        std::thread::yield_now();
                    }
                });
                let team: Vec<_> = (0..TEAM)
                    .map(|me| {
                        let (gate, parking, next, done, dop) = (&gate, &parking, &next, &done, &dop);
                        scope.spawn(move || {
                            for number in 0..=loops {
                                let end = CHUNKS * u64::from(number + 1);
                                loop {
                                    let now = || dop.load(Ordering::Relaxed);
                                    if !gate.lets_through(me, now(), parking) {
                                        gate.park(me, number, parking, now);
                                    }
                                    let taken = next.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |at| {
                                        (at < end).then_some(at + 1)
                                    });
                                    if taken.is_err() {
                                        gate.exhausted(number, parking);
                                        break;
                                    }
                                    done.fetch_add(1, Ordering::Relaxed);
                                }
                            }
                        })
                    })
                    .collect();
                for thread in team {
                    thread.join().unwrap();
                }
                over.store(true, Ordering::Relaxed);
                flipper.join().unwrap();
            });
            assert_eq!(done.load(Ordering::Relaxed), CHUNKS * u64::from(loops + 1));
        }
    }

    #[test]
    fn a_parked_thread_goes_on_when_nobody_else_does() {
        let (gate, parking) = (Gate::new(), Parking::default());
        // Thread 0 hasn't asked for a chunk: nobody parks.
        gate.park(1, 0, &parking, || 1);
        assert!(gate.lets_through(0, 1, &parking));
        // Thread 0 is stuck in a chunk, waiting for a lock of thread 1's: nobody wakes thread 1.
        gate.park(1, 0, &parking, || 1);
        assert_eq!(gate.stuck.load(Ordering::Relaxed), 1);
        gate.park(1, 0, &parking, || 1);
    }

    #[test]
    fn an_exhausted_loop_holds_nobody() {
        let (gate, parking) = (Gate::new(), Parking::default());
        gate.exhausted(3, &parking);
        gate.park(5, 3, &parking, || 1);
        gate.close_down(&parking);
        gate.park(5, 1_000, &parking, || 1);
    }
}
