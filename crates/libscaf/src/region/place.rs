//! Which runtime a call is for, and which region and thread it comes from.
//!
//! A call within a region is for that region's runtime, which the thread knows; outside of one, or in a
//! thread of a team that we haven't opened, the caller's address tells.

use super::frame::Frame;
use super::thread::{NO_INDEX, Thread};
use crate::runtimes::copies::{Abi, only_of, sole};
use crate::runtimes::entries::Runtime;
use crate::runtimes::{linker, lookup};

/// The runtime that a call is for, and the region around it.
#[inline(always)]
pub unsafe fn place<'a>(this: *mut Thread, caller: usize) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    // SAFETY: this thread's own state; runtimes live for ever, and a frame as long as its region.
    unsafe {
        let runtime = match (*this).runtime.as_ref() {
            // Code of GCC's runtime that a region of LLVM's calls knows nothing of that region.
            Some(runtime) if runtime.is_llvms() && sole().is_none() => {
                return of_caller(this, caller);
            }
            Some(runtime) => runtime,
            // In a thread of a team that we haven't opened. Asking the dynamic linker might wait for its
            // lock, which the master holds if the region is in a library's constructor.
            None => only_of(Abi::Gcc).or_else(|| lookup::of(caller).map(|code| code.runtime))?,
        };
        Some((runtime, (*this).frame.as_ref().filter(|_| (*this).serial == 0)))
    }
}

/// Where a lock or a group of tasks is: in the caller's own runtime, for that is asked to let go of it, or
/// was asked to begin it, which we don't see. Where the call was a function's last, the compiler made it a
/// jump, and it returns to whoever called that function: for a region's or a task's this is us.
pub unsafe fn of_caller<'a>(
    this: *mut Thread,
    caller: usize,
) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    // SAFETY: this thread's own state; a frame lives as long as its region.
    let frame = unsafe { (*this).frame.as_ref().filter(|_| (*this).serial == 0) };
    let own = || frame.filter(|_| linker::is_ours(caller)).map(Frame::runtime);
    // The master of a region in a library's constructor has the dynamic linker's lock, and waits for us: that
    // is asked last.
    let beside = || frame.and_then(|frame| lookup::beside(frame.body(), caller));
    let sole = || frame.and_then(|_| only_of(Abi::Gcc));
    let asked = || lookup::of(caller).map(|code| code.runtime);
    let runtime = own().or_else(|| lookup::known(caller)).or_else(beside).or_else(sole).or_else(asked)?;
    Some((runtime, frame.filter(|frame| core::ptr::eq(frame.runtime(), runtime))))
}

/// The runtime that a question about the team is for: the caller's. Threads of a runtime's own don't ask the
/// dynamic linker, which might wait for a master in a library's constructor; what they work in is the
/// caller's runtime nearly always.
#[inline(always)]
pub unsafe fn asked(this: *mut Thread, caller: usize) -> Option<&'static Runtime> {
    lookup::known(caller).or_else(|| {
        // SAFETY: this thread's own state; runtimes live for ever.
        unsafe {
            let around = (*this).runtime.as_ref().or_else(|| (*this).home.as_ref());
            if around.is_some() && (!(*this).home.is_null() || lookup::is_full()) {
                return around;
            }
            lookup::of(caller).map(|code| code.runtime).or(around)
        }
    })
}

/// The region that the calling thread is in, if it is virtualised.
#[inline(always)]
pub unsafe fn virtualised_around<'a>(this: *mut Thread) -> Option<&'a Frame> {
    // SAFETY: this thread's own state; a frame lives as long as its region.
    unsafe { (*this).frame.as_ref().filter(|frame| frame.parts.are_there()) }
}

/// The calling thread's number in the team of the region that it is in.
#[inline(always)]
pub unsafe fn index(this: *mut Thread, runtime: &Runtime) -> u32 {
    // SAFETY: this thread's own state; omp_get_thread_num takes nothing.
    unsafe {
        if (*this).index == NO_INDEX {
            (*this).index = runtime.thread_num.map_or(0, |number| number()).max(0) as u32;
        }
        (*this).index
    }
}
