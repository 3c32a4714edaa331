//! The permits that oneTBB holds. `scaf_team::permit_division` divides, under the lock of [`table`].
//! Callbacks run outside of the lock: on the thread whose call changed what others may have, or on the grant
//! watcher. A release waits for a callback of the permit on another thread, because the permit's owner goes
//! away.

use super::clients::{self, Callback, callback_of, with_their_signals};
use super::table::{self, Entry, Locked, entries, free, lock, used};
use crate::entry::tbb::caller::{Caller, caller};
use crate::link::affinity::own_pus;
use crate::link::pages;
use crate::program::budget::{self, Who};
use crate::program::grant_watcher;
use crate::sys::kernel_threads::give_way;
use core::ffi::c_void;
use core::ptr::{eq, from_ref, null};
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::permit_division::{Rank, divide};

pub use super::clients::{disconnect, is_connected};

/// What a callback is told has changed: the number of workers.
const NEW_NUMBER: u32 = 1;
const STATE_VOID: u8 = 0;
const STATE_INACTIVE: u8 = 1;
const STATE_IDLE: u8 = 3;
const STATE_ACTIVE: u8 = 4;

/// A request for a permit of `least` to `most` workers.
pub struct Demand {
    pub least: u32,
    pub most: u32,
    /// Whether the number stays as long as the permit is active.
    pub rigid: bool,
    /// Whether the workers are wanted now.
    pub active: bool,
    pub flags: u32,
    pub argument: *mut c_void,
}

/// Most threads that the program wants of oneTBB; 0 until known.
static CAP: AtomicU32 = AtomicU32::new(0);
/// Threads from outside that work for a permit now. Guarded by the lock.
static MASTERS: AtomicU32 = AtomicU32::new(0);

/// Divides anew after a change by the owner of `by`, who will look for itself.
fn settle(locked: &Locked, by: Option<&Entry>) {
    // A thread that asks for workers works itself, if not for a permit yet.
    let masters = MASTERS.load(Ordering::Relaxed).max(1);
    // The program's own limit includes its first master.
    let capped = match CAP.load(Ordering::Relaxed) {
        0 => None,
        cap => Some(cap.saturating_add(masters - 1)),
    };
    let word = pages::grant().word();
    // Lent contexts come back within a millisecond: the request for workers has asked for them, too.
    let granted = word.dop().map(|_| if word.lent() { own_pus() } else { budget::share(Who::Tbb) });
    let share = match (granted, capped) {
        (Some(granted), Some(capped)) => Some(granted.min(capped)),
        (granted, capped) => granted.or(capped),
    };
    divide(share, masters, used(locked).map(|entry| &entry.permit));
    if let Some(entry) = by {
        entry.known.set(entry.permit.given.get());
    }
}

/// A callback that runs on this thread, and the one around it.
struct Call {
    entry: *const Entry,
    outer: *const Call,
}

/// Tells each owner whose permit has changed without its knowledge, one after the other.
fn tell(this: &Caller) {
    loop {
        let (entry, callback) = {
            let locked = lock();
            let changed = |entry: &&Entry| {
                entry.permit.rank.get() != Rank::Off && entry.known.get() != entry.permit.given.get()
            };
            let Some(entry) = used(&locked).find(changed) else {
                return;
            };
            entry.known.set(entry.permit.given.get());
            let Some(callback) = callback_of(entry.client.get()) else {
                continue;
            };
            entry.calls.set(entry.calls.get() + 1);
            (entry, callback)
        };
        let call = Call { entry, outer: this.call.get().cast() };
        this.call.set((&raw const call).cast());
        // SAFETY: oneTBB's callback, with a permit of its own and what it gave for that one. The permit is
        // there: whoever releases it waits for this call.
        unsafe { callback(entry.handle(), entry.argument.get(), NEW_NUMBER) };
        this.call.set(call.outer.cast());
        let _locked = lock();
        entry.calls.set(entry.calls.get().saturating_sub(1));
    }
}

/// As [`clients::connect`], and follows the grant.
pub fn connect(callback: Option<Callback>) -> Option<u64> {
    let number = clients::connect(callback)?;
    grant_watcher::on_change(changed);
    Some(number)
}

fn changed(_: u32) {
    settle(&lock(), None);
    with_their_signals(|| tell(caller()));
}

/// The program limits oneTBB to `cap` threads (`global_control`): with permits, oneTBB leaves that to us.
#[inline(always)]
pub fn set_cap(this: &Caller, cap: u32) {
    if CAP.load(Ordering::Relaxed) != cap && CAP.swap(cap, Ordering::Relaxed) != cap && is_connected() {
        settle(&lock(), None);
        tell(this);
    }
}

/// The rank of a permit that this thread asks for: inner, if the thread works for another permit.
fn rank_for(this: &Caller, entry: &Entry) -> Rank {
    let works_for = this.permit.get().cast::<Entry>();
    if works_for.is_null() || eq(works_for, entry) { Rank::Outer } else { Rank::Inner }
}

/// A new permit, or another request for `entry`. `None` if there is no memory.
pub fn request(
    this: &Caller,
    client: u64,
    entry: Option<&'static Entry>,
    demand: &Demand,
) -> Option<&'static Entry> {
    let entry = {
        let locked = lock();
        let entry = match entry {
            Some(entry) => entry,
            None => {
                let entry = free(&locked)?;
                entry.used.store(true, Ordering::Relaxed);
                entry.client.set(client);
                entry.permit.rank.set(Rank::Off);
                entry.permit.running.set(0);
                entry.permit.given.set(0);
                entry
            }
        };
        entry.argument.set(demand.argument);
        entry.flags.set(demand.flags);
        entry.permit.least.set(demand.least);
        entry.permit.most.set(demand.most);
        // A new request gets a new number, for a rigid permit, too.
        entry.permit.rigid.set(false);
        if demand.active {
            // An active permit keeps its rank, whoever asks for it again.
            if entry.state.get() != STATE_ACTIVE {
                entry.permit.rank.set(rank_for(this, entry));
            }
            entry.state.set(STATE_ACTIVE);
        } else {
            entry.permit.rank.set(Rank::Off);
            entry.state.set(STATE_INACTIVE);
        }
        settle(&locked, Some(entry));
        entry.permit.rigid.set(demand.rigid);
        entry
    };
    tell(this);
    Some(entry)
}

/// Changes a permit that is in one of the states `from`; `false` if it isn't.
fn change(this: &Caller, entry: &'static Entry, from: &[u8], rank: Rank, to: u8) -> bool {
    {
        let locked = lock();
        if !from.contains(&entry.state.get()) {
            return false;
        }
        entry.state.set(to);
        entry.permit.rank.set(rank);
        settle(&locked, Some(entry));
    }
    tell(this);
    true
}

pub fn deactivate(this: &Caller, entry: &'static Entry) -> bool {
    change(this, entry, &[STATE_ACTIVE, STATE_IDLE], Rank::Off, STATE_INACTIVE)
}

pub fn idle(this: &Caller, entry: &'static Entry) -> bool {
    change(this, entry, &[STATE_ACTIVE], Rank::Idle, STATE_IDLE)
}

pub fn activate(this: &Caller, entry: &'static Entry) -> bool {
    change(this, entry, &[STATE_INACTIVE, STATE_IDLE], rank_for(this, entry), STATE_ACTIVE)
}

pub fn release(this: &Caller, entry: &'static Entry) {
    {
        let locked = lock();
        entry.state.set(STATE_VOID);
        entry.permit.rank.set(Rank::Off);
        settle(&locked, Some(entry));
        entry.used.store(false, Ordering::Relaxed);
    }
    // Callbacks around this call aren't waited for.
    let mut own = 0;
    let mut call: *const Call = this.call.get().cast();
    // SAFETY: a call lies on this thread's stack, in a frame of `tell` that is around this one.
    while let Some(one) = unsafe { call.as_ref() } {
        own += u32::from(eq(one.entry, entry));
        call = one.outer;
    }
    let runs_elsewhere = || {
        let _locked = lock();
        entry.calls.get() > own
    };
    while runs_elsewhere() {
        give_way();
    }
    tell(this);
}

pub fn look(entry: &Entry) -> (u32, u8, u32) {
    let _locked = lock();
    entry.known.set(entry.permit.given.get());
    (entry.permit.given.get(), entry.state.get(), entry.flags.get())
}

pub fn enter(this: &Caller, entry: &'static Entry) {
    let master = this.from_outside.get() != 0;
    this.permit.set(from_ref(entry).cast());
    this.is_master.set(u32::from(master));
    {
        let locked = lock();
        if !master {
            entry.permit.running.set(entry.permit.running.get() + 1);
            return;
        }
        // `settle` has counted the first master already.
        if MASTERS.fetch_add(1, Ordering::Relaxed) == 0 {
            return;
        }
        settle(&locked, None);
    }
    tell(this);
}

pub fn leave(this: &Caller) {
    let master = this.is_master.get() != 0;
    // SAFETY: null, or the entry that `enter` was given; entries are never given back.
    let Some(entry) = (unsafe { this.permit.replace(null()).cast::<Entry>().as_ref() }) else {
        return;
    };
    {
        let locked = lock();
        if master {
            let before = MASTERS.load(Ordering::Relaxed);
            MASTERS.store(before.saturating_sub(1), Ordering::Relaxed);
            if before <= 1 {
                return;
            }
        } else {
            let running = entry.permit.running.get();
            entry.permit.running.set(running.saturating_sub(1));
            // Others have waited for this worker only if it was one too many.
            if running <= entry.permit.given.get() {
                return;
            }
        }
        settle(&locked, None);
    }
    tell(this);
}

/// After a fork, in the child, where only the calling thread exists. Nobody is told anything.
pub fn after_fork() {
    table::after_fork();
    MASTERS.store(0, Ordering::Relaxed);
    for entry in entries(&lock()) {
        entry.permit.running.set(0);
        entry.calls.set(0);
    }
}
