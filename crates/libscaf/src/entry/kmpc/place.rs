//! Which copy of LLVM's runtime a call is for.

use crate::program::promise;
use crate::region::frame::Frame;
use crate::region::thread::Thread;
use crate::runtimes::copies::{Abi, only_of};
use crate::runtimes::entries::Runtime;
use crate::runtimes::lookup;
use scaf_proto::report::fact;

/// The runtime that a call is for, and the region around it, if it is one of that runtime's and the thread
/// isn't alone in another one within.
#[inline(always)]
pub unsafe fn place<'a>(this: *mut Thread, caller: usize) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    // SAFETY: this thread's own state; runtimes live for ever, and a frame as long as its region.
    unsafe {
        let frame = (*this).frame.as_ref().filter(|_| (*this).serial == 0);
        let around = (*this).runtime.as_ref().filter(|runtime| runtime.is_llvms());
        let runtime = match around {
            Some(runtime) if !promise::is_noted(fact::TWO_LLVMS) => runtime,
            // The master of a region in a library's constructor has the dynamic linker's lock, and waits for
            // us: that is asked last.
            _ => lookup::known(caller)
                .filter(|runtime| runtime.is_llvms())
                .or_else(|| only_of(Abi::Llvm))
                .or_else(|| lookup::of_llvms(caller).map(|code| code.runtime))?,
        };
        Some((runtime, frame.filter(|frame| core::ptr::eq(frame.runtime(), runtime))))
    }
}

/// In place of a call that no runtime is found for.
pub unsafe extern "C" fn nothing() {}
