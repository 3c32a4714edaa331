//! One connection and what is known of the process at its other end.

use super::{Pages, Peer};
use std::os::fd::OwnedFd;
use std::time::Instant;

#[derive(PartialEq, Debug)]
pub(super) enum Stage {
    /// Has sent nothing yet.
    Silent,
    /// A program.
    Attached,
    /// The command line, which is being answered.
    Asked,
}

pub(super) struct Client {
    pub(super) fd: OwnedFd,
    pub(super) peer: Peer,
    pub(super) stage: Stage,
    /// When it connected, or was answered.
    pub(super) since: Instant,
    pub(super) pages: Option<Pages>,
    /// Whether it was sent its pages' descriptors.
    pub(super) welcomed: bool,
    /// Its answer, and how many bytes of it were sent.
    pub(super) answer: Vec<u8>,
    pub(super) sent: usize,
}

impl Client {
    pub(super) fn new(fd: OwnedFd, peer: Peer) -> Client {
        let (stage, since, answer) = (Stage::Silent, Instant::now(), Vec::new());
        Client { fd, peer, stage, since, pages: None, welcomed: false, answer, sent: 0 }
    }

    pub(super) fn is_pending(&self) -> bool {
        self.stage != Stage::Attached
    }

    pub(super) fn unsent(&self) -> usize {
        self.answer.len() - self.sent
    }
}
