//! Whose thread-local storage members have: each that of the runtime's own worker of its number, so that a
//! region on real threads and the next one, gathered, find the same variables.
//!
//! Where it is, is *noted* in a region on real threads. From then on the workers have to sleep in the
//! runtime's dock for as long as their storage is borrowed. Only a region that is passed on to the runtime
//! wakes them, and each such one makes the notes void. What a worker still does between its last region's end
//! and the dock would go on beside a member on the same storage: so all workers are asked for by
//! `/proc/self/task` before the first gathered region, and found asleep, in a futex call of the runtime's
//! own.

use super::team::MOST;
use crate::region::thread::Thread;
use crate::runtimes::entries::Runtime;
use crate::runtimes::linker::module_of;
use crate::sys::arch::{storage, ticks};
use crate::sys::errno::keeping_errno;
use crate::sys::thread::{give_way, own_task, pause};
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

struct Worker {
    storage: AtomicUsize,
    /// Its kernel thread's number.
    task: AtomicU32,
}

static WORKERS: [Worker; MOST] =
    [const { Worker { storage: AtomicUsize::new(0), task: AtomicU32::new(0) } }; MOST];
/// The team that was noted, on which runtime.
static SIZE: AtomicU32 = AtomicU32::new(0);
static RUNTIME: AtomicPtr<Runtime> = AtomicPtr::new(null_mut());
/// The notes' number, which the master that they are of has, too.
static GENERATION: AtomicU32 = AtomicU32::new(1);
/// The number of those whose workers were found asleep.
static ASLEEP: AtomicU32 = AtomicU32::new(0);
/// Most threads of the program, as the runtime told the master.
static LIMIT: AtomicU32 = AtomicU32::new(0);
/// The tick of the last notes.
static NOTED_AT: AtomicU64 = AtomicU64::new(0);

/// Ticks between two runs in which notes are taken (70 to 130 ms): where regions on real threads and gathered
/// ones take turns, gathering is not worth it.
const BETWEEN: u64 = 1 << 28;
/// How often workers were not found asleep, and how often they may be until nothing is gathered any more.
static AWAKE: AtomicU32 = AtomicU32::new(0);
const TRIES: u32 = 3;
/// How long workers may take to fall asleep, in milliseconds. They look for work for a while first.
const PATIENCE_MS: u32 = 20;

/// Whether this master's workers for a team of `size` are known.
#[inline(always)]
pub unsafe fn is_noted(this: *mut Thread, runtime: &Runtime, size: u32) -> bool {
    // SAFETY: this thread's own state.
    unsafe {
        (*this).noted == GENERATION.load(Ordering::Relaxed)
            && SIZE.load(Ordering::Relaxed) == size
            && core::ptr::eq(RUNTIME.load(Ordering::Relaxed), runtime)
    }
}

/// Whether it is time to take notes.
pub fn may_note() -> bool {
    if AWAKE.load(Ordering::Relaxed) >= TRIES {
        return false;
    }
    let last = NOTED_AT.load(Ordering::Relaxed);
    last == 0 || ticks().wrapping_sub(last) > BETWEEN
}

/// The storage of the member of this number.
pub fn of(member: usize) -> usize {
    WORKERS.get(member).map_or(0, |worker| worker.storage.load(Ordering::Relaxed))
}

/// Most threads of the program, as the runtime says.
pub fn thread_limit() -> c_int {
    LIMIT.load(Ordering::Relaxed) as c_int
}

/// The kernel thread that the member of this number was noted on.
pub fn task(member: usize) -> u32 {
    WORKERS.get(member).map_or(0, |worker| worker.task.load(Ordering::Relaxed))
}

/// This master passes a region on to the runtime: its workers wake.
#[inline(always)]
pub unsafe fn void(this: *mut Thread) {
    // SAFETY: this thread's own state.
    unsafe { (*this).noted = 0 }
}

/// Before a region whose threads take notes.
pub fn begin() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    for worker in &WORKERS {
        worker.storage.store(0, Ordering::Relaxed);
    }
}

/// After it: whether all of a team of `size` have.
pub unsafe fn end(this: *mut Thread, runtime: &'static Runtime, size: u32) {
    NOTED_AT.store(ticks().max(1), Ordering::Relaxed);
    if (0..size as usize).all(|member| of(member) != 0) {
        note_limit(runtime);
        SIZE.store(size, Ordering::Relaxed);
        RUNTIME.store((&raw const *runtime).cast_mut(), Ordering::Relaxed);
        // SAFETY: this thread's own state.
        unsafe { (*this).noted = GENERATION.load(Ordering::Relaxed) }
    }
}

/// A thread of the program's notes how many there may be.
pub fn note_limit(runtime: &Runtime) {
    // SAFETY: omp_get_thread_limit takes nothing.
    let limit = runtime.thread_limit.map_or(c_int::MAX, |limit| unsafe { limit() });
    LIMIT.store(limit as u32, Ordering::Relaxed);
}

/// A thread of a region on real threads notes where its storage is.
pub fn note(runtime: &Runtime) {
    // SAFETY: omp_get_thread_num takes nothing.
    let number = runtime.thread_num.map_or(-1, |number| unsafe { number() });
    if let Ok(number) = usize::try_from(number)
        && let Some(worker) = WORKERS.get(number)
    {
        worker.task.store(own_task(), Ordering::Relaxed);
        worker.storage.store(storage(), Ordering::Release);
    }
}

/// Whether all workers of a team of `size` sleep in the runtime's dock; waits a while for it, once.
pub fn are_asleep(runtime: &Runtime, size: u32) -> bool {
    let generation = GENERATION.load(Ordering::Relaxed);
    if ASLEEP.load(Ordering::Relaxed) == generation {
        return true;
    }
    let asleep = fall_asleep(runtime, size);
    if asleep {
        ASLEEP.store(generation, Ordering::Relaxed);
    } else {
        AWAKE.fetch_add(1, Ordering::Relaxed);
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
    asleep
}

#[cold]
fn fall_asleep(runtime: &Runtime, size: u32) -> bool {
    let Some(here) = runtime.barrier.and_then(|barrier| module_of(barrier as usize)) else { return false };
    let in_dock = |at: usize| module_of(at).is_some_and(|(map, _)| map == here.0);
    let mut word = None;
    for worker in WORKERS.iter().take(size as usize).skip(1) {
        let task = worker.task.load(Ordering::Relaxed);
        let mut left = PATIENCE_MS;
        loop {
            match sleeps_on(task).filter(|(_, at)| in_dock(*at)) {
                // All on the same word, which is the dock's.
                Some((on, _)) if word.is_none_or(|word| word == on) => {
                    word = Some(on);
                    break;
                }
                _ if left == 0 => return false,
                _ => {
                    left -= 1;
                    give_way();
                    pause(1);
                }
            }
        }
    }
    true
}

/// The word that a thread of this process sleeps on in a futex call, and where the call was made.
fn sleeps_on(task: u32) -> Option<(usize, usize)> {
    let mut text = [0u8; 256];
    let length = read_of_task(task, b"/syscall\0", &mut text)?;
    let mut fields = text.get(..length)?.split(|byte| byte.is_ascii_whitespace()).filter(|f| !f.is_empty());
    const FUTEX: &[u8] = b"202";
    const _: () = assert!(libc::SYS_futex == 202);
    if fields.next()? != FUTEX {
        return None;
    }
    let word = hex(fields.next()?)?;
    Some((word, hex(fields.next_back()?)?))
}

/// Reads a file of one thread's folder in /proc; how many bytes there were.
pub fn read_of_task(task: u32, file: &[u8], text: &mut [u8]) -> Option<usize> {
    let mut path = [0u8; 64];
    let mut at = 0;
    let mut digits = [0u8; 10];
    let mut first = digits.len();
    let mut rest = task;
    loop {
        first = first.checked_sub(1)?;
        *digits.get_mut(first)? = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    for part in [b"/proc/self/task/", digits.get(first..)?, file] {
        for (place, byte) in path.get_mut(at..)?.iter_mut().zip(part) {
            *place = *byte;
        }
        at += part.len();
    }
    keeping_errno(|| {
        // SAFETY: a path of ours, which ends with zero, and a buffer of ours.
        unsafe {
            let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
            if file < 0 {
                return None;
            }
            let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
            libc::close(file);
            usize::try_from(length).ok()
        }
    })
}

fn hex(text: &[u8]) -> Option<usize> {
    let digits = text.strip_prefix(b"0x")?;
    let mut value = 0usize;
    for digit in digits {
        let digit = (*digit as char).to_digit(16)?;
        value = value.wrapping_mul(16).wrapping_add(digit as usize);
    }
    Some(value)
}

/// After a fork, in the child: the workers aren't there.
pub fn after_fork() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
