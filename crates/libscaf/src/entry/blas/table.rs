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

/// Libraries that are looked after; any further ones are folded.
pub const LIBRARIES: usize = 8;
static TABLE: [Library; LIBRARIES] = [const { Library::none() }; LIBRARIES];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Guards additions, and makes reading a number and setting it one step.
static LOCK: Lock = Lock::new();
/// 1 after a library was loaded, until somebody has looked at it.
#[unsafe(link_section = ".data.at_load")]
pub static NEWS: AtomicU32 = AtomicU32::new(0);

pub fn table() -> impl Iterator<Item = &'static Library> {
    TABLE.iter().take(COUNT.load(Ordering::Acquire))
}

pub fn library(place: usize) -> Option<&'static Library> {
    TABLE.get(place)
}

pub fn lock() -> Locked<'static> {
    LOCK.take()
}

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

    pub fn is_ready(&self) -> bool {
        self.promise() == Promise::Follows
    }
}

/// Adds a library; `false` if it is known, or the table is full.
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

/// Most threads that a library may have now; `None` where libraries keep the program's number.
pub fn limit(locked: &Locked<'_>) -> Option<u32> {
    let word = pages::grant().word();
    // While contexts are lent the program has to show when it can use them, so nothing is limited.
    let limited = word.dop().is_some() && !word.lent() && !settings::exact();
    steady(limited.then(|| budget::share(Who::Blas)), locked)
}

/// A higher limit must last this long before it is used. Programs come soon after others have gone, and a
/// newcomer slows a call on many threads down to a tenth until the call ends.
const GROW_MS: u64 = 500;

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

/// Applies the current limit: to `all` libraries, which may take their locks, or where we write the variable.
pub fn follow(all: bool) {
    let locked = LOCK.take();
    let limit = limit(&locked);
    let ours = |library: &&Library| all || !library.number.at.load(Ordering::Relaxed).is_null();
    table().filter(|library| library.is_ready()).filter(ours).for_each(|library| library.number.limit(limit));
}

/// Most threads of any library, without scaf and now; 0 if there is none.
pub fn threads() -> (u32, u32) {
    let most = |number: fn(&Library) -> &AtomicI32| {
        let all = table().filter(|library| library.is_ready()).map(number);
        all.map(|number| number.load(Ordering::Relaxed).max(0) as u32).max().unwrap_or(0)
    };
    (most(|library| &library.number.user), most(|library| &library.number.ours))
}

/// After a fork, in the child, which isn't attached: restores the program's own numbers.
pub fn after_fork() {
    LOCK.after_fork();
    table().filter(|library| library.is_ready()).for_each(|library| library.number.limit(None));
    // The next look starts the thread of `monitor`.
    NEWS.store(u32::from(COUNT.load(Ordering::Relaxed) != 0), Ordering::Relaxed);
}
