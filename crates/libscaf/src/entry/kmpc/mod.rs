//! The port for LLVM's runtime, which is Intel's as well: entry points that code of clang, flang or icx
//! calls. Each is passed on to the runtime that the code is linked with; see LLVM's `kmp_csupport.cpp` for
//! the signatures. The runtime calls itself by these names, too, in the course of calls that gcc's code
//! makes: whatever is taken over here must work within a call that was taken over already.

mod answers;
mod blocktime;
mod members;
mod place;
mod regions;
mod serial;
mod shares;
mod tasks;
mod waits;

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

arch::with_caller! {
    __kmpc_push_num_threads => push_num_threads, behind 3;
    __kmpc_push_proc_bind => push_proc_bind, behind 3;
    __kmpc_barrier => waits::barrier, behind 2;
    __kmpc_cancel_barrier => waits::cancel_barrier, behind 2;
    __kmpc_omp_taskwait => waits::taskwait, behind 2;
    __kmpc_end_taskgroup => waits::end_taskgroup, behind 2;
    __kmpc_ordered => waits::ordered, behind 2;
    __kmpc_critical => waits::critical, behind 3;
    __kmpc_critical_with_hint => waits::critical_with_hint, behind 4;
    kmp_set_blocktime => blocktime::set_blocktime, behind 1;
    kmp_set_blocktime_ => blocktime::set_blocktime_fortran, behind 1;
    kmp_get_blocktime => blocktime::get_blocktime, behind 0;
    kmp_get_blocktime_ => blocktime::get_blocktime, behind 0;
}

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

arch::pass_on! {
    __kmpc_omp_task_alloc => find_task_alloc;
    __kmpc_omp_target_task_alloc => find_target_task_alloc;
    __kmpc_taskgroup => find_taskgroup;
    __kmpc_cancel => find_cancel;
    __kmpc_push_num_threads_strict => find_push_strict;
    __kmpc_push_num_threads_list => find_push_list;
    __kmpc_push_num_threads_list_strict => find_push_list_strict;
    __kmpc_dispatch_init_4 => find_init_4;
    __kmpc_dispatch_init_4u => find_init_4u;
    __kmpc_dispatch_init_8 => find_init_8;
    __kmpc_dispatch_init_8u => find_init_8u;
    __kmpc_dispatch_next_4 => waits::find_next_4;
    __kmpc_dispatch_next_4u => waits::find_next_4u;
    __kmpc_dispatch_next_8 => waits::find_next_8;
    __kmpc_dispatch_next_8u => waits::find_next_8u;
    __kmpc_for_static_init_4 => shares::find_4;
    __kmpc_for_static_init_4u => shares::find_4u;
    __kmpc_for_static_init_8 => shares::find_8;
    __kmpc_for_static_init_8u => shares::find_8u;
    __kmpc_for_static_fini => shares::find_fini;
}

/// A copy of the runtime was found; whether it is the only one.
pub fn found(runtime: &Runtime, only: bool) {
    serial::found(runtime, only);
    members::found(runtime, only);
}

/// A `num_threads` clause: a promise, for the next region of this thread.
unsafe extern "C" fn push_num_threads(here: Place, number: c_int, threads: c_int, caller: usize) {
    let this = thread();
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        this.pushed.set(threads.max(0) as u32);
        if gather::around(this).is_some() {
            return;
        }
        if let Some(push) = place(this, caller).and_then(|(runtime, _)| runtime.push_num_threads) {
            push(here, number, threads);
        }
    }
}

/// A `proc_bind` clause, for the next region of this thread. It means nothing to a program that isn't bound,
/// and only such a one has members: that the runtime keeps it beyond a gathered region changes nothing.
unsafe extern "C" fn push_proc_bind(here: Place, number: c_int, bind: c_int, caller: usize) {
    let this = thread();
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        if gather::around(this).is_some() {
            return;
        }
        if let Some(push) = place(this, caller).and_then(|(runtime, _)| runtime.push_proc_bind) {
            push(here, number, bind);
        }
    }
}

macro_rules! noted {
    ($($find:ident => $field:ident, $note:expr $(, members $gathered:path)?;)*) => {
        $(
            unsafe extern "C" fn $find(caller: usize, _: c_int, third: c_int) -> usize {
                let this = thread();
                // SAFETY: this thread's own state.
                unsafe {
                    $(
                        if gather::around(this).is_some() {
                            return $gathered as *const () as usize;
                        }
                    )?
                    let Some((runtime, frame)) = place(this, caller) else {
                        return nothing as *const () as usize;
                    };
                    let note: fn(&Thread, &Runtime, Option<&Frame>, c_int) = $note;
                    note(this, runtime, frame, third);
                    runtime.$field.unwrap_or(nothing) as usize
                }
            }
        )*
    };
}

noted! {
    find_task_alloc => task_alloc, creates_task, members tasks::allocate;
    find_target_task_alloc => target_task_alloc, creates_task;
    find_taskgroup => kmpc_taskgroup, creates_task, members tasks::group_start;
    find_cancel => kmpc_cancel, cancels, members members::cancel;
    find_push_strict => push_strict, fixes_teams;
    find_push_list => push_list, fixes_teams;
    find_push_list_strict => push_list_strict, fixes_teams;
    find_init_4 => init_4, waits::begins_loop, members members::begin_4;
    find_init_4u => init_4u, waits::begins_loop, members members::begin_4u;
    find_init_8 => init_8, waits::begins_loop, members members::begin_8;
    find_init_8u => init_8u, waits::begins_loop, members members::begin_8u;
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
    promise::note(fact::SET_NUM_THREADS);
    promise::note(fact::STRICT);
}
