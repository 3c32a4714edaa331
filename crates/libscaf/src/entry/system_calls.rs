//! System calls that the program makes by their numbers, with the C library's `syscall`. Those that set a
//! filter, make a child, become a program, or ask for an affinity or set one, are treated as the C library's
//! functions for that; all others go on at once.

use super::affinity_calls::Binder;
use super::process_starts::{exec_by_number, fork_widely, is_exec};
use super::seccomp_calls::find;
use super::{affinity_calls, seccomp_calls};
use crate::sys::symbols::function;
use crate::sys::{arch, settings};
use core::ffi::{c_int, c_long};
use core::sync::atomic::AtomicUsize;

#[unsafe(link_section = ".data.at_load")]
static SYSCALL: AtomicUsize = AtomicUsize::new(0);

arch::looked_at! {
    syscall: [
        libc::SYS_seccomp,
        libc::SYS_prctl,
        arch::FORK,
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_setaffinity
    ] => by_number, else SYSCALL, or find_syscall;
}

/// So that no search is made within a call, which may be anywhere.
pub fn at_load() {
    find_syscall();
}

extern "C" fn find_syscall() -> usize {
    find(&SYSCALL, c"syscall")
}

unsafe extern "C" fn by_number(
    number: c_long,
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
    sixth: usize,
) -> c_long {
    type Real = unsafe extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;
    // SAFETY: syscall takes seven words, and gets the program's.
    unsafe {
        let Some(real) = function::<Real>(find_syscall()) else { return -1 };
        let call = || real(number, first, second, third, fourth, fifth, sixth);
        // The C library has 32 bits of the number.
        match c_long::from(number as c_int) {
            libc::SYS_seccomp | libc::SYS_prctl => {
                seccomp_calls::by_number(number, [first, second, third], call)
            }
            exec if is_exec(exec) => {
                let call = |[first, second, third, fourth, fifth]: [usize; 5]| {
                    real(number, first, second, third, fourth, fifth, sixth)
                };
                exec_by_number(exec, [first, second, third, fourth, fifth], call)
            }
            libc::SYS_sched_getaffinity => {
                let result = call();
                let set = core::ptr::with_exposed_provenance_mut(third);
                affinity_calls::amend_written(first as c_int, result, set);
                result
            }
            libc::SYS_sched_setaffinity => {
                let set = core::ptr::with_exposed_provenance(third);
                // LLVM's runtime binds threads so; who has it do that doesn't so himself.
                let binder = if settings::runtime_binds() { Binder::Runtime } else { Binder::Program };
                affinity_calls::binding(first as c_int, set, second, binder, call)
            }
            // With the same memory the child would return on the stack that this call is on, or is a thread.
            arch::FORK => fork_widely(call),
            libc::SYS_clone if first as c_int & libc::CLONE_VM == 0 => fork_widely(call),
            libc::SYS_clone3 if flags_of(first, second) & libc::CLONE_VM == 0 => fork_widely(call),
            _ => call(),
        }
    }
}

/// The flags of a `clone3`, which are its first word.
unsafe fn flags_of(arguments: usize, bytes: usize) -> c_int {
    let arguments = core::ptr::with_exposed_provenance::<u64>(arguments);
    if arguments.is_null() || bytes < size_of::<u64>() {
        return libc::CLONE_VM;
    }
    // SAFETY: the kernel would read it as well.
    unsafe { arguments.read_unaligned() as c_int }
}
