//! Calls that make a child, which starts a program or goes on as this one.

use super::can_take::Program;
use super::exec::{at, named};
use super::preload::{List, fit_own, fitting};
use crate::link::affinity::{self, RETURNS_TO_AT};
use crate::sys::arch;
use crate::sys::symbols::Next;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

static SPAWN: Next = Next::called(c"posix_spawn");
static SPAWNP: Next = Next::called(c"posix_spawnp");
static SYSTEM: Next = Next::called(c"system");
static POPEN: Next = Next::called(c"popen");
static CLONE: Next = Next::called(c"clone");
static BARE_FORK: Next = Next::called(c"_Fork");
static REAL_VFORK: Next = Next::called(c"vfork");
static VFORK: AtomicUsize = AtomicUsize::new(0);

pub fn look() {
    [&SPAWN, &SPAWNP, &SYSTEM, &POPEN, &CLONE, &BARE_FORK].into_iter().for_each(Next::look);
    look_for_vfork();
}

fn look_for_vfork() {
    // SAFETY: an address may be any number.
    VFORK.store(unsafe { REAL_VFORK.get() }.unwrap_or(0), Ordering::Relaxed);
}

/// Has `start` make a child with the program's own affinity.
fn widely<R>(start: impl FnOnce() -> R) -> R {
    let begun = affinity::begin_start();
    let result = start();
    if begun {
        affinity::end_start();
    }
    result
}

/// The same where the child comes back here, too, with 0: it stays wide.
pub fn fork_widely<R: PartialEq + From<u8>>(fork: impl FnOnce() -> R) -> R {
    let begun = affinity::begin_start();
    let result = fork();
    match result == R::from(0) {
        true if begun => affinity::is_child(),
        false if begun => affinity::end_start(),
        _ => {}
    }
    result
}

/// The shell that the C library starts.
const SHELL: Program<'static> = Program::At(c"/bin/sh");

macro_rules! spawns {
    ($($name:ident, $next:ident, $program:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                child: *mut libc::pid_t,
                program: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                arguments: List,
                environment: List,
            ) -> c_int {
                type Real = unsafe extern "C" fn(
                    *mut libc::pid_t, *const c_char, *const c_void, *const c_void, List, List,
                ) -> c_int;
                // SAFETY: the program's arguments go on as they came, but for the environment.
                unsafe {
                    let Some(real) = $next.get::<Real>() else { return libc::ENOSYS };
                    widely(|| {
                        fitting($program(program), environment, |fit| {
                            real(child, program, actions, attributes, arguments, fit.unwrap_or(environment))
                        })
                    })
                }
            }
        )*
    };
}

spawns! {
    posix_spawn, SPAWN, at;
    posix_spawnp, SPAWNP, named;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn system(command: *const c_char) -> c_int {
    // SAFETY: the C library's function has this type, and gets the program's argument.
    unsafe {
        match SYSTEM.get::<unsafe extern "C" fn(*const c_char) -> c_int>() {
            Some(real) if command.is_null() => real(command),
            Some(real) => {
                fit_own(SHELL);
                widely(|| real(command))
            }
            None => -1,
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void {
    // SAFETY: the C library's function has this type, and gets the program's arguments.
    unsafe {
        let Some(real) = POPEN.get::<unsafe extern "C" fn(*const c_char, *const c_char) -> *mut c_void>()
        else {
            return null_mut();
        };
        fit_own(SHELL);
        widely(|| real(command, mode))
    }
}

/// A thread is none of our business. The child goes on in its own function, on its own stack.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clone(
    run: *const c_void,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parents: *mut c_void,
    storage: *mut c_void,
    childs: *mut c_void,
) -> c_int {
    type Real = unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        c_int,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        *mut c_void,
    ) -> c_int;
    // SAFETY: the C library's function takes so many words at most, and gets the program's: those that this
    // call doesn't have are whatever is there, and not looked at.
    unsafe {
        let Some(real) = CLONE.get::<Real>() else { return -1 };
        let start = || real(run, stack, flags, argument, parents, storage, childs);
        if flags & libc::CLONE_THREAD != 0 { start() } else { widely(start) }
    }
}

/// A fork without its handlers, which the C library has since 2.34.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Fork() -> libc::pid_t {
    // SAFETY: the function takes nothing; `fork` does the same, and calls handlers.
    unsafe {
        match BARE_FORK.get::<unsafe extern "C" fn() -> libc::pid_t>() {
            Some(real) => fork_widely(|| real()),
            None => libc::fork(),
        }
    }
}

arch::vforks! {
    /// The child runs in its parent's memory and on its stack until it becomes a program. So it must not find
    /// a frame of ours there.
    vfork: begins, else ends; real VFORK, returns RETURNS_TO_AT
}

/// Whether the thread was widened, and has to be narrowed afterwards.
extern "C" fn begins() -> bool {
    look_for_vfork();
    affinity::begin_start()
}

extern "C" fn ends() {
    affinity::end_start();
}
