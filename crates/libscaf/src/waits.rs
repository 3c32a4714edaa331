//! Barriers and ends of loops and sections: the time that a thread spends in them is no useful work.
//!
//! They are called within a region, whose runtime the thread knows; outside of one, or in a thread of a team that we
//! haven't opened, the caller's address tells. The end of the region itself is a wait too: it is what lies between a
//! thread's leaving the outlined function and the region's end, so nothing has to be done for it.

use crate::arch::{Thread, thread, ticks};
use crate::runtime::{self, Body, Runtime};

macro_rules! waits {
    ($($name:ident $(-> $result:ty)?;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) $(-> $result)? {
                let this = thread();
                // SAFETY: this thread's own state, and the runtime's own entry point.
                unsafe {
                    let Some(real) = runtime_of(this, caller).and_then(|runtime| runtime.$name) else {
                        return Default::default();
                    };
                    let Some(frame) = (*this).frame.as_ref() else { return real() };
                    let since = ticks();
                    let result = real();
                    frame.waited(ticks().wrapping_sub(since));
                    result
                }
            }
        )*
    };
}

waits! {
    barrier;
    barrier_cancel -> bool;
    loop_end;
    loop_end_cancel -> bool;
    sections_end;
    sections_end_cancel -> bool;
}

unsafe fn runtime_of(this: *mut Thread, caller: usize) -> Option<&'static Runtime> {
    // SAFETY: this thread's own state; runtimes live for ever.
    match unsafe { (*this).runtime.as_ref() } {
        Some(runtime) => Some(runtime),
        None => runtime::of(caller).map(|code| code.runtime),
    }
}

/// Notes that the region has tasks: threads run them while they wait. Returns the runtime to create this one in.
pub fn in_tasks(body: Body) -> Option<&'static Runtime> {
    let this = thread();
    // SAFETY: as above.
    unsafe {
        if let Some(frame) = (*this).frame.as_ref() {
            frame.has_tasks();
        }
        runtime_of(this, body as usize)
    }
}
