//! How many filters of system calls (seccomp) the calling thread is under. A filter may end the process for
//! any call, so this asks by none but those by which the dynamic linker has loaded this library.

use super::arch::bare_call;
use super::file::decimal;
use core::ffi::{CStr, c_int};

const STATUS: &CStr = c"/proc/thread-self/status";
/// Longest beginning of a line that is looked at.
const LINE: usize = 32;

/// Their number; `None` if it can't be known: nobody can look, or the kernel (before 5.9) doesn't count them.
pub fn in_force() -> Option<u32> {
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    let path = STATUS.as_ptr().expose_provenance();
    // SAFETY: the kernel reads a C string. No libc function: those are points of cancellation.
    let file = unsafe { bare_call(libc::SYS_openat, [libc::AT_FDCWD as usize, path, flags, 0]) };
    let file = usize::try_from(file).ok()?;
    let mut status = Status { line: [0; LINE], length: 0, filtered: false, filters: None };
    let mut bytes = [0u8; 512];
    let read = loop {
        let room = [file, bytes.as_mut_ptr().expose_provenance(), bytes.len(), 0];
        // SAFETY: the kernel writes no more than there is room.
        let got = unsafe { bare_call(libc::SYS_read, room) };
        match usize::try_from(got) {
            Ok(0) => break true,
            Ok(got) => bytes.iter().take(got).for_each(|byte| status.take(*byte)),
            Err(_) => break false,
        }
    };
    // SAFETY: the descriptor was opened above, and nobody else has it.
    unsafe { bare_call(libc::SYS_close, [file, 0, 0, 0]) };
    if !read {
        return None;
    }
    if status.filtered { status.filters } else { Some(0) }
}

struct Status {
    line: [u8; LINE],
    length: usize,
    filtered: bool,
    filters: Option<u32>,
}

impl Status {
    fn take(&mut self, byte: u8) {
        if byte != b'\n' {
            if let Some(place) = self.line.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            }
            return;
        }
        let line = self.line.get(..self.length).unwrap_or_default();
        if let Some(mode) = line.strip_prefix(b"Seccomp:\t") {
            self.filtered = mode != b"0";
        } else if let Some(count) = line.strip_prefix(b"Seccomp_filters:\t") {
            self.filters = decimal(count);
        }
        self.length = 0;
    }
}

/// Whether a call by which a thread puts itself, or all threads, under a filter or the strict mode does so.
/// Without a program of the filter it only asks whether the kernel has filters.
pub fn are_set_by_prctl(option: c_int, mode: usize, program: usize) -> bool {
    option == libc::PR_SET_SECCOMP
        && (mode == libc::SECCOMP_MODE_STRICT as usize
            || (mode == libc::SECCOMP_MODE_FILTER as usize && program != 0))
}

/// The same for the system call of that name.
pub fn are_set_by_seccomp(operation: usize, program: usize) -> bool {
    operation == libc::SECCOMP_SET_MODE_STRICT as usize
        || (operation == libc::SECCOMP_SET_MODE_FILTER as usize && program != 0)
}
