//! Waits for tasks and for locks.

use crate::region::frame::Frame;
use crate::region::mechanisms::gather;
use crate::region::mechanisms::gather::depend_list::DependList;
use crate::region::mechanisms::gather::explicit_tasks::{self as gathered, Copy, New};
use crate::region::mechanisms::gather::gomp_reductions;
use crate::region::place::{of_caller, place};
use crate::region::tasks::{lock, wait};
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::{Body, Runtime, Wait};
use crate::runtimes::linker::in_library_of;
use crate::sys::errno::keeping_errno;
use crate::sys::symbols;
use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

macro_rules! calls {
    ($($name:ident by $how:ident, $whose:ident: $real:ident or $symbol:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(argument: *mut c_void, caller: usize) -> *mut c_void {
                let this = thread();
                // SAFETY: this thread's own state; the program's own argument.
                unsafe {
                    let (real, frame) = match $whose(this, caller) {
                        Some((runtime, frame)) => (runtime.$real, frame),
                        None => (missing($symbol, caller), None),
                    };
                    match (real, frame) {
                        (Some(real), Some(frame)) => $how(this, frame, || real(argument)),
                        (Some(real), None) => real(argument),
                        (None, _) => null_mut(),
                    }
                }
            }
        )*
    };
}

/// The function that this call would have reached without scaf, where no libgomp is found.
#[cold]
unsafe fn missing(name: &CStr, caller: usize) -> Option<Wait> {
    // SAFETY: the type is that of all calls below.
    unsafe {
        symbols::next(name).or_else(|| {
            let found = keeping_errno(|| in_library_of(caller, name))?;
            Some(core::mem::transmute::<*mut c_void, Wait>(found))
        })
    }
}

/// The first library loaded with the program that has locks: all calls about a lock that we don't take go
/// there. 0 if there is none, or before [`at_load`].
static FIRST_LOCKS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
const LOCKS: [&CStr; 2] = [c"omp_set_lock", c"omp_set_lock_"];

pub fn at_load() {
    for (first, name) in FIRST_LOCKS.iter().zip(LOCKS) {
        // SAFETY: a plain search.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        first.store(found.addr(), Ordering::Relaxed);
    }
}

/// Waits for a lock of the program's: of C's kind (0) or Fortran's (1).
#[inline(always)]
unsafe fn set<const KIND: usize>(
    argument: *mut c_void,
    caller: usize,
    of: impl Fn(&Runtime) -> Option<Wait>,
) -> *mut c_void {
    let this = thread();
    // SAFETY: this thread's own state; the program's own argument, and a call of the type that it meant.
    unsafe {
        let first = FIRST_LOCKS[KIND].load(Ordering::Relaxed);
        let (real, frame) = match core::mem::transmute::<usize, Option<Wait>>(first) {
            Some(first) => (Some(first), this.frame()),
            None => match of_caller(this, caller) {
                Some((runtime, frame)) => (of(runtime), frame),
                None => (missing(LOCKS[KIND], caller), None),
            },
        };
        match (real, frame) {
            (Some(real), Some(frame)) => lock(this, frame, || real(argument)),
            (Some(real), None) => real(argument),
            (None, _) => null_mut(),
        }
    }
}

pub unsafe extern "C" fn set_lock(argument: *mut c_void, caller: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe { set::<0>(argument, caller, |runtime| runtime.set_lock) }
}

pub unsafe extern "C" fn set_lock_fortran(argument: *mut c_void, caller: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe { set::<1>(argument, caller, |runtime| runtime.set_lock_fortran) }
}

calls! {
    other_taskwait by wait, place: taskwait or c"GOMP_taskwait";
    other_taskgroup_start by in_group, of_caller: taskgroup_start or c"GOMP_taskgroup_start";
    other_taskgroup_end by wait, of_caller: taskgroup_end or c"GOMP_taskgroup_end";
    other_reduction_register by at_once, of_caller: reduction_register
        or c"GOMP_taskgroup_reduction_register";
    other_reduction_unregister by at_once, of_caller: reduction_unregister
        or c"GOMP_taskgroup_reduction_unregister";
    other_taskwait_depend by wait, place: taskwait_depend or c"GOMP_taskwait_depend";
    other_single_copy_start by wait, of_caller: single_copy_start or c"GOMP_single_copy_start";
    other_ordered_start by wait, of_caller: ordered_start or c"GOMP_ordered_start";
    critical_start by lock, of_caller: critical_start or c"GOMP_critical_start";
    critical_name_start by lock, of_caller: critical_name_start or c"GOMP_critical_name_start";
    atomic_start by lock, of_caller: atomic_start or c"GOMP_atomic_start";
}

/// A call that doesn't wait.
unsafe fn at_once(_: &Thread, _: &Frame, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    real()
}

/// A group is the runtime's, as are all tasks of the region from now on.
unsafe fn in_group(_: &Thread, frame: &Frame, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    frame.has_tasks(frame.times_tasks());
    real()
}

/// The same for members of a gathered team.
macro_rules! gathered {
    ($($name:ident or $other:ident, |$me:ident, $argument:ident| $answer:expr;)*) => {
        $(
            pub unsafe extern "C" fn $name($argument: *mut c_void, caller: usize) -> *mut c_void {
                // SAFETY: this thread's own state; the program's own argument, if it has one.
                unsafe {
                    match gather::around(thread()) {
                        Some($me) => $answer,
                        None => return $other($argument, caller),
                    }
                }
                null_mut()
            }
        )*
    };
}

gathered! {
    taskwait or other_taskwait, |me, _argument| gathered::taskwait(me);
    taskwait_depend or other_taskwait_depend,
        |me, argument| gathered::await_needs(me, &DependList::of(argument.cast_const().cast()));
    taskgroup_start or other_taskgroup_start, |me, _argument| {
        let _: bool = gathered::group_start(me);
    };
    reduction_register or other_reduction_register,
        |me, argument| gomp_reductions::register(me, argument.cast());
    taskgroup_end or other_taskgroup_end, |me, _argument| gathered::group_end(me);
    ordered_start or other_ordered_start, |me, _argument| gather::loops::await_turn(me);
}

/// Values were added up: of a gathered team's, perhaps when that is gone.
pub unsafe extern "C" fn reduction_unregister(argument: *mut c_void, caller: usize) -> *mut c_void {
    // SAFETY: the program's own array.
    unsafe {
        if gomp_reductions::unregister(argument.cast()) {
            return null_mut();
        }
        other_reduction_unregister(argument, caller)
    }
}

/// The calling thread's own values of variables.
pub unsafe extern "C" fn reduction_remap(
    count: usize,
    original: usize,
    addresses: *mut usize,
    caller: usize,
) {
    let this = thread();
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        match gather::around(this) {
            Some(me) => gomp_reductions::remap(me, count, original, addresses),
            None => {
                let real = of_caller(this, caller).and_then(|(runtime, _)| runtime.reduction_remap);
                if let Some(real) = real.or_else(|| symbols::next(c"GOMP_task_reduction_remap")) {
                    real(count, original, addresses);
                }
            }
        }
    }
}

/// The calling thread waits for what another one of its team hands on, if it isn't the first to come.
pub unsafe extern "C" fn single_copy_start(argument: *mut c_void, caller: usize) -> *mut c_void {
    // SAFETY: this thread's own state; the program's own argument.
    unsafe {
        match gather::around(thread()) {
            Some(me) => gather::constructs::single_copy(me),
            None => other_single_copy_start(argument, caller),
        }
    }
}

/// Nothing to the runtime.
pub unsafe extern "C" fn find_taskyield(caller: usize) -> usize {
    let this = thread();
    // SAFETY: this thread's own state.
    unsafe {
        if gather::around(this).is_some() {
            return gathered::taskyield as *const () as usize;
        }
        let real = place(this, caller).and_then(|(runtime, _)| runtime.taskyield);
        real.map_or(yields_nothing as *const () as usize, |real| real as *const () as usize)
    }
}

extern "C" fn yields_nothing() {}

/// A task that a member creates, as the compiler hands it over.
pub fn new(
    body: Body,
    data: *mut c_void,
    copy: *mut c_void,
    (size, alignment): (i64, i64),
    may_wait: bool,
    is_final: bool,
) -> New {
    // SAFETY: the compiler's own function, or null.
    let copy = unsafe { symbols::function::<Copy>(copy.expose_provenance()) };
    let (size, alignment) = (size.max(0) as usize, alignment.max(1) as usize);
    New { body, data, copy, size, alignment, may_wait, is_final, needs: DependList::NONE, part: None }
}
