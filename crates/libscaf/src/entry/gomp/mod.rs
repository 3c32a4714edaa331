//! The port for GCC's libgomp: one entry point a line, each passed on to the runtime that the region's code
//! is linked with. See libgomp's `libgomp_g.h` for the signatures.
#![allow(non_snake_case)]

mod chosen;
mod device;
mod loops;
mod ordered;
mod tasks;
mod team;
mod waits;

pub use tasks::at_load;

use super::opened;
use crate::region::enter;
use crate::region::kind::{Kind, Pass, Region, Work};
use crate::region::mechanisms::gather;
use crate::region::mechanisms::gather::depend_list::DependList;
use crate::region::mechanisms::gather::explicit_tasks::{self as gathered, New};
use crate::region::mechanisms::gather::taskloop::{Range, taskloop};
use crate::region::tasks as created;
use crate::region::thread::thread;
use crate::runtimes::entries::{Body, Runtime};
use crate::runtimes::lookup;
use crate::sys::arch;
use core::ffi::{c_int, c_void};
use scaf_team::gather::worksharing::{Loop, Rule};

type Long = i64;

/// The region of `body`; `None` if no runtime is found for it, or there are too many.
#[inline(always)]
fn region(body: Body, data: *mut c_void, requested: u32, kind: Kind) -> Option<Region> {
    let code = lookup::of(body as usize)?;
    Some(Region { code, work: Work { body, run: body, data }, requested, kind })
}

#[inline(always)]
unsafe fn run<R: Default>(body: Body, data: *mut c_void, threads: u32, kind: Kind, pass: impl Pass<R>) -> R {
    // SAFETY: the program's own function and data.
    unsafe {
        match region(body, data, threads, kind) {
            Some(region) => enter::run(region, pass),
            None => {
                // A team of one thread.
                body(data);
                R::default()
            }
        }
    }
}

macro_rules! regions {
    ($($name:ident => $field:ident($($argument:ident: $type:ty),*), $kind:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                body: Body, data: *mut c_void, threads: u32 $(, $argument: $type)*
            ) {
                let call = |runtime: &Runtime, body: Body, data: *mut c_void, threads: u32| {
                    if let Some(real) = runtime.$field {
                        // SAFETY: the program's own arguments, but for body and team size, which are ours.
                        unsafe { real(body, data, threads $(, $argument)*) }
                    }
                };
                // SAFETY: the arguments are the program's.
                unsafe { run(body, data, threads, $kind, call) }
            }
        )*
    };
}

regions! {
    GOMP_parallel => parallel(flags: u32), Kind::Plain;
    GOMP_parallel_loop_static =>
        loop_static(start: Long, end: Long, step: Long, chunk: Long, flags: u32), Kind::Plain;
    GOMP_parallel_loop_dynamic =>
        loop_dynamic(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Dynamic(chunk.max(1) as u64)));
    GOMP_parallel_loop_guided =>
        loop_guided(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Guided(chunk.max(1) as u64)));
    GOMP_parallel_loop_nonmonotonic_dynamic =>
        loop_nonmonotonic_dynamic(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Dynamic(chunk.max(1) as u64)));
    GOMP_parallel_loop_nonmonotonic_guided =>
        loop_nonmonotonic_guided(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Guided(chunk.max(1) as u64)));
    GOMP_parallel_loop_runtime =>
        loop_runtime(start: Long, end: Long, step: Long, flags: u32),
        Kind::AskedLoop(Loop::signed(start, end, step, Rule::Static(0)));
    GOMP_parallel_loop_nonmonotonic_runtime =>
        loop_nonmonotonic_runtime(start: Long, end: Long, step: Long, flags: u32),
        Kind::AskedLoop(Loop::signed(start, end, step, Rule::Static(0)));
    GOMP_parallel_loop_maybe_nonmonotonic_runtime =>
        loop_maybe_nonmonotonic_runtime(start: Long, end: Long, step: Long, flags: u32),
        Kind::AskedLoop(Loop::signed(start, end, step, Rule::Static(0)));
    GOMP_parallel_sections => sections(count: u32, flags: u32), Kind::Sections(count);
}

macro_rules! starts {
    ($($name:ident => $field:ident($($argument:ident: $type:ty),*), $kind:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                body: Body, data: *mut c_void, threads: u32 $(, $argument: $type)*
            ) {
                let call = |runtime: &Runtime, body: Body, data: *mut c_void, threads: u32| {
                    if let Some(real) = runtime.$field {
                        // SAFETY: as above.
                        unsafe { real(body, data, threads $(, $argument)*) }
                    }
                };
                if let Some(region) = region(body, data, threads, $kind) {
                    // SAFETY: the arguments are the program's.
                    unsafe { opened::start(region, call) }
                }
            }
        )*
    };
}

starts! {
    GOMP_parallel_start => parallel_start(), Kind::Plain;
    GOMP_parallel_loop_static_start =>
        loop_static_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_dynamic_start =>
        loop_dynamic_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_guided_start =>
        loop_guided_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_runtime_start => loop_runtime_start(start: Long, end: Long, step: Long), Kind::Plain;
    GOMP_parallel_sections_start => sections_start(count: u32), Kind::Sections(count);
}

/// A region with task reductions: the runtime reads the first word of the data, which the frame copies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_reductions(
    body: Body,
    data: *mut c_void,
    threads: u32,
    flags: u32,
) -> u32 {
    let call = |runtime: &Runtime, body: Body, data: *mut c_void, threads: u32| match runtime.reductions {
        // SAFETY: as above.
        Some(real) => unsafe { real(body, data, threads, flags) },
        None => 0,
    };
    // SAFETY: the arguments are the program's.
    unsafe {
        let within = gather::around(thread()).is_some();
        match run(body, data, threads, Kind::Reductions, call) {
            // A gathered team, or one of one within it.
            0 if within => 1,
            0 => gather::last_size(),
            team => team,
        }
    }
}

/// A league of teams on the host is only passed on; the parallel regions within its teams are managed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_teams_reg(body: Body, data: *mut c_void, teams: u32, limit: u32, flags: u32) {
    if let Some(real) = lookup::of(body as usize).and_then(|code| code.runtime.teams_reg) {
        // SAFETY: the program's own arguments.
        unsafe { real(body, data, teams, limit, flags) }
    }
}

/// Older compilers pass fewer arguments. The rest is then garbage, which the runtime doesn't look at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_task(
    body: Body,
    data: *mut c_void,
    copy: *mut c_void,
    size: Long,
    alignment: Long,
    condition: bool,
    flags: u32,
    depend: *mut *mut c_void,
    priority: c_int,
    detach: *mut c_void,
) {
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        if let Some(me) = gather::around(thread()) {
            const FINAL: u32 = 1 << 1;
            const DEPENDS: u32 = 1 << 3;
            let needs = if flags & DEPENDS != 0 {
                DependList::of(depend.cast_const().cast())
            } else {
                DependList::NONE
            };
            let is_final = flags & FINAL != 0;
            let new = tasks::new(body, data, copy, (size, alignment), condition, is_final);
            return gathered::create(me, &New { needs, ..new });
        }
    }
    if let Some((runtime, body)) = created::create(body)
        && let Some(real) = runtime.task
    {
        // SAFETY: the program's own arguments, but for the function, which calls theirs.
        unsafe { real(body, data, copy, size, alignment, condition, flags, depend, priority, detach) }
    }
}

macro_rules! task_loops {
    ($($name:ident => $field:ident, signed: $signed:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                body: Body, data: *mut c_void, copy: *mut c_void, size: Long, alignment: Long, flags: u32,
                count: u64, priority: c_int, start: Long, end: Long, step: Long,
            ) {
                // SAFETY: this thread's own state; the program's own arguments.
                unsafe {
                    if let Some(me) = gather::around(thread()) {
                        const FINAL: u32 = 1 << 1;
                        const MAY_WAIT: u32 = 1 << 10;
                        let (may_wait, is_final) = (flags & MAY_WAIT != 0, flags & FINAL != 0);
                        let new = tasks::new(body, data, copy, (size, alignment), may_wait, is_final);
                        let [start, end, step] = [start, end, step].map(|bound| bound as u64);
                        let range = Range { start, end, step, signed: $signed };
                        return taskloop(me, &new, flags, count, range);
                    }
                }
                let create = |runtime: &Runtime, body: Body| {
                    if let Some(real) = runtime.$field {
                        // SAFETY: the program's own arguments, but for the function, which calls theirs.
                        unsafe {
                            real(body, data, copy, size, alignment, flags, count, priority, start, end, step)
                        }
                    }
                };
                created::create_many(body, create);
            }
        )*
    };
}

task_loops! {
    GOMP_taskloop => taskloop, signed: true;
    GOMP_taskloop_ull => taskloop_ull, signed: false;
}

arch::with_caller! {
    GOMP_parallel_end => opened::end, behind 0;
    GOMP_barrier => waits::barrier, behind 0;
    GOMP_barrier_cancel => waits::barrier_cancel, behind 0;
    GOMP_loop_end => loops::loop_end, behind 0;
    GOMP_loop_end_cancel => loops::loop_end_cancel, behind 0;
    GOMP_loop_end_nowait => loops::loop_end_nowait, behind 0;
    GOMP_sections_start => loops::sections_start, behind 1;
    GOMP_sections_next => loops::sections_next, behind 0;
    GOMP_sections_end => loops::sections_end, behind 0;
    GOMP_sections_end_nowait => loops::sections_end_nowait, behind 0;
    GOMP_single_start => loops::single_start, behind 0;
    GOMP_single_copy_end => loops::single_copy_end, behind 1;
    GOMP_sections_end_cancel => loops::sections_end_cancel, behind 0;
    GOMP_loop_dynamic_next => loops::loop_dynamic_next, behind 2;
    GOMP_loop_guided_next => loops::loop_guided_next, behind 2;
    GOMP_loop_runtime_next => loops::loop_runtime_next, behind 2;
    GOMP_loop_nonmonotonic_dynamic_next => loops::loop_nonmonotonic_dynamic_next, behind 2;
    GOMP_loop_nonmonotonic_guided_next => loops::loop_nonmonotonic_guided_next, behind 2;
    GOMP_loop_nonmonotonic_runtime_next => loops::loop_nonmonotonic_runtime_next, behind 2;
    GOMP_loop_maybe_nonmonotonic_runtime_next => loops::loop_maybe_nonmonotonic_runtime_next, behind 2;
    GOMP_loop_ull_dynamic_next => loops::loop_ull_dynamic_next, behind 2;
    GOMP_loop_ull_guided_next => loops::loop_ull_guided_next, behind 2;
    GOMP_loop_ull_runtime_next => loops::loop_ull_runtime_next, behind 2;
    GOMP_loop_ull_nonmonotonic_dynamic_next => loops::loop_ull_nonmonotonic_dynamic_next, behind 2;
    GOMP_loop_ull_nonmonotonic_guided_next => loops::loop_ull_nonmonotonic_guided_next, behind 2;
    GOMP_loop_ull_nonmonotonic_runtime_next => loops::loop_ull_nonmonotonic_runtime_next, behind 2;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next =>
        loops::loop_ull_maybe_nonmonotonic_runtime_next, behind 2;
    GOMP_cancel => waits::cancel, behind 2;
    GOMP_cancellation_point => waits::cancellation_point, behind 1;
    GOMP_taskwait => tasks::taskwait, behind 1;
    GOMP_taskwait_depend => tasks::taskwait_depend, behind 1;
    GOMP_taskgroup_start => tasks::taskgroup_start, behind 1;
    GOMP_taskgroup_end => tasks::taskgroup_end, behind 1;
    GOMP_taskgroup_reduction_register => tasks::reduction_register, behind 1;
    GOMP_taskgroup_reduction_unregister => tasks::reduction_unregister, behind 1;
    GOMP_task_reduction_remap => tasks::reduction_remap, behind 3;
    GOMP_single_copy_start => tasks::single_copy_start, behind 1;
    GOMP_ordered_start => tasks::ordered_start, behind 1;
    GOMP_critical_start => tasks::critical_start, behind 1;
    GOMP_critical_name_start => tasks::critical_name_start, behind 1;
    GOMP_atomic_start => tasks::atomic_start, behind 1;
    omp_set_lock => tasks::set_lock, behind 1;
    omp_set_lock_ => tasks::set_lock_fortran, behind 1;
    omp_in_final => team::in_final, behind 0;
    omp_in_final_ => team::in_final, behind 0;
    omp_get_thread_num => team::get_thread_num, behind 0;
    omp_get_thread_num_ => team::get_thread_num, behind 0;
    omp_get_num_threads => team::get_num_threads, behind 0;
    omp_get_num_threads_ => team::get_num_threads, behind 0;
    omp_in_parallel => team::in_parallel, behind 0;
    omp_in_parallel_ => team::in_parallel, behind 0;
    omp_get_level => team::get_level, behind 0;
    omp_get_active_level => team::get_active_level, behind 0;
    omp_get_team_size => team::get_team_size, behind 1;
    omp_get_ancestor_thread_num => team::get_ancestor_thread_num, behind 1;
    omp_get_team_size_ => team::get_team_size_fortran, behind 1;
    omp_get_team_size_8_ => team::get_team_size_fortran_8, behind 1;
    omp_get_ancestor_thread_num_ => team::get_ancestor_thread_num_fortran, behind 1;
    omp_get_ancestor_thread_num_8_ => team::get_ancestor_thread_num_fortran_8, behind 1;
    omp_get_max_threads => team::get_max_threads, behind 0;
    omp_get_max_threads_ => team::get_max_threads, behind 0;
    omp_get_thread_limit => team::get_thread_limit, behind 0;
    omp_get_num_procs => team::get_num_procs, behind 0;
    omp_get_num_procs_ => team::get_num_procs, behind 0;
    omp_set_num_threads => team::set_num_threads, behind 1;
    omp_set_num_threads_ => team::set_num_threads_fortran, behind 1;
    omp_set_num_threads_8_ => team::set_num_threads_fortran_8, behind 1;
    omp_get_level_ => team::get_level, behind 0;
    omp_get_active_level_ => team::get_active_level, behind 0;
    omp_get_thread_limit_ => team::get_thread_limit, behind 0;
    omp_get_dynamic => chosen::get_dynamic, behind 0;
    omp_get_dynamic_ => chosen::get_dynamic, behind 0;
    omp_get_nested => chosen::get_nested, behind 0;
    omp_get_nested_ => chosen::get_nested, behind 0;
    omp_get_proc_bind => chosen::get_proc_bind, behind 0;
    omp_get_proc_bind_ => chosen::get_proc_bind, behind 0;
    omp_get_max_active_levels => chosen::get_max_active_levels, behind 0;
    omp_get_max_active_levels_ => chosen::get_max_active_levels, behind 0;
    omp_get_schedule => chosen::get_schedule, behind 2;
    omp_get_schedule_ => chosen::get_schedule, behind 2;
    omp_get_schedule_8_ => chosen::get_schedule_fortran_8, behind 2;
    omp_set_nested => chosen::set_nested, behind 1;
    omp_set_nested_ => chosen::set_nested_fortran, behind 1;
    omp_set_nested_8_ => chosen::set_nested_fortran_8, behind 1;
    omp_set_max_active_levels => chosen::set_max_active_levels, behind 1;
    omp_set_max_active_levels_ => chosen::set_max_active_levels_fortran, behind 1;
    omp_set_max_active_levels_8_ => chosen::set_max_active_levels_fortran_8, behind 1;
    omp_set_schedule => chosen::set_schedule, behind 2;
    omp_set_schedule_ => chosen::set_schedule_fortran, behind 2;
    omp_set_schedule_8_ => chosen::set_schedule_fortran_8, behind 2;
    omp_set_dynamic => team::set_dynamic, behind 1;
    omp_set_dynamic_ => team::set_dynamic_fortran, behind 1;
    omp_set_dynamic_8_ => team::set_dynamic_fortran_8, behind 1;
}

arch::pass_on! {
    GOMP_loop_dynamic_start => loops::find_dynamic;
    GOMP_loop_guided_start => loops::find_guided;
    GOMP_loop_nonmonotonic_dynamic_start => loops::find_nonmonotonic_dynamic;
    GOMP_loop_nonmonotonic_guided_start => loops::find_nonmonotonic_guided;
    GOMP_loop_ull_dynamic_start => loops::find_ull_dynamic;
    GOMP_loop_ull_guided_start => loops::find_ull_guided;
    GOMP_loop_ull_nonmonotonic_dynamic_start => loops::find_ull_nonmonotonic_dynamic;
    GOMP_loop_ull_nonmonotonic_guided_start => loops::find_ull_nonmonotonic_guided;
    GOMP_loop_static_start => ordered::find_static;
    GOMP_loop_runtime_start => ordered::find_runtime;
    GOMP_loop_nonmonotonic_runtime_start => ordered::find_nonmonotonic_runtime;
    GOMP_loop_maybe_nonmonotonic_runtime_start => ordered::find_maybe_nonmonotonic_runtime;
    GOMP_loop_ordered_static_start => ordered::find_ordered_static;
    GOMP_loop_ordered_dynamic_start => ordered::find_ordered_dynamic;
    GOMP_loop_ordered_guided_start => ordered::find_ordered_guided;
    GOMP_loop_ordered_runtime_start => ordered::find_ordered_runtime;
    GOMP_loop_static_next => ordered::find_next_static;
    GOMP_loop_ordered_static_next => ordered::find_next_ordered_static;
    GOMP_loop_ordered_dynamic_next => ordered::find_next_ordered_dynamic;
    GOMP_loop_ordered_guided_next => ordered::find_next_ordered_guided;
    GOMP_loop_ordered_runtime_next => ordered::find_next_ordered_runtime;
    GOMP_loop_ull_static_start => ordered::find_ull_static;
    GOMP_loop_ull_runtime_start => ordered::find_ull_runtime;
    GOMP_loop_ull_nonmonotonic_runtime_start => ordered::find_ull_nonmonotonic_runtime;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start => ordered::find_ull_maybe_nonmonotonic_runtime;
    GOMP_loop_ull_ordered_static_start => ordered::find_ull_ordered_static;
    GOMP_loop_ull_ordered_dynamic_start => ordered::find_ull_ordered_dynamic;
    GOMP_loop_ull_ordered_guided_start => ordered::find_ull_ordered_guided;
    GOMP_loop_ull_ordered_runtime_start => ordered::find_ull_ordered_runtime;
    GOMP_loop_ull_static_next => ordered::find_next_ull_static;
    GOMP_loop_ull_ordered_static_next => ordered::find_next_ull_ordered_static;
    GOMP_loop_ull_ordered_dynamic_next => ordered::find_next_ull_ordered_dynamic;
    GOMP_loop_ull_ordered_guided_next => ordered::find_next_ull_ordered_guided;
    GOMP_loop_ull_ordered_runtime_next => ordered::find_next_ull_ordered_runtime;
    GOMP_loop_start => ordered::find_given;
    GOMP_loop_ordered_start => ordered::find_ordered_given;
    GOMP_loop_ull_start => ordered::find_ull_given;
    GOMP_loop_ull_ordered_start => ordered::find_ull_ordered_given;
    GOMP_sections2_start => ordered::find_sections_given;
    GOMP_loop_doacross_start => ordered::find_doacross_given;
    GOMP_loop_ull_doacross_start => ordered::find_ull_doacross_given;
    GOMP_workshare_task_reduction_unregister => ordered::find_unregister;
    GOMP_loop_doacross_static_start => ordered::find_doacross_static;
    GOMP_loop_doacross_dynamic_start => ordered::find_doacross_dynamic;
    GOMP_loop_doacross_guided_start => ordered::find_doacross_guided;
    GOMP_loop_doacross_runtime_start => ordered::find_doacross_runtime;
    GOMP_loop_ull_doacross_static_start => ordered::find_ull_doacross_static;
    GOMP_loop_ull_doacross_dynamic_start => ordered::find_ull_doacross_dynamic;
    GOMP_loop_ull_doacross_guided_start => ordered::find_ull_doacross_guided;
    GOMP_loop_ull_doacross_runtime_start => ordered::find_ull_doacross_runtime;
    GOMP_doacross_post => ordered::find_doacross_post;
    GOMP_doacross_ull_post => ordered::find_doacross_ull_post;
    GOMP_doacross_wait => ordered::find_doacross_wait;
    GOMP_doacross_ull_wait => ordered::find_doacross_ull_wait;
    GOMP_taskyield => tasks::find_taskyield;
    GOMP_target_ext => device::find_target;
    GOMP_target_update_ext => device::find_target_update;
    GOMP_target_enter_exit_data => device::find_target_enter_exit_data;
    GOMP_taskwait_depend_nowait => device::find_taskwait_depend_nowait;
    omp_target_memcpy_async => device::find_target_memcpy_async;
    omp_target_memcpy_rect_async => device::find_target_memcpy_rect_async;
}
