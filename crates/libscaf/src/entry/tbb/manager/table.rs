//! Where permits are kept ([`super::permits`]), and the one lock that guards them, for as long as a division
//! takes: 0.1 us for a few.
//!
//! They lie in pages that are never given back: oneTBB has a permit for each arena, and an arena for each
//! thread that uses it.

use crate::sys::errno::keeping_errno;
use crate::sys::lock::{self, Lock};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::{from_ref, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use scaf_team::permits::Permit;

/// One permit. All of it is guarded by the lock, but that `used` is looked at without.
pub struct Entry {
    /// What it wants and has.
    pub permit: Permit,
    /// Whether somebody holds it.
    pub used: AtomicBool,
    /// Who holds it.
    pub client: Cell<u64>,
    /// For the callback.
    pub argument: Cell<*mut c_void>,
    /// As its holder sees it.
    pub state: Cell<u8>,
    /// The same.
    pub flags: Cell<u32>,
    /// Workers that its owner knows of.
    pub known: Cell<u32>,
    /// Callbacks for it that run now.
    pub calls: Cell<u32>,
}

impl Entry {
    /// The entry of a handle that we gave; `None` for null and for one that was released.
    pub unsafe fn from_handle(handle: *mut c_void) -> Option<&'static Entry> {
        // SAFETY: entries are never given back.
        unsafe { handle.cast::<Entry>().as_ref() }.filter(|entry| entry.used.load(Ordering::Relaxed))
    }

    /// What its owner knows it by.
    pub fn handle(&'static self) -> *mut c_void {
        from_ref(self).cast_mut().cast()
    }
}

const SLAB_BYTES: usize = 4096;
const SLAB: usize = (SLAB_BYTES - size_of::<usize>()) / size_of::<Entry>();

/// A page of entries; all zero is one of free entries.
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

/// That the table is one's own for now.
pub type Locked = lock::Locked<'static>;

/// Waits for it.
pub fn lock() -> Locked {
    LOCK.take()
}

/// All entries, free ones included.
#[derive(Clone)]
pub struct Entries {
    slab: *const Slab,
    place: usize,
}

/// All of them.
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

/// Those that somebody holds.
pub fn used(locked: &Locked) -> impl Iterator<Item = &'static Entry> + Clone {
    entries(locked).filter(|entry| entry.used.load(Ordering::Relaxed))
}

/// A free entry; `None` if the system has no page for one.
pub fn free(locked: &Locked) -> Option<&'static Entry> {
    if let Some(entry) =
        entries(locked).find(|entry| !entry.used.load(Ordering::Relaxed) && entry.calls.get() == 0)
    {
        return Some(entry);
    }
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new page of zeros, which is a slab of free entries.
    unsafe {
        let page = keeping_errno(|| libc::mmap(null_mut(), SLAB_BYTES, access, kind, -1, 0));
        if page == libc::MAP_FAILED {
            return None;
        }
        let new: &'static Slab = &*page.cast::<Slab>();
        let mut last: *const Slab = FIRST.0.get().cast();
        while !(*last).next.load(Ordering::Relaxed).is_null() {
            last = (*last).next.load(Ordering::Relaxed);
        }
        (*last).next.store(page.cast(), Ordering::Relaxed);
        new.entries.first()
    }
}

/// After a fork, in the child: whoever held the lock isn't there any more.
pub fn after_fork() {
    LOCK.after_fork();
}
