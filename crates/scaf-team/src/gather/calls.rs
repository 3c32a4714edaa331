//! A table: functions by whose calls a program forbids its teams to be gathered.
//!
//! - Of the runtime, whatever isn't answered here for a member ([`ANSWERED`], [`ANSWERED_LLVM`]).
//! - What depends on the kernel thread: mutexes that the kernel knows the owners of, restartable sequences of
//!   one's own, and tools that keep something for each thread.
//! - What is done to a thread by its handle, which would be the sleeping worker's: signals and clocks.
//!   Python's interpreter offers these to its users, who hardly take them from a region: it isn't asked.

/// Prefixes of the runtimes' functions.
const RUNTIMES: [&[u8]; 9] =
    [GOMP, b"omp_", b"__kmp_", b"kmp_", b"kmpc_", b"ompc_", b"GOACC_", b"acc_", b"__tgt_"];
/// Of those that only code of gcc's, or of LLVM's compilers, calls.
const GOMP: &[u8] = b"GOMP_";
const KMPC: &[u8] = b"__kmpc_";
const KMPC_TASKS: [&[u8]; 2] = [b"__kmpc_omp_task", b"__kmpc_task"];
/// Reductions over tasks, which are tasks' functions as well.
const KMPC_REDUCTIONS: [&[u8]; 2] = [b"__kmpc_task_reduction", b"__kmpc_taskred"];
/// Whose names are many; all of them are answered.
const KMPC_ATOMIC: &[u8] = b"__kmpc_atomic_";

/// The runtime's functions that members may call: those that are answered here, and those that know nothing
/// of a team. Sorted.
const ANSWERED: [&[u8]; 257] = [
    b"GOMP_alloc",
    b"GOMP_atomic_end",
    b"GOMP_atomic_start",
    b"GOMP_barrier",
    b"GOMP_barrier_cancel",
    b"GOMP_cancel",
    b"GOMP_cancellation_point",
    b"GOMP_critical_end",
    b"GOMP_critical_name_end",
    b"GOMP_critical_name_start",
    b"GOMP_critical_start",
    b"GOMP_doacross_post",
    b"GOMP_doacross_ull_post",
    b"GOMP_doacross_ull_wait",
    b"GOMP_doacross_wait",
    b"GOMP_error",
    b"GOMP_free",
    b"GOMP_loop_doacross_dynamic_start",
    b"GOMP_loop_doacross_guided_start",
    b"GOMP_loop_doacross_runtime_start",
    b"GOMP_loop_doacross_start",
    b"GOMP_loop_doacross_static_start",
    b"GOMP_loop_dynamic_next",
    b"GOMP_loop_dynamic_start",
    b"GOMP_loop_end",
    b"GOMP_loop_end_cancel",
    b"GOMP_loop_end_nowait",
    b"GOMP_loop_guided_next",
    b"GOMP_loop_guided_start",
    b"GOMP_loop_maybe_nonmonotonic_runtime_next",
    b"GOMP_loop_maybe_nonmonotonic_runtime_start",
    b"GOMP_loop_nonmonotonic_dynamic_next",
    b"GOMP_loop_nonmonotonic_dynamic_start",
    b"GOMP_loop_nonmonotonic_guided_next",
    b"GOMP_loop_nonmonotonic_guided_start",
    b"GOMP_loop_nonmonotonic_runtime_next",
    b"GOMP_loop_nonmonotonic_runtime_start",
    b"GOMP_loop_ordered_dynamic_next",
    b"GOMP_loop_ordered_dynamic_start",
    b"GOMP_loop_ordered_guided_next",
    b"GOMP_loop_ordered_guided_start",
    b"GOMP_loop_ordered_runtime_next",
    b"GOMP_loop_ordered_runtime_start",
    b"GOMP_loop_ordered_start",
    b"GOMP_loop_ordered_static_next",
    b"GOMP_loop_ordered_static_start",
    b"GOMP_loop_runtime_next",
    b"GOMP_loop_runtime_start",
    b"GOMP_loop_start",
    b"GOMP_loop_static_next",
    b"GOMP_loop_static_start",
    b"GOMP_loop_ull_doacross_dynamic_start",
    b"GOMP_loop_ull_doacross_guided_start",
    b"GOMP_loop_ull_doacross_runtime_start",
    b"GOMP_loop_ull_doacross_start",
    b"GOMP_loop_ull_doacross_static_start",
    b"GOMP_loop_ull_dynamic_next",
    b"GOMP_loop_ull_dynamic_start",
    b"GOMP_loop_ull_guided_next",
    b"GOMP_loop_ull_guided_start",
    b"GOMP_loop_ull_maybe_nonmonotonic_runtime_next",
    b"GOMP_loop_ull_maybe_nonmonotonic_runtime_start",
    b"GOMP_loop_ull_nonmonotonic_dynamic_next",
    b"GOMP_loop_ull_nonmonotonic_dynamic_start",
    b"GOMP_loop_ull_nonmonotonic_guided_next",
    b"GOMP_loop_ull_nonmonotonic_guided_start",
    b"GOMP_loop_ull_nonmonotonic_runtime_next",
    b"GOMP_loop_ull_nonmonotonic_runtime_start",
    b"GOMP_loop_ull_ordered_dynamic_next",
    b"GOMP_loop_ull_ordered_dynamic_start",
    b"GOMP_loop_ull_ordered_guided_next",
    b"GOMP_loop_ull_ordered_guided_start",
    b"GOMP_loop_ull_ordered_runtime_next",
    b"GOMP_loop_ull_ordered_runtime_start",
    b"GOMP_loop_ull_ordered_start",
    b"GOMP_loop_ull_ordered_static_next",
    b"GOMP_loop_ull_ordered_static_start",
    b"GOMP_loop_ull_runtime_next",
    b"GOMP_loop_ull_runtime_start",
    b"GOMP_loop_ull_start",
    b"GOMP_loop_ull_static_next",
    b"GOMP_loop_ull_static_start",
    b"GOMP_ordered_end",
    b"GOMP_ordered_start",
    b"GOMP_parallel",
    b"GOMP_parallel_loop_dynamic",
    b"GOMP_parallel_loop_guided",
    b"GOMP_parallel_loop_maybe_nonmonotonic_runtime",
    b"GOMP_parallel_loop_nonmonotonic_dynamic",
    b"GOMP_parallel_loop_nonmonotonic_guided",
    b"GOMP_parallel_loop_nonmonotonic_runtime",
    b"GOMP_parallel_loop_runtime",
    b"GOMP_parallel_reductions",
    b"GOMP_parallel_sections",
    b"GOMP_sections2_start",
    b"GOMP_sections_end",
    b"GOMP_sections_end_cancel",
    b"GOMP_sections_end_nowait",
    b"GOMP_sections_next",
    b"GOMP_sections_start",
    b"GOMP_single_copy_end",
    b"GOMP_single_copy_start",
    b"GOMP_single_start",
    b"GOMP_task",
    b"GOMP_task_reduction_remap",
    b"GOMP_taskgroup_end",
    b"GOMP_taskgroup_reduction_register",
    b"GOMP_taskgroup_reduction_unregister",
    b"GOMP_taskgroup_start",
    b"GOMP_taskloop",
    b"GOMP_taskloop_ull",
    b"GOMP_taskwait",
    b"GOMP_taskwait_depend",
    b"GOMP_taskyield",
    b"GOMP_warning",
    b"GOMP_workshare_task_reduction_unregister",
    b"omp_aligned_alloc",
    b"omp_aligned_calloc",
    b"omp_alloc",
    b"omp_calloc",
    b"omp_destroy_allocator",
    b"omp_destroy_allocator_",
    b"omp_destroy_lock",
    b"omp_destroy_lock_",
    b"omp_destroy_nest_lock",
    b"omp_destroy_nest_lock_",
    b"omp_display_env",
    b"omp_display_env_",
    b"omp_display_env_8_",
    b"omp_free",
    b"omp_get_active_level",
    b"omp_get_active_level_",
    b"omp_get_affinity_format",
    b"omp_get_affinity_format_",
    b"omp_get_ancestor_thread_num",
    b"omp_get_ancestor_thread_num_",
    b"omp_get_ancestor_thread_num_8_",
    b"omp_get_cancellation",
    b"omp_get_cancellation_",
    b"omp_get_default_allocator",
    b"omp_get_default_allocator_",
    b"omp_get_device_num",
    b"omp_get_device_num_",
    b"omp_get_dynamic",
    b"omp_get_dynamic_",
    b"omp_get_initial_device",
    b"omp_get_initial_device_",
    b"omp_get_level",
    b"omp_get_level_",
    b"omp_get_max_active_levels",
    b"omp_get_max_active_levels_",
    b"omp_get_max_task_priority",
    b"omp_get_max_task_priority_",
    b"omp_get_max_teams",
    b"omp_get_max_teams_",
    b"omp_get_max_threads",
    b"omp_get_max_threads_",
    b"omp_get_nested",
    b"omp_get_nested_",
    b"omp_get_num_devices",
    b"omp_get_num_devices_",
    b"omp_get_num_places",
    b"omp_get_num_places_",
    b"omp_get_num_procs",
    b"omp_get_num_procs_",
    b"omp_get_num_teams",
    b"omp_get_num_teams_",
    b"omp_get_num_threads",
    b"omp_get_num_threads_",
    b"omp_get_partition_num_places",
    b"omp_get_partition_num_places_",
    b"omp_get_partition_place_nums",
    b"omp_get_partition_place_nums_",
    b"omp_get_partition_place_nums_8_",
    b"omp_get_place_num",
    b"omp_get_place_num_",
    b"omp_get_place_num_procs",
    b"omp_get_place_num_procs_",
    b"omp_get_place_num_procs_8_",
    b"omp_get_place_proc_ids",
    b"omp_get_place_proc_ids_",
    b"omp_get_place_proc_ids_8_",
    b"omp_get_proc_bind",
    b"omp_get_proc_bind_",
    b"omp_get_schedule",
    b"omp_get_schedule_",
    b"omp_get_schedule_8_",
    b"omp_get_supported_active_levels",
    b"omp_get_supported_active_levels_",
    b"omp_get_team_num",
    b"omp_get_team_num_",
    b"omp_get_team_size",
    b"omp_get_team_size_",
    b"omp_get_team_size_8_",
    b"omp_get_teams_thread_limit",
    b"omp_get_teams_thread_limit_",
    b"omp_get_thread_limit",
    b"omp_get_thread_limit_",
    b"omp_get_thread_num",
    b"omp_get_thread_num_",
    b"omp_get_wtick",
    b"omp_get_wtick_",
    b"omp_get_wtime",
    b"omp_get_wtime_",
    b"omp_in_final",
    b"omp_in_final_",
    b"omp_in_parallel",
    b"omp_in_parallel_",
    b"omp_init_allocator",
    b"omp_init_allocator_",
    b"omp_init_allocator_8_",
    b"omp_init_lock",
    b"omp_init_lock_",
    b"omp_init_lock_with_hint",
    b"omp_init_lock_with_hint_",
    b"omp_init_nest_lock",
    b"omp_init_nest_lock_",
    b"omp_init_nest_lock_with_hint",
    b"omp_init_nest_lock_with_hint_",
    b"omp_is_initial_device",
    b"omp_is_initial_device_",
    b"omp_realloc",
    b"omp_set_affinity_format",
    b"omp_set_affinity_format_",
    b"omp_set_dynamic",
    b"omp_set_dynamic_",
    b"omp_set_dynamic_8_",
    b"omp_set_lock",
    b"omp_set_lock_",
    b"omp_set_max_active_levels",
    b"omp_set_max_active_levels_",
    b"omp_set_max_active_levels_8_",
    b"omp_set_nest_lock",
    b"omp_set_nest_lock_",
    b"omp_set_nested",
    b"omp_set_nested_",
    b"omp_set_nested_8_",
    b"omp_set_num_teams",
    b"omp_set_num_teams_",
    b"omp_set_num_teams_8_",
    b"omp_set_num_threads",
    b"omp_set_num_threads_",
    b"omp_set_num_threads_8_",
    b"omp_set_schedule",
    b"omp_set_schedule_",
    b"omp_set_schedule_8_",
    b"omp_set_teams_thread_limit",
    b"omp_set_teams_thread_limit_",
    b"omp_set_teams_thread_limit_8_",
    b"omp_test_lock",
    b"omp_test_lock_",
    b"omp_test_nest_lock",
    b"omp_test_nest_lock_",
    b"omp_unset_lock",
    b"omp_unset_lock_",
    b"omp_unset_nest_lock",
    b"omp_unset_nest_lock_",
];

/// The same for LLVM's runtime.
const ANSWERED_LLVM: [&[u8]; 85] = [
    b"__kmpc_aligned_alloc",
    b"__kmpc_alloc",
    b"__kmpc_barrier",
    b"__kmpc_begin",
    b"__kmpc_calloc",
    b"__kmpc_cancel",
    b"__kmpc_cancel_barrier",
    b"__kmpc_cancellationpoint",
    b"__kmpc_copyprivate",
    b"__kmpc_critical",
    b"__kmpc_critical_with_hint",
    b"__kmpc_destroy_allocator",
    b"__kmpc_dispatch_deinit",
    b"__kmpc_dispatch_fini_4",
    b"__kmpc_dispatch_fini_4u",
    b"__kmpc_dispatch_fini_8",
    b"__kmpc_dispatch_fini_8u",
    b"__kmpc_dispatch_init_4",
    b"__kmpc_dispatch_init_4u",
    b"__kmpc_dispatch_init_8",
    b"__kmpc_dispatch_init_8u",
    b"__kmpc_dispatch_next_4",
    b"__kmpc_dispatch_next_4u",
    b"__kmpc_dispatch_next_8",
    b"__kmpc_dispatch_next_8u",
    b"__kmpc_doacross_fini",
    b"__kmpc_doacross_init",
    b"__kmpc_doacross_post",
    b"__kmpc_doacross_wait",
    b"__kmpc_end",
    b"__kmpc_end_critical",
    b"__kmpc_end_masked",
    b"__kmpc_end_master",
    b"__kmpc_end_ordered",
    b"__kmpc_end_reduce",
    b"__kmpc_end_reduce_nowait",
    b"__kmpc_end_scope",
    b"__kmpc_end_serialized_parallel",
    b"__kmpc_end_single",
    b"__kmpc_end_taskgroup",
    b"__kmpc_error",
    b"__kmpc_flush",
    b"__kmpc_for_static_fini",
    b"__kmpc_for_static_init_4",
    b"__kmpc_for_static_init_4u",
    b"__kmpc_for_static_init_8",
    b"__kmpc_for_static_init_8u",
    b"__kmpc_fork_call",
    b"__kmpc_fork_call_if",
    b"__kmpc_free",
    b"__kmpc_get_default_allocator",
    b"__kmpc_global_thread_num",
    b"__kmpc_init_allocator",
    b"__kmpc_masked",
    b"__kmpc_master",
    b"__kmpc_omp_task",
    b"__kmpc_omp_task_alloc",
    b"__kmpc_omp_task_begin_if0",
    b"__kmpc_omp_task_complete_if0",
    b"__kmpc_omp_task_with_deps",
    b"__kmpc_omp_taskwait",
    b"__kmpc_omp_taskwait_deps_51",
    b"__kmpc_omp_taskyield",
    b"__kmpc_omp_wait_deps",
    b"__kmpc_ordered",
    b"__kmpc_push_num_threads",
    b"__kmpc_push_proc_bind",
    b"__kmpc_realloc",
    b"__kmpc_reduce",
    b"__kmpc_reduce_nowait",
    b"__kmpc_scope",
    b"__kmpc_serialized_parallel",
    b"__kmpc_single",
    b"__kmpc_task_reduction_get_th_data",
    b"__kmpc_task_reduction_init",
    b"__kmpc_task_reduction_modifier_fini",
    b"__kmpc_task_reduction_modifier_init",
    b"__kmpc_taskgroup",
    b"__kmpc_taskloop",
    b"__kmpc_taskloop_5",
    b"__kmpc_taskred_init",
    b"__kmpc_taskred_modifier_init",
    b"__kmpc_threadprivate_cached",
    b"__kmpc_threadprivate_register",
    b"__kmpc_threadprivate_register_vec",
];

/// Other functions that forbid it. Sorted.
const FORBIDDEN: [&[u8]; 11] = [
    b"__asan_init",
    b"__hwasan_init",
    b"__msan_init",
    b"__rseq_abi",
    b"__rseq_offset",
    b"__tsan_init",
    b"pthread_getcpuclockid",
    b"pthread_kill",
    b"pthread_mutexattr_setprotocol",
    b"pthread_mutexattr_setrobust",
    b"pthread_sigqueue",
];

/// What a library only offers to its users, who are asked themselves: how its file's name begins, and the
/// function. Arrow has a function that sends a signal to a thread, which its Python modules call in tests
/// only; pandas and XGBoost load it.
const OFFERED: [(&[u8], &[u8]); 1] = [(b"libarrow.so", b"pthread_kill")];

/// Libraries that start threads for others only, who call them for it, or to run code of their own.
const STARTERS: [&[u8]; 2] = [b"libstdc++", b"libgfortran"];

/// By which a program starts threads that run code of its own.
const STARTS: [&[u8]; 5] = [b"clone", b"mq_notify", b"pthread_create", b"thrd_create", b"timer_create"];

/// The same by C++'s library, whatever it is handed.
const STARTS_IN_CPP: &[u8] = b"_ZNSt6thread15_M_start_thread";

/// What a program's calls say of it: bits.
pub mod says {
    /// Its teams can't be gathered.
    pub const FORBIDDEN: u32 = 1;
    /// It may ask what it has chosen, or have loops by that schedule.
    pub const CHOSEN: u32 = 2;
    /// It may create tasks.
    pub const TASKS: u32 = 4;
    /// Code of gcc's.
    pub const GOMP: u32 = 8;
    /// Code of LLVM's compilers.
    pub const KMPC: u32 = 16;
    /// It may cancel constructs.
    pub const CANCELS: u32 = 32;
    /// Iterations of its loops may wait for each other.
    pub const WAITS: u32 = 64;
    /// It may have reductions over the tasks of a group.
    pub const REDUCES: u32 = 128;
    /// It may start threads by itself.
    pub const THREADS: u32 = 256;
    /// Its loops may come with memory that the team shares, and have barriers within.
    pub const SHARED: u32 = 512;
    /// It may ask whether the calling task has a lock: libgomp's belong to tasks.
    pub const TASKS_LOCKS: u32 = 1024;
    /// All of these.
    pub const ALL: u32 = 2047;
}

/// What a call of the function by the library of that file name says.
pub fn say_in(file: &[u8], name: &[u8]) -> u32 {
    let said = say(name);
    let offers = |offered: &(&[u8], &[u8])| file.starts_with(offered.0) && offered.1 == name;
    if said & says::FORBIDDEN != 0 && OFFERED.iter().any(offers) {
        return 0;
    }
    if said & says::THREADS != 0 && STARTERS.iter().any(|library| file.starts_with(library)) {
        return said & !says::THREADS;
    }
    said
}

/// What calls of this function say.
pub fn say(name: &[u8]) -> u32 {
    let forbidden = |is: bool| if is { says::FORBIDDEN } else { 0 };
    if name.starts_with(KMPC) {
        let known = ANSWERED_LLVM.binary_search(&name).is_ok() || name.starts_with(KMPC_ATOMIC);
        let is_one_of = |prefixes: &[&[u8]]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let more = match name {
            b"__kmpc_cancel" => says::CANCELS,
            b"__kmpc_doacross_wait" => says::WAITS,
            _ if is_one_of(&KMPC_REDUCTIONS) => says::TASKS | says::REDUCES,
            _ if is_one_of(&KMPC_TASKS) => says::TASKS,
            _ => 0,
        };
        says::KMPC | more | forbidden(!known)
    } else if RUNTIMES.iter().any(|prefix| name.starts_with(prefix)) {
        let gomp = if name.starts_with(GOMP) { says::GOMP } else { 0 };
        gomp | asks(name) | forbidden(ANSWERED.binary_search(&name).is_err())
    } else {
        let starts = STARTS.contains(&name) || name.starts_with(STARTS_IN_CPP);
        let threads = if starts { says::THREADS } else { 0 };
        threads | forbidden(FORBIDDEN.binary_search(&name).is_ok())
    }
}

fn asks(name: &[u8]) -> u32 {
    const QUESTIONS: [&[u8]; 7] = [
        b"omp_get_dynamic",
        b"omp_get_max_active_levels",
        b"omp_get_nested",
        b"omp_get_proc_bind",
        b"omp_get_schedule",
        b"omp_get_schedule_8",
        // LLVM's loops by it have no name of their own.
        b"omp_set_schedule",
    ];
    // They are told the schedule by a number.
    const GIVEN: [&[u8]; 7] = [
        b"GOMP_loop_doacross_start",
        b"GOMP_loop_ordered_start",
        b"GOMP_loop_start",
        b"GOMP_loop_ull_doacross_start",
        b"GOMP_loop_ull_ordered_start",
        b"GOMP_loop_ull_start",
        b"GOMP_sections2_start",
    ];
    let by_schedule = name.ends_with(b"runtime_start") || name.ends_with(b"_runtime");
    if by_schedule || QUESTIONS.contains(&name.strip_suffix(b"_").unwrap_or(name)) {
        says::CHOSEN
    } else if GIVEN.contains(&name) {
        says::CHOSEN | says::SHARED
    } else if name.starts_with(b"omp_test_nest_lock") {
        says::TASKS_LOCKS
    } else if name == b"GOMP_cancel" {
        says::CANCELS
    } else if name.starts_with(b"GOMP_doacross_") {
        says::WAITS
    } else if name.starts_with(b"GOMP_taskgroup_reduction") || name.starts_with(b"GOMP_workshare_task") {
        says::TASKS | says::REDUCES
    } else if name.starts_with(b"GOMP_task") {
        says::TASKS
    } else {
        0
    }
}

/// Whether calls of this function forbid it.
pub fn forbid(name: &[u8]) -> bool {
    say(name) & says::FORBIDDEN != 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_names_are_found() {
        assert!(ANSWERED.is_sorted() && ANSWERED_LLVM.is_sorted() && FORBIDDEN.is_sorted());
        for (name, forbids) in [
            ("GOMP_parallel", false),
            ("GOMP_barrier", false),
            ("GOMP_loop_start", false),
            ("GOMP_workshare_task_reduction_unregister", false),
            ("malloc", false),
            ("pthread_mutex_lock", false),
            ("omp_pause_resource", true),
            ("omp_set_max_active_levels", false),
            ("__kmpc_barrier", false),
            ("__kmpc_atomic_fixed4_add", false),
            ("__kmpc_omp_task", false),
            ("__kmpc_omp_target_task_alloc", true),
            ("__kmpc_proxy_task_completed", true),
            ("kmp_set_stacksize", true),
            ("pthread_kill", true),
            ("__tsan_init", true),
        ] {
            assert_eq!(forbid(name.as_bytes()), forbids, "{name}");
        }
    }

    #[test]
    fn what_a_library_offers_forbids_nothing_where_that_library_calls_it() {
        assert_eq!(say_in(b"libarrow.so.2600", b"pthread_kill"), 0);
        assert_eq!(say_in(b"libarrow.so.2600", b"pthread_sigqueue"), says::FORBIDDEN);
        for file in [&b"libarrow_python.so"[..], b""] {
            assert_eq!(say_in(file, b"pthread_kill"), says::FORBIDDEN);
        }
        assert_eq!(say_in(b"libstdc++.so.6", b"pthread_create"), 0);
        assert_eq!(say_in(b"libother.so", b"pthread_create"), says::THREADS);
    }

    #[test]
    fn locks_that_belong_to_tasks_are_known() {
        for name in ["omp_test_nest_lock", "omp_test_nest_lock_"] {
            assert_eq!(say(name.as_bytes()), says::TASKS_LOCKS, "{name}");
        }
    }

    #[test]
    fn tasks_and_their_reductions_are_known_by_both_compilers_names() {
        for name in ["GOMP_task", "GOMP_taskgroup_start", "__kmpc_omp_task_alloc", "__kmpc_taskgroup"] {
            assert_eq!(say(name.as_bytes()) & (says::TASKS | says::REDUCES), says::TASKS, "{name}");
        }
        for name in [
            "GOMP_taskgroup_reduction_register",
            "__kmpc_taskred_init",
            "__kmpc_taskred_modifier_init",
            "__kmpc_task_reduction_init",
            "__kmpc_task_reduction_modifier_init",
            "__kmpc_task_reduction_get_th_data",
        ] {
            let both = says::TASKS | says::REDUCES;
            assert_eq!(say(name.as_bytes()) & both, both, "{name}");
        }
    }
}
