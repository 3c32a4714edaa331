//! Entry points whose arguments are left as they came.

/// Puts the six registers of a function's arguments aside, on the stack, and takes them back.
macro_rules! arguments {
    (push) => {
        "push rdi\npush rsi\npush rdx\npush rcx\npush r8\npush r9"
    };
    (pop) => {
        "pop r9\npop r8\npop rcx\npop rdx\npop rsi\npop rdi"
    };
}
pub(crate) use arguments;

/// Begins a frame that the unwinder knows; it ends with "leave" and ".cfi_def_cfa rsp, 8".
macro_rules! frame {
    () => {
        "push rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\nmov rbp, rsp\n.cfi_def_cfa_register rbp"
    };
}
pub(crate) use frame;

/// Defines entry points that need their return address, which tells whose call it is where no region does:
/// each passes it on as one argument more, behind those of the given types. A name may get an ending.
macro_rules! with_caller {
    (@register ()) => { "rdi" };
    (@register ($a:ty)) => { "rsi" };
    (@register ($a:ty, $b:ty)) => { "rdx" };
    (@register ($a:ty, $b:ty, $c:ty)) => { "rcx" };
    (@register ($a:ty, $b:ty, $c:ty, $d:ty)) => { "r8" };
    ($($name:ident $([$ending:tt])? => $to:path, behind $arguments:tt;)*) => {
        $(const _: () = {
            #[unsafe(naked)]
            #[unsafe(export_name = concat!(stringify!($name) $(, stringify!($ending))?))]
            pub unsafe extern "C" fn entry() {
                core::arch::naked_asm!(
                    "endbr64",
                    concat!(
                        "mov ", $crate::sys::arch::with_caller!(@register $arguments), ", qword ptr [rsp]"
                    ),
                    "jmp {to}",
                    to = sym $to,
                )
            }
        };)*
    };
}
pub(crate) use with_caller;

/// Defines an entry point that puts its return address into the thread's state at `$at` and goes on at `$to`
/// with all its arguments.
macro_rules! recorded_caller {
    ($name:ident => $to:path, at $at:expr) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "endbr64",
                "mov r10, qword ptr [rip + scaf_thread@gottpoff]",
                "mov r11, qword ptr [rsp]",
                "mov qword ptr fs:[r10 + {at}], r11",
                "jmp {to}",
                at = const $at,
                to = sym $to,
            )
        }
    };
}
pub(crate) use recorded_caller;

/// Defines entry points that are passed on with all their arguments, whatever they are, to the function that
/// `$find` answers for the return address and the second and third argument.
macro_rules! pass_on {
    ($($name:ident => $find:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "endbr64",
                    $crate::sys::arch::arguments!(push),
                    "sub rsp, 8\nmov rdi, qword ptr [rsp + 56]\ncall {find}\nadd rsp, 8",
                    $crate::sys::arch::arguments!(pop),
                    "jmp rax",
                    find = sym $find,
                )
            }
        )*
    };
}
pub(crate) use pass_on;

pub const NOTHING: usize = 1;

/// Defines an entry point of two arguments that `$answer` is asked for first, with the return address as the
/// third. Null has the real function, whose address is at `$real` by then, jumped to as if it had been
/// called: libc's loader functions look at who calls them. [`NOTHING`] has null returned.
macro_rules! answered {
    ($(#[$about:meta])* $name:ident: $answer:path, else $real:path) => {
        $(#[$about])*
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "endbr64",
                "push rdi",
                "push rsi",
                "mov rdx, qword ptr [rsp + 16]",
                "sub rsp, 8",
                "call {answer}",
                "add rsp, 8",
                "pop rsi",
                "pop rdi",
                "test rax, rax",
                "jz 2f",
                "cmp rax, {nothing}",
                "je 3f",
                "ret",
                "2:",
                "mov rax, qword ptr [rip + {real}]",
                "jmp rax",
                "3:",
                "xor eax, eax",
                "ret",
                nothing = const $crate::sys::arch::NOTHING,
                answer = sym $answer,
                real = sym $real,
            )
        }
    };
}
pub(crate) use answered;

/// Defines entry points that go on at `$to` with all their arguments if the first one, of 32 bits, is one
/// of these numbers. Else they go on at the function whose address is at `$real`, or, where that is 0, at
/// the one that `$find` answers: on the caller's stack, for the call may change that.
macro_rules! looked_at {
    (@compare $number:expr) => { "cmp edi, {}\nje {to}" };
    ($($name:ident: [$($number:expr),+] => $to:path, else $real:path, or $find:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "endbr64",
                    $($crate::sys::arch::looked_at!(@compare $number),)+
                    "mov r11, qword ptr [rip + {real}]",
                    "test r11, r11",
                    "jz 2f",
                    "jmp r11",
                    "2:",
                    "push rax",
                    $crate::sys::arch::arguments!(push),
                    "call {find}",
                    "mov r11, rax",
                    $crate::sys::arch::arguments!(pop),
                    "pop rax",
                    "jmp r11",
                    $(const $number,)+
                    to = sym $to,
                    real = sym $real,
                    find = sym $find,
                )
            }
        )*
    };
}
pub(crate) use looked_at;

/// Defines entry points of two arguments that count a field of the thread's state (`$at`, 32 bits) up or
/// down, and go on at the function whose address is at `$real`, or, where that is 0, at `$search`, with the
/// return address as the third argument. Counting down ends at 0. A thread whose field of 64 bits at
/// `$member` isn't 0 counts nothing and goes on at `$answer`.
macro_rules! counted {
    (@count up) => { "add dword ptr fs:[r10 + {at}], 1" };
    (@count down) => { "sub dword ptr fs:[r10 + {at}], 1\nadc dword ptr fs:[r10 + {at}], 0" };
    ($(
        $(#[$about:meta])*
        $name:ident: $way:ident $at:expr, $real:path, or $search:path, members $member:expr => $answer:path;
    )*) => {
        $(
            $(#[$about])*
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "endbr64",
                    "mov r10, qword ptr [rip + scaf_thread@gottpoff]",
                    "cmp qword ptr fs:[r10 + {member}], 0",
                    "jne {answer}",
                    $crate::sys::arch::counted!(@count $way),
                    "mov rax, qword ptr [rip + {real}]",
                    "test rax, rax",
                    "jz 2f",
                    "jmp rax",
                    "2:",
                    "mov rdx, qword ptr [rsp]",
                    "jmp {search}",
                    at = const $at,
                    real = sym $real,
                    search = sym $search,
                    member = const $member,
                    answer = sym $answer,
                )
            }
        )*
    };
}
pub(crate) use counted;

/// Defines entry points that go on at `$answer` with their arguments if the thread's field of 64 bits at
/// `$at` isn't 0. Else they go on at the function whose address is at `$real`, or, where that is 0, at the
/// one that `$find` answers for the return address.
macro_rules! diverted {
    ($($name:ident => $answer:path, if $at:expr, or $real:path, or $find:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "endbr64",
                    "mov r10, qword ptr [rip + scaf_thread@gottpoff]",
                    "cmp qword ptr fs:[r10 + {at}], 0",
                    "jne {answer}",
                    "mov rax, qword ptr [rip + {real}]",
                    "test rax, rax",
                    "jz 2f",
                    "jmp rax",
                    "2:",
                    $crate::sys::arch::arguments!(push),
                    "sub rsp, 8\nmov rdi, qword ptr [rsp + 56]\ncall {find}\nadd rsp, 8",
                    $crate::sys::arch::arguments!(pop),
                    "jmp rax",
                    at = const $at,
                    answer = sym $answer,
                    real = sym $real,
                    find = sym $find,
                )
            }
        )*
    };
}
pub(crate) use diverted;

/// Defines variadic functions whose arguments are all integers: each passes the addresses of the first six
/// and of the others to `$to`.
macro_rules! with_all_arguments {
    ($($name:ident => $to:path;)*) => {
        $(
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    ".cfi_startproc",
                    $crate::sys::arch::frame!(),
                    "push r9\npush r8\npush rcx\npush rdx\npush rsi\npush rdi",
                    "mov rdi, rsp",
                    "lea rsi, [rbp + 16]",
                    "call {to}",
                    "leave",
                    ".cfi_def_cfa rsp, 8",
                    "ret",
                    ".cfi_endproc",
                    to = sym $to,
                )
            }
        )*
    };
}
pub(crate) use with_all_arguments;

/// Defines entry points of a path and a list of arguments that ends with null: each goes on at `$to` with the
/// list's address. Arguments in registers are put before those on the stack, in place of the return address.
macro_rules! listed_arguments {
    ($($name:ident => $to:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "endbr64",
                    "pop r10",
                    "push r9\npush r8\npush rcx\npush rdx\npush rsi",
                    "mov rsi, rsp",
                    "push r10",
                    "call {to}",
                    "pop r10",
                    "add rsp, 40",
                    "push r10",
                    "ret",
                    to = sym $to,
                )
            }
        )*
    };
}
pub(crate) use listed_arguments;

/// Defines `vfork`, which returns twice on one stack. If `$begins` says so, the thread's return address is
/// kept in its state (`$at`) meanwhile, for the child writes over the stack, and `$ends` is called in the
/// parent. Else it goes on at the function whose address is at `$real`.
macro_rules! vforks {
    ($(#[$about:meta])* $name:ident: $begins:path, else $ends:path; real $real:path, returns $at:path) => {
        $(#[$about])*
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "endbr64",
                "sub rsp, 8",
                "call {begins}",
                "add rsp, 8",
                "mov r11, qword ptr [rip + {real}]",
                "test r11, r11",
                "jz 4f",
                "test al, al",
                "jnz 2f",
                "jmp r11",
                "2:",
                "mov r10, qword ptr [rip + scaf_thread@gottpoff]",
                "pop rdx",
                "mov qword ptr fs:[r10 + {at}], rdx",
                "call r11",
                "mov r10, qword ptr [rip + scaf_thread@gottpoff]",
                "mov rdx, qword ptr fs:[r10 + {at}]",
                "test eax, eax",
                "jz 3f",
                "push rdx",
                "push rax",
                "call {ends}",
                "pop rax",
                "ret",
                // The child, as in the C library: a shadow stack is its parent's, and nothing is taken off
                // it.
                "3:",
                "jmp rdx",
                "4:",
                "mov eax, -1",
                "ret",
                begins = sym $begins,
                ends = sym $ends,
                real = sym $real,
                at = const $at,
            )
        }
    };
}
pub(crate) use vforks;
