//! oneTBB, where threads come into it from outside. At such a call the process attaches to the daemon, and
//! the program counts as parallel until the call ends. From 2021.11 on, oneTBB asks how many workers it may
//! have ([`manager`]); older versions are folded. oneTBB counts the PUs at its first use, before the daemon
//! narrows the affinity: so [`arrive`] asks it for its number of threads first. Its functions throw what a
//! task throws, so the wrappers have a frame that the unwinder knows; its personality only records that the
//! frame is left.

mod caller;
mod files;
mod libraries;
pub mod manager;

pub use libraries::{discover, forget};

use self::caller::{Caller, caller};
use self::libraries::{Library, library_for};
use self::manager::permits;
use crate::link::grant::dop;
use crate::program::budget::{self, Who};
use crate::program::non_openmp;
use crate::sys::arch;
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, with_exposed_provenance};
use core::sync::atomic::{AtomicBool, Ordering};

const EXECUTE_AND_WAIT: usize = 0;
const EXECUTE_IN_ARENA: usize = 2;
const ENQUEUE: usize = 4;

arch::around! {
    arrive, depart, unwound;
    execute_and_wait as
        "_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_" is 0;
    wait as "_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE" is 1;
    execute as "_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE" is 2;
    parallel_pipeline as
        "_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE" is 3;
    enqueue as "_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE" is 4;
    enqueue_in_context as
        "_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE" is 5;
}

/// Personality of the wrapper's frame: an exception, or a thread that ends, goes through it.
unsafe extern "C" fn unwound(_: c_int, actions: c_int, _: u64, _: *mut c_void, _: *mut c_void) -> c_int {
    const CLEANS_UP: c_int = 2;
    const GO_ON: c_int = 8;
    if actions & CLEANS_UP != 0 {
        depart();
    }
    GO_ON
}

/// A thread comes in, from the code at `from`. Returns the function that it called.
unsafe extern "C" fn arrive(number: usize, first: usize, second: usize, from: usize) -> *mut c_void {
    let this = caller();
    let library = library_for(from);
    if this.from_outside.get() != 0 {
        this.from_outside.set(this.from_outside.get() + 1);
    } else if this.permit.get().is_null() {
        this.from_outside.set(1);
        // What is to be done is an object, known by its vtable.
        // SAFETY: the function's argument of that place is a reference to such an object.
        let vtable = |object| unsafe { *with_exposed_provenance::<usize>(object) };
        let id = match number {
            EXECUTE_AND_WAIT => Some(vtable(first)),
            EXECUTE_IN_ARENA => Some(vtable(second)),
            ENQUEUE.. => None,
            _ => Some(from),
        };
        begin(this, library, id);
    }
    library.functions.get(number).map_or(null_mut(), |function| function.load(Ordering::Acquire))
}

extern "C" fn depart() {
    let this = caller();
    match this.from_outside.get() {
        // A thread that works for a permit, which `arrive` didn't count.
        0 => {}
        1 => {
            this.from_outside.set(0);
            let ticket = this.ticket.replace(non_openmp::Ticket::NONE);
            if this.is_first.take() != 0 {
                INSIDE.store(false, Ordering::Release);
            }
            budget::runs_more(Who::Tbb, -(ticket.threads() as i32));
            non_openmp::end(ticket, 0);
        }
        more => this.from_outside.set(more - 1),
    }
}

static INSIDE: AtomicBool = AtomicBool::new(false);

/// Attaches and begins the work `id`; `None` if this thread leaves the work to others and goes on.
fn begin(this: &Caller, library: &Library, id: Option<usize>) {
    let asks = permits::is_connected();
    let natural = library.natural(this, asks);
    let (true, Some(id)) = (non_openmp::attach(natural), id) else {
        return;
    };
    // Without permits, oneTBB's own threads look like others in a task's inner loop, so only one counts.
    let first = !INSIDE.swap(true, Ordering::Acquire);
    if first || asks {
        let threads = if asks { natural.min(dop()) } else { natural };
        this.is_first.set(u32::from(first));
        let ticket = non_openmp::begin(id as u64, threads);
        this.ticket.set(ticket);
        budget::runs_more(Who::Tbb, ticket.threads() as i32);
    }
}

pub fn after_fork() {
    INSIDE.store(false, Ordering::Relaxed);
    permits::after_fork();
    libraries::after_fork();
    budget::runs(Who::Tbb, caller().ticket.get().threads());
}
