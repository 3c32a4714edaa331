//! A table: functions of the C, C++, Fortran and other libraries.

use crate::runtime::{are_in_order, is_of_family, optional};

/// A row: what is known of a function of a library, or of several.
#[derive(Debug)]
pub struct Function {
    /// Symbols of functions that are alike; in [`FAMILIES`] one, whose `*` stands for whatever follows.
    pub names: &'static [&'static str],
    /// What it does to the thread that calls it, or what it tells.
    pub class: Class,
    /// How many integer or pointer arguments it takes, if that is known.
    pub arguments: Option<u8>,
    /// Bits of [`traits`].
    pub traits: u16,
    /// Resizing doesn't act on this row yet: it takes it for unlisted ([`find_today`]). To be turned round.
    /// Gathering does ([`crate::calls::member`]).
    pub later: bool,
}

/// What a function has to do with the thread that calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// In no row. That means "no" to whoever has to permit something.
    Unknown,
    /// Nothing: it works on its arguments and on what the whole process shares.
    Harmless,
    /// Tells which thread or processor it is, or keeps something for each thread, as thread-local variables.
    PerThread,
    /// Is told how many threads will wait for each other, or waits for what others do.
    ThreadsWait,
    /// Belongs to the kernel's thread: its number, signals, clocks, stack, scheduling, rights, and what the
    /// kernel or a tool keeps for it. A handle of a thread would be a sleeping worker's.
    KernelThread,
    /// Starts a thread that runs code of the program's own.
    StartsThread,
    /// Starts a process, or makes this one another.
    StartsProcess,
}

/// More about a function: bits.
pub mod traits {
    /// Sets or copies memory; the length, its third argument, may be a loop's share.
    pub const FILLS_MEMORY: u16 = 1;
    /// Doesn't come back to its caller.
    pub const NEVER_RETURNS: u16 = 2;
    /// The thread goes on where an exception is caught.
    pub const THROWS: u16 = 4;
    /// The thread goes on elsewhere, or ends.
    pub const LEAVES: u16 = 8;
    /// What it begins, or sets up, goes on in code that doesn't call it: whoever has it may have that.
    pub const LASTS: u16 = 16;
    /// A member of a gathered team may call it all the same: it is answered, what it sets is in thread-local
    /// storage or in saved registers, or it is the same for all threads.
    pub const CARRIED: u16 = 32;
    /// A member may not, whatever its class is to others.
    pub const BOUND: u16 = 64;
    /// What it sets of the kernel thread is how fast, where or under which name it runs, which changes
    /// nothing that is computed; or it loads what is looked at then.
    pub const TUNES: u16 = 128;
    /// Tells how many processors there are: who asks may do work for each.
    pub const COUNTS: u16 = 256;
    /// Goes on from a state that its caller keeps, such as a generator of random numbers.
    pub const GOES_ON: u16 = 512;
}

macro_rules! rows {
    ($(
        $($name:ident)+: $class:ident $(($arguments:literal))? $([$($traits:ident)*])? $(, $later:ident)?;
    )*) => {
        /// Sorted by name, within a row too.
        pub static FUNCTIONS: &[Function] = &[$(
            Function {
                names: &[$(stringify!($name)),+],
                class: Class::$class,
                arguments: optional!(@count $($arguments)?),
                traits: 0 $($(| traits::$traits)*)?,
                later: optional!(@is $($later)?),
            },
        )*];
    };
}

rows! {
    _Fork: StartsProcess, later;
    _Unwind_Resume: Harmless(1) [NEVER_RETURNS THROWS];
    _ZNSt6thread20hardware_concurrencyEv: Harmless(0) [COUNTS];
    _ZSt16__throw_bad_castv _ZSt17__throw_bad_allocv _ZSt20__throw_length_errorPKc
        _ZSt20__throw_out_of_rangePKc _ZSt24__throw_out_of_range_fmtPKcz _ZSt28__throw_bad_array_new_lengthv:
        Harmless [NEVER_RETURNS THROWS];
    _ZSt9terminatev: Harmless [NEVER_RETURNS];
    _ZdlPv: Harmless(1);
    _ZdlPvm: Harmless(2);
    _Znam _Znwm: Harmless(1);
    __asan_init: KernelThread [LASTS];
    __assert_fail: Harmless [NEVER_RETURNS];
    __cxa_begin_catch: Harmless(1);
    __cxa_rethrow __cxa_throw: Harmless [NEVER_RETURNS THROWS];
    __errno_location: Harmless(0);
    __hwasan_init: KernelThread [LASTS];
    __longjmp_chk: Harmless [NEVER_RETURNS LEAVES];
    __msan_init __rseq_abi __rseq_offset: KernelThread [LASTS];
    __stack_chk_fail: Harmless(0) [NEVER_RETURNS];
    __tsan_init: KernelThread [LASTS];
    _exit _gfortran_runtime_error _gfortran_stop_string: Harmless [NEVER_RETURNS];
    abort: Harmless(0) [NEVER_RETURNS];
    acos: Harmless(0);
    aio_fsync aio_read aio_write: StartsThread, later;
    arch_prctl: KernelThread, later;
    asin atan atan2: Harmless(0);
    calloc: Harmless(2);
    capset: KernelThread, later;
    cbrt ceil: Harmless(0);
    clone: StartsThread [BOUND];
    cos cosf cosh: Harmless(0);
    daemon: StartsProcess, later;
    dlmopen dlopen: KernelThread [TUNES], later;
    drand48_r: Harmless(2) [GOES_ON];
    erand48: Harmless(1) [GOES_ON];
    erand48_r: Harmless(3) [GOES_ON];
    erf: Harmless(0);
    execl execle execlp execv execve execveat execvp execvpe: StartsProcess, later;
    exit: Harmless(1) [NEVER_RETURNS];
    exp exp2 exp2f expf expm1 fabs: Harmless(0);
    fedisableexcept feenableexcept feholdexcept fesetenv fesetmode fesetround feupdateenv: PerThread;
    fexecve: StartsProcess, later;
    floor fmax fmin fmod: Harmless(0);
    fork forkpty: StartsProcess, later;
    free frexp: Harmless(1);
    get_mempolicy: KernelThread [TUNES], later;
    get_nprocs get_nprocs_conf: Harmless(0) [COUNTS];
    getaddrinfo_a: StartsThread, later;
    getcpu: PerThread;
    gettid: PerThread [BOUND];
    hypot: Harmless(0);
    initgroups io_uring_enter io_uring_register io_uring_setup ioperm iopl: KernelThread, later;
    ioprio_set: KernelThread [TUNES], later;
    jrand48: Harmless(1) [GOES_ON];
    jrand48_r: Harmless(3) [GOES_ON];
    lgamma: Harmless(0);
    lio_listio: StartsThread, later;
    log log10 log1p log2 log2f logf: Harmless(0);
    longjmp: Harmless [NEVER_RETURNS LEAVES];
    lrand48_r: Harmless(2) [GOES_ON];
    malloc: Harmless(1);
    mbind: KernelThread [CARRIED], later;
    memcmp: Harmless(3);
    memcpy memmove memset: Harmless(3) [FILLS_MEMORY];
    mq_notify: StartsThread;
    mrand48_r: Harmless(2) [GOES_ON];
    nearbyint: Harmless(0);
    nice: KernelThread [TUNES], later;
    nrand48: Harmless(1) [GOES_ON];
    nrand48_r: Harmless(3) [GOES_ON];
    perf_event_open personality pkey_alloc pkey_free pkey_get pkey_mprotect pkey_set: KernelThread, later;
    popen posix_spawn posix_spawnp: StartsProcess, later;
    pow powf: Harmless(0);
    prctl: KernelThread, later;
    pthread_barrier_wait: ThreadsWait, later;
    pthread_cancel: KernelThread, later;
    pthread_clockjoin_np: ThreadsWait, later;
    pthread_create: StartsThread;
    pthread_equal: Harmless(2), later;
    pthread_exit: KernelThread [NEVER_RETURNS LEAVES];
    pthread_getaffinity_np: KernelThread [CARRIED COUNTS], later;
    pthread_getattr_np: KernelThread [CARRIED], later;
    pthread_getcpuclockid: KernelThread;
    pthread_getname_np pthread_getschedparam: KernelThread [CARRIED], later;
    pthread_getspecific: PerThread;
    pthread_join: ThreadsWait, later;
    pthread_kill: KernelThread;
    pthread_kill_other_threads_np: KernelThread, later;
    pthread_mutexattr_setprotocol pthread_mutexattr_setrobust: KernelThread [LASTS];
    pthread_mutexattr_setrobust_np: KernelThread [LASTS], later;
    pthread_self: PerThread;
    pthread_setaffinity_np: KernelThread [TUNES], later;
    pthread_setcancelstate pthread_setcanceltype: KernelThread [CARRIED], later;
    pthread_setname_np pthread_setschedparam pthread_setschedprio: KernelThread [TUNES], later;
    pthread_setspecific: PerThread;
    pthread_sigmask: KernelThread [CARRIED], later;
    pthread_sigqueue: KernelThread;
    pthread_testcancel: KernelThread [CARRIED], later;
    pthread_timedjoin_np: ThreadsWait, later;
    ptrace: KernelThread, later;
    puts: Harmless(1);
    rand: Harmless(0);
    rand_r: Harmless(1) [GOES_ON];
    random_r: Harmless(2) [GOES_ON];
    realloc: Harmless(2);
    rint round: Harmless(0);
    sched_getaffinity: KernelThread [CARRIED COUNTS], later;
    sched_getattr: KernelThread [CARRIED], later;
    sched_getcpu: PerThread;
    sched_getparam sched_getscheduler: KernelThread [CARRIED], later;
    sched_setaffinity sched_setattr sched_setparam sched_setscheduler set_mempolicy: KernelThread [TUNES],
        later;
    setegid seteuid setfsgid setfsuid setgid setgroups setns: KernelThread, later;
    setpriority: KernelThread [TUNES], later;
    setregid setresgid setresuid setreuid setuid: KernelThread, later;
    sigaltstack: KernelThread [CARRIED], later;
    sigblock sighold sigpause: KernelThread, later;
    sigprocmask: KernelThread [CARRIED], later;
    sigrelse sigset sigsetmask sigstack sigvec: KernelThread, later;
    sin: Harmless(0);
    sincos: Harmless(2);
    sinf sinh sqrt sqrtf: Harmless(0);
    strlen: Harmless(1);
    syscall: KernelThread, later;
    sysconf: Harmless(1) [COUNTS];
    system: StartsProcess, later;
    tan tanf tanh tanhf tgamma: Harmless(0);
    tgkill: KernelThread, later;
    thrd_create: StartsThread;
    thrd_current: PerThread;
    thrd_equal: Harmless(2), later;
    thrd_exit: KernelThread [NEVER_RETURNS LEAVES], later;
    thrd_join: ThreadsWait, later;
    timer_create: StartsThread [BOUND];
    tkill: KernelThread, later;
    trunc: Harmless(0);
    tss_get: PerThread;
    tss_set: PerThread;
    unshare: KernelThread, later;
    uselocale: PerThread;
    vfork: StartsProcess, later;
}

/// Families by the beginning of their names.
static FAMILIES: &[Function] = &[
    family(&["PAPI_*"], Class::KernelThread, true),
    family(&["_ZNSt18condition_variable*"], Class::ThreadsWait, false),
    family(&["_ZNSt28__atomic_futex_unsigned_base*"], Class::ThreadsWait, false),
    // C++'s threads, whatever they are handed.
    family(&["_ZNSt6thread15_M_start_thread*"], Class::StartsThread, false),
    family(&["cnd_timedwait*"], Class::ThreadsWait, false),
    family(&["cnd_wait*"], Class::ThreadsWait, false),
    family(&["io_uring_*"], Class::KernelThread, true),
    family(&["pthread_barrier_init*"], Class::ThreadsWait, false),
    family(&["pthread_cond_*"], Class::ThreadsWait, false),
    family(&["sem_clockwait*"], Class::ThreadsWait, false),
    family(&["sem_timedwait*"], Class::ThreadsWait, false),
    family(&["sem_wait*"], Class::ThreadsWait, false),
];

const fn family(name: &'static [&'static str; 1], class: Class, later: bool) -> Function {
    Function { names: name, class, arguments: None, traits: 0, later }
}

/// The row of a function.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static Function> {
    let starts_by = |row: &Function| row.names.first().is_some_and(|first| first.as_bytes() <= name);
    let at = FUNCTIONS.partition_point(starts_by).checked_sub(1);
    let row = at.and_then(|at| FUNCTIONS.get(at));
    let found = row.filter(|row| row.names.iter().any(|known| known.as_bytes() == name));
    found.or_else(|| FAMILIES.iter().find(|row| row.names.iter().any(|family| is_of_family(name, family))))
}

/// The row of a function, of those on which somebody acts already.
#[must_use]
pub fn find_today(name: &[u8]) -> Option<&'static Function> {
    find(name).filter(|row| !row.later)
}

/// What a function has to do with the thread that calls it.
#[must_use]
pub fn class(name: &[u8]) -> Class {
    find(name).map_or(Class::Unknown, |row| row.class)
}

const _: () = {
    let (mut row, mut last) = (0, "");
    while row < FUNCTIONS.len() {
        let mut at = 0;
        while at < FUNCTIONS[row].names.len() {
            assert!(are_in_order(last, FUNCTIONS[row].names[at]), "the names aren't sorted");
            last = FUNCTIONS[row].names[at];
            at += 1;
        }
        row += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_no_row_is_unknown() {
        assert_eq!(class(b"a_function_of_the_programs"), Class::Unknown);
        assert_eq!(class(b"memcp"), Class::Unknown);
        assert_eq!(class(b""), Class::Unknown);
    }

    #[test]
    fn classes_are_found_by_name_and_by_family() {
        for (name, expected) in [
            ("acos", Class::Harmless),
            ("gettid", Class::PerThread),
            ("syscall", Class::KernelThread),
            ("io_uring_submit", Class::KernelThread),
            ("PAPI_start", Class::KernelThread),
            ("pthread_cond_wait", Class::ThreadsWait),
            ("pthread_create", Class::StartsThread),
            ("_ZNSt6thread15_M_start_threadESt10unique_ptr", Class::StartsThread),
            ("execve", Class::StartsProcess),
        ] {
            assert_eq!(class(name.as_bytes()), expected, "{name}");
        }
        assert!(find_today(b"memcpy").is_some() && find_today(b"syscall").is_none());
    }
}
