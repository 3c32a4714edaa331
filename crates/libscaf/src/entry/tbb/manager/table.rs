//! The table of permits ([`super::permits`]), and the one lock that guards it for as long as a division
//! takes: 0.1 us for a few. Its pages are never given back: oneTBB has a permit for each arena, and an arena
//! for each thread that uses it.

use crate::sys::lock::{self, Lock};
use crate::sys::memory;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::from_ref;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use scaf_team::permit_division::Permit;

/// One permit, guarded by the lock; only `used` is read without it.
pub struct Entry {
    pub permit: Permit,
    pub used: AtomicBool,
    pub client: Cell<u64>,
    pub argument: Cell<*mut c_void>,
    /// State and flags as the holder sees them.
    pub state: Cell<u8>,
    pub flags: Cell<u32>,
    /// Workers that its holder knows of.
    pub known: Cell<u32>,
    pub calls: Cell<u32>,
}

impl Entry {
    /// The entry of a handle; `None` for null and for one that was released.
    pub unsafe fn from_handle(handle: *mut c_void) -> Option<&'static Entry> {
        // SAFETY: entries are never given back.
        unsafe { handle.cast::<Entry>().as_ref() }.filter(|entry| entry.used.load(Ordering::Relaxed))
    }

    pub fn handle(&'static self) -> *mut c_void {
        from_ref(self).cast_mut().cast()
    }
}

const SLAB_BYTES: usize = 4096;
const SLAB: usize = (SLAB_BYTES - size_of::<usize>()) / size_of::<Entry>();

/// A page of entries; all zero means free entries.
#[repr(C)]
struct Slab {
    next: AtomicPtr<Slab>,
    entries: [Entry; SLAB],
}

const _: () = assert!(size_of::<Slab>() <= SLAB_BYTES);

struct First(UnsafeCell<[u64; SLAB_BYTES / 8]>);

// SAFETY: used as a `Slab`, and that under the lock.
unsafe impl Sync for First {}

static FIRST: First = First(UnsafeCell::new([0; SLAB_BYTES / 8]));
static LOCK: Lock = Lock::new();
pub type Locked = lock::Locked<'static>;

pub fn lock() -> Locked {
    LOCK.take()
}

#[derive(Clone)]
pub struct Entries {
    slab: *const Slab,
    place: usize,
}

pub fn entries(_: &Locked) -> Entries {
    Entries { slab: FIRST.0.get().cast(), place: 0 }
}

impl Iterator for Entries {
    type Item = &'static Entry;

    fn next(&mut self) -> Option<&'static Entry> {
        // SAFETY: null or a slab, which is there for ever.
        let slab: &'static Slab = unsafe { self.slab.as_ref()? };
        match slab.entries.get(self.place) {
            Some(entry) => {
                self.place += 1;
                Some(entry)
            }
            None => {
                *self = Entries { slab: slab.next.load(Ordering::Relaxed), place: 0 };
                self.next()
            }
        }
    }
}

pub fn used(locked: &Locked) -> impl Iterator<Item = &'static Entry> + Clone {
    entries(locked).filter(|entry| entry.used.load(Ordering::Relaxed))
}

pub fn free(locked: &Locked) -> Option<&'static Entry> {
    if let Some(entry) =
        entries(locked).find(|entry| !entry.used.load(Ordering::Relaxed) && entry.calls.get() == 0)
    {
        return Some(entry);
    }
    let page = memory::map(SLAB_BYTES)?.cast::<Slab>();
    let mut last: *const Slab = FIRST.0.get().cast();
    // SAFETY: a new page of zeros is a slab of free entries; slabs are never given back, and their list is
    // changed under the lock only.
    unsafe {
        while !(*last).next.load(Ordering::Relaxed).is_null() {
            last = (*last).next.load(Ordering::Relaxed);
        }
        (*last).next.store(page, Ordering::Relaxed);
        (*page).entries.first()
    }
}

pub fn after_fork() {
    LOCK.after_fork();
}
