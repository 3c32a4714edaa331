//! The port for GCC's libgomp: one entry point a line, each passed on to the runtime that the region's code is
//! linked with. See libgomp's `libgomp_g.h` for the signatures; the forms differ by the loop that they start.
#![allow(non_snake_case)]

use crate::opened;
use crate::region::{self, Kind, Work};
use crate::runtime::{self, Body, Runtime};
use crate::{arch, promise, tasks, virtualise, waits};
use core::ffi::{c_int, c_void};

type Long = i64;

/// Iterations of a loop from `start` to `end`, which it doesn't reach, in steps of `step`.
fn iterations(start: Long, end: Long, step: Long) -> u64 {
    let span = if step > 0 { end.wrapping_sub(start) } else { start.wrapping_sub(end) };
    (span.max(0) as u64).div_ceil(step.unsigned_abs().max(1))
}

/// Runs a region on the runtime that its function is linked with.
#[inline(always)]
unsafe fn run<R: Default>(
    body: Body,
    data: *mut c_void,
    threads: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32) -> R,
) -> R {
    // SAFETY: the program's own function and data.
    unsafe {
        match runtime::of(body as usize) {
            Some(code) => region::run(code, Work { body, run: body, data }, threads, kind, call),
            None => {
                // There is no runtime to pass it to, or it is one too many: one thread is a team, too.
                body(data);
                R::default()
            }
        }
    }
}

/// Regions that run to their end in one call.
macro_rules! regions {
    ($($name:ident => $field:ident($($argument:ident: $type:ty),*), $kind:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(body: Body, data: *mut c_void, threads: u32 $(, $argument: $type)*) {
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
    GOMP_parallel_loop_static => loop_static(start: Long, end: Long, step: Long, chunk: Long, flags: u32), Kind::Plain;
    GOMP_parallel_loop_dynamic => loop_dynamic(start: Long, end: Long, step: Long, chunk: Long, flags: u32), Kind::Loop(iterations(start, end, step));
    GOMP_parallel_loop_guided => loop_guided(start: Long, end: Long, step: Long, chunk: Long, flags: u32), Kind::Loop(iterations(start, end, step));
    GOMP_parallel_loop_nonmonotonic_dynamic =>
        loop_nonmonotonic_dynamic(start: Long, end: Long, step: Long, chunk: Long, flags: u32), Kind::Loop(iterations(start, end, step));
    GOMP_parallel_loop_nonmonotonic_guided =>
        loop_nonmonotonic_guided(start: Long, end: Long, step: Long, chunk: Long, flags: u32), Kind::Loop(iterations(start, end, step));
    GOMP_parallel_loop_runtime => loop_runtime(start: Long, end: Long, step: Long, flags: u32), Kind::Plain;
    GOMP_parallel_loop_nonmonotonic_runtime =>
        loop_nonmonotonic_runtime(start: Long, end: Long, step: Long, flags: u32), Kind::Plain;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime =>
        loop_maybe_nonmonotonic_runtime(start: Long, end: Long, step: Long, flags: u32), Kind::Plain;
    GOMP_parallel_sections => sections(count: u32, flags: u32), Kind::Sections;
}

/// Regions opened by one call and ended by [`opened::end`]; what gcc emitted before 4.9.
macro_rules! starts {
    ($($name:ident => $field:ident($($argument:ident: $type:ty),*), $kind:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(body: Body, data: *mut c_void, threads: u32 $(, $argument: $type)*) {
                let call = |runtime: &Runtime, body: Body, data: *mut c_void, threads: u32| {
                    if let Some(real) = runtime.$field {
                        // SAFETY: as above.
                        unsafe { real(body, data, threads $(, $argument)*) }
                    }
                };
                // SAFETY: the arguments are the program's.
                unsafe { opened::start(body, data, threads, $kind, call) }
            }
        )*
    };
}

starts! {
    GOMP_parallel_start => parallel_start(), Kind::Plain;
    GOMP_parallel_loop_static_start => loop_static_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_dynamic_start => loop_dynamic_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_guided_start => loop_guided_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_runtime_start => loop_runtime_start(start: Long, end: Long, step: Long), Kind::Plain;
    GOMP_parallel_sections_start => sections_start(count: u32), Kind::Sections;
}

/// A region with task reductions: the runtime reads the first word of the data, so the frame begins with it.
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
    unsafe { run(body, data, threads, Kind::Reductions, call) }
}

/// A league of teams on the host. It runs its teams one after the other, each with parallel regions of its own, which
/// are managed; the league itself is only passed on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_teams_reg(body: Body, data: *mut c_void, teams: u32, limit: u32, flags: u32) {
    if let Some(real) = runtime::of(body as usize).and_then(|code| code.runtime.teams_reg) {
        // SAFETY: the program's own arguments.
        unsafe { real(body, data, teams, limit, flags) }
    }
}

/// A task is passed on; the region's waits may be work from now on. Code of an older compiler passes fewer arguments:
/// the rest is then whatever lies on the stack, which the runtime doesn't look at.
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
    if let Some((runtime, body)) = tasks::create(body)
        && let Some(real) = runtime.task
    {
        // SAFETY: the program's own arguments, but for the function, which calls theirs.
        unsafe { real(body, data, copy, size, alignment, condition, flags, depend, priority, detach) }
    }
}

macro_rules! task_loops {
    ($($name:ident => $field:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                body: Body, data: *mut c_void, copy: *mut c_void, size: Long, alignment: Long, flags: u32,
                count: u64, priority: c_int, start: Long, end: Long, step: Long,
            ) {
                let create = |runtime: &Runtime, body: Body| {
                    if let Some(real) = runtime.$field {
                        // SAFETY: the program's own arguments, but for the function, which calls theirs.
                        unsafe {
                            real(body, data, copy, size, alignment, flags, count, priority, start, end, step)
                        }
                    }
                };
                tasks::create_many(body, create);
            }
        )*
    };
}

task_loops! {
    GOMP_taskloop => taskloop;
    GOMP_taskloop_ull => taskloop_ull;
}

arch::with_return_address! {
    GOMP_parallel_end => opened::end, in "rdi";
    GOMP_barrier => waits::barrier, in "rdi";
    GOMP_barrier_cancel => waits::barrier_cancel, in "rdi";
    GOMP_loop_end => waits::loop_end, in "rdi";
    GOMP_loop_end_cancel => waits::loop_end_cancel, in "rdi";
    GOMP_loop_end_nowait => waits::loop_end_nowait, in "rdi";
    GOMP_sections_end => waits::sections_end, in "rdi";
    GOMP_sections_end_cancel => waits::sections_end_cancel, in "rdi";
    GOMP_loop_dynamic_next => waits::loop_dynamic_next, in "rdx";
    GOMP_loop_guided_next => waits::loop_guided_next, in "rdx";
    GOMP_loop_runtime_next => waits::loop_runtime_next, in "rdx";
    GOMP_loop_nonmonotonic_dynamic_next => waits::loop_nonmonotonic_dynamic_next, in "rdx";
    GOMP_loop_nonmonotonic_guided_next => waits::loop_nonmonotonic_guided_next, in "rdx";
    GOMP_loop_nonmonotonic_runtime_next => waits::loop_nonmonotonic_runtime_next, in "rdx";
    GOMP_loop_maybe_nonmonotonic_runtime_next => waits::loop_maybe_nonmonotonic_runtime_next, in "rdx";
    GOMP_loop_ull_dynamic_next => waits::loop_ull_dynamic_next, in "rdx";
    GOMP_loop_ull_guided_next => waits::loop_ull_guided_next, in "rdx";
    GOMP_loop_ull_runtime_next => waits::loop_ull_runtime_next, in "rdx";
    GOMP_loop_ull_nonmonotonic_dynamic_next => waits::loop_ull_nonmonotonic_dynamic_next, in "rdx";
    GOMP_loop_ull_nonmonotonic_guided_next => waits::loop_ull_nonmonotonic_guided_next, in "rdx";
    GOMP_loop_ull_nonmonotonic_runtime_next => waits::loop_ull_nonmonotonic_runtime_next, in "rdx";
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next => waits::loop_ull_maybe_nonmonotonic_runtime_next, in "rdx";
    GOMP_cancel => waits::cancel, in "rdx";
    GOMP_taskwait => tasks::taskwait, in "rsi";
    GOMP_taskwait_depend => tasks::taskwait_depend, in "rsi";
    GOMP_taskgroup_end => tasks::taskgroup_end, in "rsi";
    GOMP_single_copy_start => tasks::single_copy_start, in "rsi";
    GOMP_ordered_start => tasks::ordered_start, in "rsi";
    GOMP_critical_start => tasks::critical_start, in "rsi";
    GOMP_critical_name_start => tasks::critical_name_start, in "rsi";
    GOMP_atomic_start => tasks::atomic_start, in "rsi";
    omp_set_lock => tasks::set_lock, in "rsi";
    omp_set_lock_ => tasks::set_lock_fortran, in "rsi";
    omp_get_thread_num => virtualise::get_thread_num, in "rdi";
    omp_get_thread_num_ => virtualise::get_thread_num, in "rdi";
    omp_get_num_threads => virtualise::get_num_threads, in "rdi";
    omp_get_num_threads_ => virtualise::get_num_threads, in "rdi";
    omp_in_parallel => virtualise::in_parallel, in "rdi";
    omp_in_parallel_ => virtualise::in_parallel, in "rdi";
    omp_get_team_size => virtualise::get_team_size, in "rsi";
    omp_get_ancestor_thread_num => virtualise::get_ancestor_thread_num, in "rsi";
    omp_get_max_threads => promise::get_max_threads, in "rdi";
    omp_get_max_threads_ => promise::get_max_threads, in "rdi";
    omp_get_num_procs => promise::get_num_procs, in "rdi";
    omp_get_num_procs_ => promise::get_num_procs, in "rdi";
    omp_set_num_threads => promise::set_num_threads, in "rsi";
    omp_set_num_threads_ => promise::set_num_threads_fortran, in "rsi";
    omp_set_num_threads_8_ => promise::set_num_threads_fortran_8, in "rsi";
    omp_set_dynamic => promise::set_dynamic, in "rsi";
    omp_set_dynamic_ => promise::set_dynamic_fortran, in "rsi";
    omp_set_dynamic_8_ => promise::set_dynamic_fortran_8, in "rsi";
}
