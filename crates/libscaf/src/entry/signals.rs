//! Calls of the C library's by which a thread asks for, or changes, what is its kernel thread's. A member of
//! a gathered team is answered as the thread that the program takes it for; anybody else's call is passed on.

use crate::region::mechanisms::gather::{around, kernel, stacks};
use crate::region::thread::thread;
use crate::sys::symbols::{function, next};
use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};
use libc::{pthread_attr_t, pthread_t, sigset_t, stack_t};

/// A function of the C library's.
struct Next(AtomicUsize, &'static CStr);

impl Next {
    const fn called(name: &'static CStr) -> Next {
        Next(AtomicUsize::new(0), name)
    }

    /// # Safety
    /// `F` is the type of a pointer to that function.
    #[inline(always)]
    unsafe fn get<F: Copy>(&self) -> Option<F> {
        let known = self.0.load(Ordering::Relaxed);
        // SAFETY: the caller's word.
        unsafe { if known == 0 { self.find() } else { function(known) } }
    }

    #[cold]
    unsafe fn find<F: Copy>(&self) -> Option<F> {
        // SAFETY: an address, and then the caller's word.
        unsafe {
            let found: usize = next(self.1)?;
            self.0.store(found, Ordering::Relaxed);
            function(found)
        }
    }
}

type Change<T> = unsafe extern "C" fn(c_int, *const T, *mut T) -> c_int;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    static NEXT: Next = Next::called(c"pthread_sigmask");
    // SAFETY: that function's type; the program's own arguments.
    unsafe {
        match NEXT.get::<Change<sigset_t>>() {
            Some(real) => kernel::change(|| real(how, new, old)),
            None => libc::ENOSYS,
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    static NEXT: Next = Next::called(c"sigprocmask");
    // SAFETY: as above.
    unsafe {
        match NEXT.get::<Change<sigset_t>>() {
            Some(real) => kernel::change(|| real(how, new, old)),
            None => -1,
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaltstack(new: *const stack_t, old: *mut stack_t) -> c_int {
    type Real = unsafe extern "C" fn(*const stack_t, *mut stack_t) -> c_int;
    static NEXT: Next = Next::called(c"sigaltstack");
    // SAFETY: as above.
    unsafe {
        match NEXT.get::<Real>() {
            Some(real) => kernel::change(|| real(new, old)),
            None => -1,
        }
    }
}

/// Of a member that asks for its own stack, it is the member's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_getattr_np(whose: pthread_t, attributes: *mut pthread_attr_t) -> c_int {
    type Real = unsafe extern "C" fn(pthread_t, *mut pthread_attr_t) -> c_int;
    static NEXT: Next = Next::called(c"pthread_getattr_np");
    // SAFETY: as above; what was filled in is the program's.
    unsafe {
        let Some(real) = NEXT.get::<Real>() else { return libc::ENOSYS };
        let result = real(whose, attributes);
        if result == 0
            && around(thread()).is_some()
            && libc::pthread_equal(whose, libc::pthread_self()) != 0
            && let Some((start, bytes)) = stacks::around((&raw const result).addr())
        {
            return pthread_attr_setstack(attributes, start, bytes);
        }
        result
    }
}

unsafe extern "C" {
    fn pthread_attr_setstack(
        attributes: *mut pthread_attr_t,
        start: *mut core::ffi::c_void,
        bytes: usize,
    ) -> c_int;
}
