//! Threads' affinity, as the kernel has it. By bare system calls: the C library's functions of these names
//! are the client's own (`entry/affinity_calls.rs`), and `errno` stays the program's.

use super::arch::bare_call;
use core::mem::size_of_val;
use scaf_proto::grant::Mask;

/// Words of the largest set that a kernel has: it refuses a smaller one than its possible PUs need.
const MOST_WORDS: usize = 1_024;

/// The affinity of a thread; 0 is the calling one. Empty if there is no such thread. PUs beyond the mask are
/// left out.
pub fn get(task: i32) -> Mask {
    let mut now: Mask = [0; _];
    if is_too_small(read(task, &mut now)) {
        with_all(task, |all| now.iter_mut().zip(all).for_each(|(word, known)| *word = *known));
    }
    now
}

/// Bytes that the kernel reads of a larger set; all those of a mask where it has more.
pub fn known_bytes() -> usize {
    let mut now: Mask = [0; _];
    usize::try_from(read(0, &mut now)).unwrap_or(size_of_val(&now))
}

/// How many PUs a thread may run on, and whether some are beyond the mask.
pub fn count(task: i32) -> (u32, bool) {
    let mut counted = (0, false);
    with_all(task, |all| {
        let ones = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum();
        let beyond = all.get(size_of::<Mask>() / size_of::<u64>()..).unwrap_or(&[]);
        counted = (ones(all), ones(beyond) != 0);
    });
    counted
}

#[cold]
#[inline(never)]
fn with_all(task: i32, mut work: impl FnMut(&[u64])) {
    let mut all = [0; MOST_WORDS];
    read(task, &mut all);
    work(&all);
}

/// The kernel's answer: bytes that it has written, or an error below 0.
fn read(task: i32, words: &mut [u64]) -> isize {
    let arguments = [task as usize, size_of_val(words), words.as_mut_ptr().expose_provenance(), 0];
    // SAFETY: the kernel writes no more than the set's size.
    unsafe { bare_call(libc::SYS_sched_getaffinity, arguments) }
}

fn is_too_small(answer: isize) -> bool {
    answer == -(libc::EINVAL as isize)
}

/// Sets it; `false` if the kernel refuses, as it does for an empty mask.
pub fn set(task: i32, mask: &Mask) -> bool {
    let arguments = [task as usize, size_of_val(mask), mask.as_ptr().expose_provenance(), 0];
    // SAFETY: the kernel reads the mask.
    unsafe { bare_call(libc::SYS_sched_setaffinity, arguments) == 0 }
}
