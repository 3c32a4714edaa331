//! What a helper gives up before it looks at anything: its user wrote what it reads, and might take it over.
//! Then it has nothing but the descriptors of the files that it reads, and the pipe for its answer.
//!
//! It opens these files as the program's user, with that user's rights only. After that it is a user of its
//! own: the program's could send it signals and change its limits.

use crate::privileges::{self, Account, only};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{BpfProgram, apply_filter};
use std::io;

/// All system calls that reading open files, an allocator and writing an answer make, and those by which a
/// program ends or is stopped.
const PERMITTED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

/// As whom a helper opens files, if it is root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct User {
    /// Its number.
    pub uid: u32,
    /// The number of its group.
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

/// Has this process start no other and be traced by nobody; then opens files as that user, and gives up
/// whatever it needed for it. What is opened can be read from then on, and nothing else be done.
/// # Errors
/// The kernel refuses.
pub fn confined<T>(user: Option<User>, open: impl FnOnce() -> T) -> io::Result<T> {
    // Where memory ends the kernel is to end a helper, not the daemon.
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
            // Becoming another user has made it one that can be traced, if the system says so.
            privileges::hide()?;
            let opened = open();
            privileges::raise()?;
            match privileges::become_for_good(&inspector) {
                // This user namespace has no such user; without rights it is by now all the same.
                Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {}
                done => done?,
            }
            opened
        }
    };
    apply_filter(&filter().map_err(io::Error::other)?).map_err(io::Error::other)?;
    Ok(opened)
}

fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    only(PERMITTED.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_filter_for_this_machine() {
        assert!(filter().unwrap().len() > PERMITTED.len());
    }

    #[test]
    fn nothing_can_be_opened_by_then() {
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
