//! Turns, as the daemon orders them.

use std::collections::BTreeSet;

/// A program that takes turns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Member {
    /// Process id.
    pub pid: u32,
    /// When it started; a later process with the same id is not touched.
    pub starttime: u64,
}

/// A turn: for so many slices these run, and those of other turns don't.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// At least 1.
    pub slices: u32,
    /// Who runs.
    pub members: Vec<Member>,
}

pub(super) enum Order {
    Turns(Vec<Turn>),
    End,
}

pub(super) fn everyone(turns: &[Turn]) -> BTreeSet<Member> {
    turns.iter().flat_map(|turn| turn.members.iter().copied()).collect()
}
