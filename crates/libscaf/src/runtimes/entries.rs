//! The entry points of an OpenMP runtime: GCC's libgomp, LLVM's libomp or Intel's libiomp5. The latter two
//! are one runtime, which also has libgomp's entry points, for code that gcc compiled.

use core::ffi::{c_int, c_void};

/// An outlined function: the body of a region.
pub type Body = unsafe extern "C" fn(*mut c_void);
type Long = i64;
type ParallelLoop = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, Long, u32);
type ParallelRuntimeLoop = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, u32);
type LoopStart = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, Long);
type RuntimeLoopStart = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long);
type Task = unsafe extern "C" fn(
    Body,
    *mut c_void,
    *mut c_void,
    Long,
    Long,
    bool,
    u32,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);
/// The next chunk of a loop; the pointers are to `long`s or to `unsigned long long`s.
type Next = unsafe extern "C" fn(*mut c_void, *mut c_void) -> bool;
/// Calls that wait: with one argument or none, and a result or none.
pub type Wait = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// Passed on as it came, whatever its arguments.
type Whatever = unsafe extern "C" fn();
/// LLVM's description of a place in the source.
pub type Place = *mut c_void;
/// LLVM's outlined function: gets two of its thread's numbers by address, and the region's own arguments.
pub type Micro = unsafe extern "C" fn(*const c_int, *const c_int, ...);
/// Enters a region, or a league of teams, with so many arguments for the function.
pub type ForkCall = unsafe extern "C" fn(Place, c_int, Micro, ...);
/// Most of LLVM's entry points: a place, the thread's number, and nothing else.
pub type Here = unsafe extern "C" fn(Place, c_int);
/// The same with up to two further arguments, and a result or none.
pub type HereWith = unsafe extern "C" fn(Place, c_int, *mut c_void, *mut c_void) -> *mut c_void;
/// The next chunk of a loop; writes whether it is the last, its bounds and its step.
pub type NextChunk =
    unsafe extern "C" fn(Place, c_int, *mut c_int, *mut c_void, *mut c_void, *mut c_void) -> c_int;
/// A thread's share of a static loop over `T`, with differences `S`: schedule, whether the share has the last
/// iteration, both bounds, stride, step, chunk size.
pub type ShareOut<T, S> = unsafe extern "C" fn(Place, c_int, c_int, *mut c_int, *mut T, *mut T, *mut S, S, S);
type TaskLoop =
    unsafe extern "C" fn(Body, *mut c_void, *mut c_void, Long, Long, u32, u64, c_int, Long, Long, Long);

macro_rules! runtime {
    ($($field:ident: $type:ty = $symbol:literal,)*) => {
        /// Entry points of one copy; `None` where it is too old, and then no code linked with it calls them.
        pub struct Runtime {
            $(pub $field: Option<$type>,)*
        }

        impl Runtime {
            pub const EMPTY: Runtime = Runtime { $($field: None,)* };

            /// Fills the table.
            /// # Safety
            /// `library` is a handle from dlopen.
            pub unsafe fn load(&mut self, library: *mut c_void) {
                $(
                    // SAFETY: a function pointer or null, as Option<fn> has it, of the runtime's ABI.
                    self.$field = unsafe {
                        core::mem::transmute::<*mut c_void, Option<$type>>(
                            libc::dlsym(library, $symbol.as_ptr()))
                    };
                )*
            }
        }
    };
}

runtime! {
    parallel: unsafe extern "C" fn(Body, *mut c_void, u32, u32) = c"GOMP_parallel",
    parallel_start: unsafe extern "C" fn(Body, *mut c_void, u32) = c"GOMP_parallel_start",
    parallel_end: unsafe extern "C" fn() = c"GOMP_parallel_end",
    loop_static: ParallelLoop = c"GOMP_parallel_loop_static",
    loop_dynamic: ParallelLoop = c"GOMP_parallel_loop_dynamic",
    loop_guided: ParallelLoop = c"GOMP_parallel_loop_guided",
    loop_nonmonotonic_dynamic: ParallelLoop = c"GOMP_parallel_loop_nonmonotonic_dynamic",
    loop_nonmonotonic_guided: ParallelLoop = c"GOMP_parallel_loop_nonmonotonic_guided",
    loop_runtime: ParallelRuntimeLoop = c"GOMP_parallel_loop_runtime",
    loop_nonmonotonic_runtime: ParallelRuntimeLoop = c"GOMP_parallel_loop_nonmonotonic_runtime",
    loop_maybe_nonmonotonic_runtime: ParallelRuntimeLoop = c"GOMP_parallel_loop_maybe_nonmonotonic_runtime",
    loop_static_start: LoopStart = c"GOMP_parallel_loop_static_start",
    loop_dynamic_start: LoopStart = c"GOMP_parallel_loop_dynamic_start",
    loop_guided_start: LoopStart = c"GOMP_parallel_loop_guided_start",
    loop_runtime_start: RuntimeLoopStart = c"GOMP_parallel_loop_runtime_start",
    sections: unsafe extern "C" fn(Body, *mut c_void, u32, u32, u32) = c"GOMP_parallel_sections",
    sections_start: unsafe extern "C" fn(Body, *mut c_void, u32, u32) = c"GOMP_parallel_sections_start",
    reductions: unsafe extern "C" fn(Body, *mut c_void, u32, u32) -> u32 = c"GOMP_parallel_reductions",
    teams_reg: unsafe extern "C" fn(Body, *mut c_void, u32, u32, u32) = c"GOMP_teams_reg",
    task: Task = c"GOMP_task",
    taskloop: TaskLoop = c"GOMP_taskloop",
    taskloop_ull: TaskLoop = c"GOMP_taskloop_ull",
    barrier: unsafe extern "C" fn() = c"GOMP_barrier",
    barrier_cancel: unsafe extern "C" fn() -> bool = c"GOMP_barrier_cancel",
    loop_end: unsafe extern "C" fn() = c"GOMP_loop_end",
    loop_end_cancel: unsafe extern "C" fn() -> bool = c"GOMP_loop_end_cancel",
    sections_end: unsafe extern "C" fn() = c"GOMP_sections_end",
    sections_end_cancel: unsafe extern "C" fn() -> bool = c"GOMP_sections_end_cancel",
    loop_end_nowait: unsafe extern "C" fn() = c"GOMP_loop_end_nowait",
    sections_end_nowait: unsafe extern "C" fn() = c"GOMP_sections_end_nowait",
    sections_begin: unsafe extern "C" fn(u32) -> u32 = c"GOMP_sections_start",
    sections_next: unsafe extern "C" fn() -> u32 = c"GOMP_sections_next",
    single_start: unsafe extern "C" fn() -> bool = c"GOMP_single_start",
    single_copy_end: unsafe extern "C" fn(*mut c_void) = c"GOMP_single_copy_end",
    chunks_dynamic: Whatever = c"GOMP_loop_dynamic_start",
    chunks_guided: Whatever = c"GOMP_loop_guided_start",
    chunks_nonmonotonic_dynamic: Whatever = c"GOMP_loop_nonmonotonic_dynamic_start",
    chunks_nonmonotonic_guided: Whatever = c"GOMP_loop_nonmonotonic_guided_start",
    chunks_ull_dynamic: Whatever = c"GOMP_loop_ull_dynamic_start",
    chunks_ull_guided: Whatever = c"GOMP_loop_ull_guided_start",
    chunks_ull_nonmonotonic_dynamic: Whatever = c"GOMP_loop_ull_nonmonotonic_dynamic_start",
    chunks_ull_nonmonotonic_guided: Whatever = c"GOMP_loop_ull_nonmonotonic_guided_start",
    chunks_static: Whatever = c"GOMP_loop_static_start",
    chunks_runtime: Whatever = c"GOMP_loop_runtime_start",
    chunks_nonmonotonic_runtime: Whatever = c"GOMP_loop_nonmonotonic_runtime_start",
    chunks_maybe_nonmonotonic_runtime: Whatever = c"GOMP_loop_maybe_nonmonotonic_runtime_start",
    chunks_ordered_static: Whatever = c"GOMP_loop_ordered_static_start",
    chunks_ordered_dynamic: Whatever = c"GOMP_loop_ordered_dynamic_start",
    chunks_ordered_guided: Whatever = c"GOMP_loop_ordered_guided_start",
    chunks_ordered_runtime: Whatever = c"GOMP_loop_ordered_runtime_start",
    next_static: Whatever = c"GOMP_loop_static_next",
    next_ordered_static: Whatever = c"GOMP_loop_ordered_static_next",
    next_ordered_dynamic: Whatever = c"GOMP_loop_ordered_dynamic_next",
    next_ordered_guided: Whatever = c"GOMP_loop_ordered_guided_next",
    next_ordered_runtime: Whatever = c"GOMP_loop_ordered_runtime_next",
    chunks_ull_static: Whatever = c"GOMP_loop_ull_static_start",
    chunks_ull_runtime: Whatever = c"GOMP_loop_ull_runtime_start",
    chunks_ull_nonmonotonic_runtime: Whatever = c"GOMP_loop_ull_nonmonotonic_runtime_start",
    chunks_ull_maybe_nonmonotonic_runtime: Whatever = c"GOMP_loop_ull_maybe_nonmonotonic_runtime_start",
    chunks_ull_ordered_static: Whatever = c"GOMP_loop_ull_ordered_static_start",
    chunks_ull_ordered_dynamic: Whatever = c"GOMP_loop_ull_ordered_dynamic_start",
    chunks_ull_ordered_guided: Whatever = c"GOMP_loop_ull_ordered_guided_start",
    chunks_ull_ordered_runtime: Whatever = c"GOMP_loop_ull_ordered_runtime_start",
    next_ull_static: Whatever = c"GOMP_loop_ull_static_next",
    next_ull_ordered_static: Whatever = c"GOMP_loop_ull_ordered_static_next",
    next_ull_ordered_dynamic: Whatever = c"GOMP_loop_ull_ordered_dynamic_next",
    next_ull_ordered_guided: Whatever = c"GOMP_loop_ull_ordered_guided_next",
    next_ull_ordered_runtime: Whatever = c"GOMP_loop_ull_ordered_runtime_next",
    given: Whatever = c"GOMP_loop_start",
    ordered_given: Whatever = c"GOMP_loop_ordered_start",
    ull_given: Whatever = c"GOMP_loop_ull_start",
    ull_ordered_given: Whatever = c"GOMP_loop_ull_ordered_start",
    sections_given: Whatever = c"GOMP_sections2_start",
    doacross_given: Whatever = c"GOMP_loop_doacross_start",
    workshare_unregister: Whatever = c"GOMP_workshare_task_reduction_unregister",
    doacross_static: Whatever = c"GOMP_loop_doacross_static_start",
    doacross_dynamic: Whatever = c"GOMP_loop_doacross_dynamic_start",
    doacross_guided: Whatever = c"GOMP_loop_doacross_guided_start",
    doacross_runtime: Whatever = c"GOMP_loop_doacross_runtime_start",
    ull_doacross_given: Whatever = c"GOMP_loop_ull_doacross_start",
    ull_doacross_static: Whatever = c"GOMP_loop_ull_doacross_static_start",
    ull_doacross_dynamic: Whatever = c"GOMP_loop_ull_doacross_dynamic_start",
    ull_doacross_guided: Whatever = c"GOMP_loop_ull_doacross_guided_start",
    ull_doacross_runtime: Whatever = c"GOMP_loop_ull_doacross_runtime_start",
    doacross_post: Whatever = c"GOMP_doacross_post",
    doacross_ull_post: Whatever = c"GOMP_doacross_ull_post",
    doacross_wait: Whatever = c"GOMP_doacross_wait",
    doacross_ull_wait: Whatever = c"GOMP_doacross_ull_wait",
    loop_dynamic_next: Next = c"GOMP_loop_dynamic_next",
    loop_guided_next: Next = c"GOMP_loop_guided_next",
    loop_runtime_next: Next = c"GOMP_loop_runtime_next",
    loop_nonmonotonic_dynamic_next: Next = c"GOMP_loop_nonmonotonic_dynamic_next",
    loop_nonmonotonic_guided_next: Next = c"GOMP_loop_nonmonotonic_guided_next",
    loop_nonmonotonic_runtime_next: Next = c"GOMP_loop_nonmonotonic_runtime_next",
    loop_maybe_nonmonotonic_runtime_next: Next = c"GOMP_loop_maybe_nonmonotonic_runtime_next",
    loop_ull_dynamic_next: Next = c"GOMP_loop_ull_dynamic_next",
    loop_ull_guided_next: Next = c"GOMP_loop_ull_guided_next",
    loop_ull_runtime_next: Next = c"GOMP_loop_ull_runtime_next",
    loop_ull_nonmonotonic_dynamic_next: Next = c"GOMP_loop_ull_nonmonotonic_dynamic_next",
    loop_ull_nonmonotonic_guided_next: Next = c"GOMP_loop_ull_nonmonotonic_guided_next",
    loop_ull_nonmonotonic_runtime_next: Next = c"GOMP_loop_ull_nonmonotonic_runtime_next",
    loop_ull_maybe_nonmonotonic_runtime_next: Next = c"GOMP_loop_ull_maybe_nonmonotonic_runtime_next",
    taskwait: Wait = c"GOMP_taskwait",
    taskwait_depend: Wait = c"GOMP_taskwait_depend",
    taskgroup_start: Wait = c"GOMP_taskgroup_start",
    taskyield: Whatever = c"GOMP_taskyield",
    taskgroup_end: Wait = c"GOMP_taskgroup_end",
    set_lock: Wait = c"omp_set_lock",
    set_lock_fortran: Wait = c"omp_set_lock_",
    single_copy_start: Wait = c"GOMP_single_copy_start",
    ordered_start: Wait = c"GOMP_ordered_start",
    critical_start: Wait = c"GOMP_critical_start",
    critical_name_start: Wait = c"GOMP_critical_name_start",
    atomic_start: Wait = c"GOMP_atomic_start",
    cancel: unsafe extern "C" fn(c_int, bool) -> bool = c"GOMP_cancel",
    cancellation_point: unsafe extern "C" fn(c_int) -> bool = c"GOMP_cancellation_point",
    target: Whatever = c"GOMP_target_ext",
    target_update: Whatever = c"GOMP_target_update_ext",
    target_enter_exit_data: Whatever = c"GOMP_target_enter_exit_data",
    taskwait_depend_nowait: Whatever = c"GOMP_taskwait_depend_nowait",
    target_memcpy_async: Whatever = c"omp_target_memcpy_async",
    target_memcpy_rect_async: Whatever = c"omp_target_memcpy_rect_async",
    set_schedule: unsafe extern "C" fn(c_int, c_int) = c"omp_set_schedule",
    get_schedule: unsafe extern "C" fn(*mut c_int, *mut c_int) = c"omp_get_schedule",
    level: unsafe extern "C" fn() -> c_int = c"omp_get_level",
    active_level: unsafe extern "C" fn() -> c_int = c"omp_get_active_level",
    num_threads: unsafe extern "C" fn() -> c_int = c"omp_get_num_threads",
    in_final: unsafe extern "C" fn() -> c_int = c"omp_in_final",
    thread_num: unsafe extern "C" fn() -> c_int = c"omp_get_thread_num",
    in_parallel: unsafe extern "C" fn() -> c_int = c"omp_in_parallel",
    team_size: unsafe extern "C" fn(c_int) -> c_int = c"omp_get_team_size",
    ancestor_thread_num: unsafe extern "C" fn(c_int) -> c_int = c"omp_get_ancestor_thread_num",
    max_threads: unsafe extern "C" fn() -> c_int = c"omp_get_max_threads",
    set_num_threads: unsafe extern "C" fn(c_int) = c"omp_set_num_threads",
    set_dynamic: unsafe extern "C" fn(c_int) = c"omp_set_dynamic",
    num_procs: unsafe extern "C" fn() -> c_int = c"omp_get_num_procs",
    thread_limit: unsafe extern "C" fn() -> c_int = c"omp_get_thread_limit",
    proc_bind: unsafe extern "C" fn() -> c_int = c"omp_get_proc_bind",
    cancellation: unsafe extern "C" fn() -> c_int = c"omp_get_cancellation",
    get_dynamic: unsafe extern "C" fn() -> c_int = c"omp_get_dynamic",
    set_nested: unsafe extern "C" fn(c_int) = c"omp_set_nested",
    set_max_active_levels: unsafe extern "C" fn(c_int) = c"omp_set_max_active_levels",
    nested: unsafe extern "C" fn() -> c_int = c"omp_get_nested",
    max_active_levels: unsafe extern "C" fn() -> c_int = c"omp_get_max_active_levels",
    fork_call: ForkCall = c"__kmpc_fork_call",
    fork_call_if: unsafe extern "C" fn(Place, c_int, Micro, c_int, *mut c_void) = c"__kmpc_fork_call_if",
    fork_teams: ForkCall = c"__kmpc_fork_teams",
    push_num_threads: unsafe extern "C" fn(Place, c_int, c_int) = c"__kmpc_push_num_threads",
    push_proc_bind: unsafe extern "C" fn(Place, c_int, c_int) = c"__kmpc_push_proc_bind",
    push_strict: Whatever = c"__kmpc_push_num_threads_strict",
    push_list: Whatever = c"__kmpc_push_num_threads_list",
    push_list_strict: Whatever = c"__kmpc_push_num_threads_list_strict",
    global_thread_num: unsafe extern "C" fn(Place) -> c_int = c"__kmpc_global_thread_num",
    serialized: Here = c"__kmpc_serialized_parallel",
    end_serialized: Here = c"__kmpc_end_serialized_parallel",
    kmpc_barrier: HereWith = c"__kmpc_barrier",
    kmpc_cancel_barrier: HereWith = c"__kmpc_cancel_barrier",
    kmpc_cancel: Whatever = c"__kmpc_cancel",
    kmpc_cancellation_point: Whatever = c"__kmpc_cancellationpoint",
    init_4: Whatever = c"__kmpc_dispatch_init_4",
    init_4u: Whatever = c"__kmpc_dispatch_init_4u",
    init_8: Whatever = c"__kmpc_dispatch_init_8",
    init_8u: Whatever = c"__kmpc_dispatch_init_8u",
    next_4: NextChunk = c"__kmpc_dispatch_next_4",
    next_4u: NextChunk = c"__kmpc_dispatch_next_4u",
    next_8: NextChunk = c"__kmpc_dispatch_next_8",
    next_8u: NextChunk = c"__kmpc_dispatch_next_8u",
    static_4: ShareOut<i32, i32> = c"__kmpc_for_static_init_4",
    static_4u: ShareOut<u32, i32> = c"__kmpc_for_static_init_4u",
    static_8: ShareOut<i64, i64> = c"__kmpc_for_static_init_8",
    static_8u: ShareOut<u64, i64> = c"__kmpc_for_static_init_8u",
    master: Whatever = c"__kmpc_master",
    end_master: Whatever = c"__kmpc_end_master",
    masked: Whatever = c"__kmpc_masked",
    end_masked: Whatever = c"__kmpc_end_masked",
    single: Whatever = c"__kmpc_single",
    end_single: Whatever = c"__kmpc_end_single",
    copyprivate: Whatever = c"__kmpc_copyprivate",
    reduce: Whatever = c"__kmpc_reduce",
    reduce_nowait: Whatever = c"__kmpc_reduce_nowait",
    end_reduce: Whatever = c"__kmpc_end_reduce",
    end_reduce_nowait: Whatever = c"__kmpc_end_reduce_nowait",
    end_ordered: Whatever = c"__kmpc_end_ordered",
    doacross_init: Whatever = c"__kmpc_doacross_init",
    kmpc_doacross_post: Whatever = c"__kmpc_doacross_post",
    kmpc_doacross_wait: Whatever = c"__kmpc_doacross_wait",
    doacross_fini: Whatever = c"__kmpc_doacross_fini",
    fini_4: Whatever = c"__kmpc_dispatch_fini_4",
    fini_4u: Whatever = c"__kmpc_dispatch_fini_4u",
    fini_8: Whatever = c"__kmpc_dispatch_fini_8",
    fini_8u: Whatever = c"__kmpc_dispatch_fini_8u",
    static_fini: Here = c"__kmpc_for_static_fini",
    task_alloc: Whatever = c"__kmpc_omp_task_alloc",
    target_task_alloc: Whatever = c"__kmpc_omp_target_task_alloc",
    omp_task: Whatever = c"__kmpc_omp_task",
    task_with_deps: Whatever = c"__kmpc_omp_task_with_deps",
    begin_if0: Whatever = c"__kmpc_omp_task_begin_if0",
    complete_if0: Whatever = c"__kmpc_omp_task_complete_if0",
    wait_deps: Whatever = c"__kmpc_omp_wait_deps",
    taskwait_deps: Whatever = c"__kmpc_omp_taskwait_deps_51",
    kmpc_taskgroup: Whatever = c"__kmpc_taskgroup",
    kmpc_taskyield: Whatever = c"__kmpc_omp_taskyield",
    kmpc_taskloop: Whatever = c"__kmpc_taskloop",
    taskloop_5: Whatever = c"__kmpc_taskloop_5",
    taskred_init: Whatever = c"__kmpc_taskred_init",
    task_reduction_init: Whatever = c"__kmpc_task_reduction_init",
    taskred_modifier_init: Whatever = c"__kmpc_taskred_modifier_init",
    reduction_modifier_init: Whatever = c"__kmpc_task_reduction_modifier_init",
    reduction_modifier_fini: Whatever = c"__kmpc_task_reduction_modifier_fini",
    reduction_value: Whatever = c"__kmpc_task_reduction_get_th_data",
    reduction_register: Wait = c"GOMP_taskgroup_reduction_register",
    reduction_unregister: Wait = c"GOMP_taskgroup_reduction_unregister",
    reduction_remap: unsafe extern "C" fn(usize, usize, *mut usize) = c"GOMP_task_reduction_remap",
    kmpc_taskwait: HereWith = c"__kmpc_omp_taskwait",
    kmpc_end_taskgroup: HereWith = c"__kmpc_end_taskgroup",
    kmpc_ordered: HereWith = c"__kmpc_ordered",
    kmpc_critical: HereWith = c"__kmpc_critical",
    kmpc_critical_with_hint: HereWith = c"__kmpc_critical_with_hint",
    set_blocktime: unsafe extern "C" fn(c_int) = c"kmp_set_blocktime",
    get_blocktime: unsafe extern "C" fn() -> c_int = c"kmp_get_blocktime",
    stack_bytes: unsafe extern "C" fn() -> usize = c"kmp_get_stacksize_s",
}

impl Runtime {
    #[inline(always)]
    pub fn is_llvms(&self) -> bool {
        self.fork_call.is_some()
    }

    /// Threads of the team that the calling thread is in, as the runtime says.
    #[inline(always)]
    pub fn team(&self) -> u32 {
        // SAFETY: omp_get_num_threads takes nothing.
        self.num_threads.map_or(1, |num_threads| unsafe { num_threads() }).max(1) as u32
    }

    /// Whether its barriers and ends of loops can be taken over.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        self.barrier.is_some()
            && self.loop_end_nowait.is_some()
            && self.sections_end_nowait.is_some()
            && self.num_threads.is_some()
            && self.thread_num.is_some()
    }
}
