//! Regions that run on fewer threads than the program finds in them: the threads of the team, *real* ones,
//! take the parts of the others, *virtual* ones, one after the other. Only for regions whose threads were
//! found independent, by reading all code that they reach (`scaf-inspect`): nothing there waits for another
//! thread, and only its number tells a thread from another. So the number is all that has to be virtual, and
//! the functions that tell it or the team's size are ours.
//!
//! Real thread r takes part r first, and then whichever is next; threads beyond a DoP that has shrunk take no
//! further ones. A chunked loop belongs to the real team: each real thread goes through it once, and to its
//! further parts it is exhausted. Chunks may go to any thread, so this could have happened anyway. The
//! reading may be wrong about a program that replaces a function of the C library, or hands work from thread
//! to thread in a way that looks like computing. Then the parts that are left get *threads of their own*: at
//! a barrier at once, else when [`watch`] sees no progress. Such a region is not virtualised again.

mod help;
mod shares;
mod watch;

pub use shares::{are_compared, are_known, saw};
pub use watch::{after_fork, is_here};

use crate::link::pages;
use crate::program::sampling::Note;
use crate::program::thread::master;
use crate::region::entered::Entered;
use crate::region::frame::Frame;
use crate::region::kind::{Kind, Pass, Region};
use crate::region::parts::Parts;
use crate::region::place::virtualised_around;
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::Runtime;
use crate::sys::arch::ticks;
use crate::sys::futex::Futex;
use crate::sys::settings;
use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::{AtomicUsize, Ordering};
use scaf_proto::report::SLOTS;
use scaf_team::barrier::Passed;

#[cold]
#[inline(never)]
pub unsafe fn run<R>(
    this: *mut Thread,
    region: &Region,
    entered: &Entered,
    mut frame: Frame,
    pass: impl Pass<R>,
) -> R {
    let code = region.code;
    frame.parts = Parts::of(entered.choice.ids);
    // A region that *is* a loop has its first one begun by the runtime.
    frame.loops = u32::from(matches!(region.kind, Kind::Loop(_)));
    let frame = frame;
    // SAFETY: as in `enter::run`; nobody uses the frame once the watch and the parts' own threads are gone.
    unsafe {
        let post = ((*master()).slot as usize).wrapping_sub(1);
        watch::put(post, &frame);
        let before = (*this).left;
        (*this).frame = &raw const frame;
        let data = (&raw const frame).cast_mut().cast();
        let result = pass(code.runtime, run_parts, data, entered.choice.pass);
        ((*this).frame, (*this).left) = (null(), before);
        watch::take_back(post, &frame);
        if frame.parts.come_home() {
            Note::never_virtual(code);
        }
        let left = ticks();
        let wall = left.wrapping_sub(entered.at);
        let team = entered.choice.team;
        if let Some(slot) = entered.slot {
            let (_, inside) = frame.inside();
            slot.leave(left, team, inside.min(wall.wrapping_mul(u64::from(team))));
        }
        Note::learn_length(code.note, wall);
        entered.report_run(region, team, wall);
        result
    }
}

#[inline(never)]
pub fn is_independent(region: &Region) -> bool {
    // SAFETY: this thread's own state.
    let has_post = unsafe { ((*master()).slot as usize).wrapping_sub(1) < SLOTS };
    has_post
        && matches!(region.kind, Kind::Plain | Kind::Loop(_) | Kind::AskedLoop(_))
        && pages::grant().is_independent(region.work.body as usize as u64)
        && is_possible(region.code.runtime)
}

pub unsafe extern "C" fn run_parts(frame: *mut c_void) {
    let this = thread();
    // SAFETY: the frame outlives the region, and a thread's state is its own.
    unsafe {
        let frame = &*frame.cast_const().cast::<Frame>();
        let runtime = frame.runtime();
        let real = frame.team(runtime);
        let number = runtime.thread_num.map_or(0, |number| number()).max(0) as u32;
        frame.visit(this, || {
            (*this).entered = frame.loops;
            (*this).in_loop = (*this).entered;
            let mut part = number;
            loop {
                (*this).index = part;
                (*this).loops = 0;
                frame.run_body();
                (*this).in_loop = 0;
                let may_go_on = number == 0 || pages::grant().word().dop().is_none_or(|dop| number < dop);
                match if may_go_on { frame.parts.take(real) } else { None } {
                    Some(next) => part = next,
                    None => break,
                }
            }
        });
    }
}

/// A barrier after all: all parts have to get there.
#[cold]
pub fn barrier(frame: &Frame) {
    help::help(frame);
    // None of them has been at the runtime's barrier, so this one can't be handed over.
    let _: Passed = frame.barrier.wait(frame.parts.count(), &Futex, || false);
}

/// Whether a loop is exhausted to this thread at its start.
#[inline(always)]
pub unsafe fn passes_loop_by(this: *mut Thread) -> bool {
    // SAFETY: this thread's own state.
    unsafe {
        if (*this).loops < (*this).entered {
            (*this).in_loop = 0;
            return true;
        }
        (*this).entered = (*this).entered.wrapping_add(1);
        (*this).in_loop = 1;
        false
    }
}

/// Whether the loop that the thread is in is exhausted to it, because it does another thread's part.
#[inline(always)]
pub unsafe fn is_exhausted(this: *mut Thread) -> bool {
    // SAFETY: this thread's own state.
    unsafe { virtualised_around(this).is_some() && (*this).in_loop == 0 }
}

/// Whether the runtime and the system can do what is needed. Threads of ours have stacks of the usual size.
#[inline(always)]
fn is_possible(runtime: &Runtime) -> bool {
    runtime.thread_num.is_some()
        && runtime.num_threads.is_some()
        && (!runtime.is_llvms() || (are_known() && has_usual_stacks(runtime)))
        && !settings::get().own_stacks
        && watch::is_up()
}

/// Whether LLVM's threads have stacks no larger than usual: without a limit, or by a setting, they may.
pub fn has_usual_stacks(runtime: &Runtime) -> bool {
    static USUAL: AtomicUsize = AtomicUsize::new(0);
    let mut usual = USUAL.load(Ordering::Relaxed);
    if usual == 0 {
        // SAFETY: fills attributes of ours.
        unsafe {
            let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
            if libc::pthread_attr_init(&mut attributes) == 0 {
                libc::pthread_attr_getstacksize(&attributes, &mut usual);
                libc::pthread_attr_destroy(&mut attributes);
            }
        }
        USUAL.store(usual, Ordering::Relaxed);
    }
    // SAFETY: kmp_get_stacksize_s takes nothing.
    runtime.stack_bytes.is_some_and(|bytes| unsafe { bytes() } <= usual)
}

/// Candidates in a row after which a team of several threads is made smaller.
const STREAK: u32 = 16;

/// Whether a team may shrink to `team` threads; `this` has seen one more region that could be virtualised.
/// libgomp ends the threads that a team of several leaves over, and makes new ones for a whole region: not
/// where threads have variables of their own, nor where every other region is whole. A team of one is safe.
#[inline(always)]
pub unsafe fn may_shrink(this: *mut Thread, team: u32) -> bool {
    // SAFETY: this thread's own state.
    unsafe {
        (*this).streak = (*this).streak.saturating_add(1);
        team <= 1 || (!pages::grant().word().keeps_threads() && (*this).streak >= STREAK)
    }
}
