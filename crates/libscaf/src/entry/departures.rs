//! Calls where threads of ours are in the way (`sys/helpers.rs`): `main` ends by one, and the process is to
//! end with the program's other threads; or the kernel allows it to processes of one thread only.

use crate::program::grant_watcher;
use crate::runtimes::hooks;
use crate::sys::errno::keeping_errno;
use crate::sys::symbols::Next;
use crate::sys::undisturbed::undisturbed;
use crate::sys::{arch, helpers};
use core::ffi::c_int;

static PTHREAD_EXIT: Next = Next::called(c"pthread_exit");
static THRD_EXIT: Next = Next::called(c"thrd_exit");
static UNSHARE: Next = Next::called(c"unshare");
static SETNS: Next = Next::called(c"setns");

/// When the process is attached, so that no search is made within a call.
pub fn look() {
    [&PTHREAD_EXIT, &THRD_EXIT, &UNSHARE, &SETNS].into_iter().for_each(Next::look);
}

arch::pass_on! {
    pthread_exit => find_pthread_exit;
    thrd_exit => find_thrd_exit;
}

extern "C" fn find_pthread_exit() -> usize {
    leaving(&PTHREAD_EXIT)
}

extern "C" fn find_thrd_exit() -> usize {
    leaving(&THRD_EXIT)
}

/// The calling thread is about to end. Ours end before it, so that the last one, which has the process end,
/// is the program's.
fn leaving(real: &Next) -> usize {
    if helpers::is_main() {
        undisturbed(|| {
            main_has_ended();
            helpers::wait_for_ends();
        });
    }
    // SAFETY: an address may be any number. The entry point goes on there.
    unsafe { real.get() }.unwrap_or(nowhere as *const () as usize)
}

/// A C library without the function that the program calls has no such program.
extern "C" fn nowhere() -> ! {
    loop {
        helpers::pause(0);
    }
}

/// From now on no thread of ours is there, or none comes.
pub fn main_has_ended() {
    if !helpers::are_unwanted() {
        helpers::dismiss_for_good();
        hooks::call(hooks::get().dismissed);
        grant_watcher::leave_for_good();
    }
}

/// Makes a call that may want the process to have one thread.
fn alone(call: impl FnOnce() -> c_int) -> c_int {
    let are_there = helpers::are_there();
    if are_there {
        keeping_errno(|| {
            helpers::dismiss();
            hooks::call(hooks::get().dismissed);
            helpers::wait_for_ends();
        });
    }
    let result = call();
    if are_there {
        keeping_errno(|| {
            helpers::call_back();
            hooks::call(hooks::get().called_back);
        });
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn unshare(flags: c_int) -> c_int {
    const ALONE: c_int = libc::CLONE_NEWUSER | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_VM;
    // SAFETY: the C library's function has this type, and gets the program's argument.
    unsafe {
        match UNSHARE.get::<unsafe extern "C" fn(c_int) -> c_int>() {
            Some(real) if flags & ALONE != 0 => alone(|| real(flags)),
            Some(real) => real(flags),
            None => -1,
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn setns(file: c_int, kind: c_int) -> c_int {
    // SAFETY: the C library's function has this type, and gets the program's arguments.
    unsafe {
        match SETNS.get::<unsafe extern "C" fn(c_int, c_int) -> c_int>() {
            Some(real) => alone(|| real(file, kind)),
            None => -1,
        }
    }
}
