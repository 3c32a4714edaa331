//! Variadic calls that enter a region: LLVM's `__kmpc_fork_call` and its like.
//!
//! The region's function gets what comes after the third argument: three in registers and the others on the
//! caller's stack. They stay there for as long as the region runs, so they are copied only where they are
//! passed on.

use super::frame;
use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::mem::offset_of;

/// Such a call, as its entry point finds it; on the caller's stack until the region has ended.
#[repr(C)]
pub struct VariadicCall {
    /// The place in the source.
    pub place: *mut c_void,
    /// Arguments for the function.
    pub count: c_int,
    /// The region's function.
    pub function: *const c_void,
    /// The arguments that came in registers.
    pub first: [usize; 3],
    /// The fourth argument; the others follow.
    pub rest: *const usize,
    /// The runtime's own entry point.
    pub real: *const c_void,
}

/// Defines entry points that hand what they were called with on as a [`VariadicCall`], to `$to`. If that
/// answers with an address, they go on there as if that had been called.
macro_rules! variadic {
    ($($name:ident => $to:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    "endbr64",
                    $crate::sys::arch::frame!(),
                    "lea rax, [rbp + 16]",
                    "sub rsp, {bytes}",
                    "mov [rsp + {place}], rdi",
                    "mov [rsp + {count}], esi",
                    "mov [rsp + {function}], rdx",
                    "mov [rsp + {first}], rcx",
                    "mov [rsp + {first} + 8], r8",
                    "mov [rsp + {first} + 16], r9",
                    "mov [rsp + {rest}], rax",
                    "mov rdi, rsp",
                    "call {to}",
                    "test rax, rax",
                    "jz 2f",
                    "mov r11, rax",
                    "mov rdi, [rsp + {place}]",
                    "mov esi, [rsp + {count}]",
                    "mov rdx, [rsp + {function}]",
                    "mov rcx, [rsp + {first}]",
                    "mov r8, [rsp + {first} + 8]",
                    "mov r9, [rsp + {first} + 16]",
                    // No argument is in a vector register.
                    "xor eax, eax",
                    ".cfi_remember_state",
                    "leave",
                    ".cfi_def_cfa rsp, 8",
                    "jmp r11",
                    "2:",
                    ".cfi_restore_state",
                    "leave",
                    ".cfi_def_cfa rsp, 8",
                    "ret",
                    ".cfi_endproc",
                    bytes = const size_of::<$crate::sys::arch::VariadicCall>().next_multiple_of(16),
                    place = const core::mem::offset_of!($crate::sys::arch::VariadicCall, place),
                    count = const core::mem::offset_of!($crate::sys::arch::VariadicCall, count),
                    function = const core::mem::offset_of!($crate::sys::arch::VariadicCall, function),
                    first = const core::mem::offset_of!($crate::sys::arch::VariadicCall, first),
                    rest = const core::mem::offset_of!($crate::sys::arch::VariadicCall, rest),
                    to = sym $to,
                )
            }
        )*
    };
}
pub(crate) use variadic;

/// Puts the arguments that don't fit the registers on the stack, the last one first: as many as the last
/// instruction left in `eax`, from `r9` on.
macro_rules! stack_arguments {
    () => {
        "jle 3f
        lea r10d, [rax + 1]
        and r10d, -2
        shl r10, 3
        sub rsp, r10
        2:
        mov r10, [r9 + rax * 8 - 8]
        mov [rsp + rax * 8 - 8], r10
        dec rax
        jnz 2b
        3:"
    };
}

/// Calls the runtime as the program called us.
#[unsafe(naked)]
pub unsafe extern "C" fn call_runtime(call: *const VariadicCall) {
    naked_asm!(
        ".cfi_startproc",
        frame!(),
        "mov esi, [rdi + {count}]",
        "mov r9, [rdi + {rest}]",
        "mov eax, esi",
        "sub eax, 3",
        stack_arguments!(),
        "mov r11, [rdi + {real}]",
        "mov rdx, [rdi + {function}]",
        "mov rcx, [rdi + {first}]",
        "mov r8, [rdi + {first} + 8]",
        "mov r9, [rdi + {first} + 16]",
        "mov rdi, [rdi + {place}]",
        // No argument is in a vector register.
        "xor eax, eax",
        "call r11",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        place = const offset_of!(VariadicCall, place),
        count = const offset_of!(VariadicCall, count),
        function = const offset_of!(VariadicCall, function),
        first = const offset_of!(VariadicCall, first),
        rest = const offset_of!(VariadicCall, rest),
        real = const offset_of!(VariadicCall, real),
    )
}

/// Calls the region's function with a thread's numbers and the region's arguments.
#[unsafe(naked)]
pub unsafe extern "C" fn call_function(call: *const VariadicCall, global: *const c_int, bound: *const c_int) {
    naked_asm!(
        ".cfi_startproc",
        frame!(),
        "mov r11, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov r9, [r11 + {rest}]",
        // Four arguments fit the registers here, so one of `rest` does.
        "add r9, 8",
        "mov eax, [r11 + {count}]",
        "sub eax, 4",
        stack_arguments!(),
        "mov rdx, [r11 + {first}]",
        "mov rcx, [r11 + {first} + 8]",
        "mov r8, [r11 + {first} + 16]",
        "mov r9, [r9 - 8]",
        "call [r11 + {function}]",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        count = const offset_of!(VariadicCall, count),
        function = const offset_of!(VariadicCall, function),
        first = const offset_of!(VariadicCall, first),
        rest = const offset_of!(VariadicCall, rest),
    )
}
