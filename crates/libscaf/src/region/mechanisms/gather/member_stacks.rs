//! Members' stacks: as large as those of the runtime's workers, with a guard page. They are mapped once.

use super::gathered_team::MOST;
use crate::runtimes::entries::Runtime;
use crate::sys::errno::keeping_errno;
use crate::sys::glibc;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static ENDS: [AtomicPtr<c_void>; MOST] = [const { AtomicPtr::new(null_mut()) }; MOST];
const GUARD: usize = 4096;

/// The end (highest address) of a member's stack; `None` if there is no memory.
pub fn end(member: usize) -> Option<*mut c_void> {
    kept(ENDS.get(member)?, bytes(member))
}

/// Members' stacks end at different offsets in their pages. Else all would use the same sets of the cache,
/// which have eight lines.
const COLOURS: usize = 8;
/// Difference of two such offsets.
const COLOUR: usize = GUARD / COLOURS;

/// Bytes of a member's stack: the usual ones, and its offset.
fn bytes(member: usize) -> usize {
    usual() + member % COLOURS * COLOUR
}

/// The member's stack with this address: its start and bytes.
pub fn around(address: usize) -> Option<(*mut c_void, usize)> {
    ENDS.iter().enumerate().find_map(|(member, end)| {
        let bytes = bytes(member);
        let start = end.load(Ordering::Acquire).wrapping_byte_add(SLACK).wrapping_byte_sub(bytes);
        (address.wrapping_sub(start.addr()) < bytes).then_some((start, bytes))
    })
}

/// The end of the stack whose address `place` keeps; maps it if there is none.
pub fn kept(place: &AtomicPtr<c_void>, bytes: usize) -> Option<*mut c_void> {
    let there = place.load(Ordering::Acquire);
    if !there.is_null() {
        return Some(there);
    }
    let bytes = bytes.checked_add(GUARD)?;
    // SAFETY: maps new memory, and changes only that.
    let made = keeping_errno(|| unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        let start = libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if start == libc::MAP_FAILED {
            return None;
        }
        if libc::mprotect(start, GUARD, libc::PROT_NONE) != 0 {
            libc::munmap(start, bytes);
            return None;
        }
        Some(start.wrapping_byte_add(bytes).wrapping_byte_sub(SLACK))
    })?;
    place.store(made, Ordering::Release);
    Some(made)
}

/// Whether each member of a team of `size` but the master has one.
pub fn are_there(size: u32) -> bool {
    (1..size as usize).all(|member| end(member).is_some())
}

/// Bytes left free at the end.
const SLACK: usize = 128;

/// Whether LLVM's threads have stacks of at most the usual size; they may have more without a limit, or by a
/// setting.
pub fn are_usual(runtime: &Runtime) -> bool {
    // SAFETY: `kmp_get_stacksize_s` takes nothing.
    runtime.kmp_get_stacksize_s.is_some_and(|bytes| unsafe { bytes() } <= usual())
}

/// The usual size of a thread's stack. Programs with another one aren't gathered.
fn usual() -> usize {
    static USUAL: AtomicUsize = AtomicUsize::new(0);
    let mut usual = USUAL.load(Ordering::Relaxed);
    if usual == 0 {
        // SAFETY: initializes, reads and destroys attributes on this stack.
        unsafe {
            let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
            if libc::pthread_attr_init(&mut attributes) == 0 {
                glibc::pthread_attr_getstacksize(&attributes, &mut usual);
                libc::pthread_attr_destroy(&mut attributes);
            }
        }
        usual = usual.max(1 << 20).next_multiple_of(GUARD);
        USUAL.store(usual, Ordering::Relaxed);
    }
    usual
}
