//! Loops with a static schedule on LLVM's runtime, which assigns iterations by the thread's number. A member
//! gets those of its own number (`region/mechanisms/gather/static_schedule_check.rs`).

use super::place::{nothing, place};
use crate::region::mechanisms::gather::{self, static_schedule_check};
use crate::region::serving_runtime::index;
use crate::region::thread::thread;
use crate::runtimes::entries::{Place, ShareOut, name_of};
use crate::sys::symbols;
use core::ffi::c_int;
use scaf_team::static_schedule::{StaticSchedule, answer};

/// LLVM's numbers for static schedules, and bits beside them.
const CHUNKED: c_int = 33;
const GREEDY: c_int = 40;
const IN_VECTORS: c_int = 45;
const MODIFIERS: c_int = 3 << 29;

fn deal(schedule: c_int, chunk: i64) -> StaticSchedule {
    let chunk = chunk.max(1) as u64;
    match schedule & !MODIFIERS {
        CHUNKED => StaticSchedule::Chunks(chunk),
        GREEDY => StaticSchedule::Blocks(1),
        IN_VECTORS => StaticSchedule::Blocks(chunk),
        _ => StaticSchedule::Balanced,
    }
}

macro_rules! shares {
    ($(
        $find:ident, $compare:ident, members $member:ident
            => $field:ident: $number:ty, $difference:ty;
    )*) => {
        $(
            pub unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                if gather::current().is_some() {
                    return $member as *const () as usize;
                }
                let (real, frame) = match place(this, caller) {
                    Some((runtime, frame)) => (runtime.$field, frame),
                    None => (None, None),
                };
                if real.is_some() && frame.is_some() && static_schedule_check::are_compared() {
                    return $compare as *const () as usize;
                }
                let next = || -> Option<ShareOut<$number, $difference>> {
                    // SAFETY: in every LLVM runtime it has the type of the field.
                    unsafe { symbols::next(name_of!($field)) }
                };
                let real = real.or_else(next);
                real.map_or(nothing as *const () as usize, |real| real as usize)
            }

            unsafe extern "C" fn $member(
                _: Place, _: c_int, schedule: c_int, has_last: *mut c_int,
                first: *mut $number, last: *mut $number,
                stride: *mut $difference, step: $difference, chunk: $difference,
            ) {
                let Some(me) = gather::current() else { return };
                let number = gather::constructs::number(me) as u32;
                let team = gather::constructs::size(me) as u32;
                // A team of one gets all.
                let deal = match team {
                    1 => StaticSchedule::Balanced,
                    _ => deal(schedule, i64::from(chunk)),
                };
                // SAFETY: the compiler passes variables with the loop's bounds, for those of the member's
                // iterations and their stride, and null or one for whether the last iteration is among them.
                unsafe {
                    let answered = answer(deal, (*first, *last, step), number, team);
                    (*first, *last, *stride) = (answered.first, answered.last, answered.stride);
                    if !has_last.is_null() {
                        *has_last = c_int::from(answered.has_last);
                    }
                }
            }

            /// In a whole team: the runtime's own answer, compared with ours.
            unsafe extern "C" fn $compare(
                here: Place, number: c_int, schedule: c_int, has_last: *mut c_int,
                first: *mut $number, last: *mut $number,
                stride: *mut $difference, step: $difference, chunk: $difference,
            ) {
                let this = thread();
                let Some(frame) = this.frame() else { return };
                let runtime = frame.runtime();
                let Some(real): Option<ShareOut<$number, $difference>> = runtime.$field else { return };
                // SAFETY: the caller called the runtime's function of this name with these arguments, which
                // are variables with the loop's bounds.
                unsafe {
                    let all = (*first, *last, step);
                    real(here, number, schedule, has_last, first, last, stride, step, chunk);
                    let team = frame.team(runtime);
                    // In a team of one nothing is dealt out.
                    if team > 1 && deal(schedule, i64::from(chunk)) == StaticSchedule::Balanced {
                        let part = index(this, runtime);
                        let by = |deal| answer(deal, all, part, team);
                        let (ours, other) = (by(StaticSchedule::Balanced), by(StaticSchedule::Blocks(1)));
                        static_schedule_check::saw((*first, *last) == (ours.first, ours.last), ours != other);
                    }
                }
            }
        )*
    };
}

shares! {
    find_4, compare_4, members member_4 => __kmpc_for_static_init_4: i32, i32;
    find_4u, compare_4u, members member_4u => __kmpc_for_static_init_4u: u32, i32;
    find_8, compare_8, members member_8 => __kmpc_for_static_init_8: i64, i64;
    find_8u, compare_8u, members member_8u => __kmpc_for_static_init_8u: u64, i64;
}

/// The runtime doesn't know of a member's loop, so it isn't told of its end.
pub unsafe extern "C" fn find_fini(caller: usize) -> usize {
    if gather::current().is_some() {
        return nothing as *const () as usize;
    }
    let real = place(thread(), caller).and_then(|(runtime, _)| runtime.__kmpc_for_static_fini);
    // SAFETY: in every LLVM runtime it has the type of the field.
    let real = real.or_else(|| unsafe { symbols::next(name_of!(__kmpc_for_static_fini)) });
    real.map_or(nothing as *const () as usize, |real| real as usize)
}
