//! The processor's control words: rounding, and how denormal numbers are treated. With libgomp a worker keeps
//! those that the master had when it started the worker. A program that changes them later has a first thread
//! that computes otherwise than its workers, so who computes what counts: its teams keep their sizes then.
//! LLVM's runtime passes the master's on at each region.

use crate::runtimes::entries::Runtime;
use crate::sys::arch::{control_words, set_control_words};
use core::cell::Cell;

/// Copies of runtimes for which a thread's words are kept, those that were met first. Teams of others keep
/// their sizes.
const COPIES: usize = 4;

/// How a thread's words are to those that its workers of one copy were started with.
const LIKE: u32 = 0;
/// Others, which was found out just now, and workers are missing.
const NEW: u32 = 1;
/// Others, and all workers are there.
const KNOWN: u32 = 2;

/// A thread's words at its first region of each copy.
#[repr(C)]
pub struct FirstWords {
    /// 0 before it.
    words: [Cell<u64>; COPIES],
    now: [Cell<u32>; COPIES],
    /// 1 where the latest team was smaller because of us: libgomp has ended the other workers.
    smaller: [Cell<u32>; COPIES],
}

impl FirstWords {
    fn of(&self, runtime: &Runtime) -> Option<(&Cell<u64>, &Cell<u32>)> {
        self.words.get(runtime.number()).zip(self.now.get(runtime.number()))
    }

    /// A team is about to run, which is smaller because of us or isn't.
    #[inline(always)]
    pub fn team_is(&self, runtime: &Runtime, smaller: bool) {
        if let Some(place) = self.smaller.get(runtime.number()) {
            place.set(u32::from(smaller));
        }
    }

    fn lacks_workers(&self, runtime: &Runtime) -> bool {
        self.smaller.get(runtime.number()).is_some_and(|smaller| smaller.get() != 0)
    }
}

/// Whether the master's words are those that its workers were started with. Called before each region of a
/// team, the first one included.
#[inline(always)]
pub fn are_the_teams(first_words: &FirstWords, runtime: &Runtime) -> bool {
    if runtime.is_llvms() {
        return true;
    }
    let Some((first, how)) = first_words.of(runtime) else { return false };
    let words = control_words();
    if first.get() == 0 {
        first.set(words);
    }
    if first.get() == words {
        how.set(LIKE);
    } else if how.get() == LIKE {
        how.set(if first_words.lacks_workers(runtime) { NEW } else { KNOWN });
    }
    how.get() == LIKE
}

/// Has `fill` start those of the copy's workers that aren't there because of us, with the words that they
/// would have, if they have become others just now.
#[inline(always)]
pub fn keep_for(first_words: &FirstWords, runtime: &Runtime, fill: impl FnOnce() -> bool) {
    if let Some((first, how)) = first_words.of(runtime)
        && how.get() == NEW
    {
        start(first.get(), how, fill);
    }
}

#[cold]
#[inline(never)]
fn start(first: u64, how: &Cell<u32>, fill: impl FnOnce() -> bool) {
    let now = control_words();
    set_control_words(first);
    if fill() {
        how.set(KNOWN);
    }
    set_control_words(now);
}
