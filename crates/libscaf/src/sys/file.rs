//! Files by their descriptors, without the C library's buffers.

use super::errno::keeping_errno;
use core::ffi::{CStr, c_int};

pub struct File(c_int);

impl File {
    pub fn open(path: &CStr, flags: c_int) -> Option<File> {
        // SAFETY: the kernel reads a C string.
        keeping_errno(|| File::from_result(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) }))
    }

    /// What a call returned that opens a file: a descriptor that nobody else has, or -1.
    pub fn from_result(result: c_int) -> Option<File> {
        (result >= 0).then_some(File(result))
    }

    pub fn descriptor(&self) -> c_int {
        self.0
    }

    /// Bytes that were read; `None` if that failed.
    pub fn read(&self, room: &mut [u8]) -> Option<usize> {
        // SAFETY: the kernel writes as much as there is room.
        usize::try_from(unsafe { libc::read(self.0, room.as_mut_ptr().cast(), room.len()) }).ok()
    }

    /// Sends a packet to a socket, and waits for one up to `patience_ms`; its bytes.
    pub fn exchange(&self, packet: &[u8], room: &mut [u8], patience_ms: c_int) -> Option<usize> {
        let quietly = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        let mut ready = libc::pollfd { fd: self.0, events: libc::POLLIN, revents: 0 };
        // SAFETY: the kernel reads the packet, and writes as much as there is room.
        let got = keeping_errno(|| unsafe {
            if libc::send(self.0, packet.as_ptr().cast(), packet.len(), quietly) < 0
                || libc::poll(&mut ready, 1, patience_ms) <= 0
            {
                return -1;
            }
            libc::recv(self.0, room.as_mut_ptr().cast(), room.len(), libc::MSG_DONTWAIT)
        });
        usize::try_from(got).ok()
    }

    /// Bytes that were read from there on, whatever was read before.
    pub fn read_at(&self, room: &mut [u8], at: u64) -> Option<usize> {
        let at = libc::off_t::try_from(at).ok()?;
        // SAFETY: the kernel writes as much as there is room.
        let got = keeping_errno(|| unsafe { libc::pread(self.0, room.as_mut_ptr().cast(), room.len(), at) });
        usize::try_from(got).ok()
    }
}

/// Whether the file can be read by whoever this process's next program runs as, without capabilities that
/// only this one has.
pub fn can_be_read(path: &CStr) -> bool {
    // SAFETY: the kernel reads a C string.
    keeping_errno(|| unsafe { libc::access(path.as_ptr(), libc::R_OK) } == 0)
}

/// Whether the process may execute the file.
pub fn can_be_executed(path: &CStr) -> bool {
    // SAFETY: the kernel reads a C string.
    keeping_errno(|| unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0)
}

/// A decimal number; 0 without digits.
pub fn decimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u32::from(digit))
    })
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours alone, by `from_result`.
        keeping_errno(|| unsafe { libc::close(self.0) });
    }
}
