//! All in this crate that depends on the processor. Each processor is one folder with the same items.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
