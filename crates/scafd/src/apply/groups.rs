//! A control group has to be empty to be removed.

use std::fs;
use std::path::Path;

/// Moves all that is in a group to another one, by each of `files` (`tasks` or `cgroup.threads` for threads,
/// `cgroup.procs` for processes).
pub fn empty(group: &Path, to: &Path, files: &[&str]) {
    for file in files {
        for id in fs::read_to_string(group.join(file)).unwrap_or_default().lines() {
            let _ = fs::write(to.join(file), id);
        }
    }
}
