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
pub fn inner_request(this: &Thread, code: Code, requested: u32) -> u32 {
    let one_level = || code.runtime.ask_max_active_levels().is_none_or(|levels| levels <= 1);
    if is_shrunk(this, code.runtime) && one_level() { 1 } else { requested }
}

fn is_shrunk(this: &Thread, runtime: &Runtime) -> bool {
    this.shrunk_in.get().is_some_and(|shrunk| eq(shrunk, runtime))
}

/// Whether the thread is in a region of this runtime's that has one thread because of us, and has several
/// without us.
pub fn hides_a_team(this: &Thread, runtime: &Runtime) -> bool {
    this.runtime.get().is_some()
        && is_shrunk(this, runtime)
        && runtime.ask_thread_limit().is_none_or(|limit| limit > 1)
        && runtime.ask_max_active_levels().is_none_or(|levels| levels > 0)
}
