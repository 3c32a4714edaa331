//! Switching fibers in user mode: stack, callee-saved registers, the control words of both floating-point
//! units, and the TLS base.

use core::arch::{asm, global_asm};
use core::ffi::c_void;

/// A suspended fiber.
#[repr(C)]
pub struct Fiber {
    stack: usize,
    /// Its TLS base, which never changes.
    storage: usize,
}

/// The function of a new fiber. Its argument is what [`switch`] was given. It never returns.
pub type Start = unsafe extern "C" fn(usize) -> !;

/// The top of a new fiber's stack, from its lowest address on: what [`switch`] pops.
#[repr(C)]
struct Fresh {
    control: [u32; 2],
    /// r15 to rbx; `start` is in r12.
    registers: [usize; 5],
    rbp: usize,
    returns_to: usize,
}

unsafe extern "C" {
    /// Saves the calling fiber at `from` and continues `to`, whose own call returns `previous`.
    ///
    /// # Safety
    /// `to` was saved by such a call or made by [`Fiber::fresh`], and nobody else continues it. No running
    /// thread uses its TLS.
    #[link_name = "scaf_switch"]
    pub fn switch(from: *mut Fiber, to: *const Fiber, said: usize) -> usize;
    #[link_name = "scaf_switch_start"]
    fn switch_start();
}

// Both stacks have the same layout around the switch, so one description of the frame serves the unwinder
// throughout. A new fiber's first frame has no caller.
global_asm!(
    ".text",
    ".hidden scaf_switch",
    ".globl scaf_switch",
    ".type scaf_switch,@function",
    ".p2align 4",
    "scaf_switch:",
    ".cfi_startproc",
    "push rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0",
    "push rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0",
    "push r12\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r12, 0",
    "push r13\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r13, 0",
    "push r14\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r14, 0",
    "push r15\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r15, 0",
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
    "pop r15\n.cfi_adjust_cfa_offset -8\n.cfi_restore r15",
    "pop r14\n.cfi_adjust_cfa_offset -8\n.cfi_restore r14",
    "pop r13\n.cfi_adjust_cfa_offset -8\n.cfi_restore r13",
    "pop r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore r12",
    "pop rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbx",
    "pop rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbp",
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
    pub const NONE: Fiber = Fiber { stack: 0, storage: 0 };

    /// A running fiber, of which only the TLS base is known.
    pub fn with_tls(storage: usize) -> Fiber {
        Fiber { stack: 0, storage }
    }

    /// A fiber that will run `start` on the stack that ends at `end`, with these [control
    /// words](control_words).
    ///
    /// # Safety
    /// There is a stack below `end`, which nobody else uses.
    pub unsafe fn fresh(end: *mut c_void, storage: usize, control: u64, start: Start) -> Fiber {
        let end = end.addr() & !15;
        // Calls of the first frame find the stack aligned.
        let at = end.wrapping_sub(size_of::<Fresh>());
        let fresh = Fresh {
            // Exception flags are copied from the caller: a switch between fibers whose words differ takes 35
            // ns more.
            control: [control as u32 | mxcsr() & HAPPENED, (control >> 32) as u32],
            registers: [0, 0, 0, start as *const () as usize, 0],
            rbp: 0,
            returns_to: switch_start as *const () as usize,
        };
        // SAFETY: the caller owns the stack below `end`.
        unsafe { core::ptr::with_exposed_provenance_mut::<Fresh>(at).write(fresh) };
        Fiber { stack: at, storage }
    }
}

const HAPPENED: u32 = 0x3f;

/// The calling thread's MXCSR without its exception flags, and its x87 control word above that.
pub fn control_words() -> u64 {
    let mut x87 = 0u16;
    // SAFETY: stores two bytes at `x87`.
    unsafe {
        asm!("fnstcw word ptr [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
    }
    u64::from(mxcsr() & !HAPPENED) | u64::from(x87) << 32
}

fn mxcsr() -> u32 {
    let mut now = 0u32;
    // SAFETY: stores four bytes at `now`.
    unsafe {
        asm!("stmxcsr dword ptr [{}]", in(reg) &raw mut now, options(nostack, preserves_flags));
    }
    now
}

/// Sets the calling thread's control words. Exception flags stay.
pub fn set_control_words(words: u64) {
    let new = [words as u32 | mxcsr() & HAPPENED, (words >> 32) as u32];
    // SAFETY: `words` came from `control_words`, so no reserved bit is set.
    unsafe {
        asm!(
            "ldmxcsr dword ptr [{at}]",
            "fldcw word ptr [{at} + 4]",
            at = in(reg) &raw const new,
            options(nostack, preserves_flags),
        );
    }
}

#[inline(always)]
pub fn tls_base() -> usize {
    let at: usize;
    // SAFETY: the ABI has the base's own address in the first word there.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) at, options(nostack, readonly, preserves_flags)) };
    at
}

/// Whether the kernel lets programs set the TLS base, and there is no shadow stack, which [`switch`] wouldn't
/// switch.
pub fn can_switch() -> bool {
    const FSGSBASE: u64 = 1 << 1;
    let shadow: u64;
    // SAFETY: reads the auxiliary vector. The instruction leaves its register as it is where there is no
    // shadow stack.
    unsafe {
        asm!("xor {0:e}, {0:e}", "rdsspq {0}", out(reg) shadow, options(nomem, nostack));
        libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 && shadow == 0
    }
}
