//! A question to the daemon about another process: which affinity it would have without scaf. One packet of
//! JSON each way, as the command line asks (`crates/scafd/src/control.rs`), on a connection of its own.

use super::attachment::PATIENCE_MS;
use super::{affinity, no_syscalls, socket};
use crate::sys::sched_affinity;
use crate::sys::undisturbed::undisturbed;
use scaf_proto::grant::Mask;

const BEFORE: &[u8] = b"{\"affinity_of\":";
const ANSWER: &[u8] = b"{\"affinity\":[";

/// The own affinity of the process of that number; `None` if the daemon hasn't narrowed it, or doesn't say.
#[cold]
pub fn affinity_of(process: i32) -> Option<Mask> {
    if no_syscalls::are_forbidden() {
        return None;
    }
    undisturbed(|| {
        // Most are as wide as this one.
        (sched_affinity::get(process) != affinity::own()).then(|| ask(process)).flatten()
    })
}

fn ask(process: i32) -> Option<Mask> {
    let (mut question, mut digits) = ([0u8; 32], [0; 10]);
    let parts = [BEFORE, socket::decimal(process.cast_unsigned(), &mut digits), b"}"];
    let length: usize = parts.iter().map(|part| part.len()).sum();
    question.iter_mut().zip(parts.into_iter().flatten()).for_each(|(cell, byte)| *cell = *byte);
    let connection = socket::open_for_question()?;
    let mut room = [0u8; 512];
    let got = connection.exchange(question.get(..length)?, &mut room, PATIENCE_MS)?;
    words(room.get(..got)?)
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
