//! Members use the thread-local storage of the runtime's workers with the same numbers, so that a region on
//! threads and the next, gathered one find the same variables.
//!
//! Each worker's TLS base is recorded in a region on threads. The worker must stay blocked in the runtime's
//! idle barrier while its TLS is borrowed. Only a region that is passed on to the runtime wakes workers, and
//! each such region invalidates the record. What a worker does between its region's end and the idle barrier
//! would conflict with a member. So before the first gathered region all workers must be found there by
//! `/proc/self/task`: libgomp's in a futex call of its own, all on one word; LLVM's each on a condition
//! variable, on which they sleep nowhere else after their region.
//!
//! A signal to the process is delivered to any thread that doesn't block it, and its handler may use
//! thread-local storage. So a worker whose TLS is lent blocks signals until its next region, and carriers and
//! the carrier monitor take them in its place.

use super::gathered_team::MOST;
use super::icvs::{self, Icvs};
use super::{forbids, llvm_exit};
use crate::link::no_syscalls;
use crate::region::thread::{LENT, Thread};
use crate::runtimes::entries::Runtime;
use crate::runtimes::linker::module_of;
use crate::sys::arch::{control_words, ticks, tls_base};
use crate::sys::errno::keeping_errno;
use crate::sys::kernel_threads::{give_way, own_task, pause};
use crate::sys::raw_syscalls::set_blocked;
use crate::sys::signals::{Stack, block_signals, blocked, stack};
use crate::sys::undisturbed::undisturbed;
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

struct Worker {
    tls_base: AtomicUsize,
    /// Its kernel thread's number.
    task: AtomicU32,
    number: AtomicI32,
    /// Its floating-point [`control_words`].
    control: AtomicU64,
}

static WORKERS: [Worker; MOST] = [const {
    Worker {
        tls_base: AtomicUsize::new(0),
        task: AtomicU32::new(0),
        number: AtomicI32::new(0),
        control: AtomicU64::new(0),
    }
}; MOST];
/// Size of the recorded team, and its runtime.
static SIZE: AtomicU32 = AtomicU32::new(0);
static RUNTIME: AtomicPtr<Runtime> = AtomicPtr::new(null_mut());
/// The record's number, which is also in its master's state.
static GENERATION: AtomicU32 = AtomicU32::new(1);
/// The number of the record whose workers were found asleep.
static ASLEEP: AtomicU32 = AtomicU32::new(0);
/// Most threads of the program, by the master's runtime.
static THREAD_LIMIT: AtomicU32 = AtomicU32::new(0);
/// Signals that the recorded workers blocked themselves.
static SIGNALS: AtomicU64 = AtomicU64::new(0);
/// Signals that carriers and monitor block: as the team that was gathered last.
static CARRIER_SIGNALS: AtomicU64 = AtomicU64::new(0);
/// Signals that the recorded team's master blocked before.
static MASTERS_SIGNALS: AtomicU64 = AtomicU64::new(0);
/// Signals that all recorded threads block, and that any of them does. They must be equal, or members would
/// lose their workers' masks.
static BLOCKED_BY_ALL: AtomicU64 = AtomicU64::new(0);
static BLOCKED_BY_ANY: AtomicU64 = AtomicU64::new(0);
/// Value of [`Thread::recorded`] if not all workers were recorded.
const NOT_ALL: u32 = u32::MAX;
/// The tick of the last record.
static RECORDED_AT: AtomicU64 = AtomicU64::new(0);

/// Ticks between two recordings (1 to 2 ms): gathering isn't worth it where regions on threads and gathered
/// ones alternate. Most programs have some dozens of regions, each of which runs on threads at first.
const BETWEEN: u64 = 1 << 22;
/// How often in a row workers were not found asleep; after how many times nothing is gathered for a while
/// (100 to 200 ms): looking costs milliseconds, and on a busy machine it may fail by chance.
static AWAKE: AtomicU32 = AtomicU32::new(0);
const TRIES: u32 = 10;
static AWAKE_AT: AtomicU64 = AtomicU64::new(0);
const GIVEN_UP_FOR: u64 = 1 << 29;
/// How often the PU is yielded before each further look takes 1 ms.
const YIELDS: u32 = 20;
/// How long workers may take to fall asleep, in milliseconds. They spin for a while first.
const PATIENCE_MS: u32 = 5;

/// Whether this master's workers for a team of `size` are recorded.
#[inline(always)]
pub fn is_recorded(this: &Thread, runtime: &Runtime, size: u32) -> bool {
    is_of(this)
        && SIZE.load(Ordering::Relaxed) == size
        && core::ptr::eq(RUNTIME.load(Ordering::Relaxed), runtime)
}

/// Whether the record is of the calling thread's workers.
#[inline(always)]
pub fn is_of(this: &Thread) -> bool {
    this.recorded.get() == GENERATION.load(Ordering::Relaxed)
}

pub fn are_new() -> bool {
    ticks().wrapping_sub(RECORDED_AT.load(Ordering::Relaxed)) < GIVEN_UP_FOR
}

pub fn is_given_up() -> bool {
    AWAKE.load(Ordering::Relaxed) >= TRIES
        && ticks().wrapping_sub(AWAKE_AT.load(Ordering::Relaxed)) < GIVEN_UP_FOR
}

pub fn may_record() -> bool {
    let last = RECORDED_AT.load(Ordering::Relaxed);
    last == 0 || ticks().wrapping_sub(last) > BETWEEN
}

/// TLS base of the member of this number.
pub fn of(member: usize) -> usize {
    WORKERS.get(member).map_or(0, |worker| worker.tls_base.load(Ordering::Relaxed))
}

pub fn thread_limit() -> c_int {
    THREAD_LIMIT.load(Ordering::Relaxed) as c_int
}

pub fn number_of(member: usize) -> c_int {
    WORKERS.get(member).map_or(0, |worker| worker.number.load(Ordering::Relaxed))
}

pub fn control_of(member: usize) -> u64 {
    WORKERS.get(member).map_or(0, |worker| worker.control.load(Ordering::Relaxed))
}

/// A member has left others to it.
pub fn set_control(member: usize, words: u64) {
    if let Some(worker) = WORKERS.get(member) {
        worker.control.store(words, Ordering::Relaxed);
    }
}

/// A recorded thread has run its part of the region: its control words last.
pub fn record_control() {
    let own = tls_base();
    if let Some(worker) = WORKERS.iter().find(|worker| worker.tls_base.load(Ordering::Relaxed) == own) {
        worker.control.store(control_words(), Ordering::Relaxed);
    }
}

pub fn task(member: usize) -> u32 {
    WORKERS.get(member).map_or(0, |worker| worker.task.load(Ordering::Relaxed))
}

/// The master passes a region on to the runtime, which wakes its workers. Returns whether they block signals.
#[inline(always)]
pub fn invalidate(this: &Thread) -> bool {
    this.recorded.take() != 0
}

/// A recorded worker has run its part: from now on its TLS may be lent. With tasks it may still run some at
/// the region's end, and they must not find signals blocked.
pub fn lend_unless_tasks(this: &Thread) {
    let signals = blocked();
    // If the master blocks others, maybe only its workers take some signals.
    let alike = signals == MASTERS_SIGNALS.load(Ordering::Relaxed);
    let lends = alike && !forbids::has_tasks();
    SIGNALS.store(signals, Ordering::Relaxed);
    BLOCKED_BY_ALL.fetch_and(signals, Ordering::Relaxed);
    // A handler stack of its own counts as a signal that no other worker blocks.
    let alike = alike && (no_syscalls::are_known_forbidden() || stack() == Stack::NONE);
    BLOCKED_BY_ANY.fetch_or(if alike { signals } else { signals | LENT }, Ordering::Relaxed);
    if lends {
        block_signals();
        this.lent.set(signals | LENT);
    }
}

/// A team is about to be gathered at its beginning: its members block what their workers did.
#[inline(always)]
pub fn use_recorded_signals() {
    CARRIER_SIGNALS.store(SIGNALS.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// The calling thread's team is about to be gathered midway. Members with other masks keep them.
pub fn take_for_own_thread() {
    CARRIER_SIGNALS.store(blocked(), Ordering::Relaxed);
}

pub fn are_alike() -> bool {
    BLOCKED_BY_ANY.load(Ordering::Relaxed) & !BLOCKED_BY_ALL.load(Ordering::Relaxed) == 0
}

pub fn recorded_signals() -> u64 {
    SIGNALS.load(Ordering::Relaxed)
}

pub fn signals() -> u64 {
    CARRIER_SIGNALS.load(Ordering::Relaxed)
}

/// A thread of ours takes over a worker's mask; `has` is what it set last.
#[inline(always)]
pub fn take_signals(has: &mut Option<u64>) {
    let signals = signals();
    if *has != Some(signals) && !no_syscalls::are_forbidden_to_all() {
        set_blocked(signals);
        *has = Some(signals);
    }
}

/// Before a region whose threads are recorded.
pub fn begin() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    llvm_exit::begin();
    BLOCKED_BY_ALL.store(u64::MAX, Ordering::Relaxed);
    BLOCKED_BY_ANY.store(0, Ordering::Relaxed);
    MASTERS_SIGNALS.store(blocked(), Ordering::Relaxed);
    for worker in &WORKERS {
        worker.tls_base.store(0, Ordering::Relaxed);
    }
}

/// After it: valid if all of a team of `size` were recorded.
pub fn end(this: &Thread, runtime: &'static Runtime, size: u32) {
    RECORDED_AT.store(ticks().max(1), Ordering::Relaxed);
    this.recorded.set(NOT_ALL);
    if (0..size as usize).all(|member| of(member) != 0) && llvm_exit::end(runtime) {
        record_limit(runtime);
        // SAFETY: `Icvs::of` asks the calling thread's runtime.
        icvs::record_schedule(&unsafe { Icvs::of(runtime) });
        SIZE.store(size, Ordering::Relaxed);
        RUNTIME.store((&raw const *runtime).cast_mut(), Ordering::Relaxed);
        this.recorded.set(GENERATION.load(Ordering::Relaxed));
    }
}

/// Records the program's thread limit; called by one of its threads.
pub fn record_limit(runtime: &Runtime) {
    // SAFETY: `omp_get_thread_limit` takes nothing.
    let limit = runtime.omp_get_thread_limit.map_or(c_int::MAX, |limit| unsafe { limit() });
    THREAD_LIMIT.store(limit as u32, Ordering::Relaxed);
}

pub fn record(runtime: &Runtime) {
    // SAFETY: `omp_get_thread_num` takes nothing.
    let member = runtime.omp_get_thread_num.map_or(-1, |number| unsafe { number() });
    if let Ok(member) = usize::try_from(member)
        && let Some(worker) = WORKERS.get(member)
    {
        worker.task.store(own_task(), Ordering::Relaxed);
        // SAFETY: the runtime ignores the place in the source, which may be null.
        let number = runtime.__kmpc_global_thread_num.map_or(0, |number| unsafe { number(null_mut()) });
        worker.number.store(number, Ordering::Relaxed);
        if runtime.is_llvms() {
            llvm_exit::record(member, number);
        }
        worker.tls_base.store(tls_base(), Ordering::Release);
    }
}

/// Whether all workers of a team of `size` sleep in the runtime's idle barrier. Waits a while for that, once
/// for each record.
pub fn are_asleep(runtime: &Runtime, size: u32) -> bool {
    let generation = GENERATION.load(Ordering::Relaxed);
    if ASLEEP.load(Ordering::Relaxed) == generation {
        return true;
    }
    let asleep = undisturbed(|| fall_asleep(runtime, size));
    if asleep {
        AWAKE.store(0, Ordering::Relaxed);
        ASLEEP.store(generation, Ordering::Relaxed);
    } else {
        AWAKE_AT.store(ticks(), Ordering::Relaxed);
        // After the pause there is one more try, not ten.
        AWAKE.store(AWAKE.load(Ordering::Relaxed).saturating_add(1).min(TRIES), Ordering::Relaxed);
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
    asleep
}

#[cold]
fn fall_asleep(runtime: &Runtime, size: u32) -> bool {
    // LLVM's runtime waits in its idle barrier by a function of libc.
    let within = match runtime.is_llvms() {
        true => Some(libc::pthread_cond_wait as *const () as usize),
        false => runtime.GOMP_barrier.map(|barrier| barrier as usize),
    };
    let Some((within, _)) = within.and_then(module_of) else { return false };
    let in_idle_barrier = |sleep: &Asleep| {
        module_of(sleep.at).is_some_and(|(map, _)| map == within)
            && (!runtime.is_llvms() || sleep.call & CALLS == ON_CONDITION)
    };
    let mut word = None;
    for worker in WORKERS.iter().take(size as usize).skip(1) {
        let task = worker.task.load(Ordering::Relaxed);
        let mut left = PATIENCE_MS + YIELDS;
        loop {
            match sleeps_on(task).filter(in_idle_barrier) {
                Some(_) if runtime.is_llvms() => break,
                // All on the same word, the idle barrier's.
                Some(sleep) if word.is_none_or(|word| word == sleep.on) => {
                    word = Some(sleep.on);
                    break;
                }
                _ if left == 0 => return false,
                _ => {
                    left -= 1;
                    give_way();
                    if left < PATIENCE_MS {
                        pause(1);
                    }
                }
            }
        }
    }
    true
}

/// A thread that sleeps in a futex call: the word, the operation, and where it was called.
struct Asleep {
    on: usize,
    call: usize,
    at: usize,
}

/// Bits of the operation, and that by which libc waits for a condition variable. For a mutex it is another
/// one.
const CALLS: usize = 0x7f;
const ON_CONDITION: usize = libc::FUTEX_WAIT_BITSET as usize;

/// How a thread of this process sleeps in a futex call, if it does.
fn sleeps_on(task: u32) -> Option<Asleep> {
    let mut text = [0u8; 256];
    let length = read_of_task(task, b"/syscall\0", &mut text)?;
    let mut fields = text.get(..length)?.split(|byte| byte.is_ascii_whitespace()).filter(|f| !f.is_empty());
    const FUTEX: &[u8] = b"202";
    const _: () = assert!(libc::SYS_futex == 202);
    if fields.next()? != FUTEX {
        return None;
    }
    let on = hex(fields.next()?)?;
    let call = hex(fields.next()?)?;
    Some(Asleep { on, call, at: hex(fields.next_back()?)? })
}

/// Reads a file of a thread's folder in /proc; returns its bytes.
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
        // SAFETY: the path ends with a zero, and the buffer has as many bytes as are read.
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

pub fn after_fork() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
