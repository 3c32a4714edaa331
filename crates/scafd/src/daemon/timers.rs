//! When the daemon does what: ticks (the decision rate), slow chores, looks at new grants, leaving when idle.

use std::time::{Duration, Instant};

/// How often limits are read again and children looked for.
const SLOW: Duration = Duration::from_secs(1);
const KEEP: Duration = Duration::from_secs(60);
/// For how long after a change its taking effect is looked for every [`LOOK`].
const WATCH: Duration = Duration::from_millis(500);
pub(super) const LOOK: Duration = Duration::from_millis(10);
/// Least time between two decisions that programs cause, by coming, leaving or returning from serial phases:
/// these may be hundreds. A newcomer waits for as long.
const REST: Duration = Duration::from_millis(2);
/// How long contexts of a program that ended after less than [`SHORT_LIVED`] are kept for one that follows: a
/// script's next program is loaded in less.
const HOLD: Duration = Duration::from_millis(15);
/// A program's life after which nobody is expected to follow it at once.
pub(super) const SHORT_LIVED: Duration = Duration::from_secs(1);

/// What is due when.
pub(super) struct Timers {
    next_tick: Instant,
    next_slow: Instant,
    next_keep: Instant,
    watch_until: Instant,
    idle_since: Instant,
    /// When a decision was asked for, if one was.
    asked: Option<Instant>,
    next_decision: Instant,
}

impl Timers {
    pub fn new() -> Timers {
        let now = Instant::now();
        Timers {
            next_tick: now,
            next_slow: now,
            next_keep: now,
            watch_until: now,
            idle_since: now,
            asked: None,
            next_decision: now,
        }
    }

    pub fn tick_is_due(&self) -> bool {
        Instant::now() >= self.next_tick
    }

    /// Ticks at once.
    pub fn tick_now(&mut self) {
        self.next_tick = Instant::now();
    }

    /// A tick has begun; the next follows at `rate_hz`. A late one makes up for one tick, not for all that
    /// were missed.
    pub fn ticked(&mut self, rate_hz: f64) {
        let period = Duration::from_secs_f64(1.0 / rate_hz);
        self.next_tick += period;
        let now = Instant::now();
        if self.next_tick < now {
            self.next_tick = now + period;
        }
    }

    pub fn wake(&mut self, rate_hz: f64) {
        self.next_tick = Instant::now() + Duration::from_secs_f64(1.0 / rate_hz);
        self.next_slow = Instant::now() + SLOW;
    }

    /// Whether slow chores are due, which they then aren't for [`SLOW`].
    pub fn slow_is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = now >= self.next_slow;
        self.next_slow = if due { now + SLOW } else { self.next_slow };
        due
    }

    pub fn keep_is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = now >= self.next_keep + KEEP;
        self.next_keep = if due { now } else { self.next_keep };
        due
    }

    pub fn watch(&mut self) {
        self.watch_until = Instant::now() + WATCH;
    }

    pub fn is_watching(&self) -> bool {
        Instant::now() < self.watch_until
    }

    /// A program's doing asks for a decision.
    pub fn ask(&mut self) {
        self.asked = Some(self.next_decision);
    }

    /// The same, for one that may be followed by another soon, which will ask, too.
    pub fn ask_soon(&mut self) {
        self.asked.get_or_insert_with(|| Instant::now() + HOLD);
    }

    /// Whether what programs did asks for a decision now.
    pub fn decision_is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.decision_at().is_some_and(|at| now >= at);
        if due {
            self.asked = None;
            self.next_decision = now + REST;
        }
        due
    }

    fn decision_at(&self) -> Option<Instant> {
        self.asked.map(|at| at.max(self.next_decision))
    }

    /// Somebody came, left or asked.
    pub fn busy(&mut self) {
        self.idle_since = Instant::now();
    }

    /// When it has been idle for so long.
    pub fn idle_for(&self, seconds: u64) -> Instant {
        self.idle_since + Duration::from_secs(seconds)
    }

    /// When the loop has to wake: for ticks where programs are `attached`, and for what is asked.
    pub fn next(&self, attached: bool) -> [Option<Instant>; 2] {
        [attached.then_some(self.next_tick), self.decision_at()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_short_program_leaves_is_decided_about_when_another_asks_or_a_while_later() {
        let mut timers = Timers::new();
        let began = Instant::now();
        timers.ask_soon();
        let held = timers.next(false)[1].expect("a decision is due some time");
        assert!(held >= began + HOLD);
        timers.ask();
        assert!(timers.next(false)[1].is_some_and(|due| due < held) && timers.decision_is_due());
        assert_eq!((timers.next(false)[1], timers.decision_is_due()), (None, false));
        timers.ask_soon();
        std::thread::sleep(HOLD + REST);
        assert!(timers.decision_is_due() && !timers.decision_is_due());
    }
}
