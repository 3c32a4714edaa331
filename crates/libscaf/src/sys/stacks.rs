//! How large threads' stacks are.

use super::glibc;
use super::proc_self::each_mapping;
use core::mem::zeroed;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that a thread gets whose starter says nothing, whole pages.
pub fn usual() -> usize {
    const PAGE: usize = 4096;
    static USUAL: AtomicUsize = AtomicUsize::new(0);
    let mut usual = USUAL.load(Ordering::Relaxed);
    if usual == 0 {
        // SAFETY: initializes, reads and destroys attributes on this stack.
        unsafe {
            let mut attributes: libc::pthread_attr_t = zeroed();
            if libc::pthread_attr_init(&mut attributes) == 0 {
                glibc::pthread_attr_getstacksize(&attributes, &mut usual);
                libc::pthread_attr_destroy(&mut attributes);
            }
        }
        usual = usual.max(1 << 20).next_multiple_of(PAGE);
        USUAL.store(usual, Ordering::Relaxed);
    }
    usual
}

/// Bytes of the calling thread's, or a little more; 1 if that isn't known. The C library would tell as well,
/// but call the program's allocator.
pub fn own() -> usize {
    let here = 0_u8;
    let here = (&raw const here).addr();
    let mut found = 1;
    each_mapping(|mapping| {
        let is_it = mapping.start <= here && here < mapping.end;
        if is_it {
            found = match mapping.path {
                // It grows.
                b"[stack]" => limit(),
                // The end may be another mapping's, and what is in use is at least a little.
                _ => (here - mapping.start) / 7 * 8,
            };
        }
        !is_it
    });
    found
}

/// Bytes to which the first thread's may grow.
fn limit() -> usize {
    // SAFETY: the kernel writes the two numbers, which may be zeros.
    unsafe {
        let mut limit: libc::rlimit = zeroed();
        if libc::getrlimit(libc::RLIMIT_STACK, &mut limit) != 0 {
            return 1;
        }
        usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
    }
}
