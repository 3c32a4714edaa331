//! The daemon's seccomp filter, once it has started: it can't start processes, open connections, signal
//! others, or change anything of other processes.

use crate::arch::LEGACY_CALLS;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;

/// The system calls that are allowed; the second part is for the profile database.
#[rustfmt::skip]
pub const PERMITTED: &[libc::c_long] = &[
    libc::SYS_accept4, libc::SYS_brk, libc::SYS_clock_getres, libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep, libc::SYS_close, libc::SYS_epoll_ctl, libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2, libc::SYS_eventfd2, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_faccessat,
    libc::SYS_faccessat2, libc::SYS_fcntl, libc::SYS_fstat, libc::SYS_fstatfs, libc::SYS_ftruncate,
    libc::SYS_futex, libc::SYS_getcwd, libc::SYS_getdents64, libc::SYS_getegid, libc::SYS_geteuid,
    libc::SYS_getgid, libc::SYS_getpid, libc::SYS_getrandom, libc::SYS_getsockopt, libc::SYS_gettid,
    libc::SYS_getuid, libc::SYS_lseek, libc::SYS_madvise, libc::SYS_memfd_create, libc::SYS_mmap,
    libc::SYS_mprotect, libc::SYS_mremap, libc::SYS_munmap, libc::SYS_nanosleep, libc::SYS_newfstatat,
    libc::SYS_openat, libc::SYS_ppoll, libc::SYS_pread64, libc::SYS_prlimit64, libc::SYS_read,
    libc::SYS_readlinkat, libc::SYS_readv, libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_restart_syscall,
    libc::SYS_rseq, libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity, libc::SYS_sched_yield, libc::SYS_sendmsg, libc::SYS_sendto,
    libc::SYS_set_robust_list, libc::SYS_shutdown, libc::SYS_sigaltstack, libc::SYS_statfs, libc::SYS_statx,
    libc::SYS_sysinfo, libc::SYS_uname, libc::SYS_wait4, libc::SYS_write, libc::SYS_writev,
    // For the profile database:
    libc::SYS_fallocate, libc::SYS_fchmod, libc::SYS_fdatasync, libc::SYS_flock, libc::SYS_fsync,
    libc::SYS_mkdirat, libc::SYS_pwrite64, libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_umask,
    libc::SYS_unlinkat,
];

/// The daemon's filter, for this process.
pub fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    // For abort(), which raises SIGABRT by tgkill.
    let is_us =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(std::process::id()))?;
    let to_us = (libc::SYS_tgkill, vec![SeccompRule::new(vec![is_us])?]);
    compile(free(PERMITTED.iter().chain(LEGACY_CALLS).copied()).chain([to_us]))
}

/// A filter that allows these calls; others fail with EPERM.
pub fn only(calls: &[libc::c_long]) -> Result<BpfProgram, seccompiler::BackendError> {
    compile(free(calls.iter().copied()))
}

fn free(calls: impl Iterator<Item = libc::c_long>) -> impl Iterator<Item = Rule> {
    calls.map(|call| (call, Vec::new()))
}

/// A call, and rules for its arguments; none allow all.
type Rule = (libc::c_long, Vec<SeccompRule>);

fn compile(rules: impl Iterator<Item = Rule>) -> Result<BpfProgram, seccompiler::BackendError> {
    let rules: BTreeMap<i64, Vec<_>> = rules.collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, refused, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_filter_for_this_machine() {
        assert!(filter().unwrap().len() > PERMITTED.len());
    }

    #[test]
    fn a_signal_reaches_nobody_but_us() {
        // SAFETY: plain system calls; glibc's fork leaves the allocator usable in the child, which ends here.
        let status = unsafe {
            let (parent, child) = (libc::getpid(), libc::fork());
            if child == 0 {
                libc::prctl(libc::PR_SET_DUMPABLE, 0);
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                let is_set = filter().is_ok_and(|filter| seccompiler::apply_filter(&filter).is_ok());
                let sent = libc::syscall(libc::SYS_tgkill, parent, parent, 0);
                if is_set && sent == -1 {
                    libc::abort();
                }
                libc::_exit(1);
            }
            let mut status = 0;
            libc::waitpid(child, &raw mut status, 0);
            status
        };
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT, "{status}");
    }

    #[test]
    fn calls_that_reach_other_processes_are_not_allowed() {
        #[rustfmt::skip]
        let calls = [
            libc::SYS_clone, libc::SYS_clone3, libc::SYS_execve, libc::SYS_socket, libc::SYS_connect,
            libc::SYS_bind, libc::SYS_kill, libc::SYS_tgkill, libc::SYS_tkill, libc::SYS_ptrace,
            libc::SYS_sched_setaffinity, libc::SYS_process_vm_readv, libc::SYS_setresuid,
            libc::SYS_perf_event_open,
        ];
        for call in calls {
            assert!(!PERMITTED.contains(&call) && !LEGACY_CALLS.contains(&call), "{call}");
        }
    }
}
