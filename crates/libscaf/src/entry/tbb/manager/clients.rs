//! The runtimes that hold permits: one for each copy of oneTBB.

use crate::sys::raw_syscalls::set_blocked;
use crate::sys::signals::blocked;
use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub type Callback = unsafe extern "C" fn(*mut c_void, *mut c_void, u32) -> c_int;
const CLIENTS: usize = 16;
/// The runtimes' callbacks; 0 for a free place, 1 for no callback.
static CALLBACKS: [AtomicUsize; CLIENTS] = [const { AtomicUsize::new(0) }; CLIENTS];
const NO_CALLBACK: usize = 1;
static CONNECTED: AtomicU32 = AtomicU32::new(0);

pub fn callback_of(client: u64) -> Option<Callback> {
    let callback = CALLBACKS.get((client as usize).wrapping_sub(1))?.load(Ordering::Acquire);
    // SAFETY: other values are functions of this type, which only `connect` writes.
    (callback > NO_CALLBACK).then(|| unsafe { transmute::<usize, Callback>(callback) })
}

/// Signals that were blocked where a runtime came from: threads that it makes in a callback inherit them.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Registers a runtime; its number from 1, or `None` if there are too many.
pub fn connect(callback: Option<Callback>) -> Option<u64> {
    let value = callback.map_or(NO_CALLBACK, |callback| callback as usize);
    let place = CALLBACKS
        .iter()
        .position(|place| place.compare_exchange(0, value, Ordering::AcqRel, Ordering::Relaxed).is_ok())?;
    BLOCKED.store(blocked(), Ordering::Relaxed);
    CONNECTED.fetch_add(1, Ordering::Relaxed);
    Some(place as u64 + 1)
}

#[inline(always)]
pub fn is_connected() -> bool {
    CONNECTED.load(Ordering::Relaxed) != 0
}

pub fn disconnect(client: u64) {
    if let Some(place) = CALLBACKS.get((client as usize).wrapping_sub(1))
        && place.swap(0, Ordering::AcqRel) != 0
    {
        CONNECTED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `act` with the runtimes' signal mask, which threads that they make in `act` inherit.
pub fn with_their_signals(act: impl FnOnce()) {
    let ours = set_blocked(BLOCKED.load(Ordering::Relaxed));
    act();
    set_blocked(ours);
}
