//! Members' stacks: as large as those of the runtime's workers, with a guard page. They are mapped once, and
//! executable where threads' are: glibc makes those so if any module asks for it. Compilers put code on the
//! stack for nested functions of GNU C, and for Fortran's internal procedures as arguments.

use super::gathered_team::MOST;
use crate::runtimes::entries::Runtime;
use crate::sys::errno::keeping_errno;
use crate::sys::stacks;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// 1 once a loaded module wants stacks to be executable.
static WANT_CODE: AtomicU32 = AtomicU32::new(0);
/// One bit for each member whose stack is.
static HAVE_CODE: AtomicU64 = AtomicU64::new(0);
const _: () = assert!(MOST <= u64::BITS as usize);

static ENDS: [AtomicPtr<c_void>; MOST] = [const { AtomicPtr::new(null_mut()) }; MOST];
const GUARD: usize = 4096;

/// The end (highest address) of a member's stack; `None` if there is no memory, or it can't be made
/// executable.
pub fn end(member: usize) -> Option<*mut c_void> {
    let end = kept(ENDS.get(member)?, bytes(member))?;
    if WANT_CODE.load(Ordering::SeqCst) != 0 && !is_executable(member, end) {
        return None;
    }
    Some(end)
}

/// A module asks for executable stacks, or one that may is about to be loaded while members run. The stacks
/// that there are become executable at once, later ones in [`end`].
#[cold]
pub fn make_executable() {
    if WANT_CODE.swap(1, Ordering::SeqCst) == 0 {
        for (member, end) in ENDS.iter().enumerate() {
            let end = end.load(Ordering::SeqCst);
            if !end.is_null() {
                is_executable(member, end);
            }
        }
    }
}

/// Makes the member's stack executable unless it is; whether it is now.
fn is_executable(member: usize, end: *mut c_void) -> bool {
    let bit = 1 << member;
    if HAVE_CODE.load(Ordering::Relaxed) & bit != 0 {
        return true;
    }
    let start = start_of(end, bytes(member));
    let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: the memory is a member's stack, which stays mapped. What it holds doesn't change.
    let made = keeping_errno(|| unsafe { libc::mprotect(start, bytes(member), access) }) == 0;
    if made {
        HAVE_CODE.fetch_or(bit, Ordering::Relaxed);
    }
    made
}

/// The lowest address of a stack of so many bytes with that end, behind its guard page.
fn start_of(end: *mut c_void, bytes: usize) -> *mut c_void {
    end.wrapping_byte_add(SLACK).wrapping_byte_sub(bytes)
}

/// Members' stacks end at different offsets in their pages. Else all would use the same sets of the cache,
/// which have eight lines.
const COLOURS: usize = 8;
/// Difference of two such offsets.
const COLOUR: usize = GUARD / COLOURS;

/// Bytes of a member's stack: the usual ones, and its offset.
fn bytes(member: usize) -> usize {
    stacks::usual() + member % COLOURS * COLOUR
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
    place.store(made, Ordering::SeqCst);
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
    runtime.ask_stack_size().is_some_and(|bytes| bytes <= stacks::usual())
}
