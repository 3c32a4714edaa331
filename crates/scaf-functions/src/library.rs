//! A table: functions of the C, C++, Fortran and other libraries.

use crate::runtime::optional;
use crate::symbol::Symbol;

/// What is known of a function of a library.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its symbol; in [`FAMILIES`] a `*` at its end stands for whatever follows.
    pub name: Symbol,
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
    /// Tells which thread or processor it is, or keeps something for each thread, as thread-local variables,
    /// or tells what its processor has kept: exceptions of floating-point numbers, of which Fortran's `stop`
    /// speaks.
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
    /// Changes nothing, but for what its arguments point to, and has one answer to the same arguments.
    pub const COMPUTES: u16 = 256;
    /// It acts on a thread by its handle, or on the kernel thread for good, which matters between regions,
    /// too: workers whose storage is lent take no signals, and members are on carriers.
    pub const ACTS: u16 = 512;
    /// Returns the address of new memory, if of any.
    pub const ALLOCATES: u16 = 1024;
    /// Frees the memory that its first argument is the address of.
    pub const FREES: u16 = 2048;
    /// Writes where its first argument points to, and doesn't look there.
    pub const OVERWRITES: u16 = 4096;
}

macro_rules! rows {
    ($(
        $($name:ident)+: $class:ident $(($arguments:literal))? $([$($traits:ident)*])? $(, $later:ident)?;
    )*) => {
        const ROWS: &[(&[&str], Function)] = &[$((
            &[$(stringify!($name)),+],
            Function {
                name: Symbol::new(""),
                class: Class::$class,
                arguments: optional!(@count $($arguments)?),
                traits: 0 $($(| traits::$traits)*)?,
                later: optional!(@is $($later)?),
            },
        )),*];
    };
}

/// One for each function, sorted by name.
pub static FUNCTIONS: [Function; count()] = {
    let mut functions = [ROWS[0].1; count()];
    let (mut row, mut to) = (0, 0);
    while row < ROWS.len() {
        let (names, function) = ROWS[row];
        let mut at = 0;
        while at < names.len() {
            functions[to] = Function { name: Symbol::new(names[at]), ..function };
            assert!(to == 0 || functions[to - 1].name.is_before(&functions[to].name), "not sorted");
            (at, to) = (at + 1, to + 1);
        }
        row += 1;
    }
    functions
};

const fn count() -> usize {
    let (mut row, mut count) = (0, 0);
    while row < ROWS.len() {
        count += ROWS[row].0.len();
        row += 1;
    }
    count
}

rows! {
    _Fork: StartsProcess, later;
    _Unwind_Resume: Harmless(1) [NEVER_RETURNS THROWS];
    _ZGVbN2v_cos _ZGVbN2v_exp _ZGVbN2v_log _ZGVbN2v_sin _ZGVbN2vv_pow _ZGVcN4v_cos _ZGVcN4v_exp _ZGVcN4v_log
        _ZGVcN4v_sin _ZGVcN4vv_pow _ZGVdN4v_cos _ZGVdN4v_exp _ZGVdN4v_log _ZGVdN4v_sin _ZGVdN4vv_pow:
        Harmless(0) [COMPUTES];
    _ZNSt6thread20hardware_concurrencyEv: Harmless(0);
    _ZSt16__throw_bad_castv _ZSt17__throw_bad_allocv _ZSt19__throw_logic_errorPKc
        _ZSt20__throw_length_errorPKc _ZSt20__throw_out_of_rangePKc _ZSt24__throw_out_of_range_fmtPKcz
        _ZSt25__throw_bad_function_callv _ZSt28__throw_bad_array_new_lengthv: Harmless [NEVER_RETURNS
        THROWS];
    _ZSt9terminatev: Harmless [NEVER_RETURNS];
    _ZdaPv: Harmless(1) [FREES];
    _ZdaPvm: Harmless(2) [FREES];
    _ZdlPv: Harmless(1) [FREES];
    _ZdlPvSt11align_val_t _ZdlPvm: Harmless(2) [FREES];
    _Znam _Znwm: Harmless(1) [ALLOCATES];
    _ZnwmSt11align_val_t: Harmless(2) [ALLOCATES];
    __asan_init: KernelThread [LASTS];
    __assert_fail: Harmless [NEVER_RETURNS];
    __chk_fail: Harmless(0) [NEVER_RETURNS];
    __clzdi2: Harmless(1) [COMPUTES];
    __clzti2: Harmless(2) [COMPUTES];
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc: Harmless(0) [COMPUTES];
    __ctzdi2: Harmless(1) [COMPUTES];
    __ctzti2: Harmless(2) [COMPUTES];
    __cxa_begin_catch: Harmless(1);
    __cxa_rethrow __cxa_throw: Harmless [NEVER_RETURNS THROWS];
    __divdc3 __divsc3: Harmless(0) [COMPUTES];
    __divti3: Harmless(4) [COMPUTES];
    __errno_location: Harmless(0);
    __ffsdi2: Harmless(1) [COMPUTES];
    __ffsti2: Harmless(2) [COMPUTES];
    __fprintf_chk: Harmless;
    __hwasan_init: KernelThread [LASTS];
    __isoc99_sscanf: Harmless;
    __longjmp_chk: Harmless [NEVER_RETURNS LEAVES];
    __memcpy_chk __memmove_chk __memset_chk: Harmless(4);
    __modti3: Harmless(4) [COMPUTES];
    __msan_init: KernelThread [LASTS];
    __muldc3 __mulsc3: Harmless(0) [COMPUTES];
    __multi3: Harmless(4) [COMPUTES];
    __paritydi2: Harmless(1) [COMPUTES];
    __parityti2: Harmless(2) [COMPUTES];
    __popcountdi2: Harmless(1) [COMPUTES];
    __popcountti2: Harmless(2) [COMPUTES];
    __printf_chk: Harmless;
    __rseq_abi __rseq_offset: KernelThread [LASTS];
    __snprintf_chk __sprintf_chk: Harmless;
    __stack_chk_fail: Harmless(0) [NEVER_RETURNS];
    __strcat_chk __strcpy_chk __strncpy_chk: Harmless(4);
    __tsan_init: KernelThread [LASTS];
    __udivti3 __umodti3: Harmless(4) [COMPUTES];
    __vsnprintf_chk: Harmless;
    _exit: Harmless [NEVER_RETURNS];
    _gfortran_compare_string: Harmless(4) [COMPUTES];
    _gfortran_concat_string: Harmless(6);
    _gfortran_error_stop_numeric _gfortran_error_stop_string: PerThread [NEVER_RETURNS];
    _gfortran_ieee_procedure_entry _gfortran_ieee_procedure_exit: PerThread(1);
    _gfortran_internal_pack _gfortran_internal_unpack: Harmless(2);
    _gfortran_matmul_c4 _gfortran_matmul_c8 _gfortran_matmul_i4 _gfortran_matmul_i8 _gfortran_matmul_r4
        _gfortran_matmul_r8: Harmless(6);
    _gfortran_os_error _gfortran_os_error_at: Harmless [NEVER_RETURNS];
    _gfortran_pow_i4_i4 _gfortran_pow_i8_i4 _gfortran_pow_i8_i8 _gfortran_pow_r4_i4 _gfortran_pow_r8_i4:
        Harmless(2) [COMPUTES];
    _gfortran_runtime_error _gfortran_runtime_error_at: Harmless [NEVER_RETURNS];
    _gfortran_st_write _gfortran_st_write_done: Harmless(3);
    _gfortran_stop_numeric _gfortran_stop_string: PerThread [NEVER_RETURNS];
    _gfortran_string_len_trim: Harmless(4) [COMPUTES];
    _gfortran_string_trim: Harmless(6);
    _gfortran_transfer_character_write _gfortran_transfer_integer_write _gfortran_transfer_real_write:
        Harmless(3);
    abort: Harmless(0) [NEVER_RETURNS];
    abs: Harmless(1) [COMPUTES];
    acos acosf acosh acoshf: Harmless(0) [COMPUTES];
    aio_fsync aio_read aio_write: StartsThread, later;
    aligned_alloc: Harmless(3) [ALLOCATES];
    arch_prctl: KernelThread, later;
    asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf: Harmless(0) [COMPUTES];
    atof atoi atol: Harmless(3);
    bcmp: Harmless(3) [COMPUTES];
    bsearch: Harmless(5);
    calloc: Harmless(2) [ALLOCATES];
    capset: KernelThread, later;
    cbrt cbrtf ceil ceilf: Harmless(0) [COMPUTES];
    clock: Harmless(1);
    clock_gettime: Harmless(2);
    clone: StartsThread [BOUND];
    copysign copysignf cos cosf cosh coshf: Harmless(0) [COMPUTES];
    daemon: StartsProcess, later;
    dlmopen dlopen: KernelThread [TUNES], later;
    drand48: Harmless(0);
    drand48_r: Harmless(2);
    erand48: Harmless(1);
    erand48_r: Harmless(3);
    erf erfc erfcf erff: Harmless(0) [COMPUTES];
    execl execle execlp execv execve execveat execvp execvpe: StartsProcess, later;
    exit: Harmless(1) [NEVER_RETURNS];
    exp exp10 exp10f exp2 exp2f expf expm1 expm1f fabs fabsf: Harmless(0) [COMPUTES];
    fclose: Harmless(1);
    fdim fdimf: Harmless(0) [COMPUTES];
    feclearexcept fedisableexcept feenableexcept fegetenv fegetexceptflag feholdexcept feraiseexcept fesetenv
        fesetexceptflag fesetmode fesetround fetestexcept feupdateenv: PerThread;
    fexecve: StartsProcess, later;
    fflush: Harmless(1);
    floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf: Harmless(0) [COMPUTES];
    fopen: Harmless(2);
    fork forkpty: StartsProcess, later;
    fprintf: Harmless;
    fputc fputs: Harmless(2);
    fread: Harmless(4);
    free: Harmless(1) [FREES];
    frexp frexpf: Harmless(1) [COMPUTES];
    fwrite: Harmless(4);
    get_mempolicy: KernelThread [TUNES], later;
    get_nprocs get_nprocs_conf: Harmless(0);
    getaddrinfo_a: StartsThread, later;
    getcpu: PerThread;
    gettid: PerThread [BOUND];
    gettimeofday: Harmless(2);
    hypot hypotf ilogb ilogbf: Harmless(0) [COMPUTES];
    initgroups io_uring_enter io_uring_register io_uring_setup ioperm iopl: KernelThread, later;
    ioprio_set: KernelThread [TUNES], later;
    isalnum isalpha isdigit islower ispunct isspace isupper isxdigit: Harmless(1) [COMPUTES];
    jrand48: Harmless(1);
    jrand48_r: Harmless(3);
    labs ldexp ldexpf: Harmless(1) [COMPUTES];
    lgamma lgammaf: Harmless(0);
    lio_listio: StartsThread, later;
    llabs: Harmless(1) [COMPUTES];
    llrint llrintf llround llroundf log log10 log10f log1p log1pf log2 log2f logb logbf logf: Harmless(0)
        [COMPUTES];
    longjmp: Harmless [NEVER_RETURNS LEAVES];
    lrand48_r: Harmless(2);
    lrint lrintf lround lroundf: Harmless(0) [COMPUTES];
    malloc: Harmless(1) [ALLOCATES];
    mbind: KernelThread [CARRIED], later;
    memalign: Harmless(3) [ALLOCATES];
    memchr memcmp: Harmless(3) [COMPUTES];
    memcpy memmove: Harmless(3) [FILLS_MEMORY OVERWRITES];
    memrchr: Harmless(3) [COMPUTES];
    memset: Harmless(3) [FILLS_MEMORY OVERWRITES];
    modf modff: Harmless(1) [COMPUTES];
    mq_notify: StartsThread;
    mrand48_r: Harmless(2);
    nearbyint nearbyintf nextafter nextafterf: Harmless(0) [COMPUTES];
    nice: KernelThread [TUNES], later;
    nrand48: Harmless(1);
    nrand48_r: Harmless(3);
    perf_event_open personality pkey_alloc pkey_free pkey_get pkey_mprotect pkey_set: KernelThread, later;
    popen: StartsProcess, later;
    posix_memalign: Harmless(3);
    posix_spawn posix_spawnp: StartsProcess, later;
    pow powf: Harmless(0) [COMPUTES];
    prctl: KernelThread, later;
    printf: Harmless;
    pthread_barrier_wait: ThreadsWait, later;
    pthread_cancel: KernelThread, later;
    pthread_clockjoin_np: ThreadsWait, later;
    pthread_create: StartsThread;
    pthread_equal: Harmless(2), later;
    pthread_exit: KernelThread [NEVER_RETURNS LEAVES];
    pthread_getaffinity_np: KernelThread [CARRIED], later;
    pthread_getattr_np: KernelThread, later;
    pthread_getcpuclockid: KernelThread [ACTS];
    pthread_getname_np: KernelThread [TUNES], later;
    pthread_getschedparam: KernelThread [CARRIED], later;
    pthread_getspecific: PerThread;
    pthread_join: ThreadsWait, later;
    pthread_kill: KernelThread [ACTS];
    pthread_kill_other_threads_np: KernelThread, later;
    pthread_mutexattr_setprotocol pthread_mutexattr_setrobust: KernelThread [LASTS];
    pthread_mutexattr_setrobust_np: KernelThread [LASTS], later;
    pthread_self: PerThread;
    pthread_setaffinity_np: KernelThread [TUNES ACTS], later;
    pthread_setcancelstate pthread_setcanceltype: KernelThread [CARRIED], later;
    pthread_setname_np: KernelThread [TUNES], later;
    pthread_setschedparam pthread_setschedprio: KernelThread [TUNES ACTS], later;
    pthread_setspecific: PerThread;
    pthread_sigmask: KernelThread [CARRIED], later;
    pthread_sigqueue: KernelThread [ACTS];
    pthread_testcancel: KernelThread [CARRIED], later;
    pthread_timedjoin_np: ThreadsWait, later;
    ptrace: KernelThread, later;
    putc putchar: Harmless(2);
    puts: Harmless(1);
    qsort: Harmless(4);
    qsort_r: Harmless(5);
    rand: Harmless(0);
    rand_r: Harmless(1);
    random: Harmless(0);
    random_r: Harmless(2);
    realloc: Harmless(2);
    remainder remainderf rint rintf round roundeven roundevenf roundf: Harmless(0) [COMPUTES];
    scalbn scalbnf: Harmless(1) [COMPUTES];
    sched_getaffinity: KernelThread [CARRIED], later;
    sched_getattr: KernelThread [CARRIED], later;
    sched_getcpu: PerThread;
    sched_getparam sched_getscheduler: KernelThread [CARRIED], later;
    sched_setaffinity sched_setattr sched_setparam: KernelThread [TUNES], later;
    sched_setscheduler: KernelThread [TUNES ACTS], later;
    set_mempolicy: KernelThread [TUNES], later;
    setegid seteuid: KernelThread, later;
    setfsgid setfsuid: KernelThread [ACTS], later;
    setgid setgroups: KernelThread, later;
    setns: KernelThread [ACTS], later;
    setpriority: KernelThread [TUNES], later;
    setregid setresgid setresuid setreuid setuid: KernelThread, later;
    sigaltstack: KernelThread [CARRIED], later;
    sigblock sighold signalfd sigpause sigpending: KernelThread, later;
    sigprocmask: KernelThread [CARRIED], later;
    sigrelse sigset sigsetmask sigstack sigtimedwait sigvec sigwait sigwaitinfo: KernelThread, later;
    sin: Harmless(0) [COMPUTES];
    sincos sincosf: Harmless(2) [COMPUTES];
    sinf sinh sinhf: Harmless(0) [COMPUTES];
    snprintf sprintf: Harmless [OVERWRITES];
    sqrt sqrtf: Harmless(0) [COMPUTES];
    sscanf: Harmless;
    strcasecmp: Harmless(2) [COMPUTES];
    strcat: Harmless(3);
    strchr strcmp: Harmless(2) [COMPUTES];
    strcpy: Harmless(3) [OVERWRITES];
    strcspn: Harmless(2) [COMPUTES];
    strdup: Harmless(3);
    strlen: Harmless(1) [COMPUTES];
    strncasecmp: Harmless(3) [COMPUTES];
    strncat: Harmless(3);
    strncmp: Harmless(3) [COMPUTES];
    strncpy: Harmless(3) [OVERWRITES];
    strnlen strpbrk strrchr strspn strstr: Harmless(2) [COMPUTES];
    strtod strtok_r strtol strtoll strtoul strtoull: Harmless(3);
    syscall: KernelThread, later;
    sysconf: Harmless(1);
    system: StartsProcess, later;
    tan tanf tanh tanhf tgamma tgammaf: Harmless(0) [COMPUTES];
    tgkill: KernelThread [ACTS], later;
    thrd_create: StartsThread;
    thrd_current: PerThread;
    thrd_equal: Harmless(2), later;
    thrd_exit: KernelThread [NEVER_RETURNS LEAVES], later;
    thrd_join: ThreadsWait, later;
    time: Harmless(1);
    timer_create: StartsThread [BOUND ACTS];
    tkill: KernelThread, later;
    tolower toupper: Harmless(1) [COMPUTES];
    trunc truncf: Harmless(0) [COMPUTES];
    tss_get tss_set: PerThread;
    unshare: KernelThread [ACTS], later;
    uselocale: PerThread;
    vfork: StartsProcess, later;
    vfprintf vsnprintf: Harmless;
}

/// Families by the beginning of their names.
static FAMILIES: &[Function] = &[
    family("PAPI_*", Class::KernelThread, true),
    // Exceptions of floating-point numbers.
    family("__ieee_exceptions_MOD_*", Class::PerThread, false),
    family("_ZNSt18condition_variable*", Class::ThreadsWait, false),
    family("_ZNSt28__atomic_futex_unsigned_base*", Class::ThreadsWait, false),
    // C++'s threads, whatever they are handed.
    family("_ZNSt6thread15_M_start_thread*", Class::StartsThread, false),
    family("cnd_timedwait*", Class::ThreadsWait, false),
    family("cnd_wait*", Class::ThreadsWait, false),
    family("io_uring_*", Class::KernelThread, true),
    family("pthread_barrier_init*", Class::ThreadsWait, false),
    family("pthread_cond_*", Class::ThreadsWait, false),
    family("sem_clockwait*", Class::ThreadsWait, false),
    family("sem_timedwait*", Class::ThreadsWait, false),
    family("sem_wait*", Class::ThreadsWait, false),
];

const fn family(name: &str, class: Class, later: bool) -> Function {
    Function { name: Symbol::new(name), class, arguments: None, traits: 0, later }
}

/// The row of a function.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static Function> {
    let found = FUNCTIONS.binary_search_by(|row| row.name.bytes().cmp(name)).ok();
    let found = found.and_then(|at| FUNCTIONS.get(at));
    found.or_else(|| FAMILIES.iter().find(|row| row.name.is_family_of(name)))
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
