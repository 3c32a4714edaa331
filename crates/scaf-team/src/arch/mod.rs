//! All in this crate that depends on the processor. Each processor is one folder with the same items.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(not(target_arch = "x86_64"))]
compile_error!(
    "what scaf-team knows of the processor is in src/arch/: another one is a neighbour of x86_64 there"
);
