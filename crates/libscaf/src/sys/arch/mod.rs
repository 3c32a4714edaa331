//! What depends on the processor: one folder an architecture, all with the same names.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "libscaf runs on x86-64 Linux. Another architecture is a folder beside sys/arch/x86_64 with the same \
     names: \
     `ticks`, `thread_block`, `trapped_call` and `bare_call` in its mod.rs, the macros of entry_points.rs, \
     tasks.rs, around.rs, \
     and the variadic calls of variadic.rs. scaf-team's sandbox/filter.rs needs its system calls, \
     scaf-inspect \
     its decoder, and the tests a machine."
);
