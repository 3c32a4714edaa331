//! Threads of ours. The C library ends a process whose `main` ends by `pthread_exit` with its last thread,
//! and the kernel refuses some calls to a process of several threads. So these threads leave where they are
//! in the way, and after a while without work.

use super::arch::bare_call;
use super::errno::keeping_errno;
use super::file::File;
use super::futex::Futex;
use super::kernel_threads::{is_own, own_task};
use super::raw_syscalls::{nap_for, set_blocked};
use super::signals::block_signals;
use super::{glibc, process};
use core::ffi::{c_int, c_void};
use core::mem::zeroed;
use core::ptr::null;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use scaf_team::Sleep;

pub type Run = extern "C" fn(*mut c_void) -> *mut c_void;

/// A helper that has nothing to do for so long leaves, in milliseconds.
pub const IDLE_MS: u32 = 2_000;
/// Longest wait for helpers to leave, and between two looks for that.
const PATIENCE_MS: u32 = 100;
const LOOK_NS: u32 = 20_000;

/// Most helpers: carriers, and a few others.
const MOST: usize = 72;
static TABLE: [Helper; MOST] = [const { Helper::none() }; MOST];

struct Helper {
    /// The kernel's number of the thread; [`FREE`] or [`STARTS`].
    task: AtomicU32,
    run: AtomicUsize,
    argument: AtomicPtr<c_void>,
}

const FREE: u32 = 0;
const STARTS: u32 = u32::MAX;

impl Helper {
    const fn none() -> Helper {
        Helper {
            task: AtomicU32::new(FREE),
            run: AtomicUsize::new(0),
            argument: AtomicPtr::new(core::ptr::null_mut()),
        }
    }
}

/// How often helpers were dismissed for a while that isn't over, and [`FOR_GOOD`].
static LEAVE: AtomicU32 = AtomicU32::new(0);
const FOR_GOOD: u32 = 1 << 31;

/// Starts a thread that handles no signal of the program's; `false` if the system has none.
pub fn spawn(run: Run, argument: *mut c_void) -> bool {
    let take = |helper: &&Helper| {
        helper.task.compare_exchange(FREE, STARTS, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let Some(helper) = TABLE.iter().find(take) else { return false };
    helper.run.store(run as usize, Ordering::Relaxed);
    helper.argument.store(argument, Ordering::Relaxed);
    let started = keeping_errno(|| {
        let before = block_signals();
        // SAFETY: the thread gets a helper of the table. Nobody else knows its handle, so it is detached
        // once.
        let started = unsafe {
            let mut thread: libc::pthread_t = zeroed();
            let about = core::ptr::from_ref(helper).cast_mut().cast();
            glibc::pthread_create(&mut thread, null(), begin, about) == 0
                && glibc::pthread_detach(thread) == 0
        };
        set_blocked(before);
        started
    });
    if !started {
        helper.task.store(FREE, Ordering::Release);
    }
    started
}

extern "C" fn begin(helper: *mut c_void) -> *mut c_void {
    // SAFETY: `spawn` passes a helper of the table, with a function that may be called with its argument.
    unsafe {
        let helper = &*helper.cast::<Helper>();
        helper.task.store(own_task(), Ordering::Release);
        let run = core::mem::transmute::<usize, Run>(helper.run.load(Ordering::Relaxed));
        let result = run(helper.argument.load(Ordering::Relaxed));
        helper.task.store(FREE, Ordering::Release);
        result
    }
}

/// Whether helpers are to leave as soon as they can.
pub fn are_to_leave() -> bool {
    LEAVE.load(Ordering::Acquire) != 0
}

/// Whether none is to be started any more.
pub fn are_unwanted() -> bool {
    LEAVE.load(Ordering::Acquire) & FOR_GOOD != 0
}

/// Whether there are any.
pub fn are_there() -> bool {
    TABLE.iter().any(|helper| helper.task.load(Ordering::Acquire) != FREE)
}

/// Sleeps for so long, or until helpers are to leave.
pub fn pause(milliseconds: u32) {
    let now = LEAVE.load(Ordering::Acquire);
    if now == 0 {
        Futex.sleep(&LEAVE, now, milliseconds);
    }
}

/// No helper is wanted any more.
pub fn dismiss_for_good() {
    LEAVE.fetch_or(FOR_GOOD, Ordering::AcqRel);
    Futex.wake_all(&LEAVE);
}

/// Helpers are to leave until [`call_back`].
pub fn dismiss() {
    LEAVE.fetch_add(1, Ordering::AcqRel);
    Futex.wake_all(&LEAVE);
}

pub fn call_back() {
    LEAVE.fetch_sub(1, Ordering::AcqRel);
}

/// Waits until all helpers that are there have ended, for a while at most. They were dismissed and woken.
pub fn wait_for_ends() {
    let tasks: [u32; MOST] = core::array::from_fn(|number| {
        TABLE.get(number).map_or(FREE, |helper| helper.task.load(Ordering::Acquire))
    });
    let is_there = |(task, helper): (&u32, &Helper)| match *task {
        FREE => false,
        STARTS => helper.task.load(Ordering::Acquire) != FREE,
        // A detached thread has no other sign of its end.
        task => c_int::try_from(task).is_ok_and(is_own),
    };
    for _ in 0..PATIENCE_MS * 1_000_000 / LOOK_NS / 4 {
        if !tasks.iter().zip(&TABLE).any(is_there) {
            break;
        }
        // With the timers' slack about four times as long.
        nap_for(LOOK_NS);
    }
}

/// Whether the process's first thread has ended, by whatever call.
pub fn has_main_ended() -> bool {
    let mut text = [0u8; 128];
    let file = File::open(c"/proc/self/stat", libc::O_RDONLY);
    let Some(length) = file.and_then(|file| file.read(&mut text)) else { return false };
    let text = text.get(..length).unwrap_or(&[]);
    // The state follows the name, which is in parentheses and may contain some.
    let behind = text.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
    matches!(text.get(behind), Some(b'Z' | b'X'))
}

/// Whether the calling thread is the process's first.
pub fn is_main() -> bool {
    // SAFETY: the call takes nothing.
    unsafe { bare_call(libc::SYS_gettid, [0; 4]) == process::pid() as isize }
}

pub fn after_fork() {
    TABLE.iter().for_each(|helper| helper.task.store(FREE, Ordering::Relaxed));
    LEAVE.store(0, Ordering::Relaxed);
}
