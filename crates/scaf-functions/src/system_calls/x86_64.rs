//! The numbers of system calls on x86-64.

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

/// They only change how fast or where their thread runs.
pub(super) static TUNES: &[u64] = &[
    141, // setpriority
    142, // sched_setparam
    144, // sched_setscheduler
    203, // sched_setaffinity
    238, // set_mempolicy
    239, // get_mempolicy
    251, // ioprio_set
    314, // sched_setattr
];
