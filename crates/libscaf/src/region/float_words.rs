//! The processor's control words: rounding, and how denormal numbers are treated. With libgomp a worker keeps
//! those that the master had when it started the worker. A program that changes them later has a first thread
//! that computes otherwise than its workers, so who computes what counts: its teams keep their sizes then.
//! LLVM's runtime passes the master's on at each region.

use super::thread::Thread;
use crate::runtimes::entries::Runtime;
use crate::sys::arch::{control_words, set_control_words};

/// [`Thread::unlike`]: it has the words that its workers were started with; others, which was found out just
/// now; and others as before.
const LIKE: u32 = 0;
const NEW: u32 = 1;
const KNOWN: u32 = 2;

/// Whether the master's words are those that its workers were started with. Called before each region of a
/// team, the first one included.
#[inline(always)]
pub fn are_the_teams(this: &Thread, runtime: &Runtime) -> bool {
    if runtime.is_llvms() {
        return true;
    }
    let (now, first) = (control_words(), this.first_words.get());
    if first == 0 {
        this.first_words.set(now);
    }
    if first == 0 || first == now {
        this.unlike.set(LIKE);
        return true;
    }
    if this.unlike.get() == LIKE {
        this.unlike.set(NEW);
    }
    false
}

/// Whether workers that aren't there because of us have to be started now ([`start_by`]).
#[inline(always)]
pub fn are_new(this: &Thread) -> bool {
    this.unlike.get() == NEW
}

/// Has `fill_teams` start them, with the words that they would have.
#[cold]
#[inline(never)]
pub fn start_by(this: &Thread, fill_teams: impl FnOnce()) {
    this.unlike.set(KNOWN);
    let now = control_words();
    set_control_words(this.first_words.get());
    fill_teams();
    set_control_words(now);
}
