//! x86-64.

use crate::observe::wakes::{Source, Wait};

/// The clock of the report pages: the time-stamp counter, as `libscaf` reads it.
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has this instruction, and it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// System calls that glibc may use here in place of newer ones of `privileges::PERMITTED`; newer
/// processors don't have them.
#[rustfmt::skip]
pub const LEGACY_CALLS: &[libc::c_long] = &[
    libc::SYS_access, libc::SYS_epoll_wait, libc::SYS_lstat, libc::SYS_mkdir, libc::SYS_open, libc::SYS_poll,
    libc::SYS_readlink, libc::SYS_rename, libc::SYS_stat, libc::SYS_time, libc::SYS_unlink,
];

/// System calls of `observe::wakes` that newer processors don't have.
pub const LEGACY_WAITS: &[(libc::c_long, Wait)] = &[
    (libc::SYS_poll, Wait::For(Source::Network)),
    (libc::SYS_select, Wait::For(Source::Network)),
    (libc::SYS_epoll_wait, Wait::For(Source::Network)),
];
