//! Has LLVM's threads wait as the grant requires where the wait can't be taken over: at a region's end, and
//! between two regions. By default they look for the next region for 0.2 s before they sleep, and yield now
//! and then. That is right while each has a context. While a team is *crowded*, larger than the grant that it
//! is folded onto, they are to sleep at once, by a setting that a master's team takes over at its next region
//! (`kmp_set_blocktime`). A choice of the user's (environment) or the program's (the same call) is respected.

use crate::program::masters::is_crowded;
use crate::region::thread::Thread;
use crate::runtimes::entries::Runtime;
use crate::sys::settings;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

/// 1 once the program has said how long threads spin.
static CHOSEN: AtomicU32 = AtomicU32::new(0);
/// How long they spin by themselves: what the runtime said before the program had a team, in ms, plus one; 0
/// before it was asked. Once there were more threads than PUs it says 0, but they spin on.
static BY_ITSELF: AtomicU32 = AtomicU32::new(0);

#[inline(always)]
pub unsafe fn follow(this: *mut Thread, runtime: &Runtime, team: u32) {
    if BY_ITSELF.load(Ordering::Relaxed) == 0 {
        ask(runtime);
    }
    // SAFETY: this thread's own state.
    unsafe {
        // A team whose threads' storage is noted is to be gathered as soon as they sleep.
        let crowded = is_crowded(team) || (*this).notes != 0;
        if crowded != ((*this).blocktime != 0) {
            change(this, runtime, crowded);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn change(this: *mut Thread, runtime: &Runtime, crowded: bool) {
    let Some(set) = runtime.set_blocktime else { return };
    // SAFETY: this thread's own state; settings of this thread and its teams.
    unsafe {
        if !crowded {
            set((*this).blocktime.wrapping_sub(1) as c_int);
            (*this).blocktime = 0;
        } else if is_ours() {
            (*this).blocktime = BY_ITSELF.load(Ordering::Relaxed);
            set(0);
        }
    }
}

#[cold]
fn ask(runtime: &Runtime) {
    // SAFETY: it takes nothing.
    let own = runtime.get_blocktime.map_or(0, |get| unsafe { get() });
    BY_ITSELF.store((own.max(0) as u32).wrapping_add(1), Ordering::Relaxed);
}

/// Whether neither the user nor the program has chosen how threads wait.
fn is_ours() -> bool {
    let settings = settings::get();
    settings.spin.is_some() && !settings.own_blocking && CHOSEN.load(Ordering::Relaxed) == 0
}

pub unsafe fn is_chosen(this: *mut Thread) {
    CHOSEN.store(1, Ordering::Relaxed);
    // SAFETY: this thread's own state.
    unsafe { (*this).blocktime = 0 }
}
