//! What the kernel keeps of a thread and a program may change: which signals it blocks, and the stack of its
//! handlers.

use crate::sys::raw_syscalls::set_blocked;
use crate::sys::signals::{Stack, blocked, set_stack, stack};

/// What differs from the kernel thread's own, or that itself.
#[derive(Clone, Copy)]
pub struct SignalState {
    pub mask: Option<u64>,
    pub stack: Option<Stack>,
}

impl SignalState {
    pub const NOTHING: SignalState = SignalState { mask: None, stack: None };

    /// The calling thread's.
    pub fn now() -> SignalState {
        SignalState { mask: Some(blocked()), stack: Some(stack()) }
    }

    /// What differs from `other`.
    pub fn beside(self, other: SignalState) -> SignalState {
        SignalState {
            mask: self.mask.filter(|_| self.mask != other.mask),
            stack: self.stack.filter(|_| self.stack != other.stack),
        }
    }

    /// The same, with what `other` has in place of it.
    pub fn with(self, other: SignalState) -> SignalState {
        SignalState { mask: other.mask.or(self.mask), stack: other.stack.or(self.stack) }
    }

    pub fn is_nothing(self) -> bool {
        self.mask.is_none() && self.stack.is_none()
    }

    /// Sets it for the calling thread.
    pub fn set(self) {
        if let Some(stack) = self.stack {
            set_stack(stack);
        }
        if let Some(mask) = self.mask {
            set_blocked(mask);
        }
    }
}
