//! Inspection helpers. They are the broker's children, because only it can start them as other users.

use crate::inspect::{User, calm_down, spawn};
use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;

/// Most at a time, killed ones that haven't ended included.
const MOST: usize = 64;

/// All of them, until they are reaped.
#[derive(Default)]
pub struct Helpers(Vec<Child>);

impl Helpers {
    /// Starts one: its process id, and the pipe of its answer.
    pub fn start(&mut self, pid: u32, user: User, question: Option<OwnedFd>) -> io::Result<(u32, OwnedFd)> {
        if self.0.len() >= MOST {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let (child, out) = spawn(pid, user, question)?;
        let helper = child.id();
        self.0.push(child);
        Ok((helper, out))
    }

    pub fn calm_down(&self, helper: u32) {
        self.0.iter().filter(|child| child.id() == helper).for_each(|child| calm_down(child.id()));
    }

    pub fn kill(&mut self, helper: u32) {
        self.0.iter_mut().filter(|child| child.id() == helper).for_each(|child| drop(child.kill()));
    }

    /// Whether it has ended; then it is reaped.
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
