//! A forked child is another program: it has its parent's memory, but not its threads, and not its grant.
//! Without this, the child would hold the parent's socket open after the parent's death, write into its
//! report page, and stay on its PUs for ever. The table of hooks says what each floor does.

use crate::runtimes::hooks;
use crate::sys::errno::keeping_errno;
use core::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> core::ffi::c_int;
}

/// Has every future child start afresh. Called before the first attachment: until then there is nothing to
/// undo.
pub fn watch() {
    static WATCHING: AtomicU32 = AtomicU32::new(0);
    if WATCHING.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: the handlers are functions of this library, which is never unloaded.
        unsafe { pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    }
}

extern "C" fn before() {
    keeping_errno(|| hooks::call(hooks::get().before_fork));
}

extern "C" fn in_parent() {
    keeping_errno(|| hooks::call(hooks::get().forked));
}

extern "C" fn in_child() {
    keeping_errno(|| hooks::call(hooks::get().in_child));
}
