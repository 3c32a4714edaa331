//! A forked child is another program: it has its parent's memory, but not its threads, and not its grant.
//!
//! Without this, the child would hold the parent's socket open after the parent's death, write into its report page,
//! and stay on its PUs for ever.

use crate::{blas, client, crowd, experiment, keeper, kmpc, masters, runtime, tbb, tcm_permits, watch, work};
use core::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> core::ffi::c_int;
}

/// Has the child of every future fork start afresh. Registered at the first attachment: a process that was never
/// attached has nothing to undo.
pub fn watch() {
    static WATCHING: AtomicU32 = AtomicU32::new(0);
    if WATCHING.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: the handlers are functions of this library, which is never unloaded.
        unsafe { pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    }
}

/// A listener may hold a lock of its library just now, which the child would find taken for ever.
extern "C" fn before() {
    client::keeping_errno(keeper::before_fork);
}

extern "C" fn in_parent() {
    client::keeping_errno(keeper::after_fork_in_parent);
}

extern "C" fn in_child() {
    client::keeping_errno(|| {
        client::after_fork();
        masters::after_fork();
        runtime::after_fork();
        watch::after_fork();
        crowd::after_fork();
        kmpc::after_fork();
        experiment::after_fork();
        work::after_fork();
        keeper::after_fork();
        blas::after_fork();
        tbb::after_fork();
        tcm_permits::after_fork();
    });
}
