//! Loops with a static schedule on LLVM's runtime: it tells each thread its share of the iterations, by the thread's own number.
//!
//! A thread that does the parts of others in a virtualised region is told theirs ([`scaf_team::deal`]). So that it is what the runtime would
//! have told them, its answers to teams that are whole are compared with ours at first. If they are off, because of
//! `KMP_SCHEDULE` or in a runtime that we don't know, regions of LLVM's aren't virtualised.

use super::{nothing, place};
use crate::arch::{self, thread};
use crate::runtime::{Place, ShareOut};
use crate::{virtualise, waits};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::deal::{Deal, Share, iterations};

/// Answers that are compared.
const LOOKS: u32 = 64;
/// Value of [`SEEN`] once one of them was off.
const OFF: u32 = u32::MAX;
/// Answers that were as ours.
static SEEN: AtomicU32 = AtomicU32::new(0);

/// Whether nothing speaks against our knowing how the runtime deals out loops.
pub fn are_known() -> bool {
    SEEN.load(Ordering::Relaxed) != OFF
}

/// LLVM's numbers for static schedules, and bits beside them.
const CHUNKED: c_int = 33;
const GREEDY: c_int = 40;
const IN_VECTORS: c_int = 45;
const MODIFIERS: c_int = 3 << 29;

fn deal(schedule: c_int, chunk: i64) -> Deal {
    let chunk = chunk.max(1) as u64;
    match schedule & !MODIFIERS {
        CHUNKED => Deal::Chunks(chunk),
        GREEDY => Deal::Blocks(1),
        IN_VECTORS => Deal::Blocks(chunk),
        _ => Deal::Balanced,
    }
}

/// The ends of a loop, and the step: numbers of any type up to 64 bits, as these are widened or taken for signed.
type Ends = (i64, i64, i64);

/// What a thread does of a loop, unless that is empty.
fn share(deal: Deal, ends: Ends, is_empty: bool, number: u32, team: u32) -> Option<Share> {
    let all = if is_empty { 0 } else { count(ends) };
    deal.share(all, number, team)
}

/// Iterations from one end to the other, if there are any.
fn count((first, last, step): Ends) -> u64 {
    let span = if step > 0 { last.wrapping_sub(first) } else { first.wrapping_sub(last) };
    iterations(span as u64, step.unsigned_abs())
}

macro_rules! shares {
    ($($name:ident: $find:ident, $tell:ident, $compare:ident => $field:ident: $number:ty, $difference:ty;)*) => {
        $(
            arch::pass_on!($name, $find);

            unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                // SAFETY: this thread's own state.
                unsafe {
                    if virtualise::virtualised(this).is_some() {
                        return $tell as *const () as usize;
                    }
                    let Some((runtime, frame)) = place(this, caller) else { return nothing as *const () as usize };
                    if frame.is_some() && SEEN.load(Ordering::Relaxed) < LOOKS {
                        return $compare as *const () as usize;
                    }
                    runtime.$field.map_or(nothing as *const () as usize, |real| real as usize)
                }
            }

            /// To a thread that does another one's part.
            unsafe extern "C" fn $tell(
                _: Place, _: c_int, schedule: c_int, has_last: *mut c_int, first: *mut $number, last: *mut $number,
                stride: *mut $difference, step: $difference, chunk: $difference,
            ) {
                let this = thread();
                // SAFETY: this thread's own state; the program's own variables.
                unsafe {
                    let Some(frame) = virtualise::virtualised(this) else { return };
                    let deal = deal(schedule, i64::from(chunk));
                    let from = *first;
                    let is_empty = if step > 0 { *last < from } else { from < *last };
                    let (team, part) = (frame.parts.count(), (*this).index);
                    let share = share(deal, (from as i64, *last as i64, i64::from(step)), is_empty, part, team);
                    let at = |iteration: u64| from.wrapping_add((iteration as $difference).wrapping_mul(step) as $number);
                    (*first, *last, *stride) = match share {
                        Some(share) => (
                            at(share.from),
                            at(share.from + (share.count - 1)),
                            (share.stride as $difference).wrapping_mul(step),
                        ),
                        None if step > 0 => (1, 0, step),
                        None => (0, 1, step),
                    };
                    if !has_last.is_null() {
                        *has_last = c_int::from(share.is_some_and(|share| share.has_last));
                    }
                }
            }

            /// In a team that is whole: the runtime's own answer, and whether ours would be the same.
            unsafe extern "C" fn $compare(
                here: Place, number: c_int, schedule: c_int, has_last: *mut c_int, first: *mut $number, last: *mut $number,
                stride: *mut $difference, step: $difference, chunk: $difference,
            ) {
                let this = thread();
                // SAFETY: as above.
                unsafe {
                    let Some(frame) = (*this).frame.as_ref() else { return };
                    let runtime = frame.runtime();
                    let Some(real): Option<ShareOut<$number, $difference>> = runtime.$field else { return };
                    let (from, to) = (*first, *last);
                    let is_empty = if step > 0 { to < from } else { from < to };
                    real(here, number, schedule, has_last, first, last, stride, step, chunk);
                    let deal = deal(schedule, i64::from(chunk));
                    if matches!(deal, Deal::Chunks(_)) {
                        return; // OpenMP's own rule, and written down in more than one way
                    }
                    let (part, team) = (waits::index(this, runtime), frame.team(runtime));
                    let ours = share(deal, (from as i64, to as i64, i64::from(step)), is_empty, part, team);
                    let at = |iteration: u64| from.wrapping_add((iteration as $difference).wrapping_mul(step) as $number);
                    let same = match ours {
                        Some(share) => {
                            // The last number may lie between the last iteration and the next.
                            *first == at(share.from) && share.count == count((*first as i64, *last as i64, i64::from(step)))
                        }
                        None if step > 0 => *first > *last,
                        None => *first < *last,
                    };
                    if !same {
                        SEEN.store(OFF, Ordering::Relaxed);
                    } else {
                        let _ = SEEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |seen| (seen < LOOKS).then_some(seen + 1));
                    }
                }
            }
        )*
    };
}

shares! {
    __kmpc_for_static_init_4: find_4, tell_4, compare_4 => static_4: i32, i32;
    __kmpc_for_static_init_4u: find_4u, tell_4u, compare_4u => static_4u: u32, i32;
    __kmpc_for_static_init_8: find_8, tell_8, compare_8 => static_8: i64, i64;
    __kmpc_for_static_init_8u: find_8u, tell_8u, compare_8u => static_8u: u64, i64;
}
