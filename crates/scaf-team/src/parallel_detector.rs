//! Detects from a process's clocks whether it computes in parallel outside of OpenMP regions: a BLAS has no
//! entry point that all calls pass. CPU time of more than one context is work on several threads. On one
//! context, the first thread and the others have about equal CPU time and many involuntary switches. (Threads
//! that pass on a lock switch voluntarily.) While libraries are limited to one thread, the last result holds
//! for a while.

/// What happened since the sample before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Wall time, in microseconds.
    pub wall_us: u64,
    /// CPU time of the whole process, in microseconds.
    pub cpu_us: u64,
    /// CPU time of its first thread, in microseconds.
    pub first_us: u64,
    /// Number of involuntary switches.
    pub switches: u64,
    /// Threads that its libraries may use.
    pub allowed: u32,
    /// Whether an OpenMP region runs; regions are reported separately.
    pub in_region: bool,
}

/// Time between two samples while the process computes, in milliseconds.
pub const PERIOD_MS: u32 = 50;
/// The same after a long idle time.
pub const LONGEST_MS: u32 = 800;
/// The same if a result has to be confirmed.
const SOON_MS: u32 = 30;
/// Busy samples in a row that count as parallel: a BLAS's threads spin for 20 to 30 ms at load and after
/// calls.
const BUSY_LOOKS: u32 = 2;
/// Quiet samples in a row that end it.
const QUIET_LOOKS: u32 = 2;
/// Samples without information after which the last result is void: a minute.
const BLIND_LOOKS: u32 = 1_200;

/// State of the detector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParallelDetector {
    parallel: bool,
    since: u32,
    busy: u32,
    quiet: u32,
    pause_ms: u32,
}

impl Default for ParallelDetector {
    fn default() -> ParallelDetector {
        ParallelDetector { parallel: false, since: BLIND_LOOKS, busy: 0, quiet: 0, pause_ms: PERIOD_MS }
    }
}

impl ParallelDetector {
    /// Takes a sample; returns whether the process computes in parallel.
    pub fn take(&mut self, look: &Sample) -> bool {
        // The process was stopped for a while, which the clocks don't show.
        if look.wall_us > 3_000 * u64::from(self.pause_ms()) {
            return self.parallel;
        }
        // In hundredths of a context.
        let busy = look.cpu_us.saturating_mul(100) / look.wall_us.max(1);
        self.pause_ms = if busy >= 5 { PERIOD_MS } else { (self.pause_ms * 2).clamp(PERIOD_MS, LONGEST_MS) };
        self.since = self.since.saturating_add(1);
        let several = if look.in_region {
            Some(false)
        } else if look.allowed >= 2 {
            Some(busy > 125 || takes_turns(look))
        } else if busy < 5 {
            Some(false)
        } else {
            None
        };
        match several {
            Some(true) => {
                self.busy = self.busy.saturating_add(1);
                self.quiet = 0;
                if self.busy >= BUSY_LOOKS {
                    (self.parallel, self.since) = (true, 0);
                }
                if !self.parallel {
                    self.pause_ms = SOON_MS;
                }
            }
            Some(false) => {
                self.busy = 0;
                self.quiet = self.quiet.saturating_add(1);
                self.parallel &= self.quiet < QUIET_LOOKS;
            }
            None => {
                self.quiet = 0;
                self.parallel = self.since < BLIND_LOOKS;
            }
        }
        self.parallel
    }

    /// Time until the next sample, in milliseconds.
    pub fn pause_ms(&self) -> u32 {
        self.pause_ms.clamp(SOON_MS, LONGEST_MS)
    }
}

/// Whether the first thread and others alternate on a context with time slices of 3 or 4 ms: at least one
/// switch in 10 ms of CPU time.
fn takes_turns(look: &Sample) -> bool {
    let others = look.cpu_us.saturating_sub(look.first_us);
    let (less, more) = (others.min(look.first_us), others.max(look.first_us));
    look.cpu_us > look.wall_us / 10 && less > more / 4 && look.switches.saturating_mul(10_000) > look.cpu_us
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn look(busy: u64) -> Sample {
        Sample {
            wall_us: 50_000,
            cpu_us: busy * 500,
            first_us: busy * 500,
            switches: 0,
            allowed: 2,
            in_region: false,
        }
    }

    #[test]
    fn more_cpu_time_than_one_context_has_is_parallel() {
        let mut detector = ParallelDetector::default();
        assert!(!detector.take(&look(100)));
        assert!(!detector.take(&look(180)));
        assert!(detector.pause_ms() < PERIOD_MS);
        assert!(detector.take(&look(180)));
        // One look between two calls is nothing; two are an end.
        assert!(detector.take(&look(100)));
        assert!(!detector.take(&look(100)));
    }

    #[test]
    fn threads_that_take_turns_on_one_context_are_known_by_their_switches() {
        let both = |busy| Sample { first_us: busy * 250, switches: 10, ..look(busy) };
        let is_parallel = |look| {
            let mut detector = ParallelDetector::default();
            detector.take(&look);
            detector.take(&look)
        };
        assert!(is_parallel(both(100)));
        assert!(is_parallel(both(40)));
        // One thread that others disturb; two that hand a lock to each other; nothing much.
        assert!(!is_parallel(Sample { switches: 10, ..look(100) }));
        assert!(!is_parallel(Sample { switches: 1, ..both(100) }));
        assert!(!is_parallel(both(4)));
    }

    #[test]
    fn with_one_thread_it_counts_as_what_it_was_while_it_computes() {
        let one = |busy| Sample { allowed: 1, ..look(busy) };
        let mut detector = ParallelDetector::default();
        assert!(!detector.take(&one(100)));
        detector.take(&look(190));
        assert!(detector.take(&look(190)));
        for _ in 0..100 {
            assert!(detector.take(&one(100)));
        }
        detector.take(&one(2));
        assert!(!detector.take(&one(2)));
        assert!(detector.take(&one(90)));
        for _ in 0..BLIND_LOOKS {
            detector.take(&one(100));
        }
        assert!(!detector.take(&one(100)));
    }

    #[test]
    fn while_it_is_stopped_nothing_is_learned() {
        let mut detector = ParallelDetector::default();
        detector.take(&look(190));
        assert!(!detector.take(&Sample { wall_us: 400_000, ..look(100) }));
        assert!(detector.take(&look(190)));
    }

    #[test]
    fn regions_are_not_counted() {
        assert!(!ParallelDetector::default().take(&Sample { in_region: true, ..look(200) }));
    }

    #[test]
    fn an_idle_process_is_sampled_less_often() {
        let mut detector = ParallelDetector::default();
        let pauses: Vec<u32> = (0..6)
            .map(|_| {
                detector.take(&look(0));
                detector.pause_ms()
            })
            .collect();
        assert_eq!(pauses, [100, 200, 400, 800, 800, 800]);
        detector.take(&look(60));
        assert_eq!(detector.pause_ms(), PERIOD_MS);
    }
}
