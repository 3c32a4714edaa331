//! Loops of the program's own that spin on memory are made to yield: to other members while the team is
//! gathered, to other threads where it has fewer contexts than threads. The inspection has found them all,
//! and where to change them ([`marks`](scaf_team::arch::spin_marks)).
//!
//! The program's code is changed while nobody can run it: by the master on its way into a region, or by the
//! last thread at a barrier. The runtime's threads are in the runtime then. Programs that start threads of
//! their own are left alone. The bytes are written by `/proc/self/mem`, so the code never loses a right; they
//! stay for as long as the process lives. A loop that yields costs some 10 ns more a round. It does so only
//! while the latest team is larger than the grant: a resized team's threads have a context each, and giving
//! these up cost an LU of eight threads on eight contexts 70% (docs/decisions/spins.md).

pub use super::fibers::yield_in_spin_loop;
use super::gathered_team::{MOST, SCHEDULER};
use super::{around, forbids};
use crate::link::pages;
use crate::program::masters::{LATEST, is_latest_crowded, one_master};
use crate::program::promise;
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::runtimes::modules;
use crate::sys::arch::{can_save_registers, yielding};
use crate::sys::bare::nap;
use crate::sys::code::{self, Memory, Near};
use crate::sys::settings;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_proto::grant::{GrantPage, MARKS, Word};
use scaf_proto::report::fact;
use scaf_team::arch::spin_marks::{JUMP, JUMP_BYTES, MOST_BYTES, Mark, NAME, STUB_BYTES};
use scaf_team::gather::scheduler::FiberScheduler;

/// For how many modules, plus one, the loops were tried, and whether all yield.
static TRIED: AtomicU32 = AtomicU32::new(0);
static MADE: AtomicU32 = AtomicU32::new(0);
/// Where code was changed.
static CHANGED: [AtomicU64; MARKS] = [const { AtomicU64::new(0) }; MARKS];

yielding!(
    spun: pages::GRANT, GrantPage::WORD_AT, Word::FOLDED, LATEST; SCHEDULER, FiberScheduler::<MOST>::CARRIER_LIMIT_AT; yield_now
);

/// What a loop calls each time around.
extern "C" fn yield_now() {
    // SAFETY: this thread's own state.
    match unsafe { around(thread()) } {
        // SAFETY: the caller runs the member.
        Some(me) => unsafe { yield_in_spin_loop(me) },
        // On newer kernels, giving way to others doesn't let them run.
        None if is_latest_crowded() => nap(),
        None => {}
    }
}

/// Whether all loops that the daemon has told of yield.
#[inline(always)]
pub fn are_made() -> bool {
    MADE.load(Ordering::Relaxed) == now() && modules::NEWS.load(Ordering::Relaxed) == 0
}

fn now() -> u32 {
    modules::met().wrapping_add(1)
}

/// The caller is the last thread to arrive at a barrier.
#[inline(always)]
pub fn make_at_barrier() {
    let word = pages::grant().word();
    if word.spins() {
        make(word);
    }
}

/// The caller is a master on its way into a region: whether all loops yield.
pub fn make_at_region(runtime: &Runtime, word: Word) -> bool {
    are_made() || (forbids::nothing(runtime) && make(word))
}

/// Has all loops yield, if that is possible and they don't yet. Nobody but the caller is in the program's
/// code.
fn make(word: Word) -> bool {
    if are_made() {
        return true;
    }
    let again = TRIED.load(Ordering::Relaxed) == now();
    if again || !modules::are_inspected(word) || !settings::get().gather || !one_master() {
        return false;
    }
    TRIED.store(now(), Ordering::Relaxed);
    let made = try_all();
    if made {
        MADE.store(now(), Ordering::Relaxed);
        promise::note(fact::YIELDS);
    }
    made
}

#[cold]
fn try_all() -> bool {
    if !forbids::starts_no_threads() || !can_save_registers() || !code::can_renew() {
        return false;
    }
    let Some(memory) = Memory::open() else { return false };
    let mut jumps = [(0u64, [0u8; JUMP_BYTES]); MARKS];
    let mut count = 0usize;
    let mut near: Option<Near> = None;
    let Some(marks) = pages::grant().marks() else { return false };
    for mark in marks {
        let mut bytes = [0u8; MOST_BYTES];
        let Some(mark) = Mark::from_words(mark) else { return false };
        let Some(bytes) = bytes.get_mut(..mark.length.into()) else { return false };
        if !memory.read(mark.at, bytes) {
            return false;
        }
        if CHANGED.iter().any(|at| at.load(Ordering::Relaxed) == mark.at) && bytes.first() == Some(&JUMP) {
            continue;
        }
        let mut jump = near.as_mut().and_then(|near| jump(near, &mark, bytes));
        if jump.is_none() {
            let new = Near::new(NAME, mark.at, spun as *const () as u64);
            if core::mem::replace(&mut near, new).is_some_and(|full| !full.seal()) {
                return false;
            }
            jump = near.as_mut().and_then(|near| self::jump(near, &mark, bytes));
        }
        let (Some(jump), Some(place)) = (jump, jumps.get_mut(count)) else { return false };
        *place = (mark.at, jump);
        count += 1;
    }
    if near.is_some_and(|near| !near.seal()) {
        return false;
    }
    let mut free = CHANGED.iter().filter(|at| at.load(Ordering::Relaxed) == 0);
    for (at, jump) in jumps.iter().take(count) {
        // SAFETY: nobody is there, and a stub does the same.
        let Some(place) = free.next().filter(|_| unsafe { memory.write(*at, jump) }) else { return false };
        place.store(*at, Ordering::Relaxed);
    }
    code::renew()
}

/// Makes a mark's stub; the jump to it.
fn jump(near: &mut Near, mark: &Mark, bytes: &[u8]) -> Option<[u8; JUMP_BYTES]> {
    let at = near.next(STUB_BYTES)?;
    let (stub, jump) = (mark.stub(bytes, at, near.function())?, mark.jump(at)?);
    near.put(&stub);
    Some(jump)
}
