//! The function that stubs of spin loops call. It preserves all registers of the loop.

use core::arch::x86_64::{__cpuid, __cpuid_count};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Size of the XSAVE area, a multiple of 64; 0 before `can_save_registers`.
pub static SAVED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Defines the function. It calls `$slow` if the 4 bytes at `$open` in `$scheduler` aren't 0, or if those at
/// `$word` in `$page` have one of `$bits` and their lower 2 bytes are less than `$most`. It saves the flags,
/// all caller-saved registers, x87, SSE, AVX and AVX-512 (0xe7).
macro_rules! yielding {
    ($name:ident: $page:path, $word:expr, $bits:expr, $most:path; $scheduler:path, $open:expr; $slow:path)
    => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "pushfq",
                "push rax",
                "cmp dword ptr [rip + {scheduler} + {open}], 0",
                "jne 2f",
                "mov eax, dword ptr [rip + {page} + {word}]",
                "test eax, {bits}",
                "jz 3f",
                "movzx eax, ax",
                "cmp eax, dword ptr [rip + {most}]",
                "jb 2f",
                "3:",
                "pop rax",
                "popfq",
                "ret",
                "2:",
                "cld",
                "push rbp",
                "mov rbp, rsp",
                "push rcx",
                "push rdx",
                "push rsi",
                "push rdi",
                "push r8",
                "push r9",
                "push r10",
                "push r11",
                "and rsp, -64",
                "sub rsp, qword ptr [rip + {saved}]",
                // XSAVE leaves this part of its header, which must be zero.
                "xor eax, eax",
                "mov qword ptr [rsp + 512], rax",
                "mov qword ptr [rsp + 520], rax",
                "mov qword ptr [rsp + 528], rax",
                "mov qword ptr [rsp + 536], rax",
                "mov qword ptr [rsp + 544], rax",
                "mov qword ptr [rsp + 552], rax",
                "mov qword ptr [rsp + 560], rax",
                "mov qword ptr [rsp + 568], rax",
                "xor edx, edx",
                "mov eax, 0xe7",
                "xsave64 [rsp]",
                "call {slow}",
                "xor edx, edx",
                "mov eax, 0xe7",
                "xrstor64 [rsp]",
                "lea rsp, [rbp - 64]",
                "pop r11",
                "pop r10",
                "pop r9",
                "pop r8",
                "pop rdi",
                "pop rsi",
                "pop rdx",
                "pop rcx",
                "pop rbp",
                "pop rax",
                "popfq",
                "ret",
                page = sym $page,
                word = const $word,
                bits = const $bits,
                most = sym $most,
                scheduler = sym $scheduler,
                open = const $open,
                saved = sym $crate::sys::arch::SAVED_BYTES,
                slow = sym $slow,
            )
        }
    };
}
pub(crate) use yielding;

/// Whether processor and kernel support XSAVE; sets the area's size.
pub fn can_save_registers() -> bool {
    const OSXSAVE: u32 = 1 << 27;
    if __cpuid(1).ecx & OSXSAVE == 0 {
        return false;
    }
    let bytes = __cpuid_count(0xd, 0).ebx as usize;
    SAVED_BYTES.store(bytes.wrapping_add(63) & !63, Ordering::Relaxed);
    bytes >= 576
}
