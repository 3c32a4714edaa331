//! Regions and leagues of LLVM's runtime: where they are entered.
//!
//! `__kmpc_fork_call` is variadic: the region's function gets what comes after it, three arguments in registers and the others on
//! the caller's stack. They stay there for as long as the region runs, so they aren't copied but where they are passed on.
//! A region that is measured is entered with a function of ours, which gets two arguments ([`begin`]) and calls the
//! program's with those that it was to have.

use crate::arch::thread;
use crate::region::{self, Kind, Work};
use crate::runtime::{self, Body, ForkCall, Micro, Place, Runtime};
use crate::virtualise;
use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};

/// A region that is entered, as the entry point finds it; on the master's stack until the region has ended.
#[repr(C)]
struct Region {
    place: Place,
    count: c_int,
    /// Team size by a clause; 0 without one.
    requested: u32,
    micro: Micro,
    /// The arguments that came in registers.
    first: [usize; 3],
    /// The fourth argument; the others follow.
    rest: *const usize,
    /// The runtime's own entry point.
    real: Option<ForkCall>,
}

/// Leagues of teams that run now. Their teams run at the same time, each with a master that enters regions: those are left
/// to the runtime, which has shared out the threads.
static LEAGUES: AtomicU32 = AtomicU32::new(0);

/// An entry point that hands what it was called with on as a [`Region`], to `$to`; if that answers with an address, it goes on there as if
/// that had been called.
macro_rules! variadic {
    ($($name:ident => $to:ident;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                naked_asm!(
                    ".cfi_startproc",
                    "endbr64",
                    "push rbp",
                    ".cfi_def_cfa_offset 16",
                    ".cfi_offset rbp, -16",
                    "mov rbp, rsp",
                    ".cfi_def_cfa_register rbp",
                    "lea rax, [rbp + 16]",
                    "sub rsp, {bytes}",
                    "mov [rsp + {place}], rdi",
                    "mov [rsp + {count}], esi",
                    "mov [rsp + {micro}], rdx",
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
                    "mov rdx, [rsp + {micro}]",
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
                    bytes = const size_of::<Region>().next_multiple_of(16),
                    place = const offset_of!(Region, place),
                    count = const offset_of!(Region, count),
                    micro = const offset_of!(Region, micro),
                    first = const offset_of!(Region, first),
                    rest = const offset_of!(Region, rest),
                    to = sym $to,
                )
            }
        )*
    };
}

variadic! {
    __kmpc_fork_call => enter;
    __kmpc_fork_teams => enter_league;
}

/// Puts the arguments that don't fit the registers on the stack, the last one first: as many as the last instruction left in `eax`, from `r9` on.
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
unsafe extern "C" fn forward(region: *const Region) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov esi, [rdi + {count}]",
        "mov r9, [rdi + {rest}]",
        "mov eax, esi",
        "sub eax, 3",
        stack_arguments!(),
        "mov r11, [rdi + {real}]",
        "mov rdx, [rdi + {micro}]",
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
        place = const offset_of!(Region, place),
        count = const offset_of!(Region, count),
        micro = const offset_of!(Region, micro),
        first = const offset_of!(Region, first),
        rest = const offset_of!(Region, rest),
        real = const offset_of!(Region, real),
    )
}

/// Calls a region's function with a thread's numbers and the region's arguments.
#[unsafe(naked)]
unsafe extern "C" fn invoke(region: *const Region, global: *const c_int, bound: *const c_int) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
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
        "call [r11 + {micro}]",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        count = const offset_of!(Region, count),
        micro = const offset_of!(Region, micro),
        first = const offset_of!(Region, first),
        rest = const offset_of!(Region, rest),
    )
}

/// What the runtime's threads call in a measured region: `run` is the client's own function.
unsafe extern "C" fn begin(global: *const c_int, bound: *const c_int, run: Body, data: *mut c_void) {
    // SAFETY: this thread's own state; a function and data of ours.
    unsafe {
        (*thread()).numbers = [global, bound];
        run(data);
    }
}

/// Calls the region's function in the thread that has just begun it.
unsafe extern "C" fn run_micro(region: *mut c_void) {
    // SAFETY: the region lies on the master's stack until it ends; the numbers were noted by `begin`.
    unsafe {
        let [global, bound] = (*thread()).numbers;
        invoke(region.cast(), global, bound);
    }
}

/// An address to go on at; 0 for none.
fn address(call: Option<ForkCall>) -> usize {
    call.map_or(0, |call| call as usize)
}

/// A region is entered. Answers where to go on if nothing is to be done about it, else 0 when it has ended.
unsafe extern "C" fn enter(region: *mut Region) -> usize {
    let this = thread();
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        let micro = (*region).micro;
        (*region).requested = (*this).pushed;
        (*this).pushed = 0;
        let Some(code) = runtime::of_llvms(micro as usize) else {
            // More runtimes than we tell apart.
            return address(virtualise::next(c"__kmpc_fork_call"));
        };
        let requested = (*region).requested;
        let real = code.runtime.fork_call;
        if real.is_none() || LEAGUES.load(Ordering::Relaxed) != 0 {
            return address(real);
        }
        if region::is_passed_by(this, code, requested) {
            return address(real);
        }
        (*region).real = real;
        let call = |runtime: &Runtime, run: Body, data: *mut c_void, threads: u32| {
            // What the program has asked for itself it has told the runtime.
            if threads != (*region).requested {
                push(runtime, (*region).place, threads);
            }
            if run as usize == run_micro as *const () as usize {
                forward(region);
            } else if let Some(real) = (*region).real {
                let begin = core::mem::transmute::<*const (), Micro>(begin as *const ());
                real((*region).place, 2, begin, run, data);
            }
        };
        let body = core::mem::transmute::<Micro, Body>(micro);
        let work = Work { body, run: run_micro, data: region.cast() };
        region::managed(this, code, work, requested, Kind::Plain, call);
        0
    }
}

/// The next region of this thread is to have so many threads.
#[cold]
unsafe fn push(runtime: &Runtime, place: Place, threads: u32) {
    if let (Some(number), Some(push)) = (runtime.global_thread_num, runtime.push_num_threads) {
        // SAFETY: the program's own place.
        unsafe { push(place, number(place), threads.min(i32::MAX as u32) as c_int) }
    }
}

/// A league of teams is entered. What was pushed for it isn't ours.
unsafe extern "C" fn enter_league(league: *mut Region) -> usize {
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        (*thread()).pushed = 0;
        let known = runtime::of_llvms((*league).micro as usize).and_then(|code| code.runtime.fork_teams);
        (*league).real = known.or_else(|| virtualise::next(c"__kmpc_fork_teams"));
        if (*league).real.is_some() {
            LEAGUES.fetch_add(1, Ordering::Relaxed);
            forward(league);
            LEAGUES.fetch_sub(1, Ordering::Relaxed);
        }
        0
    }
}

/// A region with an `if` clause and one argument or none; newer compilers enter it so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_fork_call_if(
    place: Place,
    count: c_int,
    micro: Micro,
    condition: c_int,
    argument: *mut c_void,
) {
    let this = thread();
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        if condition != 0 {
            let none = [0];
            let mut region = Region {
                place,
                count: c_int::from(!argument.is_null()),
                requested: 0,
                micro,
                first: [argument.addr(), 0, 0],
                rest: none.as_ptr(),
                real: None,
            };
            // Elsewhere a call with all arguments goes on there by itself.
            region.real = match enter(&mut region) {
                0 => return,
                address => Some(core::mem::transmute::<usize, ForkCall>(address)),
            };
            return forward(&region);
        }
        let real = runtime::of_llvms(micro as usize).and_then(|code| code.runtime.fork_call_if);
        if let Some(real) = real {
            let before = (*this).serial;
            (*this).serial = before.saturating_add(1);
            real(place, count, micro, condition, argument);
            (*this).serial = before;
        }
    }
}

/// After a fork, in the child: no league goes on there but one that the forking thread is in, which is passed on as it is.
pub fn after_fork() {
    LEAGUES.store(0, Ordering::Relaxed);
}
