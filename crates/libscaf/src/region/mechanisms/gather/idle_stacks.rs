//! Where a team's kernel threads sleep while it is gathered in the middle of a region: each on a small stack
//! of its own, because the member has the thread's own one, and its thread-local storage. All signals are
//! blocked meanwhile: a handler would find somebody else's variables changing. Those for this very thread
//! wait until it is home.

use super::fibers::{NOBODY, settle};
use super::gathered_team::{CREW, MEMBERS, MOST, Member};
use super::member_stacks::kept;
use crate::sys::arch::{self, Context, switch};
use crate::sys::bare::{Bare, block_all, give_way};
use crate::sys::futex::Futex;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::hint::spin_loop;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use scaf_team::Sleep;
use scaf_team::gather::scheduler::Until;

struct Berth {
    end: AtomicPtr<c_void>,
    context: UnsafeCell<Context>,
    /// 1 once its member is about to come.
    called: AtomicU32,
}

// SAFETY: the context is used by the berth's own thread.
unsafe impl Sync for Berth {}

static BERTHS: [Berth; MOST] = [const {
    Berth {
        end: AtomicPtr::new(null_mut()),
        context: UnsafeCell::new(Context::NONE),
        called: AtomicU32::new(0),
    }
}; MOST];

/// A signal's frame with all registers of today's processors has its place.
const BYTES: usize = 64 << 10;
/// Tries to take a member that is about to come, before the thread sleeps for [`NAP_MS`].
const TRIES: u32 = 50;
const NAP_MS: u32 = 1;

/// Whether there is one for each of a team of `size` but the master.
pub fn are_there(size: u32) -> bool {
    BERTHS.iter().take(size as usize).skip(1).all(|berth| kept(&berth.end, BYTES).is_some())
}

/// The calling thread puts itself to sleep and the member, which it has run, up for others. Returns when the
/// member is run again, by whomever.
pub unsafe fn moor(me: &'static Member) {
    let number = me.number.get() as usize;
    let Some(berth) = BERTHS.get(number) else { return };
    let end = berth.end.load(Ordering::Acquire);
    berth.called.store(0, Ordering::Relaxed);
    block_all();
    CREW.waits(number, Until::Turn);
    // SAFETY: nobody is on the berth's stack, which is there: see `are_there`. The thread's storage is the
    // member's.
    unsafe {
        *berth.context.get() = Context::fresh(end, arch::storage(), arch::control_words(), sleep);
        settle(switch(me.context.get(), berth.context.get(), number));
    }
}

/// What runs on a berth's stack. From its first line on it must not touch thread-local storage.
unsafe extern "C" fn sleep(number: usize) -> ! {
    CREW.set_free(number);
    CREW.tell(&Bare);
    if let (Some(berth), Some(member)) = (BERTHS.get(number), MEMBERS.get(number)) {
        let mut tries = 0;
        loop {
            let called = berth.called.load(Ordering::SeqCst);
            if CREW.take_own(number) {
                break;
            }
            if called == 0 {
                Bare.sleep(&berth.called, 0, 0);
            } else if tries < TRIES {
                tries += 1;
                give_way();
            } else {
                Bare.sleep(&berth.called, 1, NAP_MS);
            }
        }
        member.carrier.set(None);
        // SAFETY: the member was taken.
        unsafe { switch(berth.context.get(), member.context.get(), NOBODY) };
    }
    // Not reached: nobody changes back to a berth.
    loop {
        spin_loop();
    }
}

/// Says that the member is about to come home.
pub fn call(number: usize) {
    if let Some(berth) = BERTHS.get(number) {
        berth.called.store(1, Ordering::SeqCst);
        Futex.wake_all(&berth.called);
    }
}
