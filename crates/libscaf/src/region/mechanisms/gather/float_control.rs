//! How members round, and what they make of small numbers: the processor's control words. LLVM's runtime
//! hands the master's on at each region; libgomp leaves each worker its own, for as long as it lives. So a
//! member begins with those of the worker whose storage it has, and the worker goes on with those of the
//! member.

use super::gathered_team::{MOST, Member};
use super::worker_tls;
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::sys::arch;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// What a member left to the worker with that storage.
struct Left {
    storage: AtomicUsize,
    words: AtomicU64,
}

static LEFT: [Left; MOST] = [const { Left { storage: AtomicUsize::new(0), words: AtomicU64::new(0) } }; MOST];
/// 1 once any has: few programs do that.
static ANY: AtomicU32 = AtomicU32::new(0);

/// Those that a member of a region of that runtime begins with.
#[inline(always)]
pub fn first(runtime: &Runtime, member: usize) -> u64 {
    if runtime.is_llvms() { arch::control_words() } else { worker_tls::control_of(member) }
}

/// A member but the master is about to end.
#[inline(always)]
pub fn leave(me: &Member) {
    if thread().runtime.get().is_some_and(Runtime::is_llvms) {
        return;
    }
    let (words, number) = (arch::control_words(), me.number.get() as usize);
    if words != worker_tls::control_of(number) {
        leave_others(number, words);
    }
}

#[cold]
fn leave_others(number: usize, words: u64) {
    worker_tls::set_control(number, words);
    if let Some(left) = LEFT.get(number) {
        left.words.store(words, Ordering::Relaxed);
        left.storage.store(arch::tls_base(), Ordering::Release);
        ANY.store(1, Ordering::Release);
    }
}

/// A thread begins its part of a region: members may have had its storage.
#[inline(always)]
pub fn take() {
    if ANY.load(Ordering::Acquire) != 0 {
        take_left();
    }
}

#[cold]
fn take_left() {
    let own = arch::tls_base();
    if let Some(left) = LEFT.iter().find(|left| left.storage.load(Ordering::Acquire) == own) {
        let words = left.words.load(Ordering::Relaxed);
        left.storage.store(0, Ordering::Relaxed);
        arch::set_control_words(words);
    }
}
