//! What LLVM's entry points answer members of gathered teams (`region/mechanisms/gather/llvm.rs`). All other
//! threads are passed on to the runtime by a load, a comparison and a jump.

use crate::region::mechanisms::gather::cancel::{self, Construct};
use crate::region::mechanisms::gather::llvm::{self, Copy};
use crate::region::mechanisms::gather::{Member, constructs, current, doacross};
use crate::region::thread::Thread;
use crate::runtimes::entries::{Micro, Place};
use crate::sys::thread_state::REGION_AT;
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use core::slice::from_raw_parts;
use scaf_team::gather::doacross_sync::Dimension;
use scaf_team::gather::llvm_chunks::whole;
use scaf_team::gather::worksharing::Rule;
use scaf_team::static_schedule::Number;

pub const MEMBER_AT: usize = REGION_AT + offset_of!(Thread, member);

/// Defines answers; each is called by a member only.
macro_rules! answers {
    ($($(#[$about:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty, or $missing:expr,
        |$me:ident| $answer:expr;)*) => {
        $(
            $(#[$about])*
            #[allow(unused_unsafe, reason = "some answers take numbers only")]
            pub unsafe extern "C" fn $name(_: Place, _: c_int $(, $argument: $type)*) -> $result {
                // SAFETY: the compiler passes what the runtime's function of that row takes, in a construct
                // that the calling member is in.
                unsafe {
                    match current() {
                        Some($me) => $answer,
                        None => $missing,
                    }
                }
            }
        )*
    };
}
pub(super) use answers;

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

pub unsafe extern "C" fn done(_: Place, _: c_int) {}

/// LLVM's number for groups that are cancelled; 2 and 3 are loops and sections.
const GROUP: c_int = 4;

fn construct(which: c_int) -> Construct {
    Construct::of(which, GROUP)
}

/// Answers whether a construct is cancelled. Such a loop the member leaves without another call.
fn leaves(me: &Member, which: c_int, is_cancelled: bool) -> c_int {
    if is_cancelled && matches!(construct(which), Construct::Share) {
        llvm::leaves(me);
    }
    c_int::from(is_cancelled)
}

/// One of a place's flags, its second word: the compiler made code with atomic operations, too.
const ATOMIC: u32 = 0x10;

unsafe fn is_atomic(here: Place) -> bool {
    // SAFETY: the compiler's own description of the place.
    !here.is_null() && unsafe { *here.cast::<u32>().add(1) } & ATOMIC != 0
}

macro_rules! reductions {
    ($($name:ident, $waits:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(
                here: Place, _: c_int, _count: c_int, _bytes: usize, values: *mut c_void, how: Option<Copy>,
                _lock: *mut c_void,
            ) -> c_int {
                // SAFETY: the compiler passes the values of this reduction and the function that adds them.
                unsafe {
                    match current() {
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
    // SAFETY: the program asked for its function to be called with this argument, if any.
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
                let Some(me) = current() else { return };
                let is_nothing = <$number>::is_nothing(first, last, step);
                let count = if is_nothing { 0 } else { <$number>::trips(first, last, step) };
                let all = whole(first as u64, step as u64, count, Rule::Dynamic(1));
                llvm::begin(me, schedule, size as i64, all);
            }

            pub unsafe extern "C" fn $next(
                _: Place, _: c_int, has_last: *mut c_int, first: *mut $number, last: *mut $number,
                step: *mut $difference,
            ) -> c_int {
                let Some(chunk) = current().and_then(llvm::next) else { return 0 };
                // SAFETY: the compiler passes variables for the chunk's bounds; the others may be null.
                unsafe {
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
