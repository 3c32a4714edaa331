//! What the kernel keeps of the calling thread for signals: which ones it blocks, and its handlers' stack.

use super::arch::bare_call;
use super::raw_syscalls::set_blocked;
use core::ptr::{null, null_mut};

/// Signals that the calling thread blocks, one bit each.
pub fn blocked() -> u64 {
    let mut now = 0u64;
    let arguments = [libc::SIG_SETMASK as usize, 0, (&raw mut now).expose_provenance(), size_of::<u64>()];
    // SAFETY: the kernel writes a mask of the size that it is told; a null mask changes nothing.
    unsafe { bare_call(libc::SYS_rt_sigprocmask, arguments) };
    now
}

/// The stack on which the calling thread's handlers run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    at: usize,
    flags: i32,
    bytes: usize,
}

impl Stack {
    /// Zeros, which the kernel never says.
    pub const UNSAID: Stack = Stack { at: 0, flags: 0, bytes: 0 };
    /// None but the thread's own.
    pub const NONE: Stack = Stack { at: 0, flags: libc::SS_DISABLE, bytes: 0 };
}

/// The calling thread's.
pub fn stack() -> Stack {
    let mut now = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
    alternate(null(), &mut now);
    // Whether a handler runs there just now is no setting.
    Stack { at: now.ss_sp.expose_provenance(), flags: now.ss_flags & !libc::SS_ONSTACK, bytes: now.ss_size }
}

/// Whether the caller is a handler that runs there.
pub fn is_on_stack() -> bool {
    let mut now = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
    alternate(null(), &mut now);
    now.ss_flags & libc::SS_ONSTACK != 0
}

pub fn set_stack(stack: Stack) {
    let new = libc::stack_t {
        ss_sp: core::ptr::with_exposed_provenance_mut(stack.at),
        ss_flags: stack.flags,
        ss_size: stack.bytes,
    };
    alternate(&new, null_mut());
}

fn alternate(new: *const libc::stack_t, old: *mut libc::stack_t) {
    let arguments = [new.expose_provenance(), old.expose_provenance(), 0, 0];
    // SAFETY: null, or a description of a stack to read or to write. A stack that is set is one that the
    // thread had, and has until it is set anew.
    unsafe { bare_call(libc::SYS_sigaltstack, arguments) };
}

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Faults stay with the thread that causes them, and glibc has two signals of its own.
const FAULTS: u64 = bit(libc::SIGSEGV)
    | bit(libc::SIGBUS)
    | bit(libc::SIGFPE)
    | bit(libc::SIGILL)
    | bit(libc::SIGTRAP)
    | bit(libc::SIGABRT);
const OF_GLIBCS: u64 = bit(32) | bit(33);

/// Has the calling thread handle no signal of the program's; returns the mask before, for [`set_blocked`].
pub fn block_signals() -> u64 {
    set_blocked(!(FAULTS | OF_GLIBCS))
}
