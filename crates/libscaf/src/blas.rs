//! The port for BLAS libraries that have threads of their own: OpenBLAS and BLIS. They get as many threads as the program's
//! grant leaves them, from their next call on.
//!
//! numpy and scipy each bring an OpenBLAS with a thread for each core. Folded, such threads wait for each other in loops
//! that never sleep: on a 2-core machine a Cholesky factorisation of 70 ms takes 2,200 with both threads on one core.
//! With one thread on it, it takes 76. So the number of threads has to follow the grant.
//!
//! What is promised: never more threads than the program or its user set, or had without us. Where the program asks through
//! dlsym, as Python's ctypes and threadpoolctl do, it is told what it set itself, and what it sets is kept ([`calls`]).
//! A program that calls the setter by its name is found out by the value: it isn't what we set. What it sets to just that value
//! is missed, and a number that it reads is ours.
//!
//! OpenBLAS reads its number of threads once at the beginning of each call, and deals the work out among servers that are there
//! from the start. So a new number of no more than those is safe while other threads are in calls. But its setter starts servers
//! again that a fork has ended, and a fork on another thread would leave the child with servers on paper only. So we write the
//! number itself, which every build exports, by one exchange that fails if the program was faster.
//!
//! Sums may be added up in another order with another number of threads: under `scaf run --exact` nothing is set.
//! Where OpenBLAS runs on OpenMP it is left to that port. [`libraries`] finds the libraries; [`heed`] finds out when they run.

pub mod calls;
pub mod heed;
mod libraries;

use crate::budget::{self, Who};
use crate::lock::{Lock, Locked};
use crate::ports::{Found, Port};
use crate::{pages, settings, work};
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use libraries::Library;
use scaf_proto::ports::Promise;

/// Copies of such libraries that are looked after. Of more, the rest is folded.
const LIBRARIES: usize = 8;

static TABLE: [Library; LIBRARIES] = [const { Library::none() }; LIBRARIES];
/// How many places of the table are taken.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Guards additions, and that reading a number and setting it are one step.
static LOCK: Lock = Lock::new();

/// 1 after a library was loaded, until [`look`].
pub static NEWS: AtomicU32 = AtomicU32::new(0);

fn table() -> impl Iterator<Item = &'static Library> {
    TABLE.iter().take(COUNT.load(Ordering::Acquire))
}

/// The number of threads of one library.
struct Number {
    /// What its setter and getter have.
    set: AtomicUsize,
    get: AtomicUsize,
    /// OpenBLAS's own variable; null for others.
    at: AtomicPtr<AtomicI32>,
    /// What the program or its user set, or what it had from the start; 0 while unknown.
    user: AtomicI32,
    /// What was there when we looked or set last.
    ours: AtomicI32,
}

impl Number {
    const fn none() -> Number {
        Number {
            set: AtomicUsize::new(0),
            get: AtomicUsize::new(0),
            at: AtomicPtr::new(core::ptr::null_mut()),
            user: AtomicI32::new(0),
            ours: AtomicI32::new(0),
        }
    }

    /// What it is now; 0 if the library isn't ready.
    fn value(&self) -> c_int {
        // SAFETY: OpenBLAS's variable is an int of a library that we hold; the getter has no arguments.
        unsafe {
            match self.at.load(Ordering::Relaxed).as_ref() {
                Some(variable) => variable.load(Ordering::Relaxed),
                None => function::<unsafe extern "C" fn() -> c_int>(self.get.load(Ordering::Relaxed))
                    .map_or(0, |get| get()),
            }
        }
    }

    /// Has the library's own setter do it, which may start threads.
    fn set_by_setter(&self, threads: c_int) {
        // SAFETY: the library's setter, which takes any number.
        unsafe {
            if let Some(set) = function::<unsafe extern "C" fn(c_int)>(self.set.load(Ordering::Relaxed)) {
                set(threads);
            }
        }
    }

    /// Looks what the program has set since; what is its own number then.
    fn adopt(&self) -> c_int {
        let now = self.value();
        if now > 0 && now != self.ours.swap(now, Ordering::Relaxed) {
            self.user.store(now, Ordering::Relaxed);
        }
        self.user.load(Ordering::Relaxed)
    }

    /// At most so many threads from its next call on; `None`: as many as the program would have without us.
    fn limit(&self, most: Option<u32>) {
        let user = self.adopt();
        let most = most.map_or(user, |most| c_int::try_from(most.max(1)).unwrap_or(c_int::MAX).min(user));
        let now = self.ours.load(Ordering::Relaxed);
        if user <= 0 || most == now {
            return;
        }
        // SAFETY: as in `value`.
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

/// A function's address as what it is.
unsafe fn function<F: Copy>(address: usize) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: the caller knows the type; the address was found by name in a library that we hold.
    (address != 0).then(|| unsafe { core::mem::transmute_copy(&address) })
}

/// Most threads that they may have now; `None` if they are to have what they would have without us.
fn limit(locked: &Locked<'_>) -> Option<u32> {
    let word = pages::grant().word();
    // While contexts of the program are lent it has to show when it can use them, so they aren't limited.
    let limited = word.dop().is_some() && !word.lent() && !settings::get().exact;
    steady(limited.then(|| budget::share(Who::Blas)), locked)
}

/// For so many milliseconds more has to be there before it is used. Programs come soon after others have gone, and one that is in a
/// call on many threads then is slowed down by the newcomer to a tenth until the call ends, a second for one of 50 ms.
const GROW_MS: u64 = 500;

/// What a limit comes to if more is only used after a while.
fn steady(limit: Option<u32>, _: &Locked<'_>) -> Option<u32> {
    static USED: AtomicU32 = AtomicU32::new(u32::MAX);
    static MORE_SINCE_MS: AtomicU64 = AtomicU64::new(0);
    let used = USED.load(Ordering::Relaxed);
    let most = limit.unwrap_or(u32::MAX);
    let (mut now_used, mut since) = (most, 0);
    if limit.is_some() && most > used {
        let now = work::now_ms().max(1);
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

/// Has libraries follow the grant as it is now: all of them, which may take locks of theirs, or those whose number we write.
fn follow(all: bool) {
    let locked = LOCK.take();
    let limit = limit(&locked);
    let ours = |library: &&Library| all || !library.number.at.load(Ordering::Relaxed).is_null();
    table().filter(|library| library.is_ready()).filter(ours).for_each(|library| library.number.limit(limit));
}

/// Most threads that any of them would have without us, and may have now; 0 if there is none.
fn threads() -> (u32, u32) {
    let most = |number: fn(&Library) -> &AtomicI32| {
        let all = table().filter(|library| library.is_ready()).map(number);
        all.map(|number| number.load(Ordering::Relaxed).max(0) as u32).max().unwrap_or(0)
    };
    (most(|library| &library.number.user), most(|library| &library.number.ours))
}

/// BLAS libraries among the runtimes of the process.
pub struct Blas;

impl Port for Blas {
    fn discover(&self, found: &mut dyn FnMut(Found<'_>)) {
        for library in table() {
            let (promise, number) = (library.promise(), &library.number);
            let count = |number: &AtomicI32| number.load(Ordering::Relaxed).max(0) as u32;
            found(Found {
                id: library.base(),
                kind: library.kind(),
                file: library.file(),
                promise: if promise == Promise::Follows && settings::get().exact {
                    Promise::Exact
                } else {
                    promise
                },
                threads: count(&number.ours),
                most: count(&number.user),
            });
        }
    }

    fn follow(&self, _: u32) {
        follow(true);
    }

    fn running(&self) -> u32 {
        budget::running(Who::Blas)
    }
}

/// After a fork, in the child: it isn't attached, so its libraries get what they would have without us.
pub fn after_fork() {
    LOCK.after_fork();
    heed::after_fork();
    libraries::after_fork();
    table().filter(|library| library.is_ready()).for_each(|library| library.number.limit(None));
    // Whoever looks next starts what looks after them.
    NEWS.store(u32::from(COUNT.load(Ordering::Relaxed) != 0), Ordering::Relaxed);
}
