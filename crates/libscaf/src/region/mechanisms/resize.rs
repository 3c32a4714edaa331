//! The next team has as many threads as granted. Whether a region permits that is known by its code, which
//! the daemon has inspected; only regions within such a region need care.

use crate::region::thread::Thread;
use crate::runtimes::lookup::Code;
use crate::runtimes::modules;
use core::ptr::eq;
use scaf_proto::grant::Word;

/// Whether the daemon has inspected all code that the region may run.
#[inline(always)]
pub fn is_inspected(code: Code, grant: Word) -> bool {
    modules::is_numbered(code.module) && modules::are_inspected(grant)
}

/// The team size to ask for within a region. The runtime doesn't count a team of one as a region. Where it is
/// one because of us and nesting is off, the default, this region would have had one thread, too.
pub unsafe fn inner_request(this: *mut Thread, code: Code, requested: u32) -> u32 {
    // SAFETY: this thread's own state; omp_get_max_active_levels takes nothing.
    unsafe {
        // Another runtime doesn't know of the region around.
        let its_own = eq((*this).runtime, code.runtime);
        let one_level = || its_own && code.runtime.max_active_levels.is_none_or(|levels| levels() <= 1);
        if (*this).shrunk != 0 && one_level() { 1 } else { requested }
    }
}

/// Whether the region around has one thread because of us, and has several without us.
pub unsafe fn hides_a_team(this: *mut Thread) -> bool {
    // SAFETY: this thread's own state; omp_get_thread_limit takes nothing.
    unsafe {
        let (around, shrunk) = ((*this).runtime.as_ref(), (*this).shrunk != 0);
        around.is_some_and(|runtime| shrunk && runtime.thread_limit.is_none_or(|limit| limit() > 1))
    }
}
