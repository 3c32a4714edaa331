//! Confines a helper before it reads anything, because the files are its user's and might take it over. It
//! keeps only the descriptors of these files and the pipe of its answer.
//!
//! It opens the files with the rights of the program's user. Then it becomes a user of its own: the program's
//! user could signal it and change its limits.

use crate::privileges::{self, Account, only};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::apply_filter;
use std::io;

/// The system calls for reading open files, allocating memory, writing an answer, and ending.
#[rustfmt::skip]
const PERMITTED: &[libc::c_long] = &[
    libc::SYS_brk, libc::SYS_close, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_fstat, libc::SYS_futex,
    libc::SYS_getrandom, libc::SYS_lseek, libc::SYS_madvise, libc::SYS_mmap, libc::SYS_mprotect,
    libc::SYS_mremap, libc::SYS_munmap, libc::SYS_pread64, libc::SYS_read, libc::SYS_readv,
    libc::SYS_restart_syscall, libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield, libc::SYS_sigaltstack, libc::SYS_write, libc::SYS_writev,
];

/// The user with whose rights a helper opens files, if it is root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct User {
    /// Its id.
    pub uid: u32,
    /// Its group's id.
    pub gid: u32,
}

impl std::str::FromStr for User {
    type Err = String;

    fn from_str(text: &str) -> Result<User, String> {
        let numbers =
            text.split_once(':').and_then(|(uid, gid)| Some((uid.parse().ok()?, gid.parse().ok()?)));
        let (uid, gid) = numbers.ok_or("it has to be UID:GID")?;
        Ok(User { uid, gid })
    }
}

/// Makes this process untraceable and unable to start others, opens files as that user, and drops all rights.
/// From then on it can only read what it has opened.
pub fn confined<T>(user: Option<User>, open: impl FnOnce() -> T) -> io::Result<T> {
    // If memory runs out the kernel is to kill a helper, not the daemon.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    privileges::hide()?;
    rustix::thread::set_no_new_privs(true)?;
    setrlimit(Resource::Nproc, Rlimit { current: Some(0), maximum: Some(0) })?;
    let files = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: files, maximum: files })?;
    let opened = match user {
        None => open(),
        Some(user) => {
            let inspector = Account::of_inspector(&Account::passwd());
            privileges::with_rights_kept(user.uid, user.gid)?;
            // Becoming another user resets the dumpable flag to the system's default.
            privileges::hide()?;
            let opened = open();
            privileges::raise()?;
            match privileges::become_for_good(&inspector) {
                // This user namespace has no such user; its rights are dropped all the same.
                Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {}
                done => done?,
            }
            opened
        }
    };
    apply_filter(&only(PERMITTED).map_err(io::Error::other)?).map_err(io::Error::other)?;
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_filter_for_this_machine() {
        assert!(only(PERMITTED).unwrap().len() > PERMITTED.len());
    }

    #[test]
    fn opening_is_not_allowed() {
        for call in [libc::SYS_openat, libc::SYS_socket, libc::SYS_readlinkat, libc::SYS_statx] {
            assert!(!PERMITTED.contains(&call));
        }
    }

    #[test]
    fn a_user_is_two_numbers() {
        assert_eq!("7:8".parse(), Ok(User { uid: 7, gid: 8 }));
        assert!(["", "7", "7:", "-1:2", "7:8:9"].iter().all(|text| text.parse::<User>().is_err()));
    }
}
