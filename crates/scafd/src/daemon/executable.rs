//! What an inspection has found out about an executable, for the next process of it.

use crate::observe::proc_pid::FileId;

/// An executable that was inspected.
#[derive(PartialEq)]
pub(super) struct Executable {
    pub file: FileId,
    /// Its code's fingerprint.
    pub code: String,
    /// Whether nothing was found that others of it had better be known for at once: teams that may be
    /// resized, or that wait by spinning.
    pub can_wait: bool,
}
