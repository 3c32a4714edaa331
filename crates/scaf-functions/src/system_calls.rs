//! System calls that code makes by number, through `syscall`: which a thread may make on any kernel thread.

/// The numbers on x86-64, and names.
#[cfg(target_arch = "x86_64")]
mod numbers {
    /// They work on what the process shares, on files, or wait.
    pub(super) static FREE: &[u64] = &[
        0,   // read
        1,   // write
        2,   // open
        3,   // close
        4,   // stat
        5,   // fstat
        8,   // lseek
        9,   // mmap
        10,  // mprotect
        11,  // munmap
        17,  // pread64
        18,  // pwrite64
        24,  // sched_yield
        25,  // mremap
        28,  // madvise
        35,  // nanosleep
        39,  // getpid
        99,  // sysinfo
        204, // sched_getaffinity
        206, // io_setup
        207, // io_destroy
        208, // io_getevents
        209, // io_submit
        210, // io_cancel
        217, // getdents64
        228, // clock_gettime
        230, // clock_nanosleep
        231, // exit_group
        232, // epoll_wait
        233, // epoll_ctl
        237, // mbind: the policy of a piece of memory
        257, // openat
        262, // newfstatat
        284, // eventfd
        285, // fallocate
        290, // eventfd2
        291, // epoll_create1
        292, // dup3
        293, // pipe2
        302, // prlimit64
        309, // getcpu
        316, // renameat2
        318, // getrandom
        319, // memfd_create
        324, // membarrier
        325, // mlock2
        326, // copy_file_range
        332, // statx
        333, // io_pgetevents
        436, // close_range
        437, // openat2
        439, // faccessat2
        440, // process_madvise
        441, // epoll_pwait2
    ];
    pub(super) const FUTEX: u64 = 202;
    /// Those that people know, for messages.
    pub(super) static NAMES: &[(u64, &str)] = &[
        (14, "rt_sigprocmask"),
        (56, "clone"),
        (105, "setuid"),
        (106, "setgid"),
        (117, "setresuid"),
        (119, "setresgid"),
        (122, "setfsuid"),
        (123, "setfsgid"),
        (131, "sigaltstack"),
        (141, "setpriority"),
        (144, "sched_setscheduler"),
        (157, "prctl"),
        (158, "arch_prctl"),
        (186, "gettid"),
        (200, "tkill"),
        (203, "sched_setaffinity"),
        (222, "timer_create"),
        (234, "tgkill"),
        (238, "set_mempolicy"),
        (251, "ioprio_set"),
        (272, "unshare"),
        (297, "rt_tgsigqueueinfo"),
        (298, "perf_event_open"),
        (308, "setns"),
        (314, "sched_setattr"),
        (329, "pkey_mprotect"),
        (330, "pkey_alloc"),
        (334, "rseq"),
        (425, "io_uring_setup"),
        (426, "io_uring_enter"),
        (427, "io_uring_register"),
        (435, "clone3"),
    ];
}

/// Whether a thread may make that system call on any kernel thread. `operation` is the call's second
/// argument, where that is known.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn may(number: u64, operation: Option<u64>) -> bool {
    if number == numbers::FUTEX {
        // Locks that lend their holder a priority are the kernel thread's.
        const OPERATION: u64 = 0x7f;
        const LENDING: [u64; 6] = [6, 7, 8, 11, 12, 13];
        return operation.is_some_and(|operation| !LENDING.contains(&(operation & OPERATION)));
    }
    numbers::FREE.binary_search(&number).is_ok()
}

/// Whether it only changes how fast or where its thread runs.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn tunes(number: u64) -> bool {
    // setpriority, sched_setparam, sched_setscheduler, sched_setaffinity, set_mempolicy, get_mempolicy,
    // ioprio_set, sched_setattr
    [141, 142, 144, 203, 238, 239, 251, 314].contains(&number)
}

/// Whether that option of `prctl` does so, or names the thread.
#[must_use]
pub fn prctl_tunes(option: u64) -> bool {
    // PR_SET_NAME, PR_SET_TIMERSLACK
    [15, 29].contains(&option)
}

/// Its name, for people.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn name(number: u64) -> &'static str {
    let at = numbers::NAMES.binary_search_by_key(&number, |row| row.0).ok();
    at.and_then(|at| numbers::NAMES.get(at)).map_or("a system call that isn't known", |row| row.1)
}

/// Whether a thread may call `prctl` with that option on any kernel thread: what it sets or tells is the
/// process's, or is the same whichever of the process's threads has set it.
#[must_use]
pub fn may_prctl(option: u64) -> bool {
    const FREE: [u64; 10] = [
        1,           // PR_SET_PDEATHSIG: who asks for it again may not
        3,           // PR_GET_DUMPABLE
        4,           // PR_SET_DUMPABLE
        35,          // PR_SET_MM
        36,          // PR_SET_CHILD_SUBREAPER
        37,          // PR_GET_CHILD_SUBREAPER
        41,          // PR_SET_THP_DISABLE
        42,          // PR_GET_THP_DISABLE
        0x5356_4d41, // PR_SET_VMA
        0x5961_6d61, // PR_SET_PTRACER
    ];
    FREE.contains(&option)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order() {
        assert!(numbers::FREE.is_sorted() && numbers::NAMES.is_sorted_by_key(|row| row.0));
        assert!(numbers::NAMES.iter().all(|row| !may(row.0, None)));
    }

    #[test]
    fn futexes_are_free_but_for_those_with_an_owner() {
        assert!(may(202, Some(128)) && may(202, Some(1)));
        assert!(!may(202, Some(6)) && !may(202, Some(128 + 13)) && !may(202, None));
    }

    #[test]
    fn what_names_the_thread_is_not_free() {
        assert!(may_prctl(1) && !may_prctl(2) && !may_prctl(15) && !may_prctl(29));
        assert!(
            !may(186, None) && name(186) == "gettid" && name(1 << 40) == "a system call that isn't known"
        );
    }
}
