//! Programs whose user has used up what it may say aren't heard for a moment.

use std::time::{Duration, Instant};

/// How long. What they say meanwhile waits in their sockets.
const PAUSE: Duration = Duration::from_millis(10);

/// Those that aren't heard now.
#[derive(Default)]
pub(super) struct Throttled {
    programs: Vec<u64>,
    until: Option<Instant>,
}

impl Throttled {
    /// One more isn't heard until the pause ends.
    pub fn add(&mut self, id: u64) {
        self.programs.push(id);
        self.until.get_or_insert_with(|| Instant::now() + PAUSE);
    }

    /// When they are heard again.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// All of them, if it is time.
    pub fn due(&mut self) -> Vec<u64> {
        match self.until {
            Some(until) if until <= Instant::now() => std::mem::take(self).programs,
            _ => Vec::new(),
        }
    }
}
