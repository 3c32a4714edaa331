//! Tasks, and the calls in which a thread waits for them or for a lock.
//!
//! A waiting thread runs tasks, and at a region's end all of them do, so useful time can be told from waits only if each
//! task's time is taken. What a task gets is the program's own data, which has no room for anything of ours; so what says
//! which function is meant is *where* it is entered: each task function has an entrance of ours.
//!
//! Who waits for a lock is asleep or spinning, and never works. Most locks are free: of these one in [`SHARE`] is timed.

use crate::arch::{Thread, thread, ticks};
use crate::frame::Frame;
use crate::runtime::{self, Body, Port, Runtime};
use crate::waits::place;
use crate::{client, virtualise};
use core::arch::global_asm;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Task functions that are told apart; a power of two. Tasks of others are run as they came, and make all time of their regions
/// count as useful.
const FUNCTIONS: usize = 128;
/// Places that are looked at for a function.
const PROBES: usize = 16;
/// Bytes of an entrance's code.
const ENTRANCE: usize = 16;

static BODIES: [AtomicUsize; FUNCTIONS] = [const { AtomicUsize::new(0) }; FUNCTIONS];

global_asm!(
    ".text",
    ".p2align 4",
    ".globl scaf_tasks",
    ".hidden scaf_tasks",
    ".type scaf_tasks,@function",
    "scaf_tasks:",
    ".rept {functions}",
    "endbr64",
    "lea rsi, [rip]",
    "jmp {run}",
    ".endr",
    ".size scaf_tasks, . - scaf_tasks",
    functions = const FUNCTIONS,
    run = sym run,
);

unsafe extern "C" {
    /// The first entrance; the others follow.
    fn scaf_tasks(data: *mut c_void);
}

/// What each entrance leads to; `here` is an address in it.
unsafe extern "C" fn run(data: *mut c_void, here: usize) {
    let number = here.wrapping_sub(scaf_tasks as *const () as usize) / ENTRANCE;
    let body = BODIES.get(number).map_or(0, |body| body.load(Ordering::Relaxed));
    // SAFETY: an entrance is given out after its function was noted, and that never changes.
    unsafe {
        if let Some(body) = core::mem::transmute::<usize, Option<Body>>(body) {
            Frame::in_task(thread(), body, data);
        }
    }
}

/// The entrance for a task function; `None` if there is none left.
#[inline(always)]
fn entrance(body: Body) -> Option<Body> {
    if body as usize == 0 {
        return None;
    }
    let first = (body as usize as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    for step in 0..PROBES {
        let at = (first as usize).wrapping_add(step) % FUNCTIONS;
        let place = BODIES.get(at)?;
        let there = place.load(Ordering::Relaxed);
        if there == body as usize
            || there == 0 && {
                let taken = place.compare_exchange(0, body as usize, Ordering::Relaxed, Ordering::Relaxed);
                taken.is_ok() || taken == Err(body as usize)
            }
        {
            let address = (scaf_tasks as *const () as usize).wrapping_add(at.wrapping_mul(ENTRANCE));
            // SAFETY: that is where the entrance of this number begins.
            return Some(unsafe { core::mem::transmute::<usize, Body>(address) });
        }
    }
    None
}

/// A task is created: the runtime to create it in, and the function to create it with.
#[inline(always)]
pub fn create(body: Body) -> Option<(&'static Runtime, Body)> {
    let this = thread();
    // SAFETY: this thread's own state.
    unsafe {
        let (runtime, frame) = place(this, body as usize)?;
        let Some(frame) = frame else { return Some((runtime, body)) };
        let timed = if frame.times_tasks() { entrance(body) } else { None };
        frame.has_tasks(timed.is_some());
        Some((runtime, timed.unwrap_or(body)))
    }
}

/// Tasks of a loop are created, and waited for as the loop has it: `create` does both.
#[inline(always)]
pub fn create_many(body: Body, create: impl FnOnce(&'static Runtime, Body)) {
    let this = thread();
    if let Some((runtime, body)) = self::create(body) {
        // SAFETY: this thread's own state.
        unsafe {
            match (*this).frame.as_ref() {
                Some(frame) => frame.waits(this, ticks(), || create(runtime, body)),
                None => create(runtime, body),
            }
        }
    }
}

/// Of so many locks one is timed while they are free: a power of 2. Which one is left to chance, for threads that take turns at a lock find it free
/// and taken by turns, too.
const SHARE: u32 = 2;
/// A lock that was to be had within so many ticks (about 0.5 us) counts as free.
const FREE_TICKS: u64 = 1 << 11;

/// Waits for a lock.
#[inline(always)]
pub unsafe fn lock(this: *mut Thread, frame: &Frame, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    // SAFETY: this thread's own state.
    unsafe {
        if (*this).stands_for == SHARE {
            (*this).chance = (*this).chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if (*this).chance >> (32 - SHARE.trailing_zeros()) != 0 {
                return real();
            }
        }
        let since = ticks();
        let result = real();
        let now = ticks();
        let wait = now.wrapping_sub(since);
        frame.waited(this, wait.wrapping_mul(u64::from((*this).stands_for.max(1))), now);
        (*this).stands_for = if wait < FREE_TICKS { SHARE } else { 1 };
        result
    }
}

/// Waits within the runtime, in which the thread may run tasks.
#[inline(always)]
pub unsafe fn wait(this: *mut Thread, frame: &Frame, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    // SAFETY: this thread's own state.
    unsafe { frame.waits(this, ticks(), real) }
}

/// Where a lock or a group of tasks is: in the caller's own runtime, for that is asked to let go of it, or was asked to begin it, which
/// we don't see. Where the call was a function's last, the compiler made it a jump, and it returns to whoever called that function: for
/// a region's or a task's this is us.
pub unsafe fn of_caller<'a>(
    this: *mut Thread,
    caller: usize,
) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    // SAFETY: this thread's own state; a frame lives as long as its region.
    let frame = unsafe { (*this).frame.as_ref().filter(|_| (*this).serial == 0) };
    let own = || frame.filter(|_| runtime::is_ours(caller)).map(Frame::runtime);
    // The master of a region in a library's constructor has the dynamic linker's lock, and waits for us: that is asked last.
    let beside = || frame.and_then(|frame| runtime::beside(frame.body(), caller));
    let sole = || frame.and_then(|_| runtime::only_of(Port::Gcc));
    let asked = || runtime::of(caller).map(|code| code.runtime);
    let runtime = own().or_else(|| runtime::known(caller)).or_else(beside).or_else(sole).or_else(asked)?;
    Some((runtime, frame.filter(|frame| core::ptr::eq(frame.runtime(), runtime))))
}

/// Calls that wait. All have one argument or none, and a result or none.
macro_rules! calls {
    ($($name:ident by $how:ident, $whose:ident: $real:ident or $symbol:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(argument: *mut c_void, caller: usize) -> *mut c_void {
                let this = thread();
                // SAFETY: this thread's own state; the program's own argument.
                unsafe {
                    let (real, frame) = match $whose(this, caller) {
                        Some((runtime, frame)) => (runtime.$real, frame),
                        None => (missing($symbol, caller), None),
                    };
                    match (real, frame) {
                        (Some(real), Some(frame)) => $how(this, frame, || real(argument)),
                        (Some(real), None) => real(argument),
                        (None, _) => core::ptr::null_mut(),
                    }
                }
            }
        )*
    };
}

/// The call that this would have been without us, where no runtime of libgomp's kind is found.
#[cold]
unsafe fn missing(name: &CStr, caller: usize) -> Option<runtime::Wait> {
    // SAFETY: the type is that of all calls below.
    unsafe {
        virtualise::next(name).or_else(|| {
            let found = client::keeping_errno(|| runtime::in_library_of(caller, name))?;
            Some(core::mem::transmute::<*mut c_void, runtime::Wait>(found))
        })
    }
}

/// Of the libraries that were loaded with the program, the first that has locks: all calls about a lock go there but for those that we take,
/// whatever else that library has. 0 if there is none, or before [`at_load`].
static FIRST_LOCKS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
const LOCKS: [&CStr; 2] = [c"omp_set_lock", c"omp_set_lock_"];

/// Looks for these, while nobody else is there yet.
pub fn at_load() {
    for (first, name) in FIRST_LOCKS.iter().zip(LOCKS) {
        // SAFETY: a plain search.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        first.store(found.addr(), Ordering::Relaxed);
    }
}

/// Waits for a lock of the program's: C's kind, 0, or Fortran's, 1.
#[inline(always)]
unsafe fn set<const KIND: usize>(
    argument: *mut c_void,
    caller: usize,
    of: impl Fn(&Runtime) -> Option<runtime::Wait>,
) -> *mut c_void {
    let this = thread();
    // SAFETY: this thread's own state; the program's own argument, and a call of the type that it meant.
    unsafe {
        let first = FIRST_LOCKS[KIND].load(Ordering::Relaxed);
        let (real, frame) = match core::mem::transmute::<usize, Option<runtime::Wait>>(first) {
            Some(first) => (Some(first), (*this).frame.as_ref()),
            None => match of_caller(this, caller) {
                Some((runtime, frame)) => (of(runtime), frame),
                None => (missing(LOCKS[KIND], caller), None),
            },
        };
        match (real, frame) {
            (Some(real), Some(frame)) => lock(this, frame, || real(argument)),
            (Some(real), None) => real(argument),
            (None, _) => core::ptr::null_mut(),
        }
    }
}

pub unsafe extern "C" fn set_lock(argument: *mut c_void, caller: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe { set::<0>(argument, caller, |runtime| runtime.set_lock) }
}

pub unsafe extern "C" fn set_lock_fortran(argument: *mut c_void, caller: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe { set::<1>(argument, caller, |runtime| runtime.set_lock_fortran) }
}

calls! {
    taskwait by wait, place: taskwait or c"GOMP_taskwait";
    taskgroup_end by wait, of_caller: taskgroup_end or c"GOMP_taskgroup_end";
    taskwait_depend by wait, place: taskwait_depend or c"GOMP_taskwait_depend";
    single_copy_start by wait, of_caller: single_copy_start or c"GOMP_single_copy_start";
    ordered_start by wait, of_caller: ordered_start or c"GOMP_ordered_start";
    critical_start by lock, of_caller: critical_start or c"GOMP_critical_start";
    critical_name_start by lock, of_caller: critical_name_start or c"GOMP_critical_name_start";
    atomic_start by lock, of_caller: atomic_start or c"GOMP_atomic_start";
}
