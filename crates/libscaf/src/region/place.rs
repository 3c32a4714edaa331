//! Which runtime a call is for, and which region and thread it comes from. Within a region the thread knows
//! the runtime. Outside, or in a team that we haven't opened, the caller's address tells.

use super::frame::Frame;
use super::thread::{NO_INDEX, Thread};
use crate::runtimes::copies::{Abi, only_of, sole};
use crate::runtimes::entries::Runtime;
use crate::runtimes::{linker, lookup};

#[inline(always)]
pub unsafe fn place<'a>(this: *mut Thread, caller: usize) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    // SAFETY: this thread's own state; runtimes live for ever, and a frame as long as its region.
    unsafe {
        let runtime = match (*this).runtime.as_ref() {
            // GCC's code called in a region of LLVM's knows nothing of that region.
            Some(runtime) if runtime.is_llvms() && sole().is_none() => {
                return of_caller(this, caller);
            }
            Some(runtime) => runtime,
            // A team that we haven't opened. The dynamic linker is asked last: a master may hold its lock.
            None => only_of(Abi::Gcc).or_else(|| lookup::of(caller).map(|code| code.runtime))?,
        };
        Some((runtime, (*this).frame.as_ref().filter(|_| (*this).serial == 0)))
    }
}

/// For a lock or a group of tasks: the caller's own runtime, which is asked to release the lock, or was asked
/// to begin the group, both unseen by us. A call that the compiler made a jump returns to whoever called the
/// function: for a region's function or a task's, to us.
pub unsafe fn of_caller<'a>(
    this: *mut Thread,
    caller: usize,
) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    // SAFETY: this thread's own state; a frame lives as long as its region.
    let frame = unsafe { (*this).frame.as_ref().filter(|_| (*this).serial == 0) };
    let own = || frame.filter(|_| linker::is_ours(caller)).map(Frame::runtime);
    // Last: it takes the dynamic linker's lock, which a waiting master in a constructor may hold.
    let beside = || frame.and_then(|frame| lookup::beside(frame.body(), caller));
    let sole = || frame.and_then(|_| only_of(Abi::Gcc));
    let asked = || lookup::of(caller).map(|code| code.runtime);
    let runtime = own().or_else(|| lookup::known(caller)).or_else(beside).or_else(sole).or_else(asked)?;
    Some((runtime, frame.filter(|frame| core::ptr::eq(frame.runtime(), runtime))))
}

/// For a question about the team: the caller's runtime. A runtime's own threads don't ask the dynamic linker,
/// whose lock a master in a constructor may hold. They nearly always work in the caller's runtime.
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
