//! The port for GCC's libgomp: each entry point is passed on to the runtime that the region's code is linked
//! with. Here are those that enter regions and create tasks; `crates/scaf-functions` has all. For signatures
//! see libgomp's `libgomp_g.h`.
#![allow(non_snake_case)]

pub(super) mod device;
pub(super) mod icv_calls;
pub(super) mod loops;
pub(super) mod tasks;
pub(super) mod team;
pub(super) mod waits;

pub use tasks::at_load;

use super::parallel_start;
use crate::region::enter;
use crate::region::kind::{Kind, Pass, Region, Work};
use crate::region::mechanisms::gather;
use crate::region::mechanisms::gather::depend_list::DependList;
use crate::region::mechanisms::gather::explicit_tasks::{self as gathered, New};
use crate::region::mechanisms::gather::taskloop::{Range, taskloop};
use crate::region::task_times as created;
use crate::runtimes::entries::{Body, Runtime};
use crate::runtimes::lookup;
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
    // SAFETY: the program asked for its function to be called with its data.
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

/// The same for a region that another call ends.
unsafe fn open(body: Body, data: *mut c_void, threads: u32, kind: Kind, pass: impl Pass<()>) {
    if let Some(region) = region(body, data, threads, kind) {
        if region.code.runtime.is_foreign {
            return pass(region.code.runtime, body, data, threads);
        }
        // SAFETY: the program asked for its function to be called with its data.
        unsafe { parallel_start::start(region, pass) }
    }
}

macro_rules! regions {
    (by $how:ident: $($name:ident($($argument:ident: $type:ty),*), $kind:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                body: Body, data: *mut c_void, threads: u32 $(, $argument: $type)*
            ) {
                let call = |runtime: &Runtime, body: Body, data: *mut c_void, threads: u32| {
                    if let Some(real) = runtime.$name {
                        // SAFETY: the program called this function with these arguments. Another size is as
                        // good, and another body runs the program's on the data that it is called with.
                        unsafe { real(body, data, threads $(, $argument)*) }
                    }
                };
                // SAFETY: the program asked for its function to be called with its data.
                unsafe { $how(body, data, threads, $kind, call) }
            }
        )*
    };
}

regions! { by run:
    GOMP_parallel(flags: u32), Kind::Plain;
    GOMP_parallel_loop_static(start: Long, end: Long, step: Long, chunk: Long, flags: u32), Kind::Plain;
    GOMP_parallel_loop_dynamic(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Dynamic(chunk.max(1) as u64)));
    GOMP_parallel_loop_guided(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Guided(chunk.max(1) as u64)));
    GOMP_parallel_loop_nonmonotonic_dynamic(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Dynamic(chunk.max(1) as u64)));
    GOMP_parallel_loop_nonmonotonic_guided(start: Long, end: Long, step: Long, chunk: Long, flags: u32),
        Kind::Loop(Loop::signed(start, end, step, Rule::Guided(chunk.max(1) as u64)));
    GOMP_parallel_loop_runtime(start: Long, end: Long, step: Long, flags: u32),
        Kind::AskedLoop(Loop::signed(start, end, step, Rule::Static(0)));
    GOMP_parallel_loop_nonmonotonic_runtime(start: Long, end: Long, step: Long, flags: u32),
        Kind::AskedLoop(Loop::signed(start, end, step, Rule::Static(0)));
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(start: Long, end: Long, step: Long, flags: u32),
        Kind::AskedLoop(Loop::signed(start, end, step, Rule::Static(0)));
    GOMP_parallel_sections(count: u32, flags: u32), Kind::Sections(count);
}

regions! { by open:
    GOMP_parallel_start(), Kind::Plain;
    GOMP_parallel_loop_static_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_dynamic_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_guided_start(start: Long, end: Long, step: Long, chunk: Long), Kind::Plain;
    GOMP_parallel_loop_runtime_start(start: Long, end: Long, step: Long), Kind::Plain;
    GOMP_parallel_sections_start(count: u32), Kind::Sections(count);
}

/// A region with task reductions: the runtime reads the first word of the data, which the frame copies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_parallel_reductions(
    body: Body,
    data: *mut c_void,
    threads: u32,
    flags: u32,
) -> u32 {
    let call = |runtime: &Runtime, body: Body, data: *mut c_void, threads: u32| match runtime
        .GOMP_parallel_reductions
    {
        // SAFETY: the program called this function; body, data and size are as in `regions`.
        Some(real) => unsafe { real(body, data, threads, flags) },
        None => 0,
    };
    let within = gather::current().is_some();
    // SAFETY: the program asked for its function to be called with its data.
    match unsafe { run(body, data, threads, Kind::Reductions, call) } {
        // A gathered team, or one of one within it.
        0 if within => 1,
        0 => gather::last_size(),
        team => team,
    }
}

/// A league of teams on the host is only passed on; the parallel regions within its teams are managed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_teams_reg(body: Body, data: *mut c_void, teams: u32, limit: u32, flags: u32) {
    if let Some(real) = lookup::of(body as usize).and_then(|code| code.runtime.GOMP_teams_reg) {
        // SAFETY: the program called this function with these arguments.
        unsafe { real(body, data, teams, limit, flags) }
    }
}

/// A task's flag: it is final.
const FINAL: u32 = 1 << 1;

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
    if let Some(me) = gather::current() {
        const DEPENDS: u32 = 1 << 3;
        let new = tasks::new(body, data, copy, (size, alignment), condition, flags & FINAL != 0);
        let depends = flags & DEPENDS != 0;
        // SAFETY: the compiler describes the task: `depend` is its list of dependences if the flag is set;
        // its function runs on data of that size, which `copy` copies.
        return unsafe {
            let needs = if depends { DependList::of(depend.cast_const().cast()) } else { DependList::NONE };
            gathered::create(me, &New { needs, ..new })
        };
    }
    if let Some((runtime, body)) = created::create(body)
        && let Some(real) = runtime.GOMP_task
    {
        // SAFETY: the program called this function with these arguments; `body` calls its function.
        unsafe { real(body, data, copy, size, alignment, condition, flags, depend, priority, detach) }
    }
}

macro_rules! task_loops {
    ($($name:ident, signed: $signed:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                body: Body, data: *mut c_void, copy: *mut c_void, size: Long, alignment: Long, flags: u32,
                count: u64, priority: c_int, start: Long, end: Long, step: Long,
            ) {
                if let Some(me) = gather::current() {
                    const MAY_WAIT: u32 = 1 << 10;
                    let (may_wait, is_final) = (flags & MAY_WAIT != 0, flags & FINAL != 0);
                    let new = tasks::new(body, data, copy, (size, alignment), may_wait, is_final);
                    let [start, end, step] = [start, end, step].map(|bound| bound as u64);
                    let range = Range { start, end, step, signed: $signed };
                    // SAFETY: the compiler describes the tasks: their function runs on data of that size,
                    // which `copy` copies and which begin with their part of the range.
                    return unsafe { taskloop(me, &new, flags, count, range) };
                }
                let create = |runtime: &Runtime, body: Body| {
                    if let Some(real) = runtime.$name {
                        // SAFETY: the program called this function with these arguments; `body` calls its
                        // function.
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
    GOMP_taskloop, signed: true;
    GOMP_taskloop_ull, signed: false;
}
