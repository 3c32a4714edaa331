//! A team on contexts that are borrowed for a moment: each thread goes to a PU of its own. The kernel would
//! leave a thread that it wakes where it slept, beside the master, until it balances its queues, which is
//! longer than most loans. Going there is two system calls, made only by a thread that isn't there.

use super::frame::Frame;
use crate::link::pages;
use crate::sys::errno::keeping_errno;
use core::mem::size_of_val;
use scaf_proto::MASK_WORDS;
use scaf_proto::grant::Mask;

/// The PU that the calling master runs on, plus one.
pub fn of_master() -> u32 {
    here().map_or(0, |pu| pu.wrapping_add(1))
}

fn here() -> Option<u32> {
    // SAFETY: takes nothing; no system call where the kernel tells threads where they are.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The calling thread of the frame's team goes to its PU, if it may run there. It may leave it again: what it
/// is left with is the whole grant.
#[cold]
pub fn go(frame: &Frame) {
    // SAFETY: omp_get_thread_num takes nothing.
    let number = frame.runtime().thread_num.map_or(0, |number| unsafe { number() });
    let at = u32::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let (Some(at), Some(masks)) = (at, pages::grant().masks()) else { return };
    let of_master = frame.apart.wrapping_sub(1);
    let others = || (0..MASK_WORDS as u32 * 64).filter(|pu| has(&masks.granted, *pu) && *pu != of_master);
    let count = others().count() as u32;
    let Some(own) = at.checked_rem(count).and_then(|at| others().nth(at as usize)) else { return };
    if here() == Some(own) {
        return;
    }
    keeping_errno(|| {
        let mut only: Mask = [0; MASK_WORDS];
        if let Some(word) = only.get_mut((own / 64) as usize) {
            *word = 1 << (own % 64);
        }
        let mut now: Mask = [0; MASK_WORDS];
        // SAFETY: fills and reads memory of ours; 0 is the calling thread.
        unsafe {
            libc::sched_getaffinity(0, size_of_val(&now), now.as_mut_ptr().cast());
            // A thread that is bound elsewhere, by itself or by the latest grant, stays there.
            if now == masks.granted {
                libc::sched_setaffinity(0, size_of_val(&only), only.as_ptr().cast());
                libc::sched_setaffinity(0, size_of_val(&now), now.as_ptr().cast());
            }
        }
    });
}

fn has(mask: &Mask, pu: u32) -> bool {
    mask.get((pu / 64) as usize).is_some_and(|word| word >> (pu % 64) & 1 != 0)
}
