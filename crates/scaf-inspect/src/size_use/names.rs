//! The functions whose names mean something to the analysis.

/// What a library function tells about the team, or does with what it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Returns the team size.
    TeamSize,
    /// Returns the thread number.
    ThreadNumber,
    /// Tells about the team in a way that is not followed further.
    Inquiry,
    /// Deals out sections, one of which may wait for what another one does.
    Sections,
    /// Anything else.
    Other,
}

/// The roles of the functions that a module imports. Fortran adds an underscore to their names.
pub(super) fn role(name: &str) -> Role {
    let name = name.strip_suffix("_8_").or_else(|| name.strip_suffix('_')).unwrap_or(name);
    match name {
        "omp_get_num_threads" => Role::TeamSize,
        "omp_get_thread_num" => Role::ThreadNumber,
        "omp_get_team_size" | "omp_get_ancestor_thread_num" => Role::Inquiry,
        // A region with a team of one is not active.
        "omp_in_parallel" | "omp_get_active_level" => Role::Inquiry,
        "GOMP_sections_start" | "GOMP_sections2_start" => Role::Sections,
        _ => Role::Other,
    }
}

/// How many integer or pointer arguments a well-known function takes; six, as many as there are registers, where it is not known.
pub(super) fn arguments(name: &str) -> usize {
    match name {
        "GOMP_barrier"
        | "GOMP_atomic_start"
        | "GOMP_atomic_end"
        | "GOMP_critical_start"
        | "GOMP_critical_end"
        | "GOMP_loop_end"
        | "GOMP_loop_end_nowait"
        | "GOMP_single_start"
        | "GOMP_single_copy_start"
        | "GOMP_taskwait"
        | "GOMP_taskyield"
        | "GOMP_ordered_start"
        | "GOMP_ordered_end"
        | "GOMP_sections_next"
        | "GOMP_sections_end"
        | "GOMP_sections_end_nowait"
        | "GOMP_loop_end_cancel"
        | "GOMP_sections_end_cancel"
        | "GOMP_taskgroup_start"
        | "GOMP_taskgroup_end"
        | "omp_get_wtime"
        | "omp_get_wtick"
        | "omp_get_max_threads"
        | "omp_get_num_procs"
        | "omp_get_num_threads"
        | "omp_get_thread_num"
        | "omp_in_parallel"
        | "omp_get_level"
        | "omp_get_dynamic"
        | "omp_get_thread_limit"
        | "rand"
        | "abort"
        | "__stack_chk_fail"
        | "__errno_location"
        | "exp"
        | "expf"
        | "exp2"
        | "exp2f"
        | "log"
        | "logf"
        | "log2"
        | "log2f"
        | "log10"
        | "pow"
        | "powf"
        | "sin"
        | "sinf"
        | "cos"
        | "cosf"
        | "tan"
        | "tanf"
        | "sqrt"
        | "sqrtf"
        | "fabs"
        | "floor"
        | "ceil"
        | "fmod"
        | "tanh"
        | "tanhf"
        | "atan"
        | "atan2"
        | "asin"
        | "acos"
        | "erf"
        | "expm1"
        | "log1p"
        | "cbrt"
        | "hypot"
        | "fmax"
        | "fmin"
        | "lgamma"
        | "tgamma"
        | "sinh"
        | "cosh"
        | "round"
        | "rint"
        | "nearbyint"
        | "trunc" => 0,
        "GOMP_critical_name_start"
        | "GOMP_critical_name_end"
        | "__kmpc_global_thread_num"
        | "GOMP_barrier_cancel"
        | "GOMP_sections_start"
        | "free"
        | "malloc"
        | "omp_set_lock"
        | "omp_unset_lock"
        | "exit"
        | "frexp"
        | "__cxa_begin_catch"
        | "_Unwind_Resume"
        | "strlen"
        | "_Znwm"
        | "_Znam"
        | "_ZdlPv"
        | "puts"
        | "rand_r" => 1,
        "__kmpc_barrier"
        | "__kmpc_for_static_fini"
        | "__kmpc_single"
        | "__kmpc_end_single"
        | "__kmpc_master"
        | "__kmpc_end_master"
        | "__kmpc_ordered"
        | "__kmpc_end_ordered"
        | "__kmpc_omp_taskwait"
        | "__kmpc_taskgroup"
        | "__kmpc_end_taskgroup"
        | "__kmpc_serialized_parallel"
        | "__kmpc_end_serialized_parallel"
        | "GOMP_loop_dynamic_next"
        | "GOMP_loop_guided_next"
        | "GOMP_loop_runtime_next"
        | "GOMP_loop_nonmonotonic_dynamic_next"
        | "GOMP_loop_nonmonotonic_guided_next"
        | "GOMP_loop_maybe_nonmonotonic_runtime_next"
        | "calloc"
        | "realloc"
        | "_ZdlPvm"
        | "sincos" => 2,
        "memset" | "memcpy" | "memmove" | "memcmp" | "__kmpc_critical" | "__kmpc_end_critical" => 3,
        "GOMP_parallel" => 4,
        _ => 6,
    }
}

/// Functions that set or copy a stretch of memory: its length, the third argument, may be a loop's share.
pub(super) fn fills_memory(name: &str) -> bool {
    matches!(name, "memset" | "memcpy" | "memmove")
}

/// Library functions that neither wait for what another thread of the team has yet to do nor keep anything by thread that a
/// program could see. Mutual exclusion is no wait of this kind: whoever is inside comes out by itself.
pub(super) fn ties_nobody(name: &str) -> bool {
    let fortran = name.strip_suffix('_').unwrap_or(name);
    let asks = role(fortran) == Role::TeamSize
        || role(fortran) == Role::ThreadNumber
        || fortran == "omp_in_parallel"
        || matches!(name, "omp_get_team_size" | "omp_get_ancestor_thread_num");
    let chunk = name.strip_prefix("GOMP_loop_").is_some_and(|rest| {
        let rest = rest.strip_prefix("ull_").unwrap_or(rest);
        let rest = rest.strip_prefix("nonmonotonic_").unwrap_or(rest);
        matches!(rest, "dynamic_start" | "dynamic_next" | "guided_start" | "guided_next" | "end_nowait")
    });
    let exclusion = name.strip_prefix("GOMP_").is_some_and(|rest| {
        matches!(
            rest,
            "critical_start"
                | "critical_end"
                | "critical_name_start"
                | "critical_name_end"
                | "atomic_start"
                | "atomic_end"
        )
    });
    // LLVM's loops with a static schedule, whose shares a virtual thread is told as its own, and its mutual exclusion. Not its reductions: how
    // they are added up depends on the team.
    let llvms = name.strip_prefix("__kmpc_").is_some_and(|rest| {
        matches!(
            rest,
            "for_static_init_4"
                | "for_static_init_4u"
                | "for_static_init_8"
                | "for_static_init_8u"
                | "for_static_fini"
                | "critical"
                | "critical_with_hint"
                | "end_critical"
                | "global_thread_num"
        )
    });
    // These leave the region, or the part that a thread does of it, by another way than its end.
    let jumps = matches!(name, "longjmp" | "__longjmp_chk" | "pthread_exit");
    asks || chunk || exclusion || llvms || (never_returns(name) && !jumps) || is_plain(name)
}

/// Functions of the C and C++ libraries that only compute, or manage memory.
fn is_plain(name: &str) -> bool {
    let float = name.strip_suffix(['f', 'l']).unwrap_or(name);
    let computes = |name: &str| {
        matches!(
            name,
            "exp"
                | "exp2"
                | "expm1"
                | "log"
                | "log2"
                | "log10"
                | "log1p"
                | "pow"
                | "sqrt"
                | "cbrt"
                | "hypot"
                | "sin"
                | "cos"
                | "tan"
                | "asin"
                | "acos"
                | "atan"
                | "atan2"
                | "sincos"
                | "sinh"
                | "cosh"
                | "tanh"
                | "asinh"
                | "acosh"
                | "atanh"
                | "erf"
                | "erfc"
                | "tgamma"
                | "fabs"
                | "floor"
                | "ceil"
                | "round"
                | "rint"
                | "nearbyint"
                | "trunc"
                | "lround"
                | "lrint"
                | "fmod"
                | "remainder"
                | "fmax"
                | "fmin"
                | "fma"
                | "frexp"
                | "ldexp"
                | "scalbn"
                | "modf"
                | "copysign"
                | "nan"
        )
    };
    // Vector forms: _ZGVbN2v_sin.
    let vector = name.strip_prefix("_ZGV").and_then(|rest| rest.split_once('_')).map(|(_, name)| name);
    computes(name)
        || computes(float)
        || vector.is_some_and(|name| computes(name) || computes(name.strip_suffix('f').unwrap_or(name)))
        || matches!(
            name,
            "memset"
                | "memcpy"
                | "memmove"
                | "memcmp"
                | "memchr"
                | "strlen"
                | "strcmp"
                | "strncmp"
                | "__memset_chk"
                | "__memcpy_chk"
                | "__memmove_chk"
                | "malloc"
                | "calloc"
                | "realloc"
                | "free"
                | "posix_memalign"
                | "aligned_alloc"
                | "_Znwm"
                | "_Znam"
                | "_ZdlPv"
                | "_ZdaPv"
                | "_ZdlPvm"
                | "_ZdaPvm"
                | "_ZnwmSt11align_val_t"
                | "_ZdlPvSt11align_val_t"
                | "_ZdlPvmSt11align_val_t"
                | "rand_r"
                | "__popcountdi2"
                | "lgamma_r"
                | "_ZnwmRKSt9nothrow_t"
                | "_ZnamRKSt9nothrow_t"
                | "_ZdlPvRKSt9nothrow_t"
                | "_ZdaPvRKSt9nothrow_t"
                | "__cxa_begin_catch"
                | "__cxa_end_catch"
                | "__cxa_allocate_exception"
                | "__cxa_free_exception"
                | "__cxa_throw_bad_array_new_length"
                | "_ZNSt9exceptionD2Ev"
        )
}

/// Functions that do not come back.
pub(super) fn never_returns(name: &str) -> bool {
    matches!(
        name,
        "abort"
            | "exit"
            | "_exit"
            | "__stack_chk_fail"
            | "__assert_fail"
            | "_Unwind_Resume"
            | "__cxa_throw"
            | "__cxa_rethrow"
            | "_ZSt9terminatev"
            | "_ZSt17__throw_bad_allocv"
            | "_ZSt20__throw_length_errorPKc"
            | "_ZSt16__throw_bad_castv"
            | "_ZSt24__throw_out_of_range_fmtPKcz"
            | "_ZSt20__throw_out_of_rangePKc"
            | "_ZSt28__throw_bad_array_new_lengthv"
            | "__longjmp_chk"
            | "longjmp"
            | "pthread_exit"
            | "_gfortran_stop_string"
            | "_gfortran_runtime_error"
    )
}

#[cfg(test)]
mod tests {
    use super::{Role, role, ties_nobody};

    #[test]
    fn only_what_waits_for_nobody_leaves_threads_independent() {
        for name in [
            "omp_get_thread_num",
            "omp_get_num_threads_",
            "GOMP_loop_ull_nonmonotonic_guided_next",
            "GOMP_loop_dynamic_start",
            "GOMP_loop_end_nowait",
            "GOMP_critical_name_start",
            "__kmpc_for_static_init_8u",
            "__kmpc_for_static_fini",
            "__kmpc_critical",
            "expf",
            "exp",
            "_ZGVdN4v_sin",
            "memcpy",
            "__stack_chk_fail",
        ] {
            assert!(ties_nobody(name), "{name}");
        }
        for name in [
            "GOMP_barrier",
            "GOMP_single_start",
            "GOMP_loop_end",
            "GOMP_loop_static_start",
            "GOMP_task",
            "GOMP_loop_runtime_next",
            "GOMP_loop_ordered_dynamic_next",
            "GOMP_parallel",
            "GOMP_sections_start",
            "__kmpc_barrier",
            "__kmpc_reduce_nowait",
            "__kmpc_dispatch_next_4",
            "__kmpc_dist_for_static_init_4",
            "__kmpc_single",
            "__kmpc_omp_task",
            "pthread_barrier_wait",
            "sem_wait",
            "sched_yield",
            "usleep",
            "syscall",
            "__tls_get_addr",
            "printf",
            "omp_get_level",
            "rand",
            "longjmp",
            "pthread_exit",
            "omp_get_team_size_",
        ] {
            assert!(!ties_nobody(name), "{name}");
        }
    }

    #[test]
    fn fortrans_names_mean_the_same() {
        assert_eq!(role("omp_get_num_threads_"), Role::TeamSize);
        assert_eq!(role("omp_get_thread_num_"), Role::ThreadNumber);
        for name in
            ["omp_in_parallel", "omp_get_active_level", "omp_get_team_size", "omp_get_ancestor_thread_num"]
        {
            assert_eq!(role(name), Role::Inquiry);
            assert_eq!(role(&format!("{name}_")), Role::Inquiry);
        }
        assert_eq!(role("omp_get_team_size_8_"), Role::Inquiry);
    }
}
