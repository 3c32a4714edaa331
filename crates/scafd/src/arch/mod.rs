//! All in the daemon that depends on the processor. Each processor is one file with the same items.

#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod processor;

pub use processor::{LEGACY_CALLS, LEGACY_WAITS, ticks};

#[cfg(not(target_arch = "x86_64"))]
compile_error!(
    "what scafd knows of the processor is in src/arch/: another one is a neighbour of x86_64 there"
);
