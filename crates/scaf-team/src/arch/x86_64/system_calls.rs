//! Numbers of system calls, as the filter of a serial experiment needs them ([`crate::sandbox`]).
#![allow(missing_docs, reason = "each has the kernel's name")]

/// What the kernel calls this architecture (`AUDIT_ARCH_X86_64`).
pub const ARCHITECTURE: u32 = 0xc000_003e;
pub const WRITE: i32 = 1;
pub const MMAP: u32 = 9;
pub const MPROTECT: u32 = 10;
pub const PWRITE64: i32 = 18;
pub const WRITEV: i32 = 20;
pub const MADVISE: u32 = 28;
pub const FUTEX: u32 = 202;
pub const PWRITEV: i32 = 296;
pub const PWRITEV2: i32 = 328;

/// Calls that change nothing but the caller's own memory, or nothing at all.
pub const HARMLESS: [u32; 26] = [
    11,  // munmap
    12,  // brk
    14,  // rt_sigprocmask
    15,  // rt_sigreturn
    24,  // sched_yield
    25,  // mremap: what it moves keeps its protection
    39,  // getpid
    60,  // exit
    63,  // uname
    96,  // gettimeofday
    97,  // getrlimit
    98,  // getrusage
    99,  // sysinfo
    100, // times
    102, // getuid
    104, // getgid
    107, // geteuid
    108, // getegid
    186, // gettid
    201, // time
    204, // sched_getaffinity
    228, // clock_gettime
    229, // clock_getres
    231, // exit_group
    309, // getcpu
    318, // getrandom
];
