//! Changing from one context to another in user mode: stack, the registers that a function call keeps, the
//! control words of both floating-point units, and the base of thread-local storage.

use core::arch::{asm, global_asm};
use core::ffi::c_void;

/// A context that nobody runs.
#[repr(C)]
pub struct Fiber {
    stack: usize,
    /// Base of its thread-local storage, which is the same for as long as the context lives.
    storage: usize,
}

/// What a new context runs: it is handed what whoever changed to it said. It never returns.
pub type Start = unsafe extern "C" fn(usize) -> !;

/// What lies on a new context's stack, from its lowest address on: what [`switch`] takes off there.
#[repr(C)]
struct Fresh {
    control: [u32; 2],
    /// r15 to rbx; `start` is in r12.
    registers: [usize; 5],
    rbp: usize,
    returns_to: usize,
}

unsafe extern "C" {
    /// Saves the calling context at `from` and goes on with `to`, where `said` is what its own call returns.
    ///
    /// # Safety
    /// `to` was saved by such a call, or made by [`Fiber::fresh`], nobody else runs it, and its storage
    /// belongs to a thread that doesn't run.
    #[link_name = "scaf_switch"]
    pub fn switch(from: *mut Fiber, to: *const Fiber, said: usize) -> usize;
    #[link_name = "scaf_switch_start"]
    fn switch_start();
}

// Both stacks look the same around the change, so one description of the frame serves the unwinder
// throughout. A new context's first frame has no caller.
global_asm!(
    ".text",
    ".hidden scaf_switch",
    ".globl scaf_switch",
    ".type scaf_switch,@function",
    ".p2align 4",
    "scaf_switch:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbp, 0",
    "push rbx",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbx, 0",
    "push r12",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r12, 0",
    "push r13",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r13, 0",
    "push r14",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r14, 0",
    "push r15",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r15, 0",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "stmxcsr dword ptr [rsp]",
    "fnstcw word ptr [rsp + 4]",
    "mov qword ptr [rdi], rsp",
    "mov rax, rdx",
    "mov rcx, qword ptr [rsi + 8]",
    "mov rsp, qword ptr [rsi]",
    "wrfsbase rcx",
    "ldmxcsr dword ptr [rsp]",
    "fldcw word ptr [rsp + 4]",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop r15",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r15",
    "pop r14",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r14",
    "pop r13",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r13",
    "pop r12",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r12",
    "pop rbx",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore rbx",
    "pop rbp",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore rbp",
    "ret",
    ".cfi_endproc",
    ".size scaf_switch, . - scaf_switch",
    ".hidden scaf_switch_start",
    ".globl scaf_switch_start",
    ".type scaf_switch_start,@function",
    ".p2align 4",
    "scaf_switch_start:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "mov rdi, rax",
    "call r12",
    "ud2",
    ".cfi_endproc",
    ".size scaf_switch_start, . - scaf_switch_start",
);

impl Fiber {
    /// Nobody's.
    pub const NONE: Fiber = Fiber { stack: 0, storage: 0 };

    /// Whose storage it has: a thread's pointer.
    pub fn with_tls(storage: usize) -> Fiber {
        Fiber { stack: 0, storage }
    }

    /// A context that will run `start` on the stack that ends at `end`, with these
    /// [control words](control_words).
    ///
    /// # Safety
    /// There is a stack below `end`, which nobody else uses.
    pub unsafe fn fresh(end: *mut c_void, storage: usize, control: u64, start: Start) -> Fiber {
        let end = end.addr() & !15;
        // The first frame's calls find the stack aligned.
        let at = end.wrapping_sub(size_of::<Fresh>());
        let fresh = Fresh {
            // What happened so far is the caller's: a switch between contexts whose words differ takes 35 ns
            // more.
            control: [control as u32 | mxcsr() & HAPPENED, (control >> 32) as u32],
            registers: [0, 0, 0, start as *const () as usize, 0],
            rbp: 0,
            returns_to: switch_start as *const () as usize,
        };
        // SAFETY: the caller's word.
        unsafe { core::ptr::with_exposed_provenance_mut::<Fresh>(at).write(fresh) };
        Fiber { stack: at, storage }
    }
}

/// Bits of MXCSR that say what happened so far.
const HAPPENED: u32 = 0x3f;

/// How the calling thread rounds, and what it makes of small numbers: its MXCSR, without what happened so
/// far, and the x87 control word above that.
pub fn control_words() -> u64 {
    let mut x87 = 0u16;
    // SAFETY: stores it.
    unsafe {
        asm!("fnstcw word ptr [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
    }
    u64::from(mxcsr() & !HAPPENED) | u64::from(x87) << 32
}

fn mxcsr() -> u32 {
    let mut now = 0u32;
    // SAFETY: stores it.
    unsafe {
        asm!("stmxcsr dword ptr [{}]", in(reg) &raw mut now, options(nostack, preserves_flags));
    }
    now
}

/// Has the calling thread compute so from now on. What happened so far stays.
pub fn set_control_words(words: u64) {
    let new = [words as u32 | mxcsr() & HAPPENED, (words >> 32) as u32];
    // SAFETY: a thread of the program's had them.
    unsafe {
        asm!(
            "ldmxcsr dword ptr [{at}]",
            "fldcw word ptr [{at} + 4]",
            at = in(reg) &raw const new,
            options(nostack, preserves_flags),
        );
    }
}

/// The calling thread's pointer, which is the base of its thread-local storage.
#[inline(always)]
pub fn tls_base() -> usize {
    let at: usize;
    // SAFETY: the first word there is its own address.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) at, options(nostack, readonly, preserves_flags)) };
    at
}

/// Whether the kernel lets programs set the base themselves, and keeps no second stack of return addresses,
/// which [`switch`] would not change.
pub fn can_switch() -> bool {
    const FSGSBASE: u64 = 1 << 1;
    let shadow: u64;
    // SAFETY: asks for what the kernel told at the start. The instruction leaves its register alone where
    // there is no such stack.
    unsafe {
        asm!("xor {0:e}, {0:e}", "rdsspq {0}", out(reg) shadow, options(nomem, nostack));
        libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 && shadow == 0
    }
}
