//! A module that a process has loaded.

use std::fs::File;
use std::path::Path;

/// A module's file.
pub(crate) struct Candidate<'f> {
    pub path: &'f Path,
    pub file: &'f File,
    pub is_executable: bool,
}
