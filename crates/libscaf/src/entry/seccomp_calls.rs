//! Calls by which a thread puts itself, or the whole process, under a filter of system calls (seccomp). Just
//! before, the client stops making system calls (`link/no_syscalls.rs`). Any other call is passed on. A
//! program that makes the system call by instructions of its own isn't seen. Those that it makes by number
//! come from `system_calls.rs`.

use crate::link::{attachment, no_syscalls};
use crate::region::enter;
use crate::sys::arch;
use crate::sys::seccomp_filters::{are_set_by_prctl, are_set_by_seccomp};
use crate::sys::symbols::{self, function};
use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicUsize, Ordering};

#[unsafe(link_section = ".data.at_load")]
static PRCTL: AtomicUsize = AtomicUsize::new(0);

arch::looked_at! {
    prctl: [libc::PR_SET_SECCOMP as i64] => by_prctl, else PRCTL, or find_prctl;
}

/// So that no search is made within a call, which may be anywhere.
pub fn at_load() {
    find_prctl();
}

extern "C" fn find_prctl() -> usize {
    find(&PRCTL, c"prctl")
}

pub fn find(place: &AtomicUsize, name: &core::ffi::CStr) -> usize {
    let known = place.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: an address may be any number, and isn't called as one.
    let found = unsafe { symbols::next::<usize>(name) }.unwrap_or(0);
    place.store(found, Ordering::Relaxed);
    found
}

unsafe extern "C" fn by_prctl(
    option: c_int,
    mode: usize,
    program: usize,
    fourth: usize,
    fifth: usize,
) -> c_int {
    type Real = unsafe extern "C" fn(c_int, usize, usize, usize, usize) -> c_int;
    // SAFETY: prctl takes five words, and gets the program's.
    unsafe {
        let Some(real) = function::<Real>(find_prctl()) else { return -1 };
        let call = || real(option, mode, program, fourth, fifth).into();
        around(are_set_by_prctl(option, mode, program), false, call) as c_int
    }
}

/// The same by its number and its first three arguments; `call` makes it.
pub fn by_number(
    number: c_long,
    [first, second, third]: [usize; 3],
    call: impl FnOnce() -> c_long,
) -> c_long {
    let (sets, for_all) = if number == libc::SYS_seccomp {
        (are_set_by_seccomp(first, third), second & libc::SECCOMP_FILTER_FLAG_TSYNC as usize != 0)
    } else {
        (are_set_by_prctl(first as c_int, second, third), false)
    };
    around(sets, for_all, call)
}

/// Makes the call. If it `sets` a filter, or one `for_all` threads, the client stops making system calls
/// first. A result below 0 says that none was set.
fn around(sets: bool, for_all: bool, call: impl FnOnce() -> c_long) -> c_long {
    let silent = sets && attachment::has_syscalls_to_give_up();
    if silent {
        enter::fill_teams();
        attachment::give_up_syscalls(for_all);
    } else if sets && no_syscalls::are_known_forbidden() {
        no_syscalls::forbid(for_all);
    }
    let result = call();
    if silent && result < 0 {
        attachment::resume_syscalls();
    }
    result
}
