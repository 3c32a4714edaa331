//! A table: the functions of OpenMP runtimes.
//!
//! A row: `symbol(arguments) -> result: member [says], tells(count) => kind handler | fortran = handler;`
//! - The signature, or `as` a type, is of functions that libscaf calls: a field of its `Runtime`. Where one
//!   handler serves several, they have an argument or a result more than the runtime says.
//! - What a member gets ([`Member`]); what calls say of the program ([`says`]); what code analysis may take
//!   from them ([`Tells`]), with the number of integer arguments that it may count on.
//! - The handler, if libscaf exports the function, and how (`crates/libscaf/src/entry/exports.rs`):
//!   - `caller`: the handler gets the arguments, and the return address behind them;
//!   - `find`: the handler gets the return address, and answers the function to go on at with all arguments;
//!   - `members`: members go on at the handler with all arguments, others at the runtime's function;
//!   - `divert`: the same for code of LLVM's compilers, by a load, a comparison and a jump;
//!   - `own`: the handler is itself the export.
//! - Names for Fortran, each with a handler of its own or C's.
//!
//! [`Member`]: crate::runtime::Member
//! [`Tells`]: crate::runtime::Tells
//! [`says`]: crate::runtime::says

/// Hands all rows to a macro.
#[macro_export]
#[rustfmt::skip]
macro_rules! runtime_functions { ($callback:ident) => { $callback! {
    GOMP_add_alloc: forbidden;
    GOMP_alloc: neutral;
    GOMP_atomic_end: neutral, Nothing(0);
    GOMP_atomic_start(Pointer) -> Pointer: ours, Nothing(0) => caller gomp::tasks::atomic_start;
    GOMP_barrier(): ours, Nothing(0) => caller gomp::waits::barrier;
    GOMP_barrier_cancel() -> bool: ours, Nothing(1) => caller gomp::waits::barrier_cancel;
    GOMP_cancel(c_int, bool) -> bool: ours [CANCELS] => caller gomp::waits::cancel;
    GOMP_cancellation_point(c_int) -> bool: ours => caller gomp::waits::cancellation_point;
    GOMP_critical_end: neutral, Nothing(0);
    GOMP_critical_name_end: neutral, Nothing(1);
    GOMP_critical_name_start(Pointer) -> Pointer: ours, Nothing(1) => caller gomp::tasks::critical_name_start;
    GOMP_critical_start(Pointer) -> Pointer: ours, Nothing(0) => caller gomp::tasks::critical_start;
    GOMP_doacross_post as Whatever: ours [WAITS] => members doacross::post;
    GOMP_doacross_ull_post as Whatever: ours [WAITS] => members doacross::post;
    GOMP_doacross_ull_wait as Whatever: ours [WAITS] => members doacross::wait;
    GOMP_doacross_wait as Whatever: ours [WAITS] => members doacross::wait;
    GOMP_error: neutral;
    GOMP_free: neutral;
    GOMP_is_alloc: forbidden;
    GOMP_loop_doacross_dynamic_start as Whatever: ours => members doacross::start_dynamic;
    GOMP_loop_doacross_guided_start as Whatever: ours => members doacross::start_guided;
    GOMP_loop_doacross_runtime_start as Whatever: ours [CHOSEN] => members doacross::start_runtime;
    GOMP_loop_doacross_start as Whatever: ours [CHOSEN SHARED] => members doacross::start;
    GOMP_loop_doacross_static_start as Whatever: ours => members doacross::start_static;
    GOMP_loop_dynamic_next(Pointer, Pointer) -> bool: ours, Nothing(2) => loops;
    GOMP_loop_dynamic_start as Whatever: ours => members constructs::start_dynamic;
    GOMP_loop_end(): ours, Nothing(0) => loops;
    GOMP_loop_end_cancel() -> bool: ours, Nothing(0) => loops;
    GOMP_loop_end_nowait(): ours, Nothing(0) => loops;
    GOMP_loop_guided_next(Pointer, Pointer) -> bool: ours, Nothing(2) => loops;
    GOMP_loop_guided_start as Whatever: ours => members constructs::start_guided;
    GOMP_loop_maybe_nonmonotonic_runtime_next(Pointer, Pointer) -> bool: ours, Nothing(2) => loops;
    GOMP_loop_maybe_nonmonotonic_runtime_start as Whatever: ours [CHOSEN] => members loops::start_runtime;
    GOMP_loop_nonmonotonic_dynamic_next(Pointer, Pointer) -> bool: ours, Nothing(2) => loops;
    GOMP_loop_nonmonotonic_dynamic_start as Whatever: ours => members constructs::start_dynamic;
    GOMP_loop_nonmonotonic_guided_next(Pointer, Pointer) -> bool: ours, Nothing(2) => loops;
    GOMP_loop_nonmonotonic_guided_start as Whatever: ours => members constructs::start_guided;
    GOMP_loop_nonmonotonic_runtime_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_nonmonotonic_runtime_start as Whatever: ours [CHOSEN] => members loops::start_runtime;
    GOMP_loop_ordered_dynamic_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ordered_dynamic_start as Whatever: ours => members constructs::start_dynamic;
    GOMP_loop_ordered_guided_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ordered_guided_start as Whatever: ours => members constructs::start_guided;
    GOMP_loop_ordered_runtime_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ordered_runtime_start as Whatever: ours [CHOSEN] => members loops::start_runtime;
    GOMP_loop_ordered_start as Whatever: ours [CHOSEN SHARED] => members gomp_loop_start::start;
    GOMP_loop_ordered_static_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ordered_static_start as Whatever: ours => members loops::start_static;
    GOMP_loop_runtime_next(Pointer, Pointer) -> bool: ours, Nothing(2) => loops;
    GOMP_loop_runtime_start as Whatever: ours [CHOSEN] => members loops::start_runtime;
    GOMP_loop_start as Whatever: ours [CHOSEN SHARED] => members gomp_loop_start::start;
    GOMP_loop_static_next as Whatever: ours => members loops::next;
    GOMP_loop_static_start as Whatever: ours => members loops::start_static;
    GOMP_loop_ull_doacross_dynamic_start as Whatever: ours => members doacross::start_dynamic;
    GOMP_loop_ull_doacross_guided_start as Whatever: ours => members doacross::start_guided;
    GOMP_loop_ull_doacross_runtime_start as Whatever: ours [CHOSEN] => members doacross::start_runtime;
    GOMP_loop_ull_doacross_start as Whatever: ours [CHOSEN SHARED] => members doacross::start;
    GOMP_loop_ull_doacross_static_start as Whatever: ours => members doacross::start_static;
    GOMP_loop_ull_dynamic_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_ull_dynamic_start as Whatever: ours => members constructs::start_ull_dynamic;
    GOMP_loop_ull_guided_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_ull_guided_start as Whatever: ours => members constructs::start_ull_guided;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start as Whatever: ours [CHOSEN]
        => members loops::start_ull_runtime;
    GOMP_loop_ull_nonmonotonic_dynamic_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_ull_nonmonotonic_dynamic_start as Whatever: ours => members constructs::start_ull_dynamic;
    GOMP_loop_ull_nonmonotonic_guided_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_ull_nonmonotonic_guided_start as Whatever: ours => members constructs::start_ull_guided;
    GOMP_loop_ull_nonmonotonic_runtime_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_ull_nonmonotonic_runtime_start as Whatever: ours [CHOSEN] => members loops::start_ull_runtime;
    GOMP_loop_ull_ordered_dynamic_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ull_ordered_dynamic_start as Whatever: ours => members constructs::start_ull_dynamic;
    GOMP_loop_ull_ordered_guided_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ull_ordered_guided_start as Whatever: ours => members constructs::start_ull_guided;
    GOMP_loop_ull_ordered_runtime_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ull_ordered_runtime_start as Whatever: ours [CHOSEN] => members loops::start_ull_runtime;
    GOMP_loop_ull_ordered_start as Whatever: ours [CHOSEN SHARED] => members gomp_loop_start::start_ull;
    GOMP_loop_ull_ordered_static_next as Whatever: ours => members loops::ordered_next;
    GOMP_loop_ull_ordered_static_start as Whatever: ours => members loops::start_ull_static;
    GOMP_loop_ull_runtime_next(Pointer, Pointer) -> bool: ours => loops;
    GOMP_loop_ull_runtime_start as Whatever: ours [CHOSEN] => members loops::start_ull_runtime;
    GOMP_loop_ull_start as Whatever: ours [CHOSEN SHARED] => members gomp_loop_start::start_ull;
    GOMP_loop_ull_static_next as Whatever: ours => members loops::next;
    GOMP_loop_ull_static_start as Whatever: ours => members loops::start_ull_static;
    GOMP_ordered_end: neutral, Nothing(0);
    GOMP_ordered_start(Pointer) -> Pointer: ours, Nothing(0) => caller gomp::tasks::ordered_start;
    GOMP_parallel(Body, Pointer, u32, u32): ours, Nothing(4) => own;
    GOMP_parallel_end(): forbidden => caller parallel_start::end;
    GOMP_parallel_loop_dynamic as ParallelLoop: ours => own;
    GOMP_parallel_loop_dynamic_start as LoopStart: forbidden => own;
    GOMP_parallel_loop_guided as ParallelLoop: ours => own;
    GOMP_parallel_loop_guided_start as LoopStart: forbidden => own;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime as ParallelRuntimeLoop: ours [CHOSEN] => own;
    GOMP_parallel_loop_nonmonotonic_dynamic as ParallelLoop: ours => own;
    GOMP_parallel_loop_nonmonotonic_guided as ParallelLoop: ours => own;
    GOMP_parallel_loop_nonmonotonic_runtime as ParallelRuntimeLoop: ours [CHOSEN] => own;
    GOMP_parallel_loop_runtime as ParallelRuntimeLoop: ours [CHOSEN] => own;
    GOMP_parallel_loop_runtime_start as RuntimeLoopStart: forbidden [CHOSEN] => own;
    GOMP_parallel_loop_static as ParallelLoop: forbidden => own;
    GOMP_parallel_loop_static_start as LoopStart: forbidden => own;
    GOMP_parallel_reductions(Body, Pointer, u32, u32) -> u32: ours => own;
    GOMP_parallel_sections(Body, Pointer, u32, u32, u32): ours => own;
    GOMP_parallel_sections_start(Body, Pointer, u32, u32): forbidden => own;
    GOMP_parallel_start(Body, Pointer, u32): forbidden => own;
    GOMP_scope_start: forbidden;
    GOMP_sections2_start as Whatever: ours [CHOSEN SHARED], Sections => members gomp_loop_start::sections;
    GOMP_sections_end(): ours, Nothing(0) => loops;
    GOMP_sections_end_cancel() -> bool: ours, Nothing(0) => loops;
    GOMP_sections_end_nowait(): ours, Nothing(0) => loops;
    GOMP_sections_next() -> u32: ours, Nothing(0) => loops;
    GOMP_sections_start(u32) -> u32: ours, Sections(1) => loops;
    GOMP_single_copy_end(Pointer): ours => loops;
    GOMP_single_copy_start(Pointer) -> Pointer: ours, Nothing(0) => caller gomp::tasks::single_copy_start;
    GOMP_single_start() -> bool: ours, Nothing(0) => loops;
    GOMP_target_enter_exit_data as Whatever: forbidden => find gomp::device::find_target_enter_exit_data;
    GOMP_target_ext as Whatever: forbidden => find gomp::device::find_target;
    GOMP_target_update_ext as Whatever: forbidden => find gomp::device::find_target_update;
    GOMP_task as Task: ours [TASKS] => own;
    GOMP_task_reduction_remap(usize, usize, *mut usize): ours [TASKS] => caller gomp::tasks::reduction_remap;
    GOMP_taskgroup_end(Pointer) -> Pointer: ours [TASKS], Nothing(0) => caller gomp::tasks::taskgroup_end;
    GOMP_taskgroup_reduction_register(Pointer) -> Pointer: ours [TASKS REDUCES]
        => caller gomp::tasks::reduction_register;
    GOMP_taskgroup_reduction_unregister(Pointer) -> Pointer: ours [TASKS REDUCES]
        => caller gomp::tasks::reduction_unregister;
    GOMP_taskgroup_start(Pointer) -> Pointer: ours [TASKS], Nothing(0) => caller gomp::tasks::taskgroup_start;
    GOMP_taskloop as TaskLoop: ours [TASKS] => own;
    GOMP_taskloop_ull as TaskLoop: ours [TASKS] => own;
    GOMP_taskwait(Pointer) -> Pointer: ours [TASKS], Nothing(0) => caller gomp::tasks::taskwait;
    GOMP_taskwait_depend(Pointer) -> Pointer: ours [TASKS] => caller gomp::tasks::taskwait_depend;
    GOMP_taskwait_depend_nowait as Whatever: forbidden [TASKS]
        => find gomp::device::find_taskwait_depend_nowait;
    GOMP_taskyield as Whatever: ours [TASKS], Nothing(0) => members explicit_tasks::taskyield;
    GOMP_teams_reg(Body, Pointer, u32, u32, u32): forbidden => own;
    GOMP_warning: neutral;
    GOMP_workshare_task_reduction_unregister as Whatever: ours [TASKS REDUCES]
        => members gomp_loop_start::unregister;
    __kmpc_aligned_alloc: neutral;
    __kmpc_alloc: neutral;
    __kmpc_barrier(Place, c_int): ours, Nothing(2) => caller kmpc::waits::barrier;
    __kmpc_begin: neutral;
    __kmpc_bound_num_threads: forbidden;
    __kmpc_bound_thread_num: forbidden;
    __kmpc_calc_original_ivs_rectang: forbidden;
    __kmpc_calloc: neutral;
    __kmpc_cancel as Whatever: ours [CANCELS] => find kmpc::find_cancel;
    __kmpc_cancel_barrier(Place, c_int) -> Pointer: ours => caller kmpc::waits::cancel_barrier;
    __kmpc_cancellationpoint as Whatever: ours => divert kmpc::members::is_cancelled;
    __kmpc_copyprivate as Whatever: ours => divert kmpc::members::copy;
    __kmpc_copyprivate_light: forbidden;
    __kmpc_critical(Place, c_int, Pointer) -> Pointer: ours, Nothing(3) => caller kmpc::waits::critical;
    __kmpc_critical_with_hint(Place, c_int, Pointer, Pointer) -> Pointer: ours
        => caller kmpc::waits::critical_with_hint;
    __kmpc_destroy_allocator: neutral;
    __kmpc_destroy_lock: forbidden;
    __kmpc_destroy_nest_lock: forbidden;
    __kmpc_dispatch_deinit: neutral;
    __kmpc_dispatch_fini_4 as Whatever: ours => divert kmpc::members::iteration_is_over;
    __kmpc_dispatch_fini_4u as Whatever: ours => divert kmpc::members::iteration_is_over;
    __kmpc_dispatch_fini_8 as Whatever: ours => divert kmpc::members::iteration_is_over;
    __kmpc_dispatch_fini_8u as Whatever: ours => divert kmpc::members::iteration_is_over;
    __kmpc_dispatch_init_4 as Whatever: ours => find kmpc::find_init_4;
    __kmpc_dispatch_init_4u as Whatever: ours => find kmpc::find_init_4u;
    __kmpc_dispatch_init_8 as Whatever: ours => find kmpc::find_init_8;
    __kmpc_dispatch_init_8u as Whatever: ours => find kmpc::find_init_8u;
    __kmpc_dispatch_next_4 as NextChunk: ours => find kmpc::waits::find_next_4;
    __kmpc_dispatch_next_4u as NextChunk: ours => find kmpc::waits::find_next_4u;
    __kmpc_dispatch_next_8 as NextChunk: ours => find kmpc::waits::find_next_8;
    __kmpc_dispatch_next_8u as NextChunk: ours => find kmpc::waits::find_next_8u;
    __kmpc_doacross_fini as Whatever: ours => divert kmpc::members::was_across;
    __kmpc_doacross_init as Whatever: ours => divert kmpc::members::across;
    __kmpc_doacross_post as Whatever: ours => divert kmpc::members::may_be_passed;
    __kmpc_doacross_wait as Whatever: ours [WAITS] => divert kmpc::members::wait_for_other;
    __kmpc_end: neutral;
    __kmpc_end_barrier_master: forbidden;
    __kmpc_end_critical: neutral, Nothing(3);
    __kmpc_end_masked as Whatever: ours => divert kmpc::members::done;
    __kmpc_end_master as Whatever: ours, Nothing(2) => divert kmpc::members::done;
    __kmpc_end_ordered as Whatever: ours, Nothing(2) => divert kmpc::members::turn_is_over;
    __kmpc_end_reduce as Whatever: ours => divert kmpc::members::added;
    __kmpc_end_reduce_nowait as Whatever: ours => divert kmpc::members::added_nowait;
    __kmpc_end_scope: neutral;
    __kmpc_end_sections: forbidden;
    __kmpc_end_serialized_parallel(Place, c_int): ours, Nothing(2) => own;
    __kmpc_end_single as Whatever: ours, Nothing(2) => divert kmpc::members::done;
    __kmpc_end_taskgroup(Place, c_int) -> Pointer: ours, Nothing(2) => caller kmpc::waits::end_taskgroup;
    __kmpc_error: neutral;
    __kmpc_flush: neutral;
    __kmpc_flush_explicit: forbidden;
    __kmpc_for_collapsed_init: forbidden;
    __kmpc_for_static_fini(Place, c_int): ours, Nothing(2) => find kmpc::shares::find_fini;
    __kmpc_for_static_init_4 as ShareOut<i32, i32>: ours => find kmpc::shares::find_4;
    __kmpc_for_static_init_4u as ShareOut<u32, i32>: ours => find kmpc::shares::find_4u;
    __kmpc_for_static_init_8 as ShareOut<i64, i64>: ours => find kmpc::shares::find_8;
    __kmpc_for_static_init_8u as ShareOut<u64, i64>: ours => find kmpc::shares::find_8u;
    __kmpc_fork_call as ForkCall: ours => own;
    __kmpc_fork_call_if(Place, c_int, Micro, c_int, Pointer): ours => own;
    __kmpc_fork_teams as ForkCall: forbidden => own;
    __kmpc_free: neutral;
    __kmpc_get_current_task: forbidden;
    __kmpc_get_default_allocator: neutral;
    __kmpc_get_offload_device_num: forbidden;
    __kmpc_get_ompt_callbacks: forbidden;
    __kmpc_get_parent_taskid: forbidden;
    __kmpc_get_target_offload: forbidden;
    __kmpc_get_taskid: forbidden;
    __kmpc_get_timestamp: forbidden;
    __kmpc_get_uid_from_device: forbidden;
    __kmpc_getenv_device: forbidden;
    __kmpc_global_num_threads: forbidden;
    __kmpc_global_thread_num(Place) -> c_int: neutral, Nothing(1);
    __kmpc_in_parallel: forbidden;
    __kmpc_init_allocator: neutral;
    __kmpc_invoke_task_func: forbidden;
    __kmpc_masked as Whatever: ours => divert kmpc::members::is_of_number;
    __kmpc_master as Whatever: ours, Nothing(2) => divert kmpc::members::is_master;
    __kmpc_next_section: forbidden;
    __kmpc_ok_to_fork: forbidden;
    __kmpc_omp_get_target_async_handle_ptr: forbidden;
    __kmpc_omp_has_task_team: forbidden;
    __kmpc_omp_reg_task_with_affinity: forbidden;
    __kmpc_omp_target_task_alloc as Whatever: forbidden => find kmpc::find_target_task_alloc;
    __kmpc_omp_task as Whatever: ours [TASKS] => divert kmpc::tasks::submit;
    __kmpc_omp_task_alloc as Whatever: ours [TASKS] => find kmpc::find_task_alloc;
    __kmpc_omp_task_begin_if0 as Whatever: ours [TASKS] => divert kmpc::tasks::begin_at_once;
    __kmpc_omp_task_complete_if0 as Whatever: ours [TASKS] => divert kmpc::tasks::end_at_once;
    __kmpc_omp_task_parts: forbidden [TASKS];
    __kmpc_omp_task_with_deps as Whatever: ours [TASKS] => divert kmpc::tasks::submit_behind;
    __kmpc_omp_taskwait(Place, c_int) -> Pointer: ours [TASKS], Nothing(2) => caller kmpc::waits::taskwait;
    __kmpc_omp_taskwait_deps_51 as Whatever: ours [TASKS] => divert kmpc::tasks::wait_or_not;
    __kmpc_omp_taskyield as Whatever: ours [TASKS] => divert kmpc::tasks::give_way;
    __kmpc_omp_wait_deps as Whatever: ours => divert kmpc::tasks::wait_for;
    __kmpc_ordered(Place, c_int) -> Pointer: ours, Nothing(2) => caller kmpc::waits::ordered;
    __kmpc_pause_resource: forbidden;
    __kmpc_pop_num_threads: forbidden;
    __kmpc_process_loop_nest_rectang: forbidden;
    __kmpc_push_num_threads(Place, c_int, c_int): ours => caller kmpc::push_num_threads;
    __kmpc_push_num_threads_list as Whatever: forbidden => find kmpc::find_push_list;
    __kmpc_push_num_threads_list_strict as Whatever: forbidden => find kmpc::find_push_list_strict;
    __kmpc_push_num_threads_strict as Whatever: forbidden => find kmpc::find_push_strict;
    __kmpc_push_proc_bind(Place, c_int, c_int): ours => caller kmpc::push_proc_bind;
    __kmpc_realloc: neutral;
    __kmpc_reduce as Whatever: ours => divert kmpc::members::add;
    __kmpc_reduce_nowait as Whatever: ours => divert kmpc::members::add_nowait;
    __kmpc_scope: neutral;
    __kmpc_sections_init: forbidden;
    __kmpc_serialized_parallel(Place, c_int): ours, Nothing(2) => own;
    __kmpc_set_default_allocator: forbidden;
    __kmpc_set_device_trait: forbidden;
    __kmpc_set_lock: forbidden;
    __kmpc_set_nest_lock: forbidden;
    __kmpc_set_thread_limit: forbidden;
    __kmpc_single as Whatever: ours, Nothing(2) => divert kmpc::members::is_first;
    __kmpc_task_allow_completion_event: forbidden [TASKS];
    __kmpc_task_get_depnode: forbidden [TASKS];
    __kmpc_task_get_successors: forbidden [TASKS];
    __kmpc_task_reduction_get_th_data as Whatever: ours [TASKS REDUCES] => divert kmpc::tasks::value;
    __kmpc_task_reduction_init as Whatever: ours [TASKS REDUCES] => divert kmpc::tasks::begin_old_reductions;
    __kmpc_task_reduction_modifier_fini as Whatever: ours [TASKS REDUCES] => divert kmpc::tasks::group_end;
    __kmpc_task_reduction_modifier_init as Whatever: ours [TASKS REDUCES]
        => divert kmpc::tasks::begin_old_shared_reductions;
    __kmpc_taskgroup as Whatever: ours [TASKS], Nothing(2) => find kmpc::find_taskgroup;
    __kmpc_taskloop as Whatever: ours [TASKS] => divert kmpc::tasks::deal_out;
    __kmpc_taskloop_5 as Whatever: ours [TASKS] => divert kmpc::tasks::deal_out_strictly;
    __kmpc_taskred_init as Whatever: ours [TASKS REDUCES] => divert kmpc::tasks::begin_reductions;
    __kmpc_taskred_modifier_init as Whatever: ours [TASKS REDUCES]
        => divert kmpc::tasks::begin_shared_reductions;
    __kmpc_test_lock: forbidden;
    __kmpc_test_nest_lock: forbidden;
    __kmpc_threadprivate: forbidden;
    __kmpc_threadprivate_cached: neutral;
    __kmpc_threadprivate_register: neutral;
    __kmpc_threadprivate_register_vec: neutral;
    __kmpc_unset_lock: forbidden;
    __kmpc_unset_nest_lock: forbidden;
    kmp_get_blocktime() -> c_int: forbidden => caller kmpc::blocktime::get_blocktime | _;
    kmp_get_stacksize_s() -> usize: forbidden | _;
    kmp_set_blocktime(c_int): forbidden => caller kmpc::blocktime::set_blocktime
        | _ = kmpc::blocktime::set_blocktime_fortran;
    omp_aligned_alloc: neutral;
    omp_aligned_calloc: neutral;
    omp_alloc: neutral;
    omp_ancestor_is_free_agent: forbidden | _;
    omp_calloc: neutral;
    omp_capture_affinity: forbidden | _;
    omp_control_tool: forbidden | _;
    omp_destroy_allocator: neutral | _;
    omp_destroy_lock: neutral | _;
    omp_destroy_nest_lock: neutral | _;
    omp_display_affinity: forbidden | _;
    omp_display_env: neutral | _, _8_;
    omp_free: neutral;
    omp_fulfill_event: forbidden | _;
    omp_get_active_level() -> c_int: ours, Inquiry => caller gomp::team::get_active_level | _;
    omp_get_affinity_format: neutral | _;
    omp_get_ancestor_thread_num(c_int) -> c_int: ours, Inquiry => caller gomp::team::get_ancestor_thread_num
        | _ = gomp::team::get_ancestor_thread_num_fortran,
        _8_ = gomp::team::get_ancestor_thread_num_fortran_8;
    omp_get_cancellation() -> c_int: neutral, Nothing | _;
    omp_get_default_allocator: neutral, Nothing | _;
    omp_get_default_device: forbidden, Nothing | _;
    omp_get_device_num: neutral, Nothing | _;
    omp_get_dynamic() -> c_int: ours [CHOSEN], Nothing(0) => caller gomp::chosen::get_dynamic | _;
    omp_get_initial_device: neutral, Nothing | _;
    omp_get_level() -> c_int: ours, Nothing(0) => caller gomp::team::get_level | _;
    omp_get_mapped_ptr: forbidden;
    omp_get_max_active_levels() -> c_int: ours [CHOSEN], Nothing
        => caller gomp::chosen::get_max_active_levels | _;
    omp_get_max_task_priority: neutral, Nothing | _;
    omp_get_max_teams: neutral | _;
    omp_get_max_threads() -> c_int: ours, Nothing(0) => caller gomp::team::get_max_threads | _;
    omp_get_memspace_num_resources: forbidden | _;
    omp_get_nested() -> c_int: ours [CHOSEN], Nothing => caller gomp::chosen::get_nested | _;
    omp_get_num_devices: neutral, Nothing | _;
    omp_get_num_interop_properties: forbidden | _;
    omp_get_num_places: neutral, Nothing | _;
    omp_get_num_procs() -> c_int: ours, Nothing(0) => caller gomp::team::get_num_procs | _;
    omp_get_num_teams: neutral | _;
    omp_get_num_threads() -> c_int: ours, TeamSize(0) => caller gomp::team::get_num_threads | _;
    omp_get_partition_num_places: neutral | _;
    omp_get_partition_place_nums: neutral | _, _8_;
    omp_get_place_num: neutral | _;
    omp_get_place_num_procs: neutral | _, _8_;
    omp_get_place_proc_ids: neutral | _, _8_;
    omp_get_proc_bind() -> c_int: ours [CHOSEN], Nothing => caller gomp::chosen::get_proc_bind | _;
    omp_get_schedule(*mut c_int, *mut c_int): ours [CHOSEN], Nothing => caller gomp::chosen::get_schedule
        | _, _8_ = gomp::chosen::get_schedule_fortran_8;
    omp_get_submemspace: forbidden | _;
    omp_get_supported_active_levels: neutral, Nothing | _;
    omp_get_team_num: neutral | _;
    omp_get_team_size(c_int) -> c_int: ours, Inquiry => caller gomp::team::get_team_size
        | _ = gomp::team::get_team_size_fortran, _8_ = gomp::team::get_team_size_fortran_8;
    omp_get_teams_thread_limit: neutral | _;
    omp_get_thread_limit() -> c_int: ours, Nothing(0) => caller gomp::team::get_thread_limit | _;
    omp_get_thread_num() -> c_int: ours, ThreadNumber(0) => caller gomp::team::get_thread_num | _;
    omp_get_uid_from_device: forbidden | _;
    omp_get_wtick: neutral, Nothing(0) | _;
    omp_get_wtime: neutral, Nothing(0) | _;
    omp_in_explicit_task: forbidden, Nothing(0) | _;
    omp_in_final() -> c_int: ours, Nothing(0) => caller gomp::team::in_final | _;
    omp_in_parallel() -> c_int: ours, Answered(0) => caller gomp::team::in_parallel | _;
    omp_init_allocator: neutral | _, _8_;
    omp_init_lock: neutral | _;
    omp_init_lock_with_hint: neutral | _;
    omp_init_nest_lock: neutral | _;
    omp_init_nest_lock_with_hint: neutral | _;
    omp_is_free_agent: forbidden | _;
    omp_is_initial_device: neutral | _;
    omp_realloc: neutral;
    omp_set_affinity_format: neutral | _;
    omp_set_default_allocator: forbidden | _;
    omp_set_default_device: forbidden | _, _8_;
    omp_set_dynamic(c_int): ours => caller gomp::team::set_dynamic | _ = gomp::team::set_dynamic_fortran,
        _8_ = gomp::team::set_dynamic_fortran_8;
    omp_set_lock(Pointer) -> Pointer: ours, Nothing(1) => caller gomp::tasks::set_lock;
    omp_set_lock_(Pointer) -> Pointer: ours => caller gomp::tasks::set_lock_fortran;
    omp_set_max_active_levels(c_int): ours => caller gomp::chosen::set_max_active_levels
        | _ = gomp::chosen::set_max_active_levels_fortran,
        _8_ = gomp::chosen::set_max_active_levels_fortran_8;
    omp_set_nest_lock: neutral | _;
    omp_set_nested(c_int): ours => caller gomp::chosen::set_nested | _ = gomp::chosen::set_nested_fortran,
        _8_ = gomp::chosen::set_nested_fortran_8;
    omp_set_num_teams: neutral | _, _8_;
    omp_set_num_threads(c_int): ours => caller gomp::team::set_num_threads
        | _ = gomp::team::set_num_threads_fortran, _8_ = gomp::team::set_num_threads_fortran_8;
    omp_set_schedule(c_int, c_int): ours [CHOSEN] => caller gomp::chosen::set_schedule
        | _ = gomp::chosen::set_schedule_fortran, _8_ = gomp::chosen::set_schedule_fortran_8;
    omp_set_teams_thread_limit: neutral | _, _8_;
    omp_target_memcpy_async as Whatever: forbidden => find gomp::device::find_target_memcpy_async;
    omp_target_memcpy_rect_async as Whatever: forbidden => find gomp::device::find_target_memcpy_rect_async;
    omp_test_lock: neutral | _;
    omp_test_nest_lock: neutral [TASKS_LOCKS] | _;
    omp_unset_lock: neutral, Nothing(1) | _;
    omp_unset_nest_lock: neutral | _;
} } }
