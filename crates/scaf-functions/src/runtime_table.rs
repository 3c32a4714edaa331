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
    GOMP_atomic_start(*mut c_void) -> *mut c_void: ours, Nothing(0) => caller gomp::tasks::atomic_start;
    GOMP_barrier(): ours, Nothing(0) => caller gomp::waits::barrier;
    GOMP_barrier_cancel() -> bool: ours, Nothing(1) => caller gomp::waits::barrier_cancel;
    GOMP_cancel(c_int, bool) -> bool: ours [CANCELS] => caller gomp::waits::cancel;
    GOMP_cancellation_point(c_int) -> bool: ours => caller gomp::waits::cancellation_point;
    GOMP_critical_end: neutral, Nothing(0);
    GOMP_critical_name_end: neutral, Nothing(1);
    GOMP_critical_name_start(*mut c_void) -> *mut c_void: ours, Nothing(1)
        => caller gomp::tasks::critical_name_start;
    GOMP_critical_start(*mut c_void) -> *mut c_void: ours, Nothing(0) => caller gomp::tasks::critical_start;
    GOMP_doacross_post as Whatever: ours [WAITS] => members gather::doacross::post;
    GOMP_doacross_ull_post as Whatever: ours [WAITS] => members gather::doacross::post;
    GOMP_doacross_ull_wait as Whatever: ours [WAITS] => members gather::doacross::wait;
    GOMP_doacross_wait as Whatever: ours [WAITS] => members gather::doacross::wait;
    GOMP_error: neutral;
    GOMP_free: neutral;
    GOMP_is_alloc: forbidden;
    GOMP_loop_doacross_dynamic_start as Whatever: ours => members gather::doacross::start_dynamic;
    GOMP_loop_doacross_guided_start as Whatever: ours => members gather::doacross::start_guided;
    GOMP_loop_doacross_runtime_start as Whatever: ours [CHOSEN] => members gather::doacross::start_runtime;
    GOMP_loop_doacross_start as Whatever: ours [CHOSEN SHARED] => members gather::doacross::start;
    GOMP_loop_doacross_static_start as Whatever: ours => members gather::doacross::start_static;
    GOMP_loop_dynamic_next(*mut c_void, *mut c_void) -> bool: ours, Nothing(2)
        => caller gomp::loops::GOMP_loop_dynamic_next;
    GOMP_loop_dynamic_start as Whatever: ours => members gather::constructs::start_dynamic;
    GOMP_loop_end(): ours, Nothing(0) => caller gomp::loops::GOMP_loop_end;
    GOMP_loop_end_cancel() -> bool: ours, Nothing(0) => caller gomp::loops::GOMP_loop_end_cancel;
    GOMP_loop_end_nowait(): ours, Nothing(0) => caller gomp::loops::GOMP_loop_end_nowait;
    GOMP_loop_guided_next(*mut c_void, *mut c_void) -> bool: ours, Nothing(2)
        => caller gomp::loops::GOMP_loop_guided_next;
    GOMP_loop_guided_start as Whatever: ours => members gather::constructs::start_guided;
    GOMP_loop_maybe_nonmonotonic_runtime_next(*mut c_void, *mut c_void) -> bool: ours, Nothing(2)
        => caller gomp::loops::GOMP_loop_maybe_nonmonotonic_runtime_next;
    GOMP_loop_maybe_nonmonotonic_runtime_start as Whatever: ours [CHOSEN]
        => members gather::loops::start_runtime;
    GOMP_loop_nonmonotonic_dynamic_next(*mut c_void, *mut c_void) -> bool: ours, Nothing(2)
        => caller gomp::loops::GOMP_loop_nonmonotonic_dynamic_next;
    GOMP_loop_nonmonotonic_dynamic_start as Whatever: ours => members gather::constructs::start_dynamic;
    GOMP_loop_nonmonotonic_guided_next(*mut c_void, *mut c_void) -> bool: ours, Nothing(2)
        => caller gomp::loops::GOMP_loop_nonmonotonic_guided_next;
    GOMP_loop_nonmonotonic_guided_start as Whatever: ours => members gather::constructs::start_guided;
    GOMP_loop_nonmonotonic_runtime_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_nonmonotonic_runtime_next;
    GOMP_loop_nonmonotonic_runtime_start as Whatever: ours [CHOSEN]
        => members gather::loops::start_runtime;
    GOMP_loop_ordered_dynamic_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ordered_dynamic_start as Whatever: ours => members gather::constructs::start_dynamic;
    GOMP_loop_ordered_guided_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ordered_guided_start as Whatever: ours => members gather::constructs::start_guided;
    GOMP_loop_ordered_runtime_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ordered_runtime_start as Whatever: ours [CHOSEN] => members gather::loops::start_runtime;
    GOMP_loop_ordered_start as Whatever: ours [CHOSEN SHARED] => members gather::gomp_loop_start::start;
    GOMP_loop_ordered_static_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ordered_static_start as Whatever: ours => members gather::loops::start_static;
    GOMP_loop_runtime_next(*mut c_void, *mut c_void) -> bool: ours, Nothing(2)
        => caller gomp::loops::GOMP_loop_runtime_next;
    GOMP_loop_runtime_start as Whatever: ours [CHOSEN] => members gather::loops::start_runtime;
    GOMP_loop_start as Whatever: ours [CHOSEN SHARED] => members gather::gomp_loop_start::start;
    GOMP_loop_static_next as Whatever: ours => members gather::loops::next;
    GOMP_loop_static_start as Whatever: ours => members gather::loops::start_static;
    GOMP_loop_ull_doacross_dynamic_start as Whatever: ours => members gather::doacross::start_dynamic;
    GOMP_loop_ull_doacross_guided_start as Whatever: ours => members gather::doacross::start_guided;
    GOMP_loop_ull_doacross_runtime_start as Whatever: ours [CHOSEN]
        => members gather::doacross::start_runtime;
    GOMP_loop_ull_doacross_start as Whatever: ours [CHOSEN SHARED] => members gather::doacross::start;
    GOMP_loop_ull_doacross_static_start as Whatever: ours => members gather::doacross::start_static;
    GOMP_loop_ull_dynamic_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_ull_dynamic_next;
    GOMP_loop_ull_dynamic_start as Whatever: ours => members gather::constructs::start_ull_dynamic;
    GOMP_loop_ull_guided_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_ull_guided_next;
    GOMP_loop_ull_guided_start as Whatever: ours => members gather::constructs::start_ull_guided;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_ull_maybe_nonmonotonic_runtime_next;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start as Whatever: ours [CHOSEN]
        => members gather::loops::start_ull_runtime;
    GOMP_loop_ull_nonmonotonic_dynamic_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_ull_nonmonotonic_dynamic_next;
    GOMP_loop_ull_nonmonotonic_dynamic_start as Whatever: ours
        => members gather::constructs::start_ull_dynamic;
    GOMP_loop_ull_nonmonotonic_guided_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_ull_nonmonotonic_guided_next;
    GOMP_loop_ull_nonmonotonic_guided_start as Whatever: ours => members gather::constructs::start_ull_guided;
    GOMP_loop_ull_nonmonotonic_runtime_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_ull_nonmonotonic_runtime_next;
    GOMP_loop_ull_nonmonotonic_runtime_start as Whatever: ours [CHOSEN]
        => members gather::loops::start_ull_runtime;
    GOMP_loop_ull_ordered_dynamic_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ull_ordered_dynamic_start as Whatever: ours => members gather::constructs::start_ull_dynamic;
    GOMP_loop_ull_ordered_guided_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ull_ordered_guided_start as Whatever: ours => members gather::constructs::start_ull_guided;
    GOMP_loop_ull_ordered_runtime_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ull_ordered_runtime_start as Whatever: ours [CHOSEN]
        => members gather::loops::start_ull_runtime;
    GOMP_loop_ull_ordered_start as Whatever: ours [CHOSEN SHARED]
        => members gather::gomp_loop_start::start_ull;
    GOMP_loop_ull_ordered_static_next as Whatever: ours => members gather::loops::ordered_next;
    GOMP_loop_ull_ordered_static_start as Whatever: ours => members gather::loops::start_ull_static;
    GOMP_loop_ull_runtime_next(*mut c_void, *mut c_void) -> bool: ours
        => caller gomp::loops::GOMP_loop_ull_runtime_next;
    GOMP_loop_ull_runtime_start as Whatever: ours [CHOSEN] => members gather::loops::start_ull_runtime;
    GOMP_loop_ull_start as Whatever: ours [CHOSEN SHARED] => members gather::gomp_loop_start::start_ull;
    GOMP_loop_ull_static_next as Whatever: ours => members gather::loops::next;
    GOMP_loop_ull_static_start as Whatever: ours => members gather::loops::start_ull_static;
    GOMP_offload_register: forbidden;
    GOMP_offload_register_ver: forbidden;
    GOMP_offload_unregister: forbidden;
    GOMP_offload_unregister_ver: forbidden;
    GOMP_ordered_end: neutral, Nothing(0);
    GOMP_ordered_start(*mut c_void) -> *mut c_void: ours, Nothing(0) => caller gomp::tasks::ordered_start;
    GOMP_parallel(Body, *mut c_void, u32, u32): ours, Nothing(4) => own gomp::GOMP_parallel;
    GOMP_parallel_end(): forbidden => caller parallel_start::end;
    GOMP_parallel_loop_dynamic as ParallelLoop: ours => own gomp::GOMP_parallel_loop_dynamic;
    GOMP_parallel_loop_dynamic_start as LoopStart: forbidden => own gomp::GOMP_parallel_loop_dynamic_start;
    GOMP_parallel_loop_guided as ParallelLoop: ours => own gomp::GOMP_parallel_loop_guided;
    GOMP_parallel_loop_guided_start as LoopStart: forbidden => own gomp::GOMP_parallel_loop_guided_start;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime as ParallelRuntimeLoop: ours [CHOSEN]
        => own gomp::GOMP_parallel_loop_maybe_nonmonotonic_runtime;
    GOMP_parallel_loop_nonmonotonic_dynamic as ParallelLoop: ours
        => own gomp::GOMP_parallel_loop_nonmonotonic_dynamic;
    GOMP_parallel_loop_nonmonotonic_guided as ParallelLoop: ours
        => own gomp::GOMP_parallel_loop_nonmonotonic_guided;
    GOMP_parallel_loop_nonmonotonic_runtime as ParallelRuntimeLoop: ours [CHOSEN]
        => own gomp::GOMP_parallel_loop_nonmonotonic_runtime;
    GOMP_parallel_loop_runtime as ParallelRuntimeLoop: ours [CHOSEN]
        => own gomp::GOMP_parallel_loop_runtime;
    GOMP_parallel_loop_runtime_start as RuntimeLoopStart: forbidden [CHOSEN]
        => own gomp::GOMP_parallel_loop_runtime_start;
    GOMP_parallel_loop_static as ParallelLoop: forbidden => own gomp::GOMP_parallel_loop_static;
    GOMP_parallel_loop_static_start as LoopStart: forbidden => own gomp::GOMP_parallel_loop_static_start;
    GOMP_parallel_reductions(Body, *mut c_void, u32, u32) -> u32: ours
        => own gomp::GOMP_parallel_reductions;
    GOMP_parallel_sections(Body, *mut c_void, u32, u32, u32): ours => own gomp::GOMP_parallel_sections;
    GOMP_parallel_sections_start(Body, *mut c_void, u32, u32): forbidden
        => own gomp::GOMP_parallel_sections_start;
    GOMP_parallel_start(Body, *mut c_void, u32): forbidden => own gomp::GOMP_parallel_start;
    GOMP_scope_start: forbidden;
    GOMP_sections2_start as Whatever: ours [CHOSEN SHARED], Sections
        => members gather::gomp_loop_start::sections;
    GOMP_sections_end(): ours, Nothing(0) => caller gomp::loops::GOMP_sections_end;
    GOMP_sections_end_cancel() -> bool: ours, Nothing(0) => caller gomp::loops::GOMP_sections_end_cancel;
    GOMP_sections_end_nowait(): ours, Nothing(0) => caller gomp::loops::GOMP_sections_end_nowait;
    GOMP_sections_next() -> u32: ours, Nothing(0) => caller gomp::loops::GOMP_sections_next;
    GOMP_sections_start(u32) -> u32: ours, Sections(1) => caller gomp::loops::GOMP_sections_start;
    GOMP_single_copy_end(*mut c_void): ours => caller gomp::loops::GOMP_single_copy_end;
    GOMP_single_copy_start(*mut c_void) -> *mut c_void: ours, Nothing(0)
        => caller gomp::tasks::single_copy_start;
    GOMP_single_start() -> bool: ours, Nothing(0) => caller gomp::loops::GOMP_single_start;
    GOMP_target: forbidden;
    GOMP_target_data: forbidden;
    GOMP_target_data_ext: forbidden;
    GOMP_target_end_data: forbidden;
    GOMP_target_enter_exit_data as Whatever: forbidden => find gomp::device::find_target_enter_exit_data;
    GOMP_target_ext as Whatever: forbidden => find gomp::device::find_target;
    GOMP_target_map_indirect_ptr: forbidden;
    GOMP_target_update: forbidden;
    GOMP_target_update_ext as Whatever: forbidden => find gomp::device::find_target_update;
    GOMP_task as Task: ours [TASKS] => own gomp::GOMP_task;
    GOMP_task_reduction_remap(usize, usize, *mut usize): ours [TASKS]
        => caller gomp::tasks::reduction_remap;
    GOMP_taskgroup_end(*mut c_void) -> *mut c_void: ours [TASKS], Nothing(0)
        => caller gomp::tasks::taskgroup_end;
    GOMP_taskgroup_reduction_register(*mut c_void) -> *mut c_void: ours [TASKS REDUCES]
        => caller gomp::tasks::reduction_register;
    GOMP_taskgroup_reduction_unregister(*mut c_void) -> *mut c_void: ours [TASKS REDUCES]
        => caller gomp::tasks::reduction_unregister;
    GOMP_taskgroup_start(*mut c_void) -> *mut c_void: ours [TASKS], Nothing(0)
        => caller gomp::tasks::taskgroup_start;
    GOMP_taskloop as TaskLoop: ours [TASKS] => own gomp::GOMP_taskloop;
    GOMP_taskloop_ull as TaskLoop: ours [TASKS] => own gomp::GOMP_taskloop_ull;
    GOMP_taskwait(*mut c_void) -> *mut c_void: ours [TASKS], Nothing(0) => caller gomp::tasks::taskwait;
    GOMP_taskwait_depend(*mut c_void) -> *mut c_void: ours [TASKS] => caller gomp::tasks::taskwait_depend;
    GOMP_taskwait_depend_nowait as Whatever: forbidden [TASKS]
        => find gomp::device::find_taskwait_depend_nowait;
    GOMP_taskyield as Whatever: ours [TASKS], Nothing(0) => members gather::explicit_tasks::taskyield;
    GOMP_teams: forbidden;
    GOMP_teams4: forbidden;
    GOMP_teams_reg(Body, *mut c_void, u32, u32, u32): forbidden => own gomp::GOMP_teams_reg;
    GOMP_warning: neutral;
    GOMP_workshare_task_reduction_unregister as Whatever: ours [TASKS REDUCES]
        => members gather::gomp_loop_start::unregister;
    __kmpc_aligned_alloc: neutral;
    __kmpc_alloc: neutral;
    __kmpc_barrier(Place, c_int): ours, Nothing(2) => caller kmpc::waits::barrier;
    __kmpc_barrier_master: forbidden;
    __kmpc_barrier_master_nowait: forbidden;
    __kmpc_begin: neutral;
    __kmpc_bound_num_threads: forbidden;
    __kmpc_bound_thread_num: forbidden;
    __kmpc_calc_original_ivs_rectang: forbidden;
    __kmpc_calloc: neutral;
    __kmpc_cancel as Whatever: ours [CANCELS] => find kmpc::find_cancel;
    __kmpc_cancel_barrier(Place, c_int) -> *mut c_void: ours => caller kmpc::waits::cancel_barrier;
    __kmpc_cancellationpoint as Whatever: ours => divert kmpc::members::is_cancelled;
    __kmpc_copyprivate as Whatever: ours => divert kmpc::members::copy;
    __kmpc_copyprivate_light: forbidden;
    __kmpc_critical(Place, c_int, *mut c_void) -> *mut c_void: ours, Nothing(3)
        => caller kmpc::waits::critical;
    __kmpc_critical_with_hint(Place, c_int, *mut c_void, *mut c_void) -> *mut c_void: ours
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
    __kmpc_dist_dispatch_init_4: forbidden;
    __kmpc_dist_dispatch_init_4u: forbidden;
    __kmpc_dist_dispatch_init_8: forbidden;
    __kmpc_dist_dispatch_init_8u: forbidden;
    __kmpc_dist_for_static_fini: forbidden;
    __kmpc_dist_for_static_init_4: forbidden;
    __kmpc_dist_for_static_init_4u: forbidden;
    __kmpc_dist_for_static_init_8: forbidden;
    __kmpc_dist_for_static_init_8u: forbidden;
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
    __kmpc_end_serialized_parallel(Place, c_int): ours, Nothing(2)
        => own kmpc::__kmpc_end_serialized_parallel;
    __kmpc_end_single as Whatever: ours, Nothing(2) => divert kmpc::members::done;
    __kmpc_end_taskgroup(Place, c_int) -> *mut c_void: ours, Nothing(2)
        => caller kmpc::waits::end_taskgroup;
    __kmpc_error: neutral;
    __kmpc_flush: neutral;
    __kmpc_flush_explicit: forbidden;
    __kmpc_for_collapsed_init: forbidden;
    __kmpc_for_static_fini(Place, c_int): ours, Nothing(2) => find kmpc::shares::find_fini;
    __kmpc_for_static_init_4 as ShareOut<i32, i32>: ours => find kmpc::shares::find_4;
    __kmpc_for_static_init_4u as ShareOut<u32, i32>: ours => find kmpc::shares::find_4u;
    __kmpc_for_static_init_8 as ShareOut<i64, i64>: ours => find kmpc::shares::find_8;
    __kmpc_for_static_init_8u as ShareOut<u64, i64>: ours => find kmpc::shares::find_8u;
    __kmpc_fork_call as ForkCall: ours => own kmpc::__kmpc_fork_call;
    __kmpc_fork_call_if(Place, c_int, Micro, c_int, *mut c_void): ours
        => own kmpc::regions::__kmpc_fork_call_if;
    __kmpc_fork_teams as ForkCall: forbidden => own kmpc::__kmpc_fork_teams;
    __kmpc_free: neutral;
    __kmpc_get_current_task: forbidden;
    __kmpc_get_default_allocator: neutral;
    __kmpc_get_interop_name: forbidden;
    __kmpc_get_interop_ptr: forbidden;
    __kmpc_get_interop_rc_desc: forbidden;
    __kmpc_get_interop_str: forbidden;
    __kmpc_get_interop_type_desc: forbidden;
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
    __kmpc_init_lock: forbidden;
    __kmpc_init_lock_with_hint: forbidden;
    __kmpc_init_nest_lock: forbidden;
    __kmpc_init_nest_lock_with_hint: forbidden;
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
    __kmpc_omp_taskwait(Place, c_int) -> *mut c_void: ours [TASKS], Nothing(2)
        => caller kmpc::waits::taskwait;
    __kmpc_omp_taskwait_deps_51 as Whatever: ours [TASKS] => divert kmpc::tasks::wait_or_not;
    __kmpc_omp_taskyield as Whatever: ours [TASKS] => divert kmpc::tasks::give_way;
    __kmpc_omp_wait_deps as Whatever: ours => divert kmpc::tasks::wait_for;
    __kmpc_ordered(Place, c_int) -> *mut c_void: ours, Nothing(2) => caller kmpc::waits::ordered;
    __kmpc_pause_resource: forbidden;
    __kmpc_pop_num_threads: forbidden;
    __kmpc_process_loop_nest_rectang: forbidden;
    __kmpc_proxy_task_completed: forbidden;
    __kmpc_proxy_task_completed_ooo: forbidden;
    __kmpc_push_num_teams: forbidden;
    __kmpc_push_num_teams_51: forbidden;
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
    __kmpc_serialized_parallel(Place, c_int): ours, Nothing(2) => own kmpc::__kmpc_serialized_parallel;
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
    __kmpc_task_reduction_init as Whatever: ours [TASKS REDUCES]
        => divert kmpc::tasks::begin_old_reductions;
    __kmpc_task_reduction_modifier_fini as Whatever: ours [TASKS REDUCES] => divert kmpc::tasks::group_end;
    __kmpc_task_reduction_modifier_init as Whatever: ours [TASKS REDUCES]
        => divert kmpc::tasks::begin_old_shared_reductions;
    __kmpc_taskgroup as Whatever: ours [TASKS], Nothing(2) => find kmpc::find_taskgroup;
    __kmpc_taskloop as Whatever: ours [TASKS] => divert kmpc::tasks::deal_out;
    __kmpc_taskloop_5 as Whatever: ours [TASKS] => divert kmpc::tasks::deal_out_strictly;
    __kmpc_taskred_init as Whatever: ours [TASKS REDUCES] => divert kmpc::tasks::begin_reductions;
    __kmpc_taskred_modifier_init as Whatever: ours [TASKS REDUCES]
        => divert kmpc::tasks::begin_shared_reductions;
    __kmpc_team_static_init_4: forbidden;
    __kmpc_team_static_init_4u: forbidden;
    __kmpc_team_static_init_8: forbidden;
    __kmpc_team_static_init_8u: forbidden;
    __kmpc_test_lock: forbidden;
    __kmpc_test_nest_lock: forbidden;
    __kmpc_threadprivate: forbidden;
    __kmpc_threadprivate_cached: neutral;
    __kmpc_threadprivate_register: neutral;
    __kmpc_threadprivate_register_vec: neutral;
    __kmpc_unset_lock: forbidden;
    __kmpc_unset_nest_lock: forbidden;
    kmp_aligned_malloc: forbidden | kmp_aligned_malloc_;
    kmp_calloc: forbidden | kmp_calloc_;
    kmp_create_affinity_mask: forbidden | kmp_create_affinity_mask_;
    kmp_destroy_affinity_mask: forbidden | kmp_destroy_affinity_mask_;
    kmp_free: forbidden | kmp_free_;
    kmp_get_affinity: forbidden | kmp_get_affinity_;
    kmp_get_affinity_mask_proc: forbidden | kmp_get_affinity_mask_proc_;
    kmp_get_affinity_max_proc: forbidden | kmp_get_affinity_max_proc_;
    kmp_get_blocktime() -> c_int: forbidden => caller kmpc::blocktime::get_blocktime | kmp_get_blocktime_;
    kmp_get_cancellation_status: forbidden | kmp_get_cancellation_status_;
    kmp_get_library: forbidden | kmp_get_library_;
    kmp_get_num_known_threads: forbidden | kmp_get_num_known_threads_;
    kmp_get_stacksize: forbidden | kmp_get_stacksize_;
    kmp_get_stacksize_s() -> usize: forbidden | kmp_get_stacksize_s_;
    kmp_malloc: forbidden | kmp_malloc_;
    kmp_realloc: forbidden | kmp_realloc_;
    kmp_set_affinity: forbidden | kmp_set_affinity_;
    kmp_set_affinity_mask_proc: forbidden | kmp_set_affinity_mask_proc_;
    kmp_set_blocktime(c_int): forbidden => caller kmpc::blocktime::set_blocktime
        | kmp_set_blocktime_ = kmpc::blocktime::set_blocktime_fortran;
    kmp_set_defaults: forbidden | kmp_set_defaults_;
    kmp_set_disp_num_buffers: forbidden | kmp_set_disp_num_buffers_;
    kmp_set_library: forbidden | kmp_set_library_;
    kmp_set_library_serial: forbidden | kmp_set_library_serial_;
    kmp_set_library_throughput: forbidden | kmp_set_library_throughput_;
    kmp_set_library_turnaround: forbidden | kmp_set_library_turnaround_;
    kmp_set_stacksize: forbidden | kmp_set_stacksize_;
    kmp_set_stacksize_s: forbidden | kmp_set_stacksize_s_;
    kmp_set_thread_affinity_mask_initial: forbidden;
    kmp_set_warnings_off: forbidden | kmp_set_warnings_off_;
    kmp_set_warnings_on: forbidden | kmp_set_warnings_on_;
    kmp_threadprivate_insert: forbidden;
    kmp_threadprivate_insert_private_data: forbidden;
    kmp_unset_affinity_mask_proc: forbidden | kmp_unset_affinity_mask_proc_;
    omp_aligned_alloc: neutral;
    omp_aligned_calloc: neutral;
    omp_alloc: neutral;
    omp_ancestor_is_free_agent: forbidden | omp_ancestor_is_free_agent_;
    omp_calloc: neutral;
    omp_capture_affinity: forbidden | omp_capture_affinity_;
    omp_control_tool: forbidden | omp_control_tool_;
    omp_destroy_allocator: neutral | omp_destroy_allocator_;
    omp_destroy_lock: neutral | omp_destroy_lock_;
    omp_destroy_nest_lock: neutral | omp_destroy_nest_lock_;
    omp_display_affinity: forbidden | omp_display_affinity_;
    omp_display_env: neutral | omp_display_env_, omp_display_env_8_;
    omp_free: neutral;
    omp_fulfill_event: forbidden | omp_fulfill_event_;
    omp_get_active_level() -> c_int: ours, Inquiry => caller gomp::team::get_active_level
        | omp_get_active_level_;
    omp_get_affinity_format: neutral | omp_get_affinity_format_;
    omp_get_ancestor_thread_num(c_int) -> c_int: ours, Inquiry
        => caller gomp::team::get_ancestor_thread_num
        | omp_get_ancestor_thread_num_ = gomp::team::get_ancestor_thread_num_fortran,
          omp_get_ancestor_thread_num_8_ = gomp::team::get_ancestor_thread_num_fortran_8;
    omp_get_cancellation() -> c_int: neutral, Nothing | omp_get_cancellation_;
    omp_get_default_allocator: neutral, Nothing | omp_get_default_allocator_;
    omp_get_default_device: forbidden, Nothing | omp_get_default_device_;
    omp_get_device_allocator: forbidden | omp_get_device_allocator_;
    omp_get_device_and_host_allocator: forbidden | omp_get_device_and_host_allocator_;
    omp_get_device_and_host_memspace: forbidden | omp_get_device_and_host_memspace_;
    omp_get_device_from_uid: forbidden | omp_get_device_from_uid_;
    omp_get_device_memspace: forbidden | omp_get_device_memspace_;
    omp_get_device_num: neutral, Nothing | omp_get_device_num_;
    omp_get_devices_all_allocator: forbidden | omp_get_devices_all_allocator_;
    omp_get_devices_all_memspace: forbidden | omp_get_devices_all_memspace_;
    omp_get_devices_allocator: forbidden | omp_get_devices_allocator_;
    omp_get_devices_and_host_allocator: forbidden | omp_get_devices_and_host_allocator_;
    omp_get_devices_and_host_memspace: forbidden | omp_get_devices_and_host_memspace_;
    omp_get_devices_memspace: forbidden | omp_get_devices_memspace_;
    omp_get_dynamic() -> c_int: ours [CHOSEN], Nothing(0) => caller gomp::chosen::get_dynamic
        | omp_get_dynamic_;
    omp_get_initial_device: neutral, Nothing | omp_get_initial_device_;
    omp_get_interop_int: forbidden | omp_get_interop_int_;
    omp_get_interop_name: forbidden | omp_get_interop_name_;
    omp_get_interop_ptr: forbidden | omp_get_interop_ptr_;
    omp_get_interop_rc_desc: forbidden | omp_get_interop_rc_desc_;
    omp_get_interop_str: forbidden | omp_get_interop_str_;
    omp_get_interop_type_desc: forbidden | omp_get_interop_type_desc_;
    omp_get_level() -> c_int: ours, Nothing(0) => caller gomp::team::get_level | omp_get_level_;
    omp_get_mapped_ptr: forbidden;
    omp_get_max_active_levels() -> c_int: ours [CHOSEN], Nothing
        => caller gomp::chosen::get_max_active_levels | omp_get_max_active_levels_;
    omp_get_max_task_priority: neutral, Nothing | omp_get_max_task_priority_;
    omp_get_max_teams: neutral | omp_get_max_teams_;
    omp_get_max_threads() -> c_int: ours, Nothing(0) => caller gomp::team::get_max_threads
        | omp_get_max_threads_;
    omp_get_memspace_num_resources: forbidden | omp_get_memspace_num_resources_;
    omp_get_nested() -> c_int: ours [CHOSEN], Nothing => caller gomp::chosen::get_nested | omp_get_nested_;
    omp_get_num_devices: neutral, Nothing | omp_get_num_devices_;
    omp_get_num_interop_properties: forbidden | omp_get_num_interop_properties_;
    omp_get_num_places: neutral, Nothing | omp_get_num_places_;
    omp_get_num_procs() -> c_int: ours, Nothing(0) => caller gomp::team::get_num_procs
        | omp_get_num_procs_;
    omp_get_num_teams: neutral | omp_get_num_teams_;
    omp_get_num_threads() -> c_int: ours, TeamSize(0) => caller gomp::team::get_num_threads
        | omp_get_num_threads_;
    omp_get_partition_num_places: neutral | omp_get_partition_num_places_;
    omp_get_partition_place_nums: neutral | omp_get_partition_place_nums_, omp_get_partition_place_nums_8_;
    omp_get_place_num: neutral | omp_get_place_num_;
    omp_get_place_num_procs: neutral | omp_get_place_num_procs_, omp_get_place_num_procs_8_;
    omp_get_place_proc_ids: neutral | omp_get_place_proc_ids_, omp_get_place_proc_ids_8_;
    omp_get_proc_bind() -> c_int: ours [CHOSEN], Nothing => caller gomp::chosen::get_proc_bind
        | omp_get_proc_bind_;
    omp_get_schedule(*mut c_int, *mut c_int): ours [CHOSEN], Nothing => caller gomp::chosen::get_schedule
        | omp_get_schedule_, omp_get_schedule_8_ = gomp::chosen::get_schedule_fortran_8;
    omp_get_submemspace: forbidden | omp_get_submemspace_;
    omp_get_supported_active_levels: neutral, Nothing | omp_get_supported_active_levels_;
    omp_get_team_num: neutral | omp_get_team_num_;
    omp_get_team_size(c_int) -> c_int: ours, Inquiry => caller gomp::team::get_team_size
        | omp_get_team_size_ = gomp::team::get_team_size_fortran,
          omp_get_team_size_8_ = gomp::team::get_team_size_fortran_8;
    omp_get_teams_thread_limit: neutral | omp_get_teams_thread_limit_;
    omp_get_thread_limit() -> c_int: ours, Nothing(0) => caller gomp::team::get_thread_limit
        | omp_get_thread_limit_;
    omp_get_thread_num() -> c_int: ours, ThreadNumber(0) => caller gomp::team::get_thread_num
        | omp_get_thread_num_;
    omp_get_uid_from_device: forbidden | omp_get_uid_from_device_;
    omp_get_wtick: neutral, Nothing(0) | omp_get_wtick_;
    omp_get_wtime: neutral, Nothing(0) | omp_get_wtime_;
    omp_in_explicit_task: forbidden, Nothing(0) | omp_in_explicit_task_;
    omp_in_final() -> c_int: ours, Nothing(0) => caller gomp::team::in_final | omp_in_final_;
    omp_in_parallel() -> c_int: ours, Answered(0) => caller gomp::team::in_parallel | omp_in_parallel_;
    omp_init_allocator: neutral | omp_init_allocator_, omp_init_allocator_8_;
    omp_init_lock: neutral | omp_init_lock_;
    omp_init_lock_with_hint: neutral | omp_init_lock_with_hint_;
    omp_init_nest_lock: neutral | omp_init_nest_lock_;
    omp_init_nest_lock_with_hint: neutral | omp_init_nest_lock_with_hint_;
    omp_is_free_agent: forbidden | omp_is_free_agent_;
    omp_is_initial_device: neutral | omp_is_initial_device_;
    omp_pause_resource: forbidden | omp_pause_resource_;
    omp_pause_resource_all: forbidden | omp_pause_resource_all_;
    omp_realloc: neutral;
    omp_set_affinity_format: neutral | omp_set_affinity_format_;
    omp_set_default_allocator: forbidden | omp_set_default_allocator_;
    omp_set_default_device: forbidden | omp_set_default_device_, omp_set_default_device_8_;
    omp_set_dynamic(c_int): ours => caller gomp::team::set_dynamic
        | omp_set_dynamic_ = gomp::team::set_dynamic_fortran,
          omp_set_dynamic_8_ = gomp::team::set_dynamic_fortran_8;
    omp_set_lock(*mut c_void) -> *mut c_void: ours, Nothing(1) => caller gomp::tasks::set_lock;
    omp_set_lock_(*mut c_void) -> *mut c_void: ours => caller gomp::tasks::set_lock_fortran;
    omp_set_max_active_levels(c_int): ours => caller gomp::chosen::set_max_active_levels
        | omp_set_max_active_levels_ = gomp::chosen::set_max_active_levels_fortran,
          omp_set_max_active_levels_8_ = gomp::chosen::set_max_active_levels_fortran_8;
    omp_set_nest_lock: neutral | omp_set_nest_lock_;
    omp_set_nested(c_int): ours => caller gomp::chosen::set_nested
        | omp_set_nested_ = gomp::chosen::set_nested_fortran,
          omp_set_nested_8_ = gomp::chosen::set_nested_fortran_8;
    omp_set_num_teams: neutral | omp_set_num_teams_, omp_set_num_teams_8_;
    omp_set_num_threads(c_int): ours => caller gomp::team::set_num_threads
        | omp_set_num_threads_ = gomp::team::set_num_threads_fortran,
          omp_set_num_threads_8_ = gomp::team::set_num_threads_fortran_8;
    omp_set_schedule(c_int, c_int): ours [CHOSEN] => caller gomp::chosen::set_schedule
        | omp_set_schedule_ = gomp::chosen::set_schedule_fortran,
          omp_set_schedule_8_ = gomp::chosen::set_schedule_fortran_8;
    omp_set_teams_thread_limit: neutral | omp_set_teams_thread_limit_, omp_set_teams_thread_limit_8_;
    omp_target_alloc: forbidden;
    omp_target_associate_ptr: forbidden;
    omp_target_disassociate_ptr: forbidden;
    omp_target_free: forbidden;
    omp_target_is_accessible: forbidden;
    omp_target_is_present: forbidden;
    omp_target_memcpy: forbidden;
    omp_target_memcpy_async as Whatever: forbidden => find gomp::device::find_target_memcpy_async;
    omp_target_memcpy_async_: forbidden;
    omp_target_memcpy_rect: forbidden;
    omp_target_memcpy_rect_async as Whatever: forbidden
        => find gomp::device::find_target_memcpy_rect_async;
    omp_target_memcpy_rect_async_: forbidden;
    omp_test_lock: neutral | omp_test_lock_;
    omp_test_nest_lock: neutral [TASKS_LOCKS] | omp_test_nest_lock_;
    omp_unset_lock: neutral, Nothing(1) | omp_unset_lock_;
    omp_unset_nest_lock: neutral | omp_unset_nest_lock_;
} } }
