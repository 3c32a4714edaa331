//! The port for LLVM's runtime, which is Intel's as well: entry points that code of clang, flang or icx calls
//! (LLVM's `kmp_csupport.cpp`). Each is passed on to the runtime that the code is linked with. The runtime
//! itself calls these, too, within calls of gcc's code: all must work within a call that was taken over.

pub(super) mod blocktime;
pub(super) mod members;
pub(super) mod place;
pub(super) mod regions;
pub(super) mod serial;
pub(super) mod static_loops;
pub(super) mod tasks;
pub(super) mod waits;

pub use regions::after_fork;

use self::members::MEMBER_AT;
use self::place::{nothing, place};
use crate::program::promise;
use crate::region::frame::Frame;
use crate::region::mechanisms::gather;
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::{Place, Runtime};
use crate::sys::arch;
use core::ffi::c_int;
use scaf_proto::report::fact;

arch::variadic! {
    __kmpc_fork_call => regions::enter_region;
    __kmpc_fork_teams => regions::enter_league;
}

arch::counted! {
    /// A region of one thread begins. As in the runtime, a clause for it stays in force for the next one.
    __kmpc_serialized_parallel: up serial::COUNT_AT, serial::BEGIN, or serial::begin,
        members MEMBER_AT => members::begin_serial;
    /// A region of one thread ends. The count stays at 0 if the runtime began the region in another way.
    __kmpc_end_serialized_parallel: down serial::COUNT_AT, serial::END, or serial::end,
        members MEMBER_AT => members::end_serial;
}

/// A copy of the runtime was found; whether it is the only one.
pub fn found(runtime: &Runtime, only: bool) {
    serial::found(runtime, only);
}

/// A `num_threads` clause: a promise, for the next region of this thread.
pub unsafe extern "C" fn push_num_threads(here: Place, number: c_int, threads: c_int, caller: usize) {
    thread().pushed.set(threads.max(0) as u32);
    if gather::current().is_some() {
        return;
    }
    if let Some(push) = place(thread(), caller).and_then(|(runtime, _)| runtime.__kmpc_push_num_threads) {
        // SAFETY: the caller called this function with these arguments.
        unsafe { push(here, number, threads) }
    }
}

/// A `proc_bind` clause, for the next region of this thread. It means nothing to a program that isn't bound,
/// and only such a one has members: that the runtime keeps it beyond a gathered region changes nothing.
pub unsafe extern "C" fn push_proc_bind(here: Place, number: c_int, bind: c_int, caller: usize) {
    if gather::current().is_some() {
        return;
    }
    if let Some(push) = place(thread(), caller).and_then(|(runtime, _)| runtime.__kmpc_push_proc_bind) {
        // SAFETY: the caller called this function with these arguments.
        unsafe { push(here, number, bind) }
    }
}

macro_rules! recorded {
    ($($find:ident => $field:ident, $record:expr $(, members $gathered:path)?;)*) => {
        $(
            pub unsafe extern "C" fn $find(caller: usize, _: c_int, third: c_int) -> usize {
                let this = thread();
                $(
                    if gather::current().is_some() {
                        return $gathered as *const () as usize;
                    }
                )?
                let Some((runtime, frame)) = place(this, caller) else {
                    return nothing as *const () as usize;
                };
                let record: fn(&Thread, &Runtime, Option<&Frame>, c_int) = $record;
                record(this, runtime, frame, third);
                runtime.$field.unwrap_or(nothing) as usize
            }
        )*
    };
}

recorded! {
    find_task_alloc => __kmpc_omp_task_alloc, creates_task, members tasks::allocate;
    find_target_task_alloc => __kmpc_omp_target_task_alloc, creates_task;
    find_taskgroup => __kmpc_taskgroup, creates_task, members tasks::group_start;
    find_cancel => __kmpc_cancel, cancels, members members::cancel;
    find_push_strict => __kmpc_push_num_threads_strict, fixes_teams;
    find_push_list => __kmpc_push_num_threads_list, fixes_teams;
    find_push_list_strict => __kmpc_push_num_threads_list_strict, fixes_teams;
    find_init_4 => __kmpc_dispatch_init_4, waits::begins_loop, members members::begin_4;
    find_init_4u => __kmpc_dispatch_init_4u, waits::begins_loop, members members::begin_4u;
    find_init_8 => __kmpc_dispatch_init_8, waits::begins_loop, members members::begin_8;
    find_init_8u => __kmpc_dispatch_init_8u, waits::begins_loop, members members::begin_8u;
}

/// Barriers are the runtime's from now on, for it runs tasks there. Every kind of task begins with this call,
/// and a group is the runtime's, as all tasks in it have to be.
fn creates_task(_: &Thread, _: &Runtime, frame: Option<&Frame>, _: c_int) {
    if let Some(frame) = frame {
        frame.has_tasks(false);
    }
}

fn cancels(_: &Thread, _: &Runtime, frame: Option<&Frame>, _: c_int) {
    if let Some(frame) = frame {
        frame.is_cancelled();
    }
}

/// Newer forms of the clause, which say more than a number.
fn fixes_teams(_: &Thread, _: &Runtime, _: Option<&Frame>, _: c_int) {
    promise::record(fact::SET_NUM_THREADS);
    promise::record(fact::STRICT);
}
