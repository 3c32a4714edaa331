//! Functions by whose calls a program forbids its teams to be gathered.
//!
//! - Of the runtime, whatever isn't answered here for a member ([`ANSWERED`]).
//! - What depends on the kernel thread: mutexes that the kernel knows the owners of, restartable sequences of
//!   one's own, and tools that keep something for each thread.
//! - What is done to a thread by its handle, which would be the sleeping worker's: signals, clocks, and where
//!   its stack is, which collectors of garbage ask. And what a member would set for its carrier: masks of
//!   signals and their stacks. Python's interpreter offers these to its users, who hardly take them from a
//!   region: it isn't asked.

/// Prefixes of the runtimes' functions.
const RUNTIMES: [&[u8]; 6] = [b"GOMP_", b"omp_", b"__kmpc_", b"kmp_", b"GOACC_", b"acc_"];

/// The runtime's functions that members may call: those that are answered here, and those that know nothing
/// of a team. Sorted.
const ANSWERED: [&[u8]; 75] = [
    b"GOMP_atomic_end",
    b"GOMP_atomic_start",
    b"GOMP_barrier",
    b"GOMP_critical_end",
    b"GOMP_critical_name_end",
    b"GOMP_critical_name_start",
    b"GOMP_critical_start",
    b"GOMP_loop_dynamic_next",
    b"GOMP_loop_dynamic_start",
    b"GOMP_loop_end",
    b"GOMP_loop_end_nowait",
    b"GOMP_loop_guided_next",
    b"GOMP_loop_guided_start",
    b"GOMP_loop_nonmonotonic_dynamic_next",
    b"GOMP_loop_nonmonotonic_dynamic_start",
    b"GOMP_loop_nonmonotonic_guided_next",
    b"GOMP_loop_nonmonotonic_guided_start",
    b"GOMP_loop_ull_dynamic_next",
    b"GOMP_loop_ull_dynamic_start",
    b"GOMP_loop_ull_guided_next",
    b"GOMP_loop_ull_guided_start",
    b"GOMP_loop_ull_nonmonotonic_dynamic_next",
    b"GOMP_loop_ull_nonmonotonic_dynamic_start",
    b"GOMP_loop_ull_nonmonotonic_guided_next",
    b"GOMP_loop_ull_nonmonotonic_guided_start",
    b"GOMP_parallel",
    b"GOMP_parallel_loop_dynamic",
    b"GOMP_parallel_loop_guided",
    b"GOMP_parallel_loop_nonmonotonic_dynamic",
    b"GOMP_parallel_loop_nonmonotonic_guided",
    b"GOMP_sections_end",
    b"GOMP_sections_end_nowait",
    b"GOMP_sections_next",
    b"GOMP_sections_start",
    b"GOMP_single_copy_end",
    b"GOMP_single_copy_start",
    b"GOMP_single_start",
    b"omp_destroy_lock",
    b"omp_destroy_lock_",
    b"omp_destroy_nest_lock",
    b"omp_get_active_level",
    b"omp_get_ancestor_thread_num",
    b"omp_get_level",
    b"omp_get_max_threads",
    b"omp_get_max_threads_",
    b"omp_get_num_devices",
    b"omp_get_num_procs",
    b"omp_get_num_procs_",
    b"omp_get_num_threads",
    b"omp_get_num_threads_",
    b"omp_get_supported_active_levels",
    b"omp_get_team_size",
    b"omp_get_thread_limit",
    b"omp_get_thread_num",
    b"omp_get_thread_num_",
    b"omp_get_wtick",
    b"omp_get_wtick_",
    b"omp_get_wtime",
    b"omp_get_wtime_",
    b"omp_in_parallel",
    b"omp_in_parallel_",
    b"omp_init_lock",
    b"omp_init_lock_",
    b"omp_init_nest_lock",
    b"omp_is_initial_device",
    b"omp_set_lock",
    b"omp_set_lock_",
    b"omp_set_nest_lock",
    b"omp_set_num_threads",
    b"omp_set_num_threads_",
    b"omp_test_lock",
    b"omp_test_lock_",
    b"omp_unset_lock",
    b"omp_unset_lock_",
    b"omp_unset_nest_lock",
];

/// Other functions that forbid it. Sorted.
const FORBIDDEN: [&[u8]; 15] = [
    b"__asan_init",
    b"__hwasan_init",
    b"__msan_init",
    b"__rseq_abi",
    b"__rseq_offset",
    b"__tsan_init",
    b"pthread_getattr_np",
    b"pthread_getcpuclockid",
    b"pthread_kill",
    b"pthread_mutexattr_setprotocol",
    b"pthread_mutexattr_setrobust",
    b"pthread_sigmask",
    b"pthread_sigqueue",
    b"sigaltstack",
    b"sigprocmask",
];

/// Whether calls of this function forbid it.
pub fn forbid(name: &[u8]) -> bool {
    if RUNTIMES.iter().any(|prefix| name.starts_with(prefix)) {
        ANSWERED.binary_search(&name).is_err()
    } else {
        FORBIDDEN.binary_search(&name).is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_names_are_found() {
        assert!(ANSWERED.is_sorted() && FORBIDDEN.is_sorted());
        for (name, forbids) in [
            ("GOMP_parallel", false),
            ("GOMP_barrier", false),
            ("malloc", false),
            ("pthread_mutex_lock", false),
            ("omp_pause_resource", true),
            ("omp_set_max_active_levels", true),
            ("pthread_kill", true),
            ("__tsan_init", true),
        ] {
            assert_eq!(forbid(name.as_bytes()), forbids, "{name}");
        }
    }
}
