//! A team on contexts that are borrowed for a moment: each thread goes to a PU of its own. The kernel would
//! leave a thread that it wakes where it slept, beside the master, until it balances its queues, which is
//! longer than most loans. Going there is three system calls, made only by a thread that isn't there.

use super::frame::Frame;
use crate::link::{pages, silence};
use crate::sys::undisturbed::undisturbed;
use core::mem::size_of_val;
use scaf_proto::grant::{Mask, count};

/// The PU that the calling master runs on, plus one.
pub fn of_master() -> u32 {
    here().map_or(0, |pu| pu.wrapping_add(1))
}

fn here() -> Option<u32> {
    // SAFETY: takes nothing; no system call where the kernel tells threads where they are.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The calling thread of the frame's team goes to its PU, if it may run there. It may leave it again: it is
/// left with the whole grant.
#[cold]
pub fn go(frame: &Frame) {
    let number = frame.runtime().ask_thread_num().unwrap_or(0);
    let at = u32::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let (Some(at), Some(masks)) = (at, pages::grant().masks()) else { return };
    let others = without(&masks.granted, frame.apart.wrapping_sub(1));
    let Some(own) = at.checked_rem(count(&others)).and_then(|at| nth(&others, at)) else { return };
    if here() != Some(own) && !silence::is_known() {
        undisturbed(|| move_to(own, &masks.granted));
    }
}

fn move_to(pu: u32, granted: &Mask) {
    let mut only: Mask = [0; _];
    if let Some(word) = only.get_mut((pu / 64) as usize) {
        *word = 1 << (pu % 64);
    }
    let mut now: Mask = [0; _];
    // SAFETY: fills and reads memory of ours; 0 is the calling thread.
    unsafe {
        libc::sched_getaffinity(0, size_of_val(&now), now.as_mut_ptr().cast());
        // A thread that is bound elsewhere, by itself or by the latest grant, stays there.
        if now != *granted {
            return;
        }
        libc::sched_setaffinity(0, size_of_val(&only), only.as_ptr().cast());
        // The daemon passes by threads with masks that it doesn't know: it may just have taken the loan back.
        let then = pages::grant().masks().map_or(now, |masks| masks.granted);
        libc::sched_setaffinity(0, size_of_val(&then), then.as_ptr().cast());
    }
}

fn without(mask: &Mask, pu: u32) -> Mask {
    let mut mask = *mask;
    if let Some(word) = mask.get_mut((pu / 64) as usize) {
        *word &= !(1 << (pu % 64));
    }
    mask
}

/// The PU of a set that `at` others come before.
fn nth(mask: &Mask, mut at: u32) -> Option<u32> {
    for (number, word) in mask.iter().enumerate() {
        let mut word = *word;
        if at >= word.count_ones() {
            at -= word.count_ones();
            continue;
        }
        for _ in 0..at {
            word &= word.wrapping_sub(1);
        }
        return Some(number as u32 * 64 + word.trailing_zeros());
    }
    None
}
