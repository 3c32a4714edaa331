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

#[inline(always)]
pub unsafe fn follow(this: *mut Thread, runtime: &Runtime, team: u32) {
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
    let (Some(set), Some(get)) = (runtime.set_blocktime, runtime.get_blocktime) else { return };
    // SAFETY: this thread's own state; settings of this thread and its teams.
    unsafe {
        if !crowded {
            set((*this).blocktime.wrapping_sub(1) as c_int);
            (*this).blocktime = 0;
        } else if is_ours() {
            // With more threads than PUs the runtime has set it to 0 already.
            let own = get().max(0) as u32;
            if own != 0 {
                (*this).blocktime = own.wrapping_add(1);
                set(0);
            }
        }
    }
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
