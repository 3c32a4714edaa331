//! Threads that the program binds itself. Their affinity may be the very one that the daemon has set for the
//! others, so masks don't tell whose it is. The daemon learns of it from here, gives all of the program's
//! threads their own affinity back, and touches them no more. Then the affinity is set once more, so that it
//! is the program's whatever was done in between. The daemon manages the program again when no thread is
//! bound any more: some libraries go to each PU for a moment, to look at it.

use super::{affinity, no_syscalls, question};
use crate::sys::errno::keeping_errno;
use scaf_proto::grant::Mask;

/// Whose affinity is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// That of a thread of this process.
    Ours,
    /// That of the process of this number; 0 is the calling one, where that is a child with its parent's
    /// memory, which is about to become another program.
    Process(u32),
}

/// Makes a `call` that sets an affinity, and says whether it did; to which one, `mask` knows then.
pub fn set<R>(whose: impl Fn() -> Whose, mask: impl Fn() -> Mask, call: impl Fn() -> (R, bool)) -> R {
    if keeping_errno(no_syscalls::are_forbidden) {
        return call().0;
    }
    // Known before it is changed.
    keeping_errno(affinity::own);
    let (mut result, mut done) = call();
    if !done {
        return result;
    }
    let binds = affinity::leaves_out_some(&mask());
    match whose() {
        Whose::Process(number) if binds => {
            question::binds(number);
            result = call().0;
        }
        Whose::Ours if binds => {
            // Another thread may say meanwhile that none is bound, and the daemon find so.
            for _ in 0..TRIES {
                if !done || affinity::are_chosen() {
                    break;
                }
                tell();
                (result, done) = call();
            }
        }
        Whose::Ours => unbind(),
        _ => {}
    }
    result
}

const TRIES: u32 = 4;

/// After attaching, to a daemon that may be another one.
pub fn tell_again() {
    if affinity::are_chosen() {
        tell();
    }
}

fn tell() {
    question::binds(0);
    affinity::choose(true);
}

/// A thread may be the last one that was bound; the daemon looks at all. What it finds isn't needed here: who
/// binds one tells again.
fn unbind() {
    if affinity::choose(false) {
        question::binds_no_more();
    }
}
