//! `doacross` loops: an iteration waits until certain earlier ones are posted. A member that is alone
//! executes them in order and doesn't wait.

use super::constructs::{come_and, leave_share, next};
use super::fibers::wait_for;
use super::gathered_team::{Member, SCHEDULER, current};
use super::gomp_loop_start::{Asked, come, room, rule};
use super::icvs;
use crate::sys::arch;
use crate::sys::futex::Futex;
use core::ffi::c_void;
use core::slice::from_raw_parts;
use scaf_team::gather::doacross_sync::{Dimension, Flags, Posts};
use scaf_team::gather::worksharing::{Loop, Rule};

fn bytes(words: usize) -> usize {
    words.saturating_mul(size_of::<u64>())
}

/// A member begins nested loops of so many iterations. The first is the outermost, which is distributed.
unsafe fn begin(
    counts: &[u64],
    rule: impl FnOnce(&Member) -> Rule,
    [first, last]: [*mut c_void; 2],
    asked: &Asked,
) -> bool {
    // SAFETY: `first` and `last` are null or variables of the program, and so is what `asked` has.
    unsafe {
        let (Some(me), Some(count)) = (current(), counts.first()) else { return false };
        let (rule, size) = (rule(me), SCHEDULER.size());
        let whole = Loop { start: 0, end: *count, step: 1, count: *count, rule };
        let words = if me.is_alone() { 0 } else { Posts::words(counts, rule, size) };
        come(me, &whole, words, asked, |words| Posts::begin(words, counts, rule, size));
        if words != 0 {
            me.marks.set(room(me).words(words));
        }
        first.is_null() || next(me, first, last)
    }
}

macro_rules! starts {
    ($($name:ident($($chunk:ident)?), |$me:ident| $rule:expr;)*) => {
        $(
            pub unsafe extern "C" fn $name(
                loops: u32, counts: *const u64 $(, $chunk: u64)?, first: *mut c_void, last: *mut c_void,
            ) -> bool {
                // SAFETY: the compiler passes an array of `loops` numbers, and two variables.
                unsafe {
                    let counts = from_raw_parts(counts, loops as usize);
                    begin(counts, |$me| $rule, [first, last], &Asked::NOTHING)
                }
            }
        )*
    };
}

starts! {
    start_static(chunk), |_me| Rule::Static(chunk);
    start_dynamic(chunk), |_me| Rule::Dynamic(chunk.max(1));
    start_guided(chunk), |_me| Rule::Guided(chunk.max(1));
    start_runtime(), |me| icvs::rule(me.icvs.get());
}

/// The same with the schedule's number, and shared memory.
pub unsafe extern "C" fn start(
    loops: u32,
    counts: *const u64,
    schedule: i64,
    chunk: u64,
    first: *mut c_void,
    last: *mut c_void,
    reductions: *mut usize,
    memory: *mut *mut c_void,
) -> bool {
    // SAFETY: the compiler passes an array of `loops` numbers, and null or variables of the program.
    unsafe {
        let counts = from_raw_parts(counts, loops as usize);
        begin(counts, |me| rule(me, schedule, chunk), [first, last], &Asked { reductions, memory })
    }
}

pub unsafe extern "C" fn post(at: *const u64) {
    // SAFETY: the compiler's array has a number for each loop.
    unsafe {
        if let Some(me) = current().filter(|me| !me.is_alone())
            && Posts::of(me.marks.get()).post((0..).map(|number| *at.add(number)))
        {
            SCHEDULER.notify_changed(&Futex);
        }
    }
}

/// Waits until an iteration is posted. The first six of its numbers are passed in registers, the others on
/// the stack.
unsafe extern "C" fn wait_at(first: *const [u64; 6], rest: *const u64) {
    // SAFETY: the compiler passes a number for each loop.
    unsafe {
        let Some(me) = current().filter(|me| !me.is_alone()) else { return };
        let posts = Posts::of(me.marks.get());
        let at = |number: usize| match (*first).get(number) {
            Some(at) => *at,
            None => *rest.add(number.wrapping_sub(6)),
        };
        wait_for(me, || posts.is_posted((0..).map(at)));
    }
}

arch::with_all_arguments! {
    wait => wait_at;
}

/// A member begins loops of LLVM's compilers, which are distributed by another call.
pub fn begin_llvms(me: &'static Member, loops: &[Dimension]) {
    if me.is_alone() {
        return;
    }
    let words = Flags::words(loops);
    const NOTHING: Loop = Loop { start: 0, end: 0, step: 1, count: 0, rule: Rule::Dynamic(1) };
    // SAFETY: the words are used as atomic ones until the member leaves the construct.
    unsafe {
        come_and(me, &NOTHING, |room| {
            room.open(bytes(words));
            Flags::begin(room.words(words), loops);
        });
        me.marks.set(room(me).words(words));
    }
    me.llvm.across.set(me.share.get());
}

pub unsafe fn post_llvms(me: &Member, at: *const i64) {
    if !me.is_alone() {
        let flags = Flags::of(me.marks.get());
        // SAFETY: the compiler's array has a number for each loop.
        if flags.post(unsafe { from_raw_parts(at, flags.loops()) }) {
            SCHEDULER.notify_changed(&Futex);
        }
    }
}

pub unsafe fn wait_llvms(me: &'static Member, at: *const i64) {
    if !me.is_alone() {
        let flags = Flags::of(me.marks.get());
        // SAFETY: the compiler's array has a number for each loop.
        unsafe {
            let at = from_raw_parts(at, flags.loops());
            wait_for(me, || flags.is_posted(at));
        }
    }
}

pub fn end_llvms(me: &Member) {
    if !me.is_alone() {
        leave_share(me.llvm.across.get());
    }
}
