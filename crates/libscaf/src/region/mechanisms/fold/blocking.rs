//! Has LLVM's threads wait as the grant requires at a region's end and between two regions. By default they
//! poll for 0.2 s before they sleep. While a team is oversubscribed they are to sleep at once, by a setting
//! that takes effect at the next region (`kmp_set_blocktime`). A choice of the user's or the program's is
//! respected.

use crate::program::masters::is_oversubscribed;
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
pub fn follow(this: &Thread, runtime: &Runtime, team: u32) {
    if BY_ITSELF.load(Ordering::Relaxed) == 0 {
        ask(runtime);
    }
    // A team whose threads' TLS bases are recorded is to be gathered as soon as they sleep.
    let oversubscribed = is_oversubscribed(team) || this.records.get() != 0;
    if oversubscribed != (this.blocktime.get() != 0) {
        change(this, runtime, oversubscribed);
    }
}

#[cold]
#[inline(never)]
fn change(this: &Thread, runtime: &Runtime, oversubscribed: bool) {
    let Some(set) = runtime.kmp_set_blocktime else { return };
    // SAFETY: kmp_set_blocktime takes any number; it is a setting of the calling thread and its teams.
    let set = |milliseconds| unsafe { set(milliseconds) };
    if !oversubscribed {
        set(this.blocktime.take().wrapping_sub(1) as c_int);
    } else if is_ours() {
        this.blocktime.set(BY_ITSELF.load(Ordering::Relaxed));
        set(0);
    }
}

#[cold]
fn ask(runtime: &Runtime) {
    let own = runtime.ask_blocktime().unwrap_or(0);
    BY_ITSELF.store((own.max(0) as u32).wrapping_add(1), Ordering::Relaxed);
}

fn is_ours() -> bool {
    let settings = settings::get();
    settings.spin.is_some() && !settings.own_blocking && CHOSEN.load(Ordering::Relaxed) == 0
}

pub fn is_chosen(this: &Thread) {
    CHOSEN.store(1, Ordering::Relaxed);
    this.blocktime.set(0);
}
