//! The libraries that are looked after, and what of the grant they may use.

use super::number::Number;
use crate::link::pages;
use crate::program::budget::{self, Who};
use crate::sys::clock::now_ms;
use crate::sys::lock::{Lock, Locked};
use crate::sys::settings;
use core::ffi::{CStr, c_char, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use scaf_proto::runtimes::{Kind, Promise};

/// Copies of such libraries that are looked after. Of more, the rest is folded.
pub const LIBRARIES: usize = 8;

static TABLE: [Library; LIBRARIES] = [const { Library::none() }; LIBRARIES];
/// How many places of the table are taken.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Guards additions, and that reading a number and setting it are one step.
static LOCK: Lock = Lock::new();

/// 1 after a library was loaded, until somebody has looked at it.
pub static NEWS: AtomicU32 = AtomicU32::new(0);

/// All of them.
pub fn table() -> impl Iterator<Item = &'static Library> {
    TABLE.iter().take(COUNT.load(Ordering::Acquire))
}

/// The one at that place, from 0.
pub fn library(place: usize) -> Option<&'static Library> {
    TABLE.get(place)
}

/// Waits for the lock.
pub fn lock() -> Locked<'static> {
    LOCK.take()
}

/// One copy of a library.
pub struct Library {
    kind: AtomicU32,
    promise: AtomicU32,
    base: AtomicUsize,
    file: AtomicPtr<c_char>,
    pub number: Number,
}

impl Library {
    pub const fn none() -> Library {
        Library {
            kind: AtomicU32::new(0),
            promise: AtomicU32::new(0),
            base: AtomicUsize::new(0),
            file: AtomicPtr::new(null_mut()),
            number: Number::none(),
        }
    }

    pub fn kind(&self) -> Kind {
        Kind::from_number(self.kind.load(Ordering::Relaxed)).unwrap_or(Kind::OpenBlas)
    }

    pub fn promise(&self) -> Promise {
        Promise::from_number(self.promise.load(Ordering::Relaxed)).unwrap_or(Promise::Left)
    }

    pub fn base(&self) -> usize {
        self.base.load(Ordering::Relaxed)
    }

    pub fn file(&self) -> &'static [u8] {
        let file = self.file.load(Ordering::Relaxed);
        // SAFETY: the dynamic linker's own, as long as the library is loaded, and we hold it.
        if file.is_null() { &[] } else { unsafe { CStr::from_ptr(file) }.to_bytes() }
    }

    /// Whether its number may be read and set.
    pub fn is_ready(&self) -> bool {
        self.promise() == Promise::Follows
    }
}

/// Adds one; `false` if it is there, or the table is full.
pub fn add(
    kind: Kind,
    promise: Promise,
    (base, name): (usize, *const c_char),
    (get, set, variable): (*mut c_void, *mut c_void, Option<*mut c_void>),
) -> bool {
    let _locked = LOCK.take();
    let count = COUNT.load(Ordering::Relaxed);
    let Some(library) = TABLE.get(count).filter(|_| count < LIBRARIES) else { return false };
    if table().any(|known| known.base() == base) {
        return false;
    }
    library.kind.store(kind as u32, Ordering::Relaxed);
    library.promise.store(promise as u32, Ordering::Relaxed);
    library.base.store(base, Ordering::Relaxed);
    library.file.store(name.cast_mut(), Ordering::Relaxed);
    library.number.get.store(get as usize, Ordering::Relaxed);
    library.number.set.store(set as usize, Ordering::Relaxed);
    library.number.at.store(variable.map_or(null_mut(), |at| at.cast::<AtomicI32>()), Ordering::Relaxed);
    COUNT.store(count + 1, Ordering::Release);
    true
}

/// Most threads that they may have now; `None` if they are to have what they would have without us.
pub fn limit(locked: &Locked<'_>) -> Option<u32> {
    let word = pages::grant().word();
    // While contexts of the program are lent it has to show when it can use them, so they aren't limited.
    let limited = word.dop().is_some() && !word.lent() && !settings::get().exact;
    steady(limited.then(|| budget::share(Who::Blas)), locked)
}

/// For so many milliseconds more has to be there before it is used. Programs come soon after others have
/// gone, and one that is in a call on many threads then is slowed down by the newcomer to a tenth until the
/// call ends, a second for one of 50 ms.
const GROW_MS: u64 = 500;

/// What a limit comes to if more is only used after a while.
fn steady(limit: Option<u32>, _: &Locked<'_>) -> Option<u32> {
    static USED: AtomicU32 = AtomicU32::new(u32::MAX);
    static MORE_SINCE_MS: AtomicU64 = AtomicU64::new(0);
    let used = USED.load(Ordering::Relaxed);
    let most = limit.unwrap_or(u32::MAX);
    let (mut now_used, mut since) = (most, 0);
    if limit.is_some() && most > used {
        let now = now_ms().max(1);
        since = MORE_SINCE_MS.load(Ordering::Relaxed);
        since = if since == 0 { now } else { since };
        if now.saturating_sub(since) < GROW_MS {
            now_used = used;
        } else {
            since = 0;
        }
    }
    USED.store(now_used, Ordering::Relaxed);
    MORE_SINCE_MS.store(since, Ordering::Relaxed);
    limit.map(|_| now_used)
}

/// Has libraries follow the grant as it is now: all of them, which may take locks of theirs, or those whose
/// number we write.
pub fn follow(all: bool) {
    let locked = LOCK.take();
    let limit = limit(&locked);
    let ours = |library: &&Library| all || !library.number.at.load(Ordering::Relaxed).is_null();
    table().filter(|library| library.is_ready()).filter(ours).for_each(|library| library.number.limit(limit));
}

/// Most threads that any of them would have without us, and may have now; 0 if there is none.
pub fn threads() -> (u32, u32) {
    let most = |number: fn(&Library) -> &AtomicI32| {
        let all = table().filter(|library| library.is_ready()).map(number);
        all.map(|number| number.load(Ordering::Relaxed).max(0) as u32).max().unwrap_or(0)
    };
    (most(|library| &library.number.user), most(|library| &library.number.ours))
}

/// After a fork, in the child: it isn't attached, so its libraries get what they would have without us.
pub fn after_fork() {
    LOCK.after_fork();
    table().filter(|library| library.is_ready()).for_each(|library| library.number.limit(None));
    // Whoever looks next starts what looks after them.
    NEWS.store(u32::from(COUNT.load(Ordering::Relaxed) != 0), Ordering::Relaxed);
}
