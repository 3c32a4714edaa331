//! Questions to the daemon about affinities: which one another process would have without scaf; and that this
//! program is about to bind a thread. One packet of JSON each way, as the command line asks
//! (`crates/scafd/src/control.rs`), on a connection of its own.

use super::socket::PATIENCE_MS;
use super::{affinity, no_syscalls, socket};
use crate::sys::sched_affinity;
use crate::sys::undisturbed::undisturbed;
use core::ffi::c_int;
use scaf_proto::grant::Mask;

const AFFINITY_OF: &[u8] = b"{\"affinity_of\":";
const BINDS: &[u8] = b"{\"binds\":";
const BINDS_NO_MORE: &[u8] = b"{\"binds_no_more\":";
/// How long a thread waits that is about to be bound, once a program. The daemon moves all threads meanwhile.
const BIND_PATIENCE_MS: c_int = 100;
const ANSWER: &[u8] = b"{\"affinity\":[";

/// The own affinity of the process of that number; `None` if the daemon hasn't narrowed it, or doesn't say.
#[cold]
pub fn affinity_of(process: i32) -> Option<Mask> {
    if no_syscalls::are_forbidden() {
        return None;
    }
    undisturbed(|| {
        // Most are as wide as this one.
        let is_other = sched_affinity::get(process) != affinity::own();
        let mut room = [0u8; 512];
        if !is_other {
            return None;
        }
        words(ask(AFFINITY_OF, process.cast_unsigned(), &mut room, PATIENCE_MS)?)
    })
}

/// Says that a process, or for 0 this one, is about to be bound, and waits until its threads are as without
/// scaf.
#[cold]
pub fn binds(process: u32) {
    undisturbed(|| ask(BINDS, process, &mut [0; 64], BIND_PATIENCE_MS).is_some());
}

/// Says that a thread of this process isn't bound any more, and maybe none is.
#[cold]
pub fn binds_no_more() {
    undisturbed(|| ask(BINDS_NO_MORE, 0, &mut [0; 64], BIND_PATIENCE_MS).is_some());
}

fn ask<'r>(before: &[u8], process: u32, room: &'r mut [u8], patience_ms: c_int) -> Option<&'r [u8]> {
    let (mut question, mut digits) = ([0u8; 32], [0; 10]);
    let parts = [before, socket::decimal(process, &mut digits), b"}"];
    let length: usize = parts.iter().map(|part| part.len()).sum();
    question.iter_mut().zip(parts.into_iter().flatten()).for_each(|(cell, byte)| *cell = *byte);
    let connection = socket::open_for_question()?;
    let got = connection.exchange(question.get(..length)?, room, patience_ms)?;
    room.get(..got)
}

fn words(answer: &[u8]) -> Option<Mask> {
    let list = answer.strip_prefix(ANSWER)?.split(|byte| *byte == b']').next()?;
    let mut mask: Mask = [0; _];
    let mut known = false;
    for (word, digits) in mask.iter_mut().zip(list.split(|byte| *byte == b',')) {
        for digit in digits {
            let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
            *word = word.checked_mul(10)?.checked_add(u64::from(digit))?;
        }
        known |= *word != 0;
    }
    known.then_some(mask)
}
