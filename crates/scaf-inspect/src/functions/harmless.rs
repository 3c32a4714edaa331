//! Functions of the C, C++ and Fortran libraries of which something is known.

use super::group::Group;
use super::group::Trait::{FillsMemory, Leaves, NeverReturns, Throws};

/// How the names of functions begin that are told how many threads will wait for each other, or wait for what
/// others do.
pub(crate) const MAKE_THREADS_WAIT: [&str; 9] = [
    "_ZNSt18condition_variable",
    "_ZNSt28__atomic_futex_unsigned_base",
    "cnd_timedwait",
    "cnd_wait",
    "pthread_barrier_init",
    "pthread_cond_",
    "sem_clockwait",
    "sem_timedwait",
    "sem_wait",
];
/// Functions that keep something for each thread, as thread-local variables do, or tell which thread it is.
pub(crate) const KEEPS_FOR_THREADS: [&str; 14] = [
    "fedisableexcept",
    "feenableexcept",
    "feholdexcept",
    "fesetenv",
    "fesetmode",
    "fesetround",
    "feupdateenv",
    "gettid",
    "pthread_self",
    "pthread_setspecific",
    "sched_getcpu",
    "thrd_current",
    "tss_set",
    "uselocale",
];

#[rustfmt::skip]
pub(super) static LIBRARIES: &[Group] = &[
    Group { why: "sets or copies a stretch of memory", is: &[FillsMemory],
        names: &["memcpy/3", "memmove/3", "memset/3"] },
    Group { why: "ends the program", is: &[NeverReturns],
        names: &["_ZSt9terminatev", "__assert_fail", "__stack_chk_fail/0", "_exit", "_gfortran_runtime_error",
            "_gfortran_stop_string", "abort/0", "exit/1"] },
    Group { why: "throws; where that is caught, the thread goes on", is: &[NeverReturns, Throws],
        names: &["_Unwind_Resume/1", "_ZSt16__throw_bad_castv", "_ZSt17__throw_bad_allocv",
            "_ZSt20__throw_length_errorPKc", "_ZSt20__throw_out_of_rangePKc",
            "_ZSt24__throw_out_of_range_fmtPKcz", "_ZSt28__throw_bad_array_new_lengthv", "__cxa_rethrow",
            "__cxa_throw"] },
    Group { why: "leaves the region, or a thread's part of it, by another way than its end",
        is: &[NeverReturns, Leaves],
        names: &["__longjmp_chk", "longjmp", "pthread_exit"] },
    Group { why: "nothing but its arguments is known", is: &[],
        names: &["_ZdlPv/1", "_ZdlPvm/2", "_Znam/1", "_Znwm/1", "__cxa_begin_catch/1", "__errno_location/0",
            "acos/0", "asin/0", "atan/0", "atan2/0", "calloc/2", "cbrt/0", "ceil/0", "cos/0", "cosf/0",
            "cosh/0", "erf/0", "exp/0", "exp2/0", "exp2f/0", "expf/0", "expm1/0", "fabs/0", "floor/0",
            "fmax/0", "fmin/0", "fmod/0", "free/1", "frexp/1", "hypot/0", "lgamma/0", "log/0", "log10/0",
            "log1p/0", "log2/0", "log2f/0", "logf/0", "malloc/1", "memcmp/3", "nearbyint/0", "pow/0",
            "powf/0", "puts/1", "rand/0", "rand_r/1", "realloc/2", "rint/0", "round/0", "sin/0", "sincos/2",
            "sinf/0", "sinh/0", "sqrt/0", "sqrtf/0", "strlen/1", "tan/0", "tanf/0", "tanh/0", "tanhf/0",
            "tgamma/0", "trunc/0"] },
];
