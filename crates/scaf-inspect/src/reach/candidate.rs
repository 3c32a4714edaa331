//! A module that a process has loaded.

use std::fs::File;
use std::path::Path;

/// A module's file.
pub(crate) struct Candidate<'f> {
    pub path: &'f Path,
    pub file: &'f File,
    pub is_executable: bool,
}

/// A file's name without its folder; empty if it is no text.
pub(super) fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}
