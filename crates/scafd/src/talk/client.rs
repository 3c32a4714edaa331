//! One connection, and what is known of who is at its other end.

use super::{Pages, Peer};
use std::os::fd::OwnedFd;
use std::time::Instant;

#[derive(PartialEq, Debug)]
pub(super) enum Stage {
    /// Has said nothing so far.
    Silent,
    /// A program.
    Attached,
    /// Waits for the rest of an answer.
    Asked,
}

pub(super) struct Client {
    pub(super) fd: OwnedFd,
    pub(super) peer: Peer,
    pub(super) stage: Stage,
    pub(super) since: Instant,
    pub(super) pages: Option<Pages>,
    /// Whether it was sent its pages' descriptors.
    pub(super) welcomed: bool,
    /// Its answer, and how much of that it has taken.
    pub(super) answer: Vec<u8>,
    pub(super) taken: usize,
}

impl Client {
    pub(super) fn is_pending(&self) -> bool {
        self.stage != Stage::Attached
    }

    /// Bytes that it hasn't taken.
    pub(super) fn untaken(&self) -> usize {
        self.answer.len() - self.taken
    }
}
