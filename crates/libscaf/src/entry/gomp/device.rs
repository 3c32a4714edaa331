//! Calls about devices, which may create tasks within the runtime.

use crate::region::place::place;
use crate::region::thread::thread;
use crate::sys::arch;

/// Calls that may create tasks within the runtime. Each is noted, and then jumped to as it came.
macro_rules! creators {
    ($($name:ident: $find:ident => $field:ident;)*) => {
        $(
            arch::pass_on!($name, $find);

            unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                // SAFETY: this thread's own state.
                unsafe {
                    let Some((runtime, frame)) = place(this, caller) else { return nothing as *const () as usize };
                    if let Some(frame) = frame {
                        frame.has_tasks(false);
                        // Code for a device that runs here has teams of its own.
                        frame.is_cancelled();
                    }
                    runtime.$field.unwrap_or(nothing) as usize
                }
            }
        )*
    };
}

creators! {
    GOMP_target_ext: find_target => target;
    GOMP_target_update_ext: find_target_update => target_update;
    GOMP_target_enter_exit_data: find_target_enter_exit_data => target_enter_exit_data;
    GOMP_taskwait_depend_nowait: find_taskwait_depend_nowait => taskwait_depend_nowait;
    omp_target_memcpy_async: find_target_memcpy_async => target_memcpy_async;
    omp_target_memcpy_rect_async: find_target_memcpy_rect_async => target_memcpy_rect_async;
}

unsafe extern "C" fn nothing() {}
