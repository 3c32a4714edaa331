//! Which runtime a call is for, and which region and thread it comes from. Within a region the thread knows
//! the runtime. Outside, or in a team that we haven't opened, the caller's address tells.

use super::frame::Frame;
use super::thread::{NO_INDEX, Thread};
use crate::runtimes::copies::{Abi, only_of, sole};
use crate::runtimes::entries::Runtime;
use crate::runtimes::{linker, lookup};

#[inline(always)]
pub fn place<'a>(this: &Thread, caller: usize) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    let runtime = match this.runtime.get() {
        // GCC's code called in a region of LLVM's knows nothing of that region.
        Some(runtime) if runtime.is_llvms() && sole().is_none() => {
            return of_caller(this, caller);
        }
        Some(runtime) => runtime,
        // A team that we haven't opened. The dynamic linker is asked last: a master may hold its lock.
        None => only_of(Abi::Gcc).or_else(|| lookup::of(caller).map(|code| code.runtime))?,
    };
    Some((runtime, this.frame().filter(|_| this.serial.get() == 0)))
}

/// For a lock or a group of tasks: the caller's own runtime, which is asked to release the lock, or was asked
/// to begin the group, both unseen by us. A call that the compiler made a jump returns to whoever called the
/// function: for a region's function or a task's, to us.
pub fn of_caller<'a>(this: &Thread, caller: usize) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    let frame = this.frame().filter(|_| this.serial.get() == 0);
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
pub fn asked(this: &Thread, caller: usize) -> Option<&'static Runtime> {
    lookup::known(caller).or_else(|| {
        let around = this.runtime.get().or(this.home.get());
        if around.is_some() && (this.home.get().is_some() || lookup::is_full()) {
            return around;
        }
        lookup::of(caller).map(|code| code.runtime).or(around)
    })
}

#[inline(always)]
pub fn index(this: &Thread, runtime: &Runtime) -> u32 {
    if this.index.get() == NO_INDEX {
        this.index.set(runtime.ask_thread_num().unwrap_or(0).max(0) as u32);
    }
    this.index.get()
}
