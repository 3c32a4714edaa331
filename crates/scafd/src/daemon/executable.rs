//! What an inspection has found out about an executable, for the next process of it.

use crate::observe::process::FileId;

/// An executable that was inspected.
#[derive(PartialEq)]
pub(super) struct Executable {
    pub file: FileId,
    /// Its code's fingerprint.
    pub code: String,
    /// Whether it has teams that wait by spinning, or was run for exact results: others of it had better be
    /// known for that at once.
    pub urgent: bool,
    /// Whether its teams may be resized. Until that is known they are gathered, if they can be.
    pub resizes: bool,
    /// Whether a process that wasn't inspected yet said why its teams can't be.
    pub ungathered: bool,
}

impl Executable {
    /// Whether others of it needn't be inspected if they end soon.
    pub fn can_wait(&self) -> bool {
        !self.urgent && !(self.resizes && self.ungathered)
    }
}
