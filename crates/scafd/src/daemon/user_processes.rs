//! Processes of users, each known by its number and when it started: those that are bound and aren't
//! programs, and those that were released. Masks of the former may be the very ones that we set, so who binds
//! a process or a thread says so (libscaf's `link/bindings.rs`).

use super::per_user::PerUser;
use crate::observe::Observer;

#[derive(Clone, Copy, PartialEq)]
struct Known {
    pid: u32,
    starttime: u64,
}

#[derive(Default)]
pub(super) struct UserProcesses(PerUser<Known>);

impl UserProcesses {
    /// Whether a process is one of these.
    pub fn has(&self, observer: &Observer, pid: u32) -> bool {
        self.0.all().any(|known| known.pid == pid && is_there(observer, known))
    }

    pub fn add(&mut self, observer: &Observer, uid: u32, pid: u32) {
        let Ok(stat) = observer.process(pid).stat() else { return };
        self.0.retain(uid, |known| known.pid != pid && is_there(observer, known));
        self.0.add(uid, Known { pid, starttime: stat.starttime });
    }

    pub fn remove(&mut self, uid: u32, pid: u32) {
        self.0.retain(uid, |known| known.pid != pid);
    }
}

fn is_there(observer: &Observer, known: &Known) -> bool {
    observer.process(known.pid).is_since(known.starttime)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_process_is_one_of_these_while_it_is_there_and_until_it_says_otherwise() {
        let observer = Observer::new(Path::new("/"));
        let (own, parent) = (std::process::id(), std::os::unix::process::parent_id());
        let mut bound = UserProcesses::default();
        bound.add(&observer, 1000, own);
        assert!(bound.has(&observer, own) && !bound.has(&observer, parent));
        bound.remove(1001, own);
        assert!(bound.has(&observer, own), "another user says so");
        bound.remove(1000, own);
        assert!(!bound.has(&observer, own));
        bound.add(&observer, 1000, u32::MAX);
        assert!(!bound.has(&observer, u32::MAX), "there is none");
        bound.0.add(1000, Known { pid: own, starttime: 0 });
        assert!(!bound.has(&observer, own), "an earlier process of that number");
    }
}
