//! Calls of the C library's by which a thread asks for, or changes, what is its kernel thread's. A member of
//! a gathered team is answered as the thread that the program takes it for; anybody else's call is passed on.

use crate::region::mechanisms::gather::member_signals;
use crate::sys::symbols::Next;
use core::ffi::c_int;
use libc::{sigset_t, stack_t};

macro_rules! masks {
    ($($name:ident, $next:ident = $symbol:literal, or $missing:expr;)*) => {
        $(
            static $next: Next = Next::called($symbol);

            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
                type Real = unsafe extern "C" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int;
                // SAFETY: both functions have this type, and get the program's arguments.
                unsafe {
                    match $next.get::<Real>() {
                        Some(real) => member_signals::change(|| real(how, new, old)),
                        None => $missing,
                    }
                }
            }
        )*
    };
}

masks! {
    pthread_sigmask, PTHREAD_SIGMASK = c"pthread_sigmask", or libc::ENOSYS;
    sigprocmask, SIGPROCMASK = c"sigprocmask", or -1;
}

static SIGALTSTACK: Next = Next::called(c"sigaltstack");

/// So that no search is made within a call: most of these may be made in handlers of signals.
pub fn at_load() {
    [&PTHREAD_SIGMASK, &SIGPROCMASK, &SIGALTSTACK].into_iter().for_each(Next::look);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaltstack(new: *const stack_t, old: *mut stack_t) -> c_int {
    type Real = unsafe extern "C" fn(*const stack_t, *mut stack_t) -> c_int;
    if !new.is_null() {
        member_signals::sets_stack();
    }
    // SAFETY: the C library's function has this type, and gets the program's arguments.
    unsafe {
        match SIGALTSTACK.get::<Real>() {
            Some(real) => member_signals::change(|| real(new, old)),
            None => -1,
        }
    }
}
