//! Does a thread that a sample finds at some place wait by spinning?
//!
//! It does in a loop that pauses, and in one that reads memory and changes nothing ([`Way::spins`]): one
//! round of it is as all others until another thread writes. It does right behind a pause or a call of the
//! kernel that yields, too, wherever that stands. A loop that computes around one that waits doesn't count.

use crate::decode::patterns::waits_before;
use crate::decode::{Effect, Flow, Instruction, Target, decode};
use crate::size_use::{MAX_LOOP, Way};

/// Bytes before and behind a place that are looked at.
pub const AROUND: usize = 512;

/// Where the bytes are taken to lie: their own address doesn't matter.
const BASE: u64 = 1 << 32;

/// Whether a thread whose next instruction is at `at` in these bytes waits by spinning.
#[must_use]
pub fn waits(code: &[u8], at: usize) -> bool {
    let Some((before, behind)) = code.split_at_checked(at) else { return false };
    if waits_before(before) {
        return true;
    }
    let place = BASE + at as u64;
    let ahead = decode(behind, place).take(MAX_LOOP).take_while(|it| !it.is_invalid());
    for instruction in ahead {
        match (instruction.flow(), instruction.target()) {
            // The innermost loop around it.
            (Flow::Jump | Flow::Branch, Target::Code(begin)) if (BASE..=place).contains(&begin) => {
                return loop_of(code, begin, instruction.address(), place)
                    .is_some_and(|it| is_wait(&it, place));
            }
            (Flow::Return | Flow::Stop | Flow::Interrupt, _) => return false,
            _ => {}
        }
    }
    false
}

/// The instructions from `begin` to `last`; `None` if those have another one at `place`, or are many.
fn loop_of(code: &[u8], begin: u64, last: u64, place: u64) -> Option<Vec<Instruction>> {
    let code = code.get(usize::try_from(begin.checked_sub(BASE)?).ok()?..)?;
    let mut all = Vec::new();
    for instruction in decode(code, begin).take(MAX_LOOP).take_while(|it| !it.is_invalid()) {
        all.push(instruction);
        if instruction.address() == last {
            return all.iter().any(|it| it.address() == place).then_some(all);
        }
    }
    None
}

fn is_wait(all: &[Instruction], place: u64) -> bool {
    // Loops within, which the place isn't in.
    let begins = |end: &Instruction| match end.target() {
        Target::Code(begin) if matches!(end.flow(), Flow::Jump | Flow::Branch) => Some(begin),
        _ => None,
    };
    let is_other = |pause: &Instruction| {
        all.iter().any(|end| {
            let around = |at: u64| begins(end).is_some_and(|begin| (begin..=end.address()).contains(&at));
            around(pause.address()) && !around(place)
        })
    };
    if all.iter().any(|it| it.pauses() && !is_other(it)) {
        return true;
    }
    let mut way = Way::new();
    let only_reads = all.iter().all(|it| match it.effect() {
        Effect::Registers(look) => way.takes(&look),
        Effect::Call(_) | Effect::More => false,
    });
    only_reads && way.spins()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a thread waits at each instruction of this code, which is found in the midst of zeros.
    fn all(code: &[u8]) -> Vec<bool> {
        let bytes = [&[0xc3; 64][..], code, &[0xc3; 64]].concat();
        let instructions = decode(code, 0).take_while(|it| it.address() < code.len() as u64);
        instructions.map(|it| waits(&bytes, 64 + it.address() as usize)).collect()
    }

    #[test]
    fn loops_that_pause_or_only_read_wait() {
        // pause; cmp %eax,(%rdi); jne to the pause; ret
        assert_eq!(all(&[0xf3, 0x90, 0x39, 0x07, 0x75, 0xfa, 0xc3]), [true, true, true, false]);
        // The same with a count of rounds: dec %ecx; je out of it.
        let counted = [0xf3, 0x90, 0x39, 0x07, 0x74, 0x04, 0xff, 0xc9, 0x75, 0xf6, 0xc3];
        assert_eq!(all(&counted), [true, true, true, true, true, false]);
        // cmp %eax,(%rdi); jne back
        assert_eq!(all(&[0x39, 0x07, 0x75, 0xfc]), [true, true]);
        // pause; ret, as a function of its own: behind it
        assert_eq!(all(&[0xf3, 0x90, 0xc3]), [false, true]);
        // mov $24,%eax; syscall; ret
        assert_eq!(all(&[0xb8, 0x18, 0, 0, 0, 0x0f, 0x05, 0xc3]), [false, false, true]);
    }

    #[test]
    fn loops_that_compute_don_t() {
        // add (%rdi),%rax; add $8,%rdi; cmp %rsi,%rdi; jne back
        let sum = [0x48, 0x03, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x39, 0xf7, 0x75, 0xf4];
        assert_eq!(all(&sum), [false; 4]);
        // mov %eax,(%rdi); cmp %eax,(%rsi); jne back
        assert_eq!(all(&[0x89, 0x07, 0x39, 0x06, 0x75, 0xfa]), [false; 3]);
        // A loop that waits within one that computes: pause; cmp %eax,(%rdi); jne back; inc %ecx; jne back
        let within = [0xf3, 0x90, 0x39, 0x07, 0x75, 0xfa, 0xff, 0xc1, 0x75, 0xf6];
        assert_eq!(all(&within), [true, true, true, false, false]);
    }

    #[test]
    fn bytes_that_are_no_code_and_places_outside_say_nothing() {
        assert!(!waits(&[], 0) && !waits(&[0x75], 0) && !waits(&[0x75, 0xfe], 9));
        // jne to itself changes nothing, but reads no memory either.
        assert!(!waits(&[0x75, 0xfe], 0));
    }
}
