//! Wrappers of C++ functions that may throw, with a frame that the unwinder knows.

/// Defines wrappers with the names of C++ functions that have up to four arguments in registers and no
/// result. Each calls `$arrive` with its number, its first two arguments and the return address; then the
/// function that this returns; then `$depart`, also if an exception passes through. The encoding 0x1b of the
/// personality is "relative, 4 bytes".
macro_rules! around {
    (
        $arrive:ident, $depart:ident, $unwound:ident;
        $($name:ident as $symbol:literal is $number:literal;)*
    ) => {
        core::arch::global_asm!(
            ".text",
            ".hidden scaf_around",
            ".globl scaf_around",
            ".type scaf_around,@function",
            ".p2align 4",
            "scaf_around:",
            ".cfi_startproc",
            ".cfi_personality 0x1b, {unwound}",
            "sub rsp, 40",
            ".cfi_adjust_cfa_offset 40",
            "mov qword ptr [rsp], rdi",
            "mov qword ptr [rsp + 8], rsi",
            "mov qword ptr [rsp + 16], rdx",
            "mov qword ptr [rsp + 24], rcx",
            "mov rdx, rsi",
            "mov rsi, rdi",
            "mov edi, eax",
            "mov rcx, qword ptr [rsp + 40]",
            "call {arrive}",
            "mov rdi, qword ptr [rsp]",
            "mov rsi, qword ptr [rsp + 8]",
            "mov rdx, qword ptr [rsp + 16]",
            "mov rcx, qword ptr [rsp + 24]",
            "call rax",
            "call {depart}",
            "add rsp, 40",
            ".cfi_adjust_cfa_offset -40",
            "ret",
            ".cfi_endproc",
            ".size scaf_around, . - scaf_around",
            unwound = sym $unwound,
            arrive = sym $arrive,
            depart = sym $depart,
        );
        $(
            #[unsafe(naked)]
            #[unsafe(export_name = $symbol)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!("endbr64", concat!("mov eax, ", $number), "jmp scaf_around")
            }
        )*
    };
}
pub(crate) use around;
