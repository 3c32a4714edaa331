//! `doacross` loops: an iteration waits until certain earlier ones have told that it may go on. A member that
//! is alone does them in order, and has nobody to wait for.

use super::constructs::{come_and, leave_share, next};
use super::fibers::wait_for;
use super::gathered_team::{Member, SCHEDULER, around};
use super::gomp_loop_start::{Asked, come, room, rule};
use super::icvs;
use crate::region::thread::thread;
use crate::sys::arch;
use crate::sys::futex::Futex;
use core::ffi::c_void;
use core::slice::from_raw_parts;
use scaf_team::gather::doacross_sync::{Dimension, Flags, Posts};
use scaf_team::gather::worksharing::{Loop, Rule};

/// Bytes of so many words.
fn bytes(words: usize) -> usize {
    words.saturating_mul(size_of::<u64>())
}

/// A member begins loops of so many iterations each, the outermost one first, which is dealt out.
unsafe fn begin(
    counts: &[u64],
    rule: impl FnOnce(&Member) -> Rule,
    [first, last]: [*mut c_void; 2],
    asked: &Asked,
) -> bool {
    // SAFETY: the caller is a member; the program's own variables.
    unsafe {
        let (Some(me), Some(count)) = (around(thread()), counts.first()) else { return false };
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
                // SAFETY: the caller is a member; the program's own array.
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

/// The same with the schedule as a number, and shared memory.
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
    // SAFETY: as above.
    unsafe {
        let counts = from_raw_parts(counts, loops as usize);
        begin(counts, |me| rule(me, schedule, chunk), [first, last], &Asked { reductions, memory })
    }
}

/// The calling member's iteration tells that it may be waited for.
pub unsafe extern "C" fn post(at: *const u64) {
    // SAFETY: the caller is a member; the program's own array, of as many numbers as there are loops.
    unsafe {
        if let Some(me) = around(thread()).filter(|me| !me.is_alone())
            && Posts::of(me.marks.get()).post((0..).map(|number| *at.add(number)))
        {
            SCHEDULER.notify_changed(&Futex);
        }
    }
}

/// Waits until an iteration has told. Of its numbers, six came in registers and the others on the stack.
unsafe extern "C" fn wait_at(first: *const [u64; 6], rest: *const u64) {
    // SAFETY: the caller is a member; as many arguments as there are loops.
    unsafe {
        let Some(me) = around(thread()).filter(|me| !me.is_alone()) else { return };
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

/// A member begins loops as LLVM's runtime is told of them, apart from how they are dealt out.
pub unsafe fn begin_llvms(me: &'static Member, loops: &[Dimension]) {
    if me.is_alone() {
        return;
    }
    let words = Flags::words(loops);
    const NOTHING: Loop = Loop { start: 0, end: 0, step: 1, count: 0, rule: Rule::Dynamic(1) };
    // SAFETY: the caller runs the member.
    unsafe {
        come_and(me, &NOTHING, |room| {
            room.open(bytes(words));
            Flags::begin(room.words(words), loops);
        });
        me.marks.set(room(me).words(words));
    }
    me.llvm.across.set(me.share.get());
}

/// The calling member's iteration tells that it may be waited for.
pub unsafe fn post_llvms(me: &Member, at: *const i64) {
    if !me.is_alone() {
        let flags = Flags::of(me.marks.get());
        // SAFETY: the program's own array, of as many numbers as there are loops.
        if flags.post(unsafe { from_raw_parts(at, flags.loops()) }) {
            SCHEDULER.notify_changed(&Futex);
        }
    }
}

/// Waits until an iteration has told.
pub unsafe fn wait_llvms(me: &'static Member, at: *const i64) {
    if !me.is_alone() {
        let flags = Flags::of(me.marks.get());
        // SAFETY: as above; the caller runs the member.
        unsafe {
            let at = from_raw_parts(at, flags.loops());
            wait_for(me, || flags.is_posted(at));
        }
    }
}

/// The loops are over for the member.
pub fn end_llvms(me: &Member) {
    if !me.is_alone() {
        leave_share(me.llvm.across.get());
    }
}
