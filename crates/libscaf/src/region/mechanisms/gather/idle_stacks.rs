//! Where a team's kernel threads sleep while the team is gathered in the middle of a region. Each sleeps on a
//! small stack of its own, because the member uses the thread's stack and its thread-local storage. All
//! signals are blocked: a handler would see a running member's variables. Signals for the thread itself wait
//! until it has its member back.

use super::fibers::{NO_FIBER, after_switch};
use super::gathered_team::{MEMBERS, MOST, Member, SCHEDULER};
use super::member_stacks::kept;
use crate::sys::arch::{self, Fiber, switch};
use crate::sys::futex::Futex;
use crate::sys::raw_syscalls::{block_all, give_way};
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
    /// 1 once its member is about to return.
    woken: AtomicU32,
}

// SAFETY: only the idle stack's own thread uses the fiber.
unsafe impl Sync for IdleStack {}

static IDLE_STACKS: [IdleStack; MOST] = [const {
    IdleStack {
        end: AtomicPtr::new(null_mut()),
        fiber: UnsafeCell::new(Fiber::NONE),
        woken: AtomicU32::new(0),
    }
}; MOST];

/// Enough for a signal frame with all registers of today's processors.
const BYTES: usize = 64 << 10;
/// Tries to take a member that is about to return, before the thread sleeps for [`NAP_MS`].
const TRIES: u32 = 50;
const NAP_MS: u32 = 1;

/// Whether each thread of a team of `size` but the master's has one.
pub fn are_there(size: u32) -> bool {
    IDLE_STACKS.iter().take(size as usize).skip(1).all(|idle| kept(&idle.end, BYTES).is_some())
}

/// Makes the member schedulable, and puts the calling thread to sleep on its idle stack. Returns when the
/// member is scheduled again, on any carrier.
pub fn sleep(me: &'static Member) {
    let number = me.number.get() as usize;
    let Some(idle) = IDLE_STACKS.get(number) else { return };
    let end = idle.end.load(Ordering::Acquire);
    idle.woken.store(0, Ordering::Relaxed);
    block_all();
    SCHEDULER.set_wait(number, Until::Turn);
    // SAFETY: `are_there` has made the stack, and nobody uses it. The fiber keeps this thread's TLS base,
    // which no other thread has.
    unsafe {
        *idle.fiber.get() = Fiber::fresh(end, arch::tls_base(), arch::control_words(), wait_for_member);
        after_switch(switch(me.fiber.get(), idle.fiber.get(), number));
    }
}

/// Runs on an idle stack. It must not touch thread-local storage, because the member uses it.
unsafe extern "C" fn wait_for_member(number: usize) -> ! {
    SCHEDULER.set_suspended(number);
    SCHEDULER.notify(&Futex);
    // SAFETY: the member is used only after this thread has taken it.
    if let (Some(idle), Some(member)) = (IDLE_STACKS.get(number), unsafe { MEMBERS.get(number) }) {
        let mut tries = 0;
        loop {
            let woken = idle.woken.load(Ordering::SeqCst);
            if SCHEDULER.take_for_own_thread(number) {
                break;
            }
            if woken == 0 {
                Futex.sleep(&idle.woken, 0, 0);
            } else if tries < TRIES {
                tries += 1;
                give_way();
            } else {
                Futex.sleep(&idle.woken, 1, NAP_MS);
            }
        }
        member.carrier.set(None);
        // SAFETY: `take_for_own_thread` gave us the member, so its fiber is saved and nobody else runs it.
        unsafe { switch(idle.fiber.get(), member.fiber.get(), NO_FIBER) };
    }
    // Not reached: nobody switches back to an idle stack.
    loop {
        spin_loop();
    }
}

/// Wakes a member's own kernel thread: the member is about to return.
pub fn wake(number: usize) {
    if let Some(idle) = IDLE_STACKS.get(number) {
        idle.woken.store(1, Ordering::SeqCst);
        Futex.wake_all(&idle.woken);
    }
}
