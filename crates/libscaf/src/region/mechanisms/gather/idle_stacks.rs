//! Where a team's kernel threads sleep while it is gathered in the middle of a region: each on a small stack
//! of its own, because the member has the thread's own one, and its thread-local storage. All signals are
//! blocked meanwhile: a handler would find somebody else's variables changing. Those for this very thread
//! wait until it is home.

use super::fibers::{NO_FIBER, after_switch};
use super::gathered_team::{MEMBERS, MOST, Member, SCHEDULER};
use super::member_stacks::kept;
use crate::sys::arch::{self, Fiber, switch};
use crate::sys::bare::{Bare, block_all, give_way};
use crate::sys::futex::Futex;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::hint::spin_loop;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use scaf_team::Sleep;
use scaf_team::gather::scheduler::Until;

struct IdleStack {
    end: AtomicPtr<c_void>,
    fiber: UnsafeCell<Fiber>,
    /// 1 once its member is about to come.
    woken: AtomicU32,
}

// SAFETY: the context is used by the berth's own thread.
unsafe impl Sync for IdleStack {}

static IDLE_STACKS: [IdleStack; MOST] = [const {
    IdleStack {
        end: AtomicPtr::new(null_mut()),
        fiber: UnsafeCell::new(Fiber::NONE),
        woken: AtomicU32::new(0),
    }
}; MOST];

/// A signal's frame with all registers of today's processors has its place.
const BYTES: usize = 64 << 10;
/// Tries to take a member that is about to come, before the thread sleeps for [`NAP_MS`].
const TRIES: u32 = 50;
const NAP_MS: u32 = 1;

/// Whether there is one for each of a team of `size` but the master.
pub fn are_there(size: u32) -> bool {
    IDLE_STACKS.iter().take(size as usize).skip(1).all(|idle| kept(&idle.end, BYTES).is_some())
}

/// The calling thread puts itself to sleep and the member, which it has run, up for others. Returns when the
/// member is run again, by whomever.
pub unsafe fn sleep(me: &'static Member) {
    let number = me.number.get() as usize;
    let Some(idle) = IDLE_STACKS.get(number) else { return };
    let end = idle.end.load(Ordering::Acquire);
    idle.woken.store(0, Ordering::Relaxed);
    block_all();
    SCHEDULER.set_wait(number, Until::Turn);
    // SAFETY: nobody is on the berth's stack, which is there: see `are_there`. The thread's storage is the
    // member's.
    unsafe {
        *idle.fiber.get() = Fiber::fresh(end, arch::tls_base(), arch::control_words(), wait_for_member);
        after_switch(switch(me.fiber.get(), idle.fiber.get(), number));
    }
}

/// What runs on a berth's stack. From its first line on it must not touch thread-local storage.
unsafe extern "C" fn wait_for_member(number: usize) -> ! {
    SCHEDULER.set_suspended(number);
    SCHEDULER.notify(&Bare);
    if let (Some(idle), Some(member)) = (IDLE_STACKS.get(number), MEMBERS.get(number)) {
        let mut tries = 0;
        loop {
            let woken = idle.woken.load(Ordering::SeqCst);
            if SCHEDULER.take_for_own_thread(number) {
                break;
            }
            if woken == 0 {
                Bare.sleep(&idle.woken, 0, 0);
            } else if tries < TRIES {
                tries += 1;
                give_way();
            } else {
                Bare.sleep(&idle.woken, 1, NAP_MS);
            }
        }
        member.carrier.set(None);
        // SAFETY: the member was taken.
        unsafe { switch(idle.fiber.get(), member.fiber.get(), NO_FIBER) };
    }
    // Not reached: nobody changes back to a idle.
    loop {
        spin_loop();
    }
}

/// Says that the member is about to come home.
pub fn wake(number: usize) {
    if let Some(idle) = IDLE_STACKS.get(number) {
        idle.woken.store(1, Ordering::SeqCst);
        Futex.wake_all(&idle.woken);
    }
}
