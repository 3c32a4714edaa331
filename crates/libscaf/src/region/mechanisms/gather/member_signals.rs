//! Masks of signals and stacks of their handlers are a kernel thread's, so a member that has changed one has
//! it on any carrier. Hardly any does for long: libraries block signals while they start a thread or a
//! program.

use super::gathered_team::{Carrier, MASTERS, MEMBERS, Member, around};
use super::kept::SignalState;
use super::worker_tls;
use crate::link::silence;
use crate::region::thread::{LENT, Thread, thread};
use crate::sys::kernel_threads::own_task;
use crate::sys::signals::{Stack, blocked};
use crate::sys::thread_state::part_of;
use core::sync::atomic::{AtomicU32, Ordering};

/// 1 once a member of this region has changed anything.
static ANY: AtomicU32 = AtomicU32::new(0);
/// 1 once one still had it changed at its region's end: it would be its worker's from then on.
static LASTS: AtomicU32 = AtomicU32::new(0);
/// 1 while the master blocks other signals than its workers did when they took notes, or one of these had
/// something that the others hadn't: members are run on the master's kernel thread and on carriers.
static DIFFERS: AtomicU32 = AtomicU32::new(0);

/// Whether members change what their workers' kernel threads would have to keep.
#[inline(always)]
pub fn lasts() -> bool {
    LASTS.load(Ordering::Relaxed) != 0
}

/// Whether a region that is gathered from its beginning would find other signals blocked than on threads. A
/// team that is gathered midway has what each of its threads has.
#[inline(always)]
pub fn differs() -> bool {
    DIFFERS.load(Ordering::Relaxed) != 0
}

/// Notes may have been taken by the calling thread's workers, or its own mask have changed since. A child of
/// vfork, which has its storage, is somebody else.
#[inline(always)]
pub fn compare() {
    if worker_tls::is_of(thread()) && !silence::is_known() && own_task() == worker_tls::task(0) {
        let same = worker_tls::are_alike() && blocked() == worker_tls::recorded_signals();
        DIFFERS.store(u32::from(!same), Ordering::Relaxed);
    }
}

/// Makes a call that changes any of it for the calling thread. If that is a member, it is noted.
#[inline(always)]
pub fn change<R>(call: impl FnOnce() -> R) -> R {
    // SAFETY: this thread's own state.
    unsafe {
        if let Some(me) = around(thread()) {
            return changed(me, call);
        }
        let result = call();
        compare();
        result
    }
}

#[cold]
fn changed<R>(me: &Member, call: impl FnOnce() -> R) -> R {
    let Some(carrier) = me.carrier.get() else { return call() };
    // A child of vfork has the member's storage, and a mask of its own.
    if own_task() != carrier.task.load(Ordering::Relaxed) {
        return call();
    }
    if carrier.own.get().is_nothing() {
        carrier.own.set(SignalState::now());
    }
    ANY.store(1, Ordering::Relaxed);
    let result = call();
    let changed = SignalState::now().beside(carrier.own.get());
    me.changed.set(changed);
    if changed.is_nothing() {
        carrier.own.set(SignalState::NOTHING);
    }
    result
}

/// What a carrier has by itself, but the master's.
fn carriers() -> SignalState {
    SignalState { mask: Some(worker_tls::signals()), stack: Some(Stack::NONE) }
}

/// The calling thread of a region becomes a member: what it has changed on its own kernel thread stays its.
pub fn join(me: &Member, carrier: Option<&Carrier>) {
    let changed = SignalState::now().beside(carriers());
    me.changed.set(changed);
    if !changed.is_nothing() {
        ANY.store(1, Ordering::Relaxed);
        if let Some(carrier) = carrier {
            carrier.own.set(carriers());
        }
    }
}

/// A member goes on, perhaps on another carrier, or a carrier does where no member is run.
#[inline(always)]
pub fn arrive() {
    if ANY.load(Ordering::Relaxed) != 0 {
        arrive_changed();
    }
}

#[cold]
fn arrive_changed() {
    // SAFETY: this thread's own state.
    let me = unsafe { around(thread()) };
    if let Some(me) = me
        && let Some(carrier) = me.carrier.get()
    {
        put_back(carrier);
        let changed = me.changed.get();
        if !changed.is_nothing() {
            carrier.own.set(SignalState::now());
            changed.set();
        }
    }
}

/// The carrier's kernel thread has what it has by itself.
pub fn put_back(carrier: &Carrier) {
    carrier.own.replace(SignalState::NOTHING).set();
}

/// The member is on its own kernel thread again, which blocked all signals meanwhile and has what the member
/// had when it joined: what it has undone since is undone there, too.
pub fn back_home(me: &Member) {
    let joined =
        SignalState { mask: carriers().mask, stack: Some(Stack::NONE).filter(|_| !silence::is_known()) };
    joined.with(me.changed.replace(SignalState::NOTHING)).set();
}

/// A region is over whose master is home, and its `size` members were gathered from its beginning; 0 if they
/// were midway.
#[inline(always)]
pub fn end(size: u32) {
    if ANY.load(Ordering::Relaxed) != 0 {
        end_changed(size);
    }
}

#[cold]
fn end_changed(size: u32) {
    ANY.store(0, Ordering::Relaxed);
    let masters =
        MEMBERS.first().map_or(SignalState::NOTHING, |master| master.changed.replace(SignalState::NOTHING));
    if size == 0 {
        // It came home as a member, with all that it has changed.
        MASTERS.own.set(SignalState::NOTHING);
    } else {
        // Another member may have been the last on its kernel thread.
        put_back(MASTERS);
        masters.set();
        compare();
    }
    for (number, member) in MEMBERS.iter().enumerate().take(size as usize).skip(1) {
        let changed = member.changed.replace(SignalState::NOTHING);
        if changed.is_nothing() {
            continue;
        }
        LASTS.store(1, Ordering::Relaxed);
        if let Some(mask) = changed.mask {
            // SAFETY: the worker whose storage the member had, which sleeps.
            let its = unsafe { part_of::<Thread>(worker_tls::of(number)) };
            its.lent.set(mask | LENT);
        }
    }
}
