//! Serial experiments: how long does a region take on one context? (SCAF, section 4.3.1) Just before the
//! region the process is copied (clone3), and the copy runs it with a team of one while the program goes on
//! with one context less. The copy is harmless ([`child`]), and the program can't notice it: its end sends no
//! signal, and a plain wait doesn't see it. The daemon orders one region at a time
//! (`crates/scafd/src/serial_trials.rs`); here are the rules that only the process can check.
//! `SCAF_EXPERIMENT_EVERY=N`, for tests, tries every Nth region of several threads, ordered or not, even
//! without room and with other threads at work.

mod child;
mod result_page;

use self::result_page::{RESULT_BYTES, ResultPage};
use crate::link::pages;
use crate::program::grant_watcher;
use crate::runtimes::entries::{Body, Runtime};
use crate::sys::arch::{bare_call, thread_block, ticks};
use crate::sys::errno::keeping_errno;
use crate::sys::proc_self::{each_line, each_mapping};
use crate::sys::{process, settings};
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use scaf_proto::experiment::{Account, Order, Outcome};
use scaf_team::choice::{Choice, Length};
use scaf_team::sandbox::proc_lines;
use scaf_team::sandbox::proc_maps::Care;

/// Ticks after which a copy that hasn't ended is killed: 2 to 4 s at 4 to 2 GHz.
const LATE_TICKS: u64 = 1 << 33;
/// Ticks between two looks whether the copy is still there: 0.25 to 0.5 ms.
const LOOK_TICKS: u64 = 1 << 20;
/// clone3's flag that the copy is to have none of the program's signal handlers.
const CLEAR_SIGNAL_HANDLERS: u64 = 1 << 32;
/// Bits; 0 while experiments are off.
static STATE: AtomicU32 = AtomicU32::new(0);
/// There is an experiment: it takes one of the program's contexts.
const RUNNING: u32 = 1;
/// Every Nth region is to be tried.
const EVERY_NTH: u32 = 2;
/// The copy's process id, or 0.
#[unsafe(link_section = ".data.at_load")]
static PID: AtomicU32 = AtomicU32::new(0);
static MADE: AtomicU64 = AtomicU64::new(0);
static LOOKED: AtomicU64 = AtomicU64::new(0);
static REGION: AtomicU64 = AtomicU64::new(0);
/// The latest order that was carried out.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static PASSED: AtomicU32 = AtomicU32::new(0);
/// Where the copy leaves word; mapped at the first experiment.
static RESULT: AtomicPtr<ResultPage> = AtomicPtr::new(null_mut());

pub struct Candidate {
    pub body: Body,
    pub runtime: &'static Runtime,
    pub choice: Choice,
    /// The program's team size without scaf.
    pub natural: u32,
    /// Whether a team of one would do the same work: no sections, and no other master.
    pub plain: bool,
}

pub fn at_load() {
    if settings::get().experiment_every != 0 {
        STATE.store(EVERY_NTH, Ordering::Relaxed);
    }
}

/// Whether [`attend`] has something to do. While experiments are off, that is one branch.
#[inline(always)]
pub fn concerns(body: Body) -> bool {
    let (order, state) = (pages::grant().ordered(), STATE.load(Ordering::Relaxed));
    order.bits() | u64::from(state) != 0 && (state != 0 || is_ordered(order, body))
}

fn is_ordered(order: Order, body: Body) -> bool {
    order.is_for(body as usize) && order.bits() != TAKEN.load(Ordering::Relaxed)
}

#[inline(always)]
pub fn contexts() -> u32 {
    STATE.load(Ordering::Relaxed) & RUNNING
}

fn is_over() {
    STATE.fetch_and(!RUNNING, Ordering::Relaxed);
}

/// Looks after a running experiment, or makes one of the region if wanted: the copy then runs `alone`.
/// `again` chooses the region's team anew, as for that length; a choice that has changed is returned.
#[cold]
#[inline(never)]
pub fn attend(
    region: &Candidate,
    again: impl Fn(Option<Length>) -> Choice,
    alone: impl FnOnce(),
) -> Option<Choice> {
    keeping_errno(|| {
        if contexts() != 0 {
            collect(ticks());
            return (contexts() == 0).then(|| again(None));
        }
        let forced = is_nth(region);
        let order = pages::grant().ordered();
        let ordered = is_ordered(order, region.body);
        if !forced && !ordered {
            return None;
        }
        if ordered {
            TAKEN.store(order.bits(), Ordering::Relaxed);
        }
        // Another thread may have been first.
        if STATE.fetch_or(RUNNING, Ordering::Relaxed) & RUNNING != 0 {
            return None;
        }
        REGION.store(region.body as usize as u64, Ordering::Relaxed);
        // A long region keeps its team so that it can grow; this run makes room all the same.
        let chosen = again(Some(Length::Short));
        let room = forced || (region.is_eligible() && chosen.ids == 0 && chosen.team < region.choice.team);
        let made = if room { make(region, forced, alone) } else { Err(Outcome::NoRoom) };
        match made {
            Ok(()) => Some(chosen),
            Err(outcome) => {
                is_over();
                tell(outcome, 0, 0);
                None
            }
        }
    })
}

impl Candidate {
    /// Whether a team of one tells about its speedup. LLVM's runtime keeps other books of its threads.
    fn is_eligible(&self) -> bool {
        self.plain && self.choice.ids == 0 && self.choice.team > 1 && !self.runtime.is_llvms()
    }
}

fn is_nth(region: &Candidate) -> bool {
    let every = settings::get().experiment_every;
    every != 0 && region.is_eligible() && PASSED.fetch_add(1, Ordering::Relaxed) % every.max(1) == every - 1
}

fn make(region: &Candidate, forced: bool, alone: impl FnOnce()) -> Result<(), Outcome> {
    let result = result().ok_or(Outcome::Refused)?;
    let here = 0u8;
    let own = [(&raw const here).addr(), thread_block().addr()];
    if !is_safe(region.natural, forced, &own) {
        return Err(Outcome::Unsafe);
    }
    result.outcome.store(0, Ordering::Relaxed);
    child::prepare();
    let (parent, pu) = (process::pid(), process::pu());
    // SAFETY: clone3's arguments may be zeros, which is a fork.
    let mut arguments = unsafe { core::mem::zeroed::<libc::clone_args>() };
    arguments.flags = CLEAR_SIGNAL_HANDLERS;
    // SAFETY: the kernel reads the arguments. The copy goes on with a copy of this stack, as after a fork,
    // and makes only calls that are sound there ([`child`]). By a bare call it stays where the program is.
    let pid = unsafe {
        let about = [(&raw const arguments).expose_provenance(), size_of::<libc::clone_args>(), 0, 0];
        bare_call(libc::SYS_clone3, about)
    };
    if pid == 0 {
        child::run(result, parent, pu, &own, alone);
    }
    if pid < 0 {
        return Err(Outcome::Refused);
    }
    let now = ticks();
    MADE.store(now, Ordering::Relaxed);
    LOOKED.store(now, Ordering::Relaxed);
    PID.store(pid as u32, Ordering::Release);
    Ok(())
}

fn result() -> Option<&'static ResultPage> {
    let mut at = RESULT.load(Ordering::Acquire);
    if at.is_null() {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which stays.
        let new = unsafe { libc::mmap(null_mut(), RESULT_BYTES, access, kind, -1, 0) };
        if new == libc::MAP_FAILED {
            return None;
        }
        at = new.cast();
        RESULT.store(at, Ordering::Release);
    }
    // SAFETY: mapped above, of zeros, which are values of its atomics; there is one experiment at a time.
    unsafe { at.as_ref() }
}

/// Whether nothing in the process could be disturbed by a copy, or disturb it.
fn is_safe(natural: u32, forced: bool, own: &[usize]) -> bool {
    let (mut threads, mut tracer) = (0, None);
    let read = each_line(c"/proc/self/status", |line| {
        threads = proc_lines::field(line, b"Threads").unwrap_or(threads);
        tracer = proc_lines::field(line, b"TracerPid").or(tracer);
        true
    });
    // Threads other than the team's may be in the middle of anything: the copy has nobody to give their locks
    // back, and a read that goes past the page cache may miss the program's memory.
    let known = u64::from(natural) + u64::from(grant_watcher::is_running());
    read && tracer == Some(0)
        && (forced || threads <= known)
        && each_mapping(|mapping| mapping.care(own) != Care::Refuse)
}

/// Takes in the experiment's result, if it has ended.
fn collect(now: u64) {
    let (Some(result), pid) = (result(), PID.load(Ordering::Acquire)) else { return };
    let late = now.wrapping_sub(MADE.load(Ordering::Relaxed)) > LATE_TICKS;
    let said = result.outcome.load(Ordering::Acquire);
    let looked = now.wrapping_sub(LOOKED.load(Ordering::Relaxed)) < LOOK_TICKS;
    if pid == 0 || (said == 0 && looked) {
        return;
    }
    LOOKED.store(now, Ordering::Relaxed);
    match wait(pid, libc::WNOHANG) {
        0 if late => kill(pid),
        0 => {}
        _ => {
            PID.store(0, Ordering::Relaxed);
            let outcome = Outcome::of(said).unwrap_or(Outcome::Late);
            let (cpu_ns, lost_ns) = match outcome {
                Outcome::Measured => {
                    (result.cpu_ns.load(Ordering::Relaxed), result.lost_ns.load(Ordering::Relaxed))
                }
                _ => (0, 0),
            };
            tell(outcome, cpu_ns, lost_ns);
            is_over();
        }
    }
}

/// Waits for the copy by `__WCLONE`; 0 if it hasn't ended. A wait for any process may have taken it.
fn wait(pid: u32, how: c_int) -> i64 {
    // SAFETY: the kernel writes nothing: neither status nor usage is asked for.
    unsafe {
        libc::syscall(libc::SYS_wait4, pid, null_mut::<c_int>(), how | libc::__WCLONE, null_mut::<c_void>())
    }
}

/// Kills the copy. Nobody has waited for it, so its number isn't another process's.
fn kill(pid: u32) {
    // SAFETY: sends a signal to another process, and touches no memory.
    unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
}

fn tell(outcome: Outcome, cpu_ns: u64, lost_ns: u64) {
    let region = REGION.load(Ordering::Relaxed);
    pages::report().experiments().record(&Account { region, outcome, cpu_ns, lost_ns });
}

/// After a fork, in the child: neither the experiment nor the page is its own.
pub fn after_fork() {
    is_over();
    PID.store(0, Ordering::Relaxed);
    let result = RESULT.swap(null_mut(), Ordering::Relaxed);
    if !result.is_null() {
        // SAFETY: mapped by `result`, and forgotten.
        unsafe { libc::munmap(without_provenance_mut(result.addr()), RESULT_BYTES) };
    }
}

/// Ends an experiment with the program, so that whoever inherits the program's children never sees it.
extern "C" fn at_exit() {
    let pid = PID.swap(0, Ordering::Relaxed);
    // Only if it is still a child of this process, and nobody has waited for it.
    if pid != 0 && wait(pid, libc::WNOHANG) == 0 {
        kill(pid);
        wait(pid, 0);
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
