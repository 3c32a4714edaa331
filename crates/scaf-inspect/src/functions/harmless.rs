//! Functions of the C, C++ and Fortran libraries that a region may call, and some that it may not. To allow
//! another one, add its name to a group with [`TiesNobody`], or add a group.

use super::group::Group;
use super::group::Trait::{FillsMemory, NeverReturns, OfAnyWidth, TiesNobody};

#[rustfmt::skip]
pub(super) static LIBRARIES: &[Group] = &[
    Group { why: "only computes", is: &[TiesNobody, OfAnyWidth],
        names: &["acos/0", "acosh", "asin/0", "asinh", "atan/0", "atan2/0", "atanh", "cbrt/0", "ceil/0",
            "copysign", "cos/0", "cosh/0", "erf/0", "erfc", "exp/0", "exp2/0", "expm1/0", "fabs/0", "floor/0",
            "fma", "fmax/0", "fmin/0", "fmod/0", "frexp/1", "hypot/0", "ldexp", "log/0", "log10/0", "log1p/0",
            "log2/0", "lrint", "lround", "modf", "nan", "nearbyint/0", "pow/0", "remainder", "rint/0",
            "round/0", "scalbn", "sin/0", "sincos/2", "sinh/0", "sqrt/0", "tan/0", "tanh/0", "tgamma/0",
            "trunc/0"] },
    Group { why: "only computes, in one width, or has its state handed", is: &[TiesNobody],
        names: &["__popcountdi2", "cosf/0", "exp2f/0", "expf/0", "lgamma_r", "log2f/0", "logf/0", "powf/0",
            "rand_r/1", "sinf/0", "sqrtf/0", "tanf/0", "tanhf/0"] },
    Group { why: "sets or copies a stretch of memory", is: &[TiesNobody, FillsMemory],
        names: &["memcpy/3", "memmove/3", "memset/3"] },
    Group { why: "the same, told the room that there is", is: &[TiesNobody],
        names: &["__memcpy_chk", "__memmove_chk", "__memset_chk"] },
    Group { why: "only reads what it is handed", is: &[TiesNobody],
        names: &["memchr", "memcmp/3", "strcmp", "strlen/1", "strncmp"] },
    Group { why: "gets or frees memory", is: &[TiesNobody],
        names: &["_ZdaPv", "_ZdaPvRKSt9nothrow_t", "_ZdaPvm", "_ZdlPv/1", "_ZdlPvRKSt9nothrow_t",
            "_ZdlPvSt11align_val_t", "_ZdlPvm/2", "_ZdlPvmSt11align_val_t", "_Znam/1", "_ZnamRKSt9nothrow_t",
            "_Znwm/1", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t", "aligned_alloc", "calloc/2", "free/1",
            "malloc/1", "posix_memalign", "realloc/2"] },
    Group { why: "handles an exception of this thread's", is: &[TiesNobody],
        names: &["_ZNSt9exceptionD2Ev", "__cxa_allocate_exception", "__cxa_begin_catch/1", "__cxa_end_catch",
            "__cxa_free_exception", "__cxa_throw_bad_array_new_length"] },
    Group { why: "ends the program or throws", is: &[TiesNobody, NeverReturns],
        names: &["_Unwind_Resume/1", "_ZSt16__throw_bad_castv", "_ZSt17__throw_bad_allocv",
            "_ZSt20__throw_length_errorPKc", "_ZSt20__throw_out_of_rangePKc",
            "_ZSt24__throw_out_of_range_fmtPKcz", "_ZSt28__throw_bad_array_new_lengthv", "_ZSt9terminatev",
            "__assert_fail", "__cxa_rethrow", "__cxa_throw", "__stack_chk_fail/0", "_exit",
            "_gfortran_runtime_error", "_gfortran_stop_string", "abort/0", "exit/1"] },
    Group { why: "leaves the region, or a thread's part of it, by another way than its end",
        is: &[NeverReturns],
        names: &["__longjmp_chk", "longjmp", "pthread_exit"] },
    Group { why: "nothing but its arguments is known", is: &[],
        names: &["__errno_location/0", "lgamma/0", "puts/1", "rand/0"] },
];
