//! Connections of programs that were let go and haven't taken their welcome. The descriptors on their way are
//! ours, and we may have no more than so many: so each goes on counting for its user until it is taken or its
//! socket is gone. That somebody hung up says nothing: his socket may be there still.

use super::peer;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Time between two looks at them.
const LOOK: Duration = Duration::from_secs(1);

/// All of them.
#[derive(Default)]
pub(super) struct DetachedConnections {
    /// With their owners.
    connections: Vec<(OwnedFd, u32)>,
    until: Option<Instant>,
}

impl DetachedConnections {
    /// One more.
    pub fn add(&mut self, connection: OwnedFd, owner: u32) {
        self.connections.push((connection, owner));
        self.until.get_or_insert_with(|| Instant::now() + LOOK);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// How many are that owner's.
    pub fn of(&self, owner: u32) -> usize {
        self.connections.iter().filter(|(_, its)| *its == owner).count()
    }

    /// When they are to be looked at.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Forgets those that are taken by now, or gone, if it is time to look.
    pub fn look(&mut self) {
        let now = Instant::now();
        if self.until.is_some_and(|until| until <= now) {
            self.connections.retain(|(connection, _)| peer::has_untaken(connection));
            self.until = (!self.connections.is_empty()).then(|| now + LOOK);
        }
    }
}
