//! What depends on the processor: one folder an architecture, all with the same names.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "libscaf runs on x86-64 Linux. Another architecture is a folder beside sys/arch/x86_64 that exports the \
     same items, and a neighbour of each other file or folder called x86_64 in crates/; the README's table \
     has what else"
);
