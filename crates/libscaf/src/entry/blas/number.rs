//! The number of threads that one library uses.

use crate::sys::symbols::function;
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};

pub struct Number {
    pub set: AtomicUsize,
    pub get: AtomicUsize,
    /// OpenBLAS's own variable; null for others.
    pub at: AtomicPtr<AtomicI32>,
    /// What the program or its user set, or what it had from the start; 0 while unknown.
    pub user: AtomicI32,
    /// The number when we last read or set it.
    pub ours: AtomicI32,
}

impl Number {
    pub const fn none() -> Number {
        Number {
            set: AtomicUsize::new(0),
            get: AtomicUsize::new(0),
            at: AtomicPtr::new(null_mut()),
            user: AtomicI32::new(0),
            ours: AtomicI32::new(0),
        }
    }

    pub fn value(&self) -> c_int {
        // SAFETY: OpenBLAS's variable is an int of a library that we hold; the getter has no arguments.
        unsafe {
            match self.at.load(Ordering::Relaxed).as_ref() {
                Some(variable) => variable.load(Ordering::Relaxed),
                None => function::<unsafe extern "C" fn() -> c_int>(self.get.load(Ordering::Relaxed))
                    .map_or(0, |get| get()),
            }
        }
    }

    /// Calls the library's own setter, which may start threads.
    pub fn set_by_setter(&self, threads: c_int) {
        // SAFETY: the library's setter, which takes any number.
        unsafe {
            if let Some(set) = function::<unsafe extern "C" fn(c_int)>(self.set.load(Ordering::Relaxed)) {
                set(threads);
            }
        }
    }

    /// Adopts what the program has set since; returns the program's own number.
    pub fn adopt(&self) -> c_int {
        let now = self.value();
        if now > 0 && now != self.ours.swap(now, Ordering::Relaxed) {
            self.user.store(now, Ordering::Relaxed);
        }
        self.user.load(Ordering::Relaxed)
    }

    /// Allows `most` threads from the next call on; `None`: as many as the program would have without scaf.
    pub fn limit(&self, most: Option<u32>) {
        let user = self.adopt();
        let most = most.map_or(user, |most| c_int::try_from(most.max(1)).unwrap_or(c_int::MAX).min(user));
        let now = self.ours.load(Ordering::Relaxed);
        if user <= 0 || most == now {
            return;
        }
        // SAFETY: OpenBLAS's variable is an int, of a library that is never unloaded.
        let done = match unsafe { self.at.load(Ordering::Relaxed).as_ref() } {
            Some(variable) => {
                variable.compare_exchange(now, most, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            }
            None => {
                self.set_by_setter(most);
                true
            }
        };
        if done {
            self.ours.store(most, Ordering::Relaxed);
        }
    }
}
