//! Signal masks and handler stacks belong to kernel threads. A member that has changed its own takes the
//! change along from carrier to carrier. Few do for long: libraries block signals while they start a thread
//! or a program.

use super::gathered_team::{Carrier, MASTERS, MEMBERS, Member, current};
use super::signal_state::SignalState;
use super::worker_tls;
use crate::link::no_syscalls;
use crate::region::thread::{LENT, Thread, thread};
use crate::sys::kernel_threads::own_task;
use crate::sys::signals::{Stack, blocked, is_on_stack, stack};
use crate::sys::thread_state::part_of;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

/// 1 once a member of this region has changed its signal state.
static ANY: AtomicU32 = AtomicU32::new(0);
/// 1 once members would have signals that are their workers' or the master's: a member still had a change at
/// its region's end, which its worker would have to keep, or the first thread runs handlers often.
static FORBIDDEN: AtomicU32 = AtomicU32::new(0);
/// 1 while the master blocks other signals than its workers did when they were recorded, or has a stack for
/// handlers, or the workers differed: members run on the master's kernel thread and on carriers.
static DIFFERS: AtomicU32 = AtomicU32::new(0);

/// glibc's and the program's; all larger numbers are real-time signals, too.
const FIRST_REALTIME: c_int = 32;

/// The program has installed a handler for this signal. Those count that come by a clock, a descriptor or a
/// child's end, again and again. The kernel delivers them to the first thread, whose handler may use its
/// variables, end its system call, or jump. Where a team is gathered another member may run there. Handlers
/// for the end of a program (`SIGINT`, `SIGTERM`) run once. A child of vfork takes handlers away before it
/// executes something, in the same memory, so nothing is taken away here.
pub fn handles(signal: c_int) {
    use libc::{SIGALRM, SIGCHLD, SIGIO, SIGPROF, SIGURG, SIGVTALRM};
    if matches!(signal, SIGALRM | SIGVTALRM | SIGPROF | SIGIO | SIGURG | SIGCHLD | FIRST_REALTIME..) {
        FORBIDDEN.store(1, Ordering::Relaxed);
    }
}

/// Whether teams may not be gathered because of their members' signals.
#[inline(always)]
pub fn forbid() -> bool {
    FORBIDDEN.load(Ordering::Relaxed) != 0
}

/// Whether members of a region that is gathered at its beginning would find other signals blocked than
/// threads do. A team that is gathered midway keeps each thread's.
#[inline(always)]
pub fn differs() -> bool {
    DIFFERS.load(Ordering::Relaxed) != 0
}

/// Called when the calling thread's workers may have been recorded, or its own mask changed. A child of vfork
/// has its TLS, but is another process.
#[inline(always)]
pub fn compare() {
    if worker_tls::is_of(thread()) && !no_syscalls::are_known_forbidden() && own_task() == worker_tls::task(0)
    {
        let same = worker_tls::are_alike() && blocked() == worker_tls::recorded_signals() && has_no_stack();
        DIFFERS.store(u32::from(!same), Ordering::Relaxed);
    }
}

/// Whether the calling thread has no stack for handlers of its own.
fn has_no_stack() -> bool {
    HAS_STACKS.load(Ordering::Relaxed) == 0 || stack() == Stack::NONE
}

/// 1 once a thread of the program may have a stack for handlers.
static HAS_STACKS: AtomicU32 = AtomicU32::new(0);

/// The program sets one.
pub fn sets_stack() {
    HAS_STACKS.store(1, Ordering::Relaxed);
}

/// Whether the caller is a handler of signals on a stack of its own.
pub fn is_on_handlers_stack() -> bool {
    HAS_STACKS.load(Ordering::Relaxed) != 0 && !no_syscalls::are_known_forbidden() && is_on_stack()
}

/// Makes a call that changes the calling thread's signal state. A member's change is recorded.
#[inline(always)]
pub fn change<R>(call: impl FnOnce() -> R) -> R {
    if let Some(me) = current() {
        return changed(me, call);
    }
    let result = call();
    compare();
    result
}

#[cold]
fn changed<R>(me: &Member, call: impl FnOnce() -> R) -> R {
    let Some(carrier) = me.carrier.get() else { return call() };
    // A child of vfork has the member's TLS, and a mask of its own.
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

/// The signal state of carriers other than the master's.
fn carriers() -> SignalState {
    SignalState { mask: Some(worker_tls::signals()), stack: Some(Stack::NONE) }
}

/// The calling thread becomes a member, and keeps what it has changed on its own kernel thread.
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

/// A fiber continues after a switch: a member, or a carrier's own.
#[inline(always)]
pub fn arrive() {
    if ANY.load(Ordering::Relaxed) != 0 {
        arrive_changed();
    }
}

#[cold]
fn arrive_changed() {
    let me = current();
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

/// Restores the carrier's own signal state.
pub fn put_back(carrier: &Carrier) {
    carrier.own.replace(SignalState::NOTHING).set();
}

/// The member is back on its own kernel thread, which has blocked all signals and has the state that the
/// member had when it joined: what the member has undone since is undone here, too.
pub fn back_on_own_thread(me: &Member) {
    let joined = SignalState {
        mask: carriers().mask,
        stack: Some(Stack::NONE).filter(|_| !no_syscalls::are_known_forbidden()),
    };
    joined.with(me.changed.replace(SignalState::NOTHING)).set();
}

/// The master ends a region of `size` members that was gathered at its beginning; 0 if midway.
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
        // SAFETY: the region is over, and the caller was its master.
        unsafe { MEMBERS.get(0) }
            .map_or(SignalState::NOTHING, |master| master.changed.replace(SignalState::NOTHING));
    if size == 0 {
        // The master is a thread again, with all that it has changed.
        MASTERS.own.set(SignalState::NOTHING);
    } else {
        // Another member may have run last on its kernel thread.
        put_back(MASTERS);
        masters.set();
        compare();
    }
    // SAFETY: all members have finished.
    for (number, member) in unsafe { MEMBERS.all(size) }.skip(1) {
        let changed = member.changed.replace(SignalState::NOTHING);
        if changed.is_nothing() {
            continue;
        }
        FORBIDDEN.store(1, Ordering::Relaxed);
        // SAFETY: the worker with that TLS base sleeps in the runtime's idle barrier.
        let its = unsafe { part_of::<Thread>(worker_tls::of(number)) };
        if let Some(mask) = changed.mask {
            its.lent.set(mask | LENT);
        }
        if let Some(stack) = changed.stack {
            its.new_stack.set(stack);
        }
    }
}
