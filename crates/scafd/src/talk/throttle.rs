//! Throttling: programs whose user is over the limit of packets aren't read for a moment.

use std::time::{Duration, Instant};

/// How long. Meanwhile their packets wait in their sockets.
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(super) struct Throttled {
    programs: Vec<u64>,
    until: Option<Instant>,
}

impl Throttled {
    /// Throttles one more until the pause ends.
    pub fn add(&mut self, id: u64) {
        self.programs.push(id);
        self.until.get_or_insert_with(|| Instant::now() + PAUSE);
    }

    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// All of them, if the pause has ended.
    pub fn due(&mut self) -> Vec<u64> {
        match self.until {
            Some(until) if until <= Instant::now() => std::mem::take(self).programs,
            _ => Vec::new(),
        }
    }
}
