//! System call filters (seccomp) of a container or service that `scaf run` itself is under. The client makes
//! calls that the program wouldn't, and a filter may kill a process for one. So a child process makes each of
//! these calls with arguments that do nothing. If it survives, `SCAF_FILTERS` gives the client the number of
//! filters under which these calls are safe; otherwise the program is unmanaged. A call that fails is
//! no problem.

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
    // SAFETY: the child makes system calls only, so it needs no lock that another thread may have held.
    match unsafe { libc::fork() } {
        0 => {
            make_calls();
            // SAFETY: `_exit` takes no pointers and runs no exit handlers of the parent.
            unsafe { libc::_exit(0) }
        }
        child => child > 0 && ended_well(child),
    }
}

fn ended_well(child: pid_t) -> bool {
    let mut status: c_int = -1;
    // SAFETY: `status` is a live local that waitpid may write to.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
    status == 0
}

/// An invalid descriptor, length or operation.
const NO: c_long = -1;

/// Each system call of the client (crates/libscaf), with arguments that make it do nothing. A filter sees the
/// number and arguments of a call, not memory. Newer processors have `ppoll` and `readlinkat` only.
const CALLS: [(c_long, [c_long; 3]); 55] = [
    // Finding the daemon, and messages to it.
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
    (libc::SYS_prlimit64, [0, NO, 0]),
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
    // A killed child is to leave no core dump. SAFETY: `none` is a live local that the kernel only reads.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
    for (number, [first, second, third]) in CALLS {
        // SAFETY: null pointers, invalid descriptors and empty lengths: the call fails or does nothing.
        unsafe { libc::syscall(number, first, second, third, 0, 0, 0) };
    }
}
