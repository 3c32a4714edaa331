//! Members of gathered teams: what code of LLVM's compilers asks that only they are answered, and their
//! answers (`region/mechanisms/gather/llvm.rs`). All other threads are passed on to the runtime by a load, a
//! comparison and a jump.

use super::answers::answers;
use super::tasks;
use crate::region::mechanisms::gather::cancel::{self, Construct};
use crate::region::mechanisms::gather::llvm::{self, Copy};
use crate::region::mechanisms::gather::{Member, around, constructs, doacross};
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::{Micro, Place, Runtime};
use crate::sys::arch;
use crate::sys::thread_state::REGION_AT;
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use core::slice::from_raw_parts;
use core::sync::atomic::Ordering;
use scaf_team::gather::doacross_sync::Dimension;
use scaf_team::gather::llvm_chunks::whole;
use scaf_team::gather::worksharing::Rule;
use scaf_team::static_schedule::Number;

pub const MEMBER_AT: usize = REGION_AT + offset_of!(Thread, member);

/// Entry points by name, as fields of the runtime's; `$answer` gets the entry point's own arguments.
macro_rules! entries {
    ($($name:ident, $symbol:literal is $field:ident => $answer:path;)*) => {
        arch::diverted! {
            $($name => $answer, if MEMBER_AT, or $field::REAL, or $field::find;)*
        }

        $(
            mod $field {
                use crate::entry::kmpc::place::{nothing, place};
                use crate::region::thread::thread;
                use crate::sys::symbols;
                use core::sync::atomic::AtomicUsize;

                /// The function of the one LLVM runtime of this process; 0 where it isn't known, or isn't the
                /// only one.
                pub static REAL: AtomicUsize = AtomicUsize::new(0);

                pub unsafe extern "C" fn find(caller: usize) -> usize {
                    // SAFETY: this thread's own state.
                    unsafe {
                        let real = place(thread(), caller).and_then(|(runtime, _)| runtime.$field);
                        real.or_else(|| symbols::next($symbol)).unwrap_or(nothing) as usize
                    }
                }
            }
        )*

        pub fn found(runtime: &Runtime, only: bool) {
            $(
                let real = runtime.$field.filter(|_| only).map_or(0, |real| real as usize);
                $field::REAL.store(real, Ordering::Relaxed);
            )*
        }
    };
}

entries! {
    __kmpc_master, c"__kmpc_master" is master => is_master;
    __kmpc_end_master, c"__kmpc_end_master" is end_master => done;
    __kmpc_masked, c"__kmpc_masked" is masked => is_of_number;
    __kmpc_end_masked, c"__kmpc_end_masked" is end_masked => done;
    __kmpc_single, c"__kmpc_single" is single => is_first;
    __kmpc_end_single, c"__kmpc_end_single" is end_single => done;
    __kmpc_copyprivate, c"__kmpc_copyprivate" is copyprivate => copy;
    __kmpc_reduce, c"__kmpc_reduce" is reduce => add;
    __kmpc_reduce_nowait, c"__kmpc_reduce_nowait" is reduce_nowait => add_nowait;
    __kmpc_end_reduce, c"__kmpc_end_reduce" is end_reduce => added;
    __kmpc_end_reduce_nowait, c"__kmpc_end_reduce_nowait" is end_reduce_nowait => added_nowait;
    __kmpc_cancellationpoint, c"__kmpc_cancellationpoint" is kmpc_cancellation_point => is_cancelled;
    __kmpc_end_ordered, c"__kmpc_end_ordered" is end_ordered => turn_is_over;
    __kmpc_doacross_init, c"__kmpc_doacross_init" is doacross_init => across;
    __kmpc_doacross_post, c"__kmpc_doacross_post" is kmpc_doacross_post => may_be_passed;
    __kmpc_doacross_wait, c"__kmpc_doacross_wait" is kmpc_doacross_wait => wait_for_other;
    __kmpc_doacross_fini, c"__kmpc_doacross_fini" is doacross_fini => was_across;
    __kmpc_dispatch_fini_4, c"__kmpc_dispatch_fini_4" is fini_4 => iteration_is_over;
    __kmpc_dispatch_fini_4u, c"__kmpc_dispatch_fini_4u" is fini_4u => iteration_is_over;
    __kmpc_dispatch_fini_8, c"__kmpc_dispatch_fini_8" is fini_8 => iteration_is_over;
    __kmpc_dispatch_fini_8u, c"__kmpc_dispatch_fini_8u" is fini_8u => iteration_is_over;
    __kmpc_omp_task, c"__kmpc_omp_task" is omp_task => tasks::submit;
    __kmpc_omp_task_with_deps, c"__kmpc_omp_task_with_deps" is task_with_deps => tasks::submit_behind;
    __kmpc_omp_task_begin_if0, c"__kmpc_omp_task_begin_if0" is begin_if0 => tasks::begin_at_once;
    __kmpc_omp_task_complete_if0, c"__kmpc_omp_task_complete_if0" is complete_if0 => tasks::end_at_once;
    __kmpc_omp_wait_deps, c"__kmpc_omp_wait_deps" is wait_deps => tasks::wait_for;
    __kmpc_omp_taskwait_deps_51, c"__kmpc_omp_taskwait_deps_51" is taskwait_deps => tasks::wait_or_not;
    __kmpc_omp_taskyield, c"__kmpc_omp_taskyield" is kmpc_taskyield => tasks::give_way;
    __kmpc_taskloop, c"__kmpc_taskloop" is kmpc_taskloop => tasks::deal_out;
    __kmpc_taskloop_5, c"__kmpc_taskloop_5" is taskloop_5 => tasks::deal_out_strictly;
    __kmpc_taskred_init, c"__kmpc_taskred_init" is taskred_init => tasks::begin_reductions;
    __kmpc_task_reduction_init, c"__kmpc_task_reduction_init" is task_reduction_init
        => tasks::begin_old_reductions;
    __kmpc_taskred_modifier_init, c"__kmpc_taskred_modifier_init" is taskred_modifier_init
        => tasks::begin_shared_reductions;
    __kmpc_task_reduction_modifier_init, c"__kmpc_task_reduction_modifier_init" is reduction_modifier_init
        => tasks::begin_old_shared_reductions;
    __kmpc_task_reduction_modifier_fini, c"__kmpc_task_reduction_modifier_fini" is reduction_modifier_fini
        => tasks::group_end;
    __kmpc_task_reduction_get_th_data, c"__kmpc_task_reduction_get_th_data" is reduction_value
        => tasks::value;
}

answers! {
    is_master() -> c_int, or 0, |me| c_int::from(constructs::number(me) == 0);
    is_of_number(number: c_int) -> c_int, or 0, |me| c_int::from(constructs::number(me) == number);
    is_first() -> c_int, or 0, |me| c_int::from(constructs::single(me));
    copy(_bytes: usize, data: *mut c_void, how: Copy, has_it: c_int) -> (), or (),
        |me| llvm::copy(me, data, how, has_it != 0);
    turn_is_over() -> (), or (), |me| llvm::end_ordered(me);
    iteration_is_over() -> (), or (), |me| llvm::end_iteration(me);
    across(count: c_int, loops: *const Dimension) -> (), or (),
        |me| doacross::begin_llvms(me, from_raw_parts(loops, count.max(0) as usize));
    may_be_passed(at: *const i64) -> (), or (), |me| doacross::post_llvms(me, at);
    wait_for_other(at: *const i64) -> (), or (), |me| doacross::wait_llvms(me, at);
    was_across() -> (), or (), |me| doacross::end_llvms(me);
    cancel(which: c_int) -> c_int, or 0, |me| leaves(me, which, cancel::cancel(me, construct(which)));
    is_cancelled(which: c_int) -> c_int, or 0,
        |me| leaves(me, which, cancel::is_cancelled(me, construct(which)));
    added(_lock: *mut c_void) -> (), or (), |me| llvm::end_reduce(me, true);
    added_nowait(_lock: *mut c_void) -> (), or (), |me| llvm::end_reduce(me, false);
    begin_serial() -> (), or (), |me| opens(me);
    end_serial() -> (), or (), |me| closes(me);
}

unsafe extern "C" fn done(_: Place, _: c_int) {}

/// LLVM's number for groups that are cancelled; 2 and 3 are loops and sections.
const GROUP: c_int = 4;

fn construct(which: c_int) -> Construct {
    Construct::of(which, GROUP)
}

/// Tells a member that a construct is cancelled, or not: a loop that is, it leaves without saying so.
fn leaves(me: &Member, which: c_int, is_cancelled: bool) -> c_int {
    if is_cancelled && matches!(construct(which), Construct::Share) {
        llvm::leaves(me);
    }
    c_int::from(is_cancelled)
}

/// A place's flags are its second word. One says that code for atomic operations is there.
const ATOMIC: u32 = 0x10;

unsafe fn is_atomic(here: Place) -> bool {
    // SAFETY: the compiler's own description of the place.
    !here.is_null() && unsafe { *here.cast::<u32>().add(1) } & ATOMIC != 0
}

macro_rules! reductions {
    ($($name:ident, $waits:literal;)*) => {
        $(
            unsafe extern "C" fn $name(
                here: Place, _: c_int, _count: c_int, _bytes: usize, values: *mut c_void, how: Option<Copy>,
                _lock: *mut c_void,
            ) -> c_int {
                // SAFETY: the calling member runs; the program's own arguments.
                unsafe {
                    match around(thread()) {
                        Some(me) => llvm::reduce(me, is_atomic(here), values, how, $waits),
                        None => 0,
                    }
                }
            }
        )*
    };
}

reductions! {
    add, true;
    add_nowait, false;
}

/// A region of one thread begins for the member.
fn opens(me: &Member) {
    me.llvm.opened.set(me.llvm.opened.get().saturating_add(1));
    me.cancelled.set(0);
}

fn closes(me: &Member) {
    me.llvm.opened.set(me.llvm.opened.get().saturating_sub(1));
    me.cancelled.set(0);
}

/// A region whose `if` clause is false, with one argument or none.
pub unsafe fn alone(me: &'static Member, micro: Micro, argument: *mut c_void) {
    let [global, bound] = me.llvm.numbers_alone();
    opens(me);
    // SAFETY: the program's own function and argument.
    unsafe {
        if argument.is_null() {
            micro(global, bound);
        } else {
            micro(global, bound, argument);
        }
    }
    closes(me);
}

/// Loops that are dealt out in chunks, over numbers of each type.
macro_rules! loops {
    ($($begin:ident, $next:ident: $number:ty, $difference:ty;)*) => {
        $(
            pub unsafe extern "C" fn $begin(
                _: Place, _: c_int, schedule: c_int, first: $number, last: $number, step: $difference,
                size: $difference,
            ) {
                // SAFETY: the calling member runs.
                unsafe {
                    let Some(me) = around(thread()) else { return };
                    let count = if <$number>::is_nothing(first, last, step) {
                        0
                    } else {
                        <$number>::trips(first, last, step)
                    };
                    let all = whole(first as u64, step as u64, count, Rule::Dynamic(1));
                    llvm::begin(me, schedule, size as i64, all);
                }
            }

            pub unsafe extern "C" fn $next(
                _: Place, _: c_int, has_last: *mut c_int, first: *mut $number, last: *mut $number,
                step: *mut $difference,
            ) -> c_int {
                // SAFETY: the calling member runs; the program's own variables.
                unsafe {
                    let Some(chunk) = around(thread()).and_then(|me| llvm::next(me)) else { return 0 };
                    *first = chunk.first as $number;
                    *last = chunk.last as $number;
                    if !step.is_null() {
                        *step = chunk.step as $difference;
                    }
                    if !has_last.is_null() {
                        *has_last = c_int::from(chunk.is_last);
                    }
                    1
                }
            }
        )*
    };
}

loops! {
    begin_4, next_4: i32, i32;
    begin_4u, next_4u: u32, i32;
    begin_8, next_8: i64, i64;
    begin_8u, next_8u: u64, i64;
}
