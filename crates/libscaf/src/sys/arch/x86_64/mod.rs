//! x86-64: the time-stamp counter, thread-local storage, and code that has to be assembly.

mod cpp_wrappers;
mod entry_points;
mod fiber;
mod spin_hook;
mod tasks;
mod variadic;

pub(crate) use cpp_wrappers::around;
pub use entry_points::NOTHING;
pub(crate) use entry_points::{
    answered, arguments, counted, diverted, frame, listed_arguments, looked_at, pass_on, recorded_caller,
    vforks, with_all_arguments, with_caller,
};
pub use fiber::{Fiber, can_switch, control_words, set_control_words, switch, tls_base};
pub(crate) use spin_hook::yielding;
pub use spin_hook::{SAVED_BYTES, can_save_registers};
pub use tasks::ENTRANCE_BYTES;
pub(crate) use tasks::entrances;
pub(crate) use variadic::variadic;
pub use variadic::{VariadicCall, call_function, call_runtime};

use core::arch::{asm, global_asm, x86_64::_rdtsc};
use core::ffi::{CStr, c_long, c_void};

/// ELF's number for programs of this processor.
pub const ELF_MACHINE: u16 = libc::EM_X86_64;
/// Version of the first glibc for it: what hasn't changed since has it. `sys/glibc.rs` links by it, too.
pub const FIRST_GLIBC: &CStr = c"GLIBC_2.2.5";
/// Types of relocations that write a symbol's address, and what is added, into a word of 64 bits:
/// `R_X86_64_64`, `R_X86_64_GLOB_DAT`, `R_X86_64_JUMP_SLOT`.
pub const IS_ADDRESS: [u32; 3] = [1, 6, 7];
/// The oldest of the calls that start a process; newer processors have only the other ones.
pub const FORK: c_long = libc::SYS_fork;

/// Bytes of a thread's state; its parts are laid out in [`crate::sys::thread_state`].
pub const THREAD_BYTES: usize = 416;

global_asm!(
    ".section .tbss.scaf_thread,\"awT\",@nobits",
    ".globl scaf_thread",
    ".hidden scaf_thread",
    ".type scaf_thread,@object",
    ".size scaf_thread,{bytes}",
    ".p2align 4",
    "scaf_thread: .zero {bytes}",
    ".text",
    bytes = const THREAD_BYTES,
);

/// This thread's state, all zero when the thread starts.
///
/// Stable Rust has no thread-locals without `std`, and `__tls_get_addr` would cost 5 ns a region. The library
/// is loaded with the program, so its few bytes fit the static block of thread-local storage and cost one
/// instruction.
#[inline(always)]
pub fn thread_block() -> *mut u8 {
    let at: *mut u8;
    // SAFETY: reads the thread pointer and a constant of the global offset table.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + scaf_thread@gottpoff]",
            "add {at}, qword ptr fs:[0]",
            at = out(reg) at,
            options(pure, nomem, nostack),
        );
    }
    at
}

/// The time-stamp counter: constant rate, the same on all cores of the machines we run on.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 has it; a process that was forbidden it by prctl(PR_SET_TSC) is beyond our users.
    unsafe { _rdtsc() }
}

/// Registers of a system call that was trapped: its second and third argument, and where its result goes.
///
/// # Safety
/// `context` is the `ucontext_t` that the kernel handed to a handler of SIGSYS.
pub unsafe fn trapped_call<'a>(context: *mut c_void) -> (i64, i64, &'a mut i64) {
    // SAFETY: the context is the kernel's, as the caller says, and nobody else has it.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let (second, third) = (registers[libc::REG_RSI as usize], registers[libc::REG_RDX as usize]);
    (second, third, &mut registers[libc::REG_RAX as usize])
}

/// A system call that touches nothing of the thread's storage: `errno` isn't set.
///
/// # Safety
/// As the system call has it.
pub unsafe fn bare_call(number: i64, arguments: [usize; 4]) -> isize {
    let [first, second, third, fourth] = arguments;
    let result: isize;
    // SAFETY: the call is sound, as the caller says; the kernel changes these registers and no others.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}
