//! Functions that are told apart by where they are entered.

/// Defines `$count` entrances of [`ENTRANCE_BYTES`] each, the first at the symbol `scaf_tasks`; each calls
/// `$run` with the argument that it was called with and an address in itself.
macro_rules! entrances {
    ($count:expr, $run:ident) => {
        core::arch::global_asm!(
            ".text",
            ".p2align 4",
            ".globl scaf_tasks",
            ".hidden scaf_tasks",
            ".type scaf_tasks,@function",
            "scaf_tasks:",
            ".rept {count}",
            "endbr64",
            "lea rsi, [rip]",
            "jmp {run}",
            ".endr",
            ".size scaf_tasks, . - scaf_tasks",
            count = const $count,
            run = sym $run,
        );
    };
}
pub(crate) use entrances;

pub const ENTRANCE_BYTES: usize = 16;
