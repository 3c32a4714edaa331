//! Calls about devices, which may create tasks within the runtime.

use crate::region::place::place;
use crate::region::thread::thread;

macro_rules! creators {
    ($($find:ident => $field:ident;)*) => {
        $(
            pub unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                let Some((runtime, frame)) = place(this, caller) else {
                    return nothing as *const () as usize;
                };
                if let Some(frame) = frame {
                    frame.has_tasks(false);
                    // Code for a device that runs on the host has teams of its own.
                    frame.is_cancelled();
                }
                runtime.$field.unwrap_or(nothing) as usize
            }
        )*
    };
}

creators! {
    find_target => target;
    find_target_update => target_update;
    find_target_enter_exit_data => target_enter_exit_data;
    find_taskwait_depend_nowait => taskwait_depend_nowait;
    find_target_memcpy_async => target_memcpy_async;
    find_target_memcpy_rect_async => target_memcpy_rect_async;
}

unsafe extern "C" fn nothing() {}
