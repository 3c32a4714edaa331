//! Connections of detached programs that haven't received their welcome. The descriptors in flight count
//! against our limit, so each connection counts for its user until the welcome is received or the socket is
//! gone. That the peer has shut its side down isn't enough: the socket may still exist.

use super::peer;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Time between two checks.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct DetachedConnections {
    /// With their owners.
    connections: Vec<(OwnedFd, u32)>,
    until: Option<Instant>,
}

impl DetachedConnections {
    pub fn add(&mut self, connection: OwnedFd, owner: u32) {
        self.connections.push((connection, owner));
        self.until.get_or_insert_with(|| Instant::now() + LOOK);
    }

    pub fn len(&self) -> usize {
        self.connections.len()
    }

    pub fn of(&self, owner: u32) -> usize {
        self.connections.iter().filter(|(_, its)| *its == owner).count()
    }

    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Drops those whose welcome was received, or whose socket is gone, if it is time.
    pub fn look(&mut self) {
        let now = Instant::now();
        if self.until.is_some_and(|until| until <= now) {
            self.connections.retain(|(connection, _)| peer::has_unread(connection));
            self.until = (!self.connections.is_empty()).then(|| now + LOOK);
        }
    }
}
