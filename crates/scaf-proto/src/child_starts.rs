//! Who makes a child has the program's own affinity meanwhile, and the daemon must not narrow it in between:
//! the child would be born narrow. Each side says what it is about to do before it looks at what the other
//! one does, so at least one of them sees the other. The client waits a moment until the daemon is done; the
//! daemon puts it off.

use crate::sync::{AtomicU32, Ordering, fence};

/// On the grant page: whether the daemon is narrowing the program's threads.
#[derive(Default)]
#[repr(transparent)]
pub struct Moves(AtomicU32);

/// On the report page: threads that are making a child.
#[derive(Default)]
#[repr(transparent)]
pub struct Starts(AtomicU32);

impl Moves {
    /// Daemon: begins, unless a child is being made.
    pub fn begin(&self, starts: &Starts) -> bool {
        self.begin_anyway();
        let may = starts.0.load(Ordering::Relaxed) == 0;
        if !may {
            self.end();
        }
        may
    }

    /// Daemon: begins, whatever the client does: it has waited long enough.
    pub fn begin_anyway(&self) {
        self.0.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Daemon: all threads have been moved.
    pub fn end(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Client: whether threads are being moved, after [`Starts::begin`].
    pub fn are_made(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }
}

impl Starts {
    /// Client: a thread is about to make a child.
    pub fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Client: it has made it. The page may be another one than at the beginning.
    pub fn end(&self) {
        let _ = self.0.fetch_update(Ordering::Release, Ordering::Relaxed, |count| count.checked_sub(1));
    }
}
