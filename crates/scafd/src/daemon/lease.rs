//! Grants hold for a few seconds and are renewed all the time. So where this daemon is stopped or hangs, its
//! programs run as without it soon: clients find their lease over at a region, and the guardian gives
//! affinities back.

use super::parts::Daemon;
use crate::observe::clock::now_ns;
use scaf_policy::ProgramId;

impl Daemon {
    /// Renews all leases. Where they were over, the guardian has given affinities back: they are set again.
    pub(super) fn renew_lease(&mut self) {
        let seconds = self.parts.config.lease_s.max(LEAST_TICKS / self.rate_hz());
        let until_ns = now_ns() + (seconds * 1e9) as u64;
        let attached = !self.registry.is_empty();
        let was_over = self.parts.apply.renew(attached.then_some(until_ns));
        self.parts.talk.renew(until_ns);
        if was_over {
            let narrowed: Vec<ProgramId> = self
                .registry
                .iter()
                .filter(|program| program.grant.set.is_some())
                .map(|program| program.identity.id)
                .collect();
            narrowed.into_iter().for_each(|id| self.set_affinity(id));
        }
    }
}

/// Fewest ticks of the daemon for which a lease holds.
const LEAST_TICKS: f64 = 3.0;
