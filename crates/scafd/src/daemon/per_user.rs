//! Records about users' programs, bounded so that no user can push out others' records.

use std::collections::VecDeque;

/// Most that is remembered of one user, and of all.
const OF_ONE: usize = 64;
const OF_ALL: usize = 1024;

pub(super) struct PerUser<T>(VecDeque<(u32, T)>);

impl<T> Default for PerUser<T> {
    fn default() -> PerUser<T> {
        PerUser(VecDeque::new())
    }
}

impl<T: PartialEq> PerUser<T> {
    pub fn of(&self, uid: u32) -> impl Iterator<Item = &T> {
        self.0.iter().filter(move |known| known.0 == uid).map(|known| &known.1)
    }

    pub fn all(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter().map(|known| &known.1)
    }

    /// Adds one, in place of the oldest where there are too many.
    pub fn add(&mut self, uid: u32, new: T) {
        if self.of(uid).count() >= OF_ONE
            && let Some(oldest) = self.0.iter().position(|known| known.0 == uid)
        {
            self.0.remove(oldest);
        }
        self.0.push_back((uid, new));
        let surplus = self.0.len().saturating_sub(OF_ALL);
        self.0.drain(..surplus);
    }

    pub fn add_older(&mut self, uid: u32, new: T) {
        if self.of(uid).count() < OF_ONE && self.0.len() < OF_ALL && self.of(uid).all(|known| *known != new) {
            self.0.push_front((uid, new));
        }
    }

    pub fn retain(&mut self, uid: u32, keep: impl Fn(&T) -> bool) {
        self.0.retain(|known| known.0 != uid || keep(&known.1));
    }
}
