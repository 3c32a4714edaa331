//! Filters of system calls (seccomp) that `scaf run` itself is under: a container's, or a service's. The
//! client makes calls that the program wouldn't, and a filter may end a process for one. So where there are
//! filters, a child makes each of these calls here, in ways that do nothing. If it survives, the client is
//! told under how many filters (`SCAF_FILTERS`): under just these it may make them, too. Otherwise the
//! program is unmanaged. That a filter refuses calls with an error is no obstacle.

use libc::{c_int, c_long, pid_t};
use std::sync::OnceLock;

/// Filters in force that all of the client's calls survive; `None` if there are none, or they don't.
pub fn survived() -> Option<u32> {
    static FOUND: OnceLock<Option<u32>> = OnceLock::new();
    *FOUND.get_or_init(find)
}

fn find() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let filters =
        status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"))?.trim().parse().ok()?;
    (filters > 0 && survives()).then_some(filters)
}

fn survives() -> bool {
    // SAFETY: the child makes system calls only.
    match unsafe { libc::fork() } {
        0 => {
            make_calls();
            // SAFETY: ends the child, without anything that was to happen at the parent's end.
            unsafe { libc::_exit(0) }
        }
        child => child > 0 && ended_well(child),
    }
}

fn ended_well(child: pid_t) -> bool {
    let mut status: c_int = -1;
    // SAFETY: writes a number of ours.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
    status == 0
}

/// What a call is given in place of descriptors, lengths and operations: there is none of that number.
const NO: c_long = -1;

/// Each call of the client's (crates/libscaf), with arguments that have it do nothing. A filter sees the
/// number of a call and its arguments, no memory.
const CALLS: [(c_long, [c_long; 3]); 54] = [
    // Looking for the daemon, and talking to it.
    (libc::SYS_socket, [libc::AF_UNIX as c_long, (libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC) as c_long, 0]),
    (libc::SYS_connect, [NO, 0, 0]),
    (libc::SYS_getsockopt, [NO, libc::SOL_SOCKET as c_long, libc::SO_PEERCRED as c_long]),
    (libc::SYS_sendto, [NO, 0, 0]),
    (libc::SYS_recvfrom, [NO, 0, 0]),
    (libc::SYS_recvmsg, [NO, 0, 0]),
    (libc::SYS_poll, [0, 0, 0]),
    (libc::SYS_fcntl, [NO, libc::F_DUPFD_CLOEXEC as c_long, 400]),
    (libc::SYS_fcntl, [NO, libc::F_GET_SEALS as c_long, 0]),
    (libc::SYS_fstat, [NO, 0, 0]),
    (libc::SYS_newfstatat, [NO, 0, 0]),
    (libc::SYS_close, [NO, 0, 0]),
    (libc::SYS_mmap, [0, 0, (libc::PROT_READ | libc::PROT_WRITE) as c_long]),
    (libc::SYS_munmap, [1, 0, 0]),
    (libc::SYS_geteuid, [0; 3]),
    (libc::SYS_getpid, [0; 3]),
    (libc::SYS_getppid, [0; 3]),
    (libc::SYS_gettid, [0; 3]),
    (libc::SYS_clock_gettime, [NO, 0, 0]),
    // Affinities, threads and their waits.
    (libc::SYS_sched_getaffinity, [0, 0, 0]),
    (libc::SYS_sched_setaffinity, [0, 0, 0]),
    (libc::SYS_sched_yield, [0; 3]),
    (libc::SYS_futex, [0, NO, 0]),
    (libc::SYS_nanosleep, [1, 0, 0]),
    (libc::SYS_clock_nanosleep, [NO, 0, 0]),
    (libc::SYS_rt_sigprocmask, [NO, 0, 0]),
    (libc::SYS_rt_sigaction, [0, 0, 0]),
    (libc::SYS_sigaltstack, [0, 0, 0]),
    (libc::SYS_set_robust_list, [0, NO, 0]),
    (libc::SYS_mprotect, [1, 0, 0]),
    (libc::SYS_madvise, [1, 0, 0]),
    (libc::SYS_getrusage, [NO, 0, 0]),
    // Files about the process, and its own code.
    (libc::SYS_openat, [NO, 0, 0]),
    (libc::SYS_read, [NO, 0, 0]),
    (libc::SYS_write, [NO, 0, 0]),
    (libc::SYS_pread64, [NO, 0, 0]),
    (libc::SYS_pwrite64, [NO, 0, 0]),
    (libc::SYS_getdents64, [NO, 0, 0]),
    (libc::SYS_readlink, [0, 0, 0]),
    (libc::SYS_memfd_create, [0, NO, 0]),
    (libc::SYS_ftruncate, [NO, 0, 0]),
    (libc::SYS_membarrier, [NO, NO, 0]),
    // Serial experiments.
    (libc::SYS_clone3, [0, 0, 0]),
    (libc::SYS_wait4, [NO, 0, libc::WNOHANG as c_long]),
    (libc::SYS_kill, [c_long::MAX >> 33, 0, 0]),
    (libc::SYS_prctl, [libc::PR_SET_DUMPABLE as c_long, 0, 0]),
    (libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as c_long, libc::SIGKILL as c_long, 0]),
    (libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as c_long, 1, 0]),
    (libc::SYS_seccomp, [libc::SECCOMP_SET_MODE_FILTER as c_long, 0, 0]),
    (libc::SYS_setsid, [0; 3]),
    (libc::SYS_close_range, [2, 1, 0]),
    (libc::SYS_timer_create, [NO, 0, 0]),
    (libc::SYS_timer_settime, [NO, 0, 0]),
    (libc::SYS_getcpu, [0; 3]),
];

fn make_calls() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: reads memory of ours. A child that is ended leaves no dump.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
    for (number, [first, second, third]) in CALLS {
        // SAFETY: null pointers, descriptors and numbers of nothing: the kernel refuses, or does nothing.
        unsafe { libc::syscall(number, first, second, third, 0, 0, 0) };
    }
}
