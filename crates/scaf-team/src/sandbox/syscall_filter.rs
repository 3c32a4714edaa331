//! The seccomp filter of a serial experiment, which runs in a forked copy of the program. Calls without an
//! effect outside the copy are allowed. All others raise SIGSYS: its handler emulates writes and ends the
//! copy at anything else. Reads aren't allowed because the copy shares file positions with the original. No
//! memory can be made writable, nothing shared mapped, and no signal handler changed.

use crate::arch::system_calls::{
    self, FUTEX, HARMLESS, MADVISE, MMAP, MPROTECT, PWRITE64, PWRITEV, PWRITEV2, WRITE, WRITEV,
};

/// An instruction of the kernel's filter machine (`struct sock_filter`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Instruction {
    /// What it does.
    pub code: u16,
    /// Instructions to skip if a comparison is true.
    pub jt: u8,
    /// The same if it is false.
    pub jf: u8,
    /// Its constant.
    pub k: u32,
}

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_SET: u16 = 0x45;
const RETURN: u16 = 0x06;
/// Kills the copy: it isn't of this architecture.
const KILL: u32 = 0x8000_0000;
const TRAP: u32 = 0x0003_0000;
const ALLOW: u32 = 0x7fff_0000;
/// Offsets in `struct seccomp_data`: the call's number, the architecture, the lower half of an argument.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const fn argument(number: u32) -> u32 {
    16 + 8 * number
}

/// Advice about the copy's own pages: NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, (NO)HUGEPAGE.
const ADVICE: [u32; 8] = [0, 1, 2, 3, 4, 8, 14, 15];
/// FUTEX_WAKE and FUTEX_WAKE_BITSET, private. Waiting would be in vain: nobody else is there.
const WAKES: [u32; 2] = [1 | 128, 10 | 128];
/// Flags of mmap that are checked, and their values: private anonymous memory, not of huge pages.
const MAP_LOOK: u32 = 0x0f | 0x20 | 0x4_0000;
const MAP_WANTED: u32 = 0x02 | 0x20;
const PROT_WRITE: u32 = 2;
const LENGTH: usize = 4 + HARMLESS.len() + 4 + 2 + 5 + (1 + ADVICE.len() + 2) + 4 + (1 + WAKES.len() + 2);
/// The filter.
pub static PROGRAM: [Instruction; LENGTH] = program();

/// Calls that write to a file, which the copy emulates: by how they give their length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Write {
    /// The third argument is the number of bytes.
    Bytes,
    /// The second argument is an array of as many parts as the third says.
    Parts,
}

/// Which kind of write the call is, if it is one.
pub fn write(call: i32) -> Option<Write> {
    match call {
        WRITE | PWRITE64 => Some(Write::Bytes),
        WRITEV | PWRITEV | PWRITEV2 => Some(Write::Parts),
        _ => None,
    }
}

/// Whether the call waits for another thread.
pub fn waits(call: i32) -> bool {
    call == FUTEX as i32
}

const fn program() -> [Instruction; LENGTH] {
    const fn one(code: u16, jt: usize, jf: u8, k: u32) -> Instruction {
        Instruction { code, jt: jt as u8, jf, k }
    }
    let mut all = [one(RETURN, 0, 0, TRAP); LENGTH];
    all[0] = one(LOAD, 0, 0, ARCHITECTURE);
    all[1] = one(JUMP_EQUAL, 1, 0, system_calls::ARCHITECTURE);
    all[2] = one(RETURN, 0, 0, KILL);
    all[3] = one(LOAD, 0, 0, NUMBER);
    let plain = HARMLESS.len();
    // Behind the comparisons: trap, allow, and the four calls that are looked at more closely.
    let trap = 4 + plain + 4;
    let allow = trap + 1;
    let mmap = allow + 1;
    let mprotect = mmap + 5;
    let madvise = mprotect + 4;
    let futex = madvise + 1 + ADVICE.len() + 2;
    let mut at = 4;
    while at < 4 + plain {
        all[at] = one(JUMP_EQUAL, allow - at - 1, 0, HARMLESS[at - 4]);
        at += 1;
    }
    all[at] = one(JUMP_EQUAL, mmap - at - 1, 0, MMAP);
    all[at + 1] = one(JUMP_EQUAL, mprotect - at - 2, 0, MPROTECT);
    all[at + 2] = one(JUMP_EQUAL, madvise - at - 3, 0, MADVISE);
    all[at + 3] = one(JUMP_EQUAL, futex - at - 4, 0, FUTEX);
    all[trap] = one(RETURN, 0, 0, TRAP);
    all[allow] = one(RETURN, 0, 0, ALLOW);

    all[mmap] = one(LOAD, 0, 0, argument(3));
    all[mmap + 1] = one(AND, 0, 0, MAP_LOOK);
    all[mmap + 2] = one(JUMP_EQUAL, 1, 0, MAP_WANTED);
    all[mmap + 3] = one(RETURN, 0, 0, TRAP);
    all[mmap + 4] = one(RETURN, 0, 0, ALLOW);

    all[mprotect] = one(LOAD, 0, 0, argument(2));
    all[mprotect + 1] = one(JUMP_SET, 1, 0, PROT_WRITE);
    all[mprotect + 2] = one(RETURN, 0, 0, ALLOW);
    all[mprotect + 3] = one(RETURN, 0, 0, TRAP);

    all[madvise] = one(LOAD, 0, 0, argument(2));
    let mut which = 0;
    while which < ADVICE.len() {
        all[madvise + 1 + which] = one(JUMP_EQUAL, ADVICE.len() - which, 0, ADVICE[which]);
        which += 1;
    }
    all[madvise + 1 + ADVICE.len()] = one(RETURN, 0, 0, TRAP);
    all[madvise + 2 + ADVICE.len()] = one(RETURN, 0, 0, ALLOW);

    all[futex] = one(LOAD, 0, 0, argument(1));
    which = 0;
    while which < WAKES.len() {
        all[futex + 1 + which] = one(JUMP_EQUAL, WAKES.len() - which, 0, WAKES[which]);
        which += 1;
    }
    all[futex + 1 + WAKES.len()] = one(RETURN, 0, 0, TRAP);
    all[futex + 2 + WAKES.len()] = one(RETURN, 0, 0, ALLOW);
    all
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn answer(architecture: u32, call: u32, arguments: [u64; 6]) -> u32 {
        let mut data = vec![call, architecture, 0, 0];
        data.extend(arguments.iter().flat_map(|argument| [*argument as u32, (*argument >> 32) as u32]));
        let (mut at, mut accumulator) = (0, 0);
        loop {
            let Instruction { code, jt, jf, k } = PROGRAM[at];
            at += 1;
            let jump = |taken: bool| usize::from(if taken { jt } else { jf });
            match code {
                LOAD => accumulator = data[k as usize / 4],
                AND => accumulator &= k,
                JUMP_EQUAL => at += jump(accumulator == k),
                JUMP_SET => at += jump(accumulator & k != 0),
                RETURN => return k,
                other => panic!("instruction {other:#x}"),
            }
        }
    }

    fn call(call: u32, arguments: [u64; 6]) -> u32 {
        answer(system_calls::ARCHITECTURE, call, arguments)
    }

    #[test]
    fn what_nobody_notices_is_allowed_and_all_else_is_not() {
        let looked_at = [MMAP, MPROTECT, MADVISE, FUTEX];
        for number in (0..1024).filter(|number| !looked_at.contains(number)) {
            let plain = HARMLESS.contains(&number);
            assert_eq!(call(number, [0; 6]), if plain { ALLOW } else { TRAP }, "call {number}");
        }
        // read open close dup ioctl kill tgkill clone fork vfork clone3 execve sigaction prctl seccomp
        for number in [0, 2, 3, 32, 16, 62, 234, 56, 57, 58, 435, 59, 13, 157, 317] {
            assert_eq!(call(number, [0; 6]), TRAP);
        }
    }

    #[test]
    fn another_architecture_is_the_end() {
        // i386's number 1 is exit there, and x32's calls have a bit of their own.
        assert_eq!(answer(0x4000_0003, 1, [0; 6]), KILL);
        assert_eq!(call(0x4000_0000 | 39, [0; 6]), TRAP);
    }

    #[test]
    fn memory_is_had_but_none_that_is_shared() {
        let map = |flags: u64| call(MMAP, [0, 4096, 3, flags, u64::MAX, 0]);
        assert_eq!(map(0x22), ALLOW);
        assert_eq!(map(0x22 | 0x4000 | 0x2_0000), ALLOW); // NORESERVE, STACK
        // Shared; shared and validated; a file; huge pages.
        for flags in [0x21, 0x01, 0x03, 0x23, 0x02, 0x22 | 0x4_0000] {
            assert_eq!(map(flags), TRAP, "{flags:#x}");
        }
    }

    #[test]
    fn the_guards_stay() {
        let protect = |access: u64| call(MPROTECT, [0x1000, 4096, access, 0, 0, 0]);
        assert_eq!([protect(0), protect(1), protect(5)], [ALLOW; 3]);
        assert_eq!([protect(2), protect(3), protect(7)], [TRAP; 3]);
        let advise = |advice: u64| call(MADVISE, [0x1000, 4096, advice, 0, 0, 0]);
        for advice in ADVICE {
            assert_eq!(advise(advice.into()), ALLOW);
        }
        // REMOVE, DONTFORK, DOFORK, HWPOISON, MERGEABLE, PAGEOUT
        for advice in [9, 10, 11, 100, 12, 21] {
            assert_eq!(advise(advice), TRAP);
        }
    }

    #[test]
    fn nobody_is_waited_for_and_no_other_process_woken() {
        let futex = |operation: u64| call(FUTEX, [0x1000, operation, 1, 0, 0, 0]);
        assert_eq!([futex(129), futex(138)], [ALLOW; 2]);
        // Waiting; waking in memory that may be shared; requeueing; priority inheritance.
        for operation in [0, 128, 137, 1, 10, 132, 134, 135] {
            assert_eq!(futex(operation), TRAP, "{operation}");
        }
    }

    #[test]
    fn writes_are_known() {
        assert_eq!(write(1), Some(Write::Bytes));
        assert_eq!(write(20), Some(Write::Parts));
        assert_eq!(write(0), None);
        assert!(waits(202) && !waits(1));
    }
}
