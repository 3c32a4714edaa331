//! Regions and leagues of LLVM's runtime: where they are entered. A measured region is entered with
//! [`begin`], which gets two arguments; [`run_micro`] calls the program's function with those of its own.

use super::members;
use crate::region::enter;
use crate::region::kind::{Kind, Region, Work};
use crate::region::mechanisms::gather;
use crate::region::thread::thread;
use crate::runtimes::entries::{Body, ForkCall, Micro, Place, Runtime};
use crate::runtimes::lookup;
use crate::sys::arch::{VariadicCall, call_function, call_runtime};
use crate::sys::symbols::{self, function};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::ptr::null;
use core::sync::atomic::{AtomicU32, Ordering};

/// Leagues that run now. Their teams run at the same time, each with a master that enters regions. Those
/// regions are left to the runtime, which has shared out the threads.
static LEAGUES: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn begin(global: *const c_int, bound: *const c_int, run: Body, data: *mut c_void) {
    thread().numbers.set([global, bound]);
    // SAFETY: `enter_region` passes both to the runtime together.
    unsafe { run(data) }
}

unsafe extern "C" fn run_micro(call: *mut c_void) {
    // SAFETY: the call lies on the master's stack until its region ends; `begin` has recorded the numbers.
    unsafe {
        let [global, bound] = thread().numbers.get();
        call_function(call.cast(), global, bound);
    }
}

fn address(call: Option<ForkCall>) -> usize {
    call.map_or(0, |call| call as usize)
}

fn pointer(call: Option<ForkCall>) -> *const c_void {
    call.map_or(null(), |call| call as *const c_void)
}

/// A region is entered. Returns the address to go on at if there is nothing to do, or 0 when it has ended.
pub unsafe extern "C" fn enter_region(call: *mut VariadicCall) -> usize {
    let this = thread();
    // SAFETY: the entry point passes its caller's arguments, on the stack until this returns. The function is
    // the compiler's and takes what `run_micro` passes; the runtime's entry points get these arguments or
    // ours, which are of the same types.
    unsafe {
        let micro = (*call).function;
        let requested = this.pushed.get();
        this.pushed.set(0);
        let Some(code) = lookup::of_llvms(micro.addr()) else {
            // There are more runtimes than we tell apart.
            return address(symbols::next(c"__kmpc_fork_call"));
        };
        let real = code.runtime.__kmpc_fork_call;
        // Within a region of ours it is a nested one, whoever has leagues, and its threads meet there.
        let in_league = LEAGUES.load(Ordering::Relaxed) != 0 && this.frame.get().is_null();
        if real.is_none() || in_league || code.runtime.is_foreign {
            return address(real);
        }
        // The runtime still keeps a clause's number for its next region, whose region was gathered.
        let is_kept = this.kept_push.take() != 0 && requested == 0;
        if is_kept {
            let most = code.runtime.omp_get_max_threads.map_or(1, |most| most()).max(1);
            push(code.runtime, (*call).place, most as u32);
        }
        let body = transmute::<*const c_void, Body>(micro);
        let work = Work { body, run: run_micro, data: call.cast() };
        let region = Region { code, work, requested, kind: Kind::Plain };
        if enter::is_passed_by(&region) {
            return address(real);
        }
        (*call).real = pointer(real);
        // Whether the runtime still knows what was pushed. It forgets that with each region, and a
        // rehearsal is one, too.
        let is_told = Cell::new(requested != 0 || is_kept);
        let pass = |runtime: &Runtime, run: Body, data: *mut c_void, threads: u32| {
            let known = if is_told.replace(false) { requested } else { 0 };
            if threads != known {
                push(runtime, (*call).place, threads);
            }
            if run as usize == run_micro as *const () as usize {
                call_runtime(call);
            } else if let Some(real) = real {
                let begin = transmute::<*const (), Micro>(begin as *const ());
                real((*call).place, 2, begin, run, data);
            }
        };
        enter::managed(&region, pass);
        // The runtime isn't told of members' clauses.
        this.kept_push.set(u32::from(is_told.get() && gather::current().is_none()));
        0
    }
}

/// Asks the runtime for `threads` threads in this thread's next region.
#[cold]
unsafe fn push(runtime: &Runtime, place: Place, threads: u32) {
    if let (Some(number), Some(push)) = (runtime.__kmpc_global_thread_num, runtime.__kmpc_push_num_threads) {
        // SAFETY: the program's own place.
        unsafe { push(place, number(place), threads.min(i32::MAX as u32) as c_int) }
    }
}

/// A league of teams is entered. A team size that was pushed for it isn't for a region.
pub unsafe extern "C" fn enter_league(call: *mut VariadicCall) -> usize {
    thread().pushed.set(0);
    // SAFETY: the entry point passes its caller's arguments, on the stack until this returns.
    unsafe {
        let known = lookup::of_llvms((*call).function.addr()).and_then(|code| code.runtime.__kmpc_fork_teams);
        (*call).real = pointer(known.or_else(|| symbols::next(c"__kmpc_fork_teams")));
        if !(*call).real.is_null() {
            LEAGUES.fetch_add(1, Ordering::Relaxed);
            call_runtime(call);
            LEAGUES.fetch_sub(1, Ordering::Relaxed);
        }
        0
    }
}

/// A region with an `if` clause and one argument or none; newer compilers enter it so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_fork_call_if(
    place: Place,
    count: c_int,
    micro: Micro,
    condition: c_int,
    argument: *mut c_void,
) {
    let this = thread();
    // SAFETY: the compiler passes a function and its one argument, or null for none; both go on as they came.
    unsafe {
        if condition != 0 {
            let none = [0];
            let mut call = VariadicCall {
                place,
                count: c_int::from(!argument.is_null()),
                function: micro as *const c_void,
                first: [argument.addr(), 0, 0],
                rest: none.as_ptr(),
                real: null(),
            };
            // Unlike after `__kmpc_fork_call`, nobody else goes on with the call.
            if let Some(real) = function::<ForkCall>(enter_region(&mut call)) {
                call.real = pointer(Some(real));
                call_runtime(&call);
            }
            return;
        }
        let real = lookup::of_llvms(micro as usize).and_then(|code| code.runtime.__kmpc_fork_call_if);
        if let Some(real) = real {
            if let Some(me) = gather::current() {
                return members::alone(me, micro, argument);
            }
            let before = this.serial.get();
            this.serial.set(before.saturating_add(1));
            real(place, count, micro, condition, argument);
            this.serial.set(before);
        }
    }
}

/// After a fork, in the child: only the forking thread's own league goes on, and is passed on as it is.
pub fn after_fork() {
    LEAGUES.store(0, Ordering::Relaxed);
}
