//! Calls of the C library's by which a program installs a handler of a signal. They are passed on; which
//! signals have had a handler is kept, because it forbids gathering for some.

use crate::region::mechanisms::gather::member_signals;
use crate::sys::symbols::Next;
use core::ffi::c_int;
use libc::{SIG_DFL, SIG_ERR, SIG_IGN, sighandler_t};

/// What `sigset` takes for "block it".
const SIG_HOLD: sighandler_t = 2;

/// The program has set what becomes of a signal.
fn note(signal: c_int, handler: sighandler_t) {
    if ![SIG_DFL, SIG_IGN, SIG_HOLD].contains(&handler) {
        member_signals::handles(signal);
    }
}

static SIGACTION: Next = Next::called(c"sigaction");

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    type Real = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    // SAFETY: the C library's function has this type, and gets the program's arguments.
    let Some(real) = (unsafe { SIGACTION.get::<Real>() }) else { return -1 };
    // Before the call, for `old` may be the same place. SAFETY: the program passes an action or null.
    let handler = unsafe { new.as_ref() }.map_or(SIG_DFL, |new| new.sa_sigaction);
    // SAFETY: it was found under that name, and gets the program's arguments.
    let done = unsafe { real(signal, new, old) };
    if done == 0 {
        note(signal, handler);
    }
    done
}

macro_rules! by_number {
    ($($name:ident, $next:ident = $symbol:literal;)*) => {
        $(
            static $next: Next = Next::called($symbol);

            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(signal: c_int, handler: sighandler_t) -> sighandler_t {
                type Real = unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t;
                // SAFETY: the C library's function has this type, and gets the program's arguments.
                let Some(real) = (unsafe { $next.get::<Real>() }) else { return SIG_ERR };
                // SAFETY: it was found under that name, and gets the program's arguments.
                let before = unsafe { real(signal, handler) };
                if before != SIG_ERR {
                    note(signal, handler);
                }
                before
            }
        )*

        /// So that no search is made within a call: these may be made in handlers of signals.
        pub fn at_load() {
            SIGACTION.look();
            $($next.look();)*
        }
    };
}

by_number! {
    signal, SIGNAL = c"signal";
    ssignal, SSIGNAL = c"ssignal";
    sigset, SIGSET = c"sigset";
    sysv_signal, SYSV_SIGNAL = c"sysv_signal";
    __sysv_signal, SYSV_SIGNAL_ = c"__sysv_signal";
}
