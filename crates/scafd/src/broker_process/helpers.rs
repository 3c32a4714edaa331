//! Inspection helpers, which are the broker's children: only it can start them as other users.

use crate::inspect::{User, calm_down, spawn};
use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;

/// Most that there may be, those counted that were killed and haven't ended yet.
const MOST: usize = 64;

/// All of them, until they were waited for.
#[derive(Default)]
pub struct Helpers(Vec<Child>);

impl Helpers {
    /// Starts one: its process id, and where its answer comes from.
    /// # Errors
    /// There are too many, or the system refuses.
    pub fn start(
        &mut self,
        pid: u32,
        uid: u32,
        gid: u32,
        known: Option<OwnedFd>,
    ) -> io::Result<(u32, OwnedFd)> {
        if self.0.len() >= MOST {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let (child, out) = spawn(pid, User { uid, gid }, known)?;
        let helper = child.id();
        self.0.push(child);
        Ok((helper, out))
    }

    /// Has it take little of the machine.
    pub fn calm_down(&self, helper: u32) {
        self.0.iter().filter(|child| child.id() == helper).for_each(|child| calm_down(child.id()));
    }

    /// Ends it.
    pub fn kill(&mut self, helper: u32) {
        self.0.iter_mut().filter(|child| child.id() == helper).for_each(|child| drop(child.kill()));
    }

    /// Whether there is no such helper any more.
    pub fn ended(&mut self, helper: u32) -> bool {
        self.0.retain_mut(|child| child.id() != helper || matches!(child.try_wait(), Ok(None)));
        !self.0.iter().any(|child| child.id() == helper)
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|child| drop(child.kill()));
    }
}
