//! Which copy of LLVM's runtime a call is for.

use crate::program::promise;
use crate::region::frame::Frame;
use crate::region::thread::Thread;
use crate::runtimes::copies::{Abi, only_of};
use crate::runtimes::entries::Runtime;
use crate::runtimes::lookup;
use scaf_proto::report::fact;

/// The runtime that a call is for, and that runtime's region around it unless a serial region lies between.
#[inline(always)]
pub fn place<'a>(this: &Thread, caller: usize) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    let frame = this.frame().filter(|_| this.serial.get() == 0);
    let around = this.runtime.get().filter(|runtime| runtime.is_llvms());
    let runtime = match around {
        Some(runtime) if !promise::is_recorded(fact::TWO_LLVMS) => runtime,
        // Last: it takes the dynamic linker's lock, which a waiting master in a constructor may hold.
        _ => lookup::known(caller)
            .filter(|runtime| runtime.is_llvms())
            .or_else(|| only_of(Abi::Llvm))
            .or_else(|| lookup::of_llvms(caller).map(|code| code.runtime))?,
    };
    Some((runtime, frame.filter(|frame| core::ptr::eq(frame.runtime(), runtime))))
}

pub unsafe extern "C" fn nothing() {}
