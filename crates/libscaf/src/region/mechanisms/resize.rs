//! The next team has as many threads as granted. Whether a region permits that is known by its code, which
//! the daemon has inspected; only regions within such a region need care.

use crate::region::thread::Thread;
use crate::runtimes::entries::Runtime;
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
/// one because of us and nesting is off, the default, this region would have had one thread, too. Another
/// runtime doesn't know of the region around.
pub unsafe fn inner_request(this: *mut Thread, code: Code, requested: u32) -> u32 {
    // SAFETY: this thread's own state; omp_get_max_active_levels takes nothing.
    unsafe {
        let one_level = || code.runtime.max_active_levels.is_none_or(|levels| levels() <= 1);
        if eq((*this).shrunk_in, code.runtime) && one_level() { 1 } else { requested }
    }
}

/// Whether the thread is in a region of this runtime's that has one thread because of us, and has several
/// without us.
pub unsafe fn hides_a_team(this: *mut Thread, runtime: &Runtime) -> bool {
    // SAFETY: this thread's own state; both questions take nothing.
    unsafe {
        !(*this).runtime.is_null()
            && eq((*this).shrunk_in, runtime)
            && runtime.thread_limit.is_none_or(|limit| limit() > 1)
            && runtime.max_active_levels.is_none_or(|levels| levels() > 0)
    }
}
