//! The processor's control words: rounding, and how denormal numbers are treated. LLVM's runtime passes the
//! master's on at each region. With libgomp each worker keeps its own. So a member begins with those of the
//! worker whose TLS it has, and the worker later takes over the member's.

use super::gathered_team::{MOST, Member};
use super::worker_tls;
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::sys::arch;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// What a member left to the worker with that TLS base.
struct Left {
    tls_base: AtomicUsize,
    words: AtomicU64,
}

static LEFT: [Left; MOST] =
    [const { Left { tls_base: AtomicUsize::new(0), words: AtomicU64::new(0) } }; MOST];
/// 1 once there is any: few programs change them.
static ANY: AtomicU32 = AtomicU32::new(0);

/// The words that a member of a region of that runtime begins with.
#[inline(always)]
pub fn first(runtime: &Runtime, member: usize) -> u64 {
    if runtime.is_llvms() { arch::control_words() } else { worker_tls::control_of(member) }
}

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
        left.tls_base.store(arch::tls_base(), Ordering::Release);
        ANY.store(1, Ordering::Release);
    }
}

/// A thread begins its part of a region. A member may have left it other words.
#[inline(always)]
pub fn take() {
    if ANY.load(Ordering::Acquire) != 0 {
        take_left();
    }
}

#[cold]
fn take_left() {
    let own = arch::tls_base();
    if let Some(left) = LEFT.iter().find(|left| left.tls_base.load(Ordering::Acquire) == own) {
        let words = left.words.load(Ordering::Relaxed);
        left.tls_base.store(0, Ordering::Relaxed);
        arch::set_control_words(words);
    }
}
