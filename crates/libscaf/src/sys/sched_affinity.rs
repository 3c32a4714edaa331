//! Threads' affinity, as the kernel has it.

use core::mem::size_of_val;
use scaf_proto::grant::Mask;

/// The affinity of a thread; 0 is the calling one. Empty if there is no such thread.
pub fn get(task: i32) -> Mask {
    let mut now: Mask = [0; _];
    // SAFETY: the kernel writes no more than the mask's size.
    unsafe { libc::sched_getaffinity(task, size_of_val(&now), now.as_mut_ptr().cast()) };
    now
}

/// Sets it; `false` if the kernel refuses, as it does for an empty mask.
pub fn set(task: i32, mask: &Mask) -> bool {
    // SAFETY: the kernel reads the mask.
    unsafe { libc::sched_setaffinity(task, size_of_val(mask), mask.as_ptr().cast()) == 0 }
}
