//! Keeps for viewers what is and what was: at ticks, and soon after anyone came or went.

use super::parts::Daemon;
use crate::observe::clock::now_ns;
use std::time::{Duration, Instant};

impl Daemon {
    /// Keeps this moment if it is time to.
    pub(super) fn keep_moment(&mut self, tick: bool) {
        if self.history.is_due(now_ns(), tick) {
            let now = self.moment();
            self.history.keep(now);
        }
    }

    /// When the loop has to wake for that.
    pub(super) fn next_moment(&self) -> Option<Instant> {
        let at_ns = self.history.deadline_ns()?;
        Some(Instant::now() + Duration::from_nanos(at_ns.saturating_sub(now_ns())))
    }
}
