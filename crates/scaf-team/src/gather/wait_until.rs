//! What a member waits for that nobody runs, and the two words that its scheduler keeps of that.

/// What a member waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// Its turn. It looks for itself whether it can go on.
    Turn,
    /// The same, in a loop of the program's own that spins on memory: it hardly ever can.
    Spins,
    /// All members have arrived at the barrier (`FiberScheduler::arrive`).
    Passed(u32),
    /// They have, or the region was cancelled ([`super::cancellation`]).
    PassedOrCancelled(u32),
    /// All members but the master are done.
    Joined,
    /// Something has changed since the member looked (`FiberScheduler::listen`). It looks again.
    Changed(u32),
    /// Its own kernel thread runs it ([`super::return_to_threads`]).
    OwnThread,
}

/// What members cancel ([`super::cancellation`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancelled {
    /// The loop or the sections that all members have come to last.
    Shares = 1,
    /// The region.
    Region = 2,
}

pub(super) const TURN: u32 = 0;
pub(super) const PASSED: u32 = 1;
pub(super) const JOINED: u32 = 2;
const CHANGED: u32 = 3;
pub(super) const OWN_THREAD: u32 = 4;
const PASSED_OR_CANCELLED: u32 = 5;
pub(super) const SPINS: u32 = 6;

impl Until {
    #[inline(always)]
    pub(super) fn words(self) -> (u32, u32) {
        match self {
            Until::Turn => (TURN, 0),
            Until::Passed(word) => (PASSED, word),
            Until::PassedOrCancelled(word) => (PASSED_OR_CANCELLED, word),
            Until::Joined => (JOINED, 0),
            Until::Changed(word) => (CHANGED, word),
            Until::OwnThread => (OWN_THREAD, 0),
            Until::Spins => (SPINS, 0),
        }
    }

    /// Whoever spins looks for itself, like one whose turn it is.
    #[inline(always)]
    pub(super) fn from_words(waits: u32, word: u32) -> Until {
        match waits {
            PASSED => Until::Passed(word),
            PASSED_OR_CANCELLED => Until::PassedOrCancelled(word),
            JOINED => Until::Joined,
            CHANGED => Until::Changed(word),
            OWN_THREAD => Until::OwnThread,
            _ => Until::Turn,
        }
    }
}
