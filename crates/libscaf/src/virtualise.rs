//! Regions that run on fewer threads than the program finds in them: the threads of the team, *real* ones, take the parts of
//! the others, *virtual* ones, one after the other.
//!
//! Only for regions whose threads were found to be independent, by reading all code that they reach
//! (`scaf_inspect::Region`): nothing in there waits for another thread, and nothing tells a thread from another but its
//! number. So the number is all that has to be virtual, and the functions that tell it or the team's size are ours.
//!
//! Real thread r takes part r first, and then whichever is next; where the DoP has shrunk meanwhile, the threads beyond
//! it take no further ones. A loop that is dealt out in chunks belongs to the real team: each real thread goes through it
//! once, and to the other parts it is exhausted. Chunks may go to anybody, so this could have happened anyway.
//!
//! The reading may be wrong about a program that replaces a function of the C library, or hands work from thread to thread
//! in a way that looks like computing. Then the parts that are left get *threads of their own*: at a barrier at once,
//! else when [`crate::watch`] sees that nothing goes on. Such a region is not virtualised again.

use crate::arch::{Thread, thread};
use crate::frame::Frame;
use crate::futex::Futex;
use crate::region;
use crate::runtime::{self, Runtime};
use crate::{client, kmpc, pages, settings, waits, watch};
use core::ffi::{CStr, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use scaf_team::Sleep;
use scaf_team::barrier::Passed;

/// The parts of a region that is virtualised.
pub struct Parts {
    /// How many there are; 0 in any other region.
    count: u32,
    /// How many were taken beyond the first one of each real thread.
    taken: AtomicU32,
    /// 1 once those that were left got threads of their own.
    own_threads: AtomicU32,
    /// Threads of their own that are there.
    helpers: AtomicU32,
}

impl Parts {
    /// So many; with none, the region isn't virtualised.
    pub fn of(count: u32) -> Parts {
        Parts { count, taken: AtomicU32::new(0), own_threads: AtomicU32::new(0), helpers: AtomicU32::new(0) }
    }

    /// How many there are; 0 in any other region.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether the region is virtualised.
    #[inline(always)]
    pub fn are_there(&self) -> bool {
        self.count != 0
    }

    /// Takes the next part; `real` threads have taken the first ones.
    fn take(&self, real: u32) -> Option<u32> {
        let part = self.taken.fetch_add(1, Ordering::Relaxed).wrapping_add(real);
        (part < self.count).then_some(part)
    }

    /// How many parts are left.
    fn left(&self, real: u32) -> u32 {
        self.count.saturating_sub(self.taken.load(Ordering::Relaxed).saturating_add(real))
    }

    /// For the watch: parts left, in a form that changes whenever one is taken; 0 if there is nobody to help or help has
    /// come.
    pub fn waiting(&self, real: u32) -> u32 {
        if real == 0 || self.own_threads.load(Ordering::Relaxed) != 0 { 0 } else { self.left(real) }
    }

    /// Waits for the threads of their own, at the region's end. Returns whether there were any.
    #[inline(always)]
    pub fn come_home(&self) -> bool {
        loop {
            let helpers = self.helpers.load(Ordering::Acquire);
            if helpers == 0 {
                return self.own_threads.load(Ordering::Relaxed) != 0;
            }
            Futex.sleep(&self.helpers, helpers, 0);
        }
    }
}

/// What each real thread runs in place of the outlined function.
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

/// Gives each part that is left a thread of its own.
pub fn help(frame: &Frame) {
    let parts = &frame.parts;
    if parts.own_threads.swap(1, Ordering::AcqRel) != 0 {
        return;
    }
    let real = frame.team_if_known();
    for _ in 0..parts.left(real) {
        parts.helpers.fetch_add(1, Ordering::AcqRel);
        if !watch::spawn(run_one, (&raw const *frame).cast_mut().cast()) {
            // What is left stays with the real threads, until the watch tries again.
            parts.own_threads.store(0, Ordering::Release);
            went_home(frame);
            return;
        }
    }
}

fn went_home(frame: &Frame) {
    // The region may end as soon as the number is there; its address is all that is needed of it then.
    let helpers = &raw const frame.parts.helpers;
    // SAFETY: waking uses the word's address only.
    unsafe {
        if (*helpers).fetch_sub(1, Ordering::AcqRel) == 1 {
            Futex.wake_all(&*helpers);
        }
    }
}

/// A thread of its own for a part that is left, if there still is one.
extern "C" fn run_one(frame: *mut c_void) -> *mut c_void {
    let this = thread();
    // SAFETY: the region's end waits for this thread.
    unsafe {
        let frame = &*frame.cast_const().cast::<Frame>();
        // LLVM's regions are handed two of their thread's numbers; what tells its parts apart is ours.
        let global = frame.runtime().global_thread_num.map_or(0, |number| number(null_mut()));
        let bound = 0;
        (*this).numbers = [&raw const global, &raw const bound];
        if let Some(part) = frame.parts.take(frame.team_if_known()) {
            frame.visit(this, || {
                // Not of the runtime's team: all loops are exhausted to it.
                (*this).entered = u32::MAX;
                (*this).in_loop = 0;
                (*this).index = part;
                (*this).loops = 0;
                frame.run_body();
            });
        }
        went_home(frame);
    }
    null_mut()
}

/// A barrier after all: all parts have to get there.
#[cold]
pub fn barrier(frame: &Frame) {
    help(frame);
    // Nobody of them has been at the runtime's, so it can't be handed over to it.
    let _: Passed = frame.barrier.wait(frame.parts.count, &Futex, || false);
}

/// Whether a loop that is asked for by its start is exhausted to this thread.
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

/// Whether the loop that the thread is in is exhausted to it, as to one that does the parts of others.
#[inline(always)]
pub unsafe fn is_exhausted(this: *mut Thread) -> bool {
    // SAFETY: this thread's own state.
    unsafe { virtualised(this).is_some() && (*this).in_loop == 0 }
}

/// The region that the calling thread is in, if it is virtualised.
#[inline(always)]
pub unsafe fn virtualised<'a>(this: *mut Thread) -> Option<&'a Frame> {
    // SAFETY: this thread's own state; a frame lives as long as its region.
    unsafe { (*this).frame.as_ref().filter(|frame| frame.parts.are_there()) }
}

/// The runtime that a question about the team is for: the caller's. Threads of a runtime's own don't ask the dynamic linker,
/// which might wait for a master in a library's constructor; what they work in is the caller's runtime nearly always.
#[inline(always)]
pub unsafe fn asked(this: *mut Thread, caller: usize) -> Option<&'static Runtime> {
    runtime::known(caller).or_else(|| {
        // SAFETY: this thread's own state; runtimes live for ever.
        unsafe {
            let around = (*this).runtime.as_ref().or_else(|| (*this).home.as_ref());
            if around.is_some() && (!(*this).home.is_null() || runtime::is_full()) {
                return around;
            }
            runtime::of(caller).map(|code| code.runtime).or(around)
        }
    })
}

/// The function of this name that would have been called without us: where no runtime of libgomp's kind can be found.
#[cold]
pub unsafe fn next<F: Copy>(name: &CStr) -> Option<F> {
    client::keeping_errno(|| {
        // SAFETY: a plain search; the caller's F is a function pointer of that function's type.
        unsafe {
            let found = libc::dlsym(libc::RTLD_NEXT, name.as_ptr());
            (!found.is_null() && size_of::<F>() == size_of_val(&found))
                .then(|| core::mem::transmute_copy::<*mut c_void, F>(&found))
        }
    })
}

/// Answers about the team: a virtual thread's own, else the runtime's.
macro_rules! answers {
    ($($name:ident($($argument:ident)?) => $real:ident or $symbol:literal or $missing:literal,
        |$this:ident, $frame:ident| $answer:expr;)*) => {
        $(
            pub unsafe extern "C" fn $name($($argument: c_int,)? caller: usize) -> c_int {
                let $this = thread();
                // SAFETY: this thread's own state; the program's own arguments.
                unsafe {
                    match virtualised($this) {
                        Some($frame) => $answer,
                        None => asked($this, caller)
                            .and_then(|runtime| runtime.$real)
                            .or_else(|| next($symbol))
                            .map_or($missing, |real| real($($argument)?)),
                    }
                }
            }
        )*
    };
}

answers! {
    get_thread_num() => thread_num or c"omp_get_thread_num" or 0, |this, _frame| (*this).index as c_int;
    get_num_threads() => num_threads or c"omp_get_num_threads" or 1, |_this, frame| frame.parts.count as c_int;
    in_parallel() => in_parallel or c"omp_in_parallel" or 0, |_this, _frame| 1;
    get_team_size(level) => team_size or c"omp_get_team_size" or -1, |_this, frame| match level {
        0 => 1,
        1 => frame.parts.count as c_int,
        _ => -1,
    };
    get_ancestor_thread_num(level) => ancestor_thread_num or c"omp_get_ancestor_thread_num" or -1, |this, _frame| match level {
        0 => 0,
        1 => (*this).index as c_int,
        _ => -1,
    };
}

/// Starts of loops that are dealt out in chunks. Where the loop is exhausted to this thread, there is no first chunk; else
/// the runtime's own start is jumped to, with all arguments as they came.
macro_rules! starts {
    ($($name:ident: $find:ident => $field:ident;)*) => {
        $(
            crate::arch::pass_on!($name, $find);

            unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                // SAFETY: this thread's own state.
                unsafe {
                    if virtualised(this).is_some() && passes_loop_by(this) {
                        return no_chunk as *const () as usize;
                    }
                    match waits::place(this, caller).and_then(|(runtime, _)| runtime.$field) {
                        Some(real) => real as *const () as usize,
                        None => no_chunk as *const () as usize,
                    }
                }
            }
        )*
    };
}

extern "C" fn no_chunk() -> bool {
    false
}

starts! {
    GOMP_loop_dynamic_start: find_dynamic => chunks_dynamic;
    GOMP_loop_guided_start: find_guided => chunks_guided;
    GOMP_loop_nonmonotonic_dynamic_start: find_nonmonotonic_dynamic => chunks_nonmonotonic_dynamic;
    GOMP_loop_nonmonotonic_guided_start: find_nonmonotonic_guided => chunks_nonmonotonic_guided;
    GOMP_loop_ull_dynamic_start: find_ull_dynamic => chunks_ull_dynamic;
    GOMP_loop_ull_guided_start: find_ull_guided => chunks_ull_guided;
    GOMP_loop_ull_nonmonotonic_dynamic_start: find_ull_nonmonotonic_dynamic => chunks_ull_nonmonotonic_dynamic;
    GOMP_loop_ull_nonmonotonic_guided_start: find_ull_nonmonotonic_guided => chunks_ull_nonmonotonic_guided;
}

/// Whether the runtime and the system can do what is needed. Threads of ours have stacks of the usual size.
#[inline(always)]
pub fn is_possible(runtime: &Runtime) -> bool {
    runtime.thread_num.is_some()
        && runtime.num_threads.is_some()
        && (!runtime.is_llvms() || (kmpc::shares_are_known() && has_usual_stacks(runtime)))
        && !settings::get().own_stacks
        && watch::is_up()
}

/// Whether LLVM's threads have stacks of the usual size or less: where that is without a limit, the runtime's own are larger, and a program may
/// have asked for more.
fn has_usual_stacks(runtime: &Runtime) -> bool {
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

/// Whether a team may shrink to `team` threads. libgomp ends the threads that a team of several leaves over, and makes new
/// ones when a region is whole again: not where threads keep variables of their own, nor where every other region is
/// whole. A team of one leaves them where they are. `this` has seen one more region that could be virtualised.
#[inline(always)]
pub unsafe fn may_shrink(this: *mut Thread, team: u32) -> bool {
    // SAFETY: this thread's own state.
    unsafe {
        (*this).streak = (*this).streak.saturating_add(1);
        team <= 1 || (!pages::grant().word().keeps_threads() && (*this).streak >= STREAK)
    }
}

/// How many loops a region has been entered with: a region that *is* a loop has its first one begun by the runtime.
#[inline(always)]
pub fn loops_at_entry(kind: region::Kind) -> u32 {
    u32::from(matches!(kind, region::Kind::Loop(_)))
}
