//! Waits for tasks and for locks.

use crate::region::frame::Frame;
use crate::region::mechanisms::gather;
use crate::region::mechanisms::gather::depend_list::DependList;
use crate::region::mechanisms::gather::explicit_tasks::{self as gathered, Copy, New};
use crate::region::mechanisms::gather::gomp_reductions;
use crate::region::serving_runtime::{of_caller, place};
use crate::region::task_times::{lock, wait};
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::{Body, Runtime, Wait, name_of};
use crate::runtimes::linker::in_library_of;
use crate::runtimes::module_tables;
use crate::sys::errno::keeping_errno;
use crate::sys::symbols;
use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

macro_rules! calls {
    ($($name:ident by $how:ident, $whose:ident: $real:ident;)*) => {
        $(
            pub unsafe extern "C" fn $name(argument: *mut c_void, caller: usize) -> *mut c_void {
                let this = thread();
                // SAFETY: `real` is the function that the caller called, in the runtime that it would have
                // reached without scaf, and gets the caller's argument.
                unsafe {
                    let (real, frame) = match $whose(this, caller) {
                        Some((runtime, frame)) => (runtime.$real, frame),
                        None => (missing(name_of!($real), caller), None),
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
#[unsafe(link_section = ".data.at_load")]
static FIRST_LOCKS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
const LOCKS: [&CStr; 2] = [c"omp_set_lock", c"omp_set_lock_"];

pub fn at_load() {
    for (first, name) in FIRST_LOCKS.iter().zip(LOCKS) {
        first.store(module_tables::next(name), Ordering::Relaxed);
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
    // SAFETY: `real` is one of the functions that the caller may have meant by this name, all of this type,
    // and gets the caller's lock. The address of a function, or 0, is an `Option` of a pointer to it.
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
    // SAFETY: called by the program as omp_set_lock, with a lock of C's.
    unsafe { set::<0>(argument, caller, |runtime| runtime.omp_set_lock) }
}

pub unsafe extern "C" fn set_lock_fortran(argument: *mut c_void, caller: usize) -> *mut c_void {
    // SAFETY: called by the program as omp_set_lock_, with a lock of Fortran's.
    unsafe { set::<1>(argument, caller, |runtime| runtime.omp_set_lock_) }
}

calls! {
    other_taskwait by wait, place: GOMP_taskwait;
    other_taskgroup_start by in_group, of_caller: GOMP_taskgroup_start;
    other_taskgroup_end by wait, of_caller: GOMP_taskgroup_end;
    other_reduction_register by at_once, of_caller: GOMP_taskgroup_reduction_register;
    other_reduction_unregister by at_once, of_caller: GOMP_taskgroup_reduction_unregister;
    other_taskwait_depend by wait, place: GOMP_taskwait_depend;
    other_single_copy_start by wait, of_caller: GOMP_single_copy_start;
    other_ordered_start by wait, of_caller: GOMP_ordered_start;
    critical_start by lock, of_caller: GOMP_critical_start;
    critical_name_start by lock, of_caller: GOMP_critical_name_start;
    atomic_start by lock, of_caller: GOMP_atomic_start;
}

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
                // SAFETY: the compiler passes what the function of this name takes, if it takes anything.
                unsafe {
                    let Some($me) = gather::current() else { return $other($argument, caller) };
                    $answer;
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
    // SAFETY: the compiler passes the array that it registered.
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
    // SAFETY: the compiler passes an array of so many addresses, for the runtime's function of this name.
    unsafe {
        if let Some(me) = gather::current() {
            return gomp_reductions::remap(me, count, original, addresses);
        }
        let real = of_caller(thread(), caller).and_then(|(runtime, _)| runtime.GOMP_task_reduction_remap);
        if let Some(real) = real.or_else(|| symbols::next(name_of!(GOMP_task_reduction_remap))) {
            real(count, original, addresses);
        }
    }
}

/// The calling thread waits for what another thread of its team passes on, if it isn't the first to come.
pub unsafe extern "C" fn single_copy_start(argument: *mut c_void, caller: usize) -> *mut c_void {
    match gather::current() {
        Some(me) => gather::constructs::single_copy(me),
        // SAFETY: GOMP_single_copy_start, as the caller called it.
        None => unsafe { other_single_copy_start(argument, caller) },
    }
}

/// A task that a member creates, as the compiler passes it.
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
