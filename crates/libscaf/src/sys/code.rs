//! The program's own code, read and changed, and code of ours near it.

use super::errno::keeping_errno;
use super::file::File;
use super::{glibc, membarrier};
use core::ffi::{CStr, c_void};
use core::ptr::with_exposed_provenance_mut;

/// The process's memory as a file: what may not be written there by address may be, and what isn't mapped is
/// an error.
pub struct Memory(File);

impl Memory {
    pub fn open() -> Option<Memory> {
        File::open(c"/proc/self/mem", libc::O_RDWR).map(Memory)
    }

    /// Fills all of `bytes`; `false` if not all are mapped.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> bool {
        let length = bytes.len();
        keeping_errno(|| {
            let (file, room) = (self.0.descriptor(), bytes.as_mut_ptr().cast());
            // SAFETY: the kernel writes no more than these bytes.
            let read = unsafe { libc::pread(file, room, length, at.cast_signed()) };
            usize::try_from(read) == Ok(length)
        })
    }

    /// # Safety
    /// Nobody runs what is there, and it may be changed to that.
    pub unsafe fn write(&self, at: u64, bytes: &[u8]) -> bool {
        keeping_errno(|| {
            let file = self.0.descriptor();
            // SAFETY: the kernel reads the bytes. Where it writes them to, they may be, as the caller says.
            let written = unsafe { libc::pwrite(file, bytes.as_ptr().cast(), bytes.len(), at.cast_signed()) };
            usize::try_from(written) == Ok(bytes.len())
        })
    }
}

/// Asks for [`renew`]; `false` where the kernel doesn't have it.
pub fn can_renew() -> bool {
    membarrier::membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)
}

/// No processor goes on with code of this process that it read before.
pub fn renew() -> bool {
    membarrier::membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE)
}

/// Some memory for code within reach of a jump. Its first 8 bytes are a function's address.
pub struct Near {
    start: u64,
    used: usize,
}

impl Near {
    const BYTES: usize = 8192;

    /// Within reach of the code at that address, away from where the heap grows to; called so in the table of
    /// mappings.
    pub fn new(name: &CStr, code: u64, function: u64) -> Option<Near> {
        let file = keeping_errno(|| {
            let file = glibc::memfd_create(name, libc::MFD_CLOEXEC)?;
            // SAFETY: takes numbers, and nobody else has this file.
            let sized = unsafe { libc::ftruncate(file.descriptor(), Self::BYTES as i64) } == 0;
            sized.then_some(file)
        })?;
        let page = code & !0xfff;
        let below = (16..31).map(|power| page.checked_sub(1 << power));
        let above = [1u64 << 30, 3 << 29].map(|distance| page.checked_add(distance));
        let start = below.chain(above).flatten().find(|start| map(&file, *start, Self::BYTES))?;
        let mut near = Near { start, used: 0 };
        near.put(&function.to_le_bytes());
        near.used = 64;
        Some(near)
    }

    /// Where the next so many bytes would be.
    pub fn next(&self, bytes: usize) -> Option<u64> {
        (self.used.checked_add(bytes)? <= Self::BYTES).then_some(self.start.wrapping_add(self.used as u64))
    }

    /// Puts them there, if there is room.
    pub fn put(&mut self, bytes: &[u8]) {
        if let Some(at) = self.next(bytes.len()) {
            // SAFETY: `next` says that there is room; nobody else knows these pages yet.
            unsafe {
                let to = with_exposed_provenance_mut::<u8>(at as usize);
                to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
            self.used = self.used.wrapping_add(bytes.len());
        }
    }

    pub fn function(&self) -> u64 {
        self.start
    }

    pub fn seal(self) -> bool {
        let start = with_exposed_provenance_mut::<c_void>(self.start as usize);
        // SAFETY: the pages that `new` has mapped, which nobody writes to any more.
        keeping_errno(|| unsafe {
            libc::mprotect(start, Self::BYTES, libc::PROT_READ | libc::PROT_EXEC) == 0
        })
    }
}

/// Maps a copy of a file at just that address, if nothing is there.
fn map(file: &File, at: u64, bytes: usize) -> bool {
    let wanted = with_exposed_provenance_mut::<c_void>(at as usize);
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE;
    keeping_errno(|| {
        // SAFETY: MAP_FIXED_NOREPLACE replaces no mapping, nor does an older kernel without it. What is
        // unmapped was mapped just before.
        unsafe {
            let got =
                libc::mmap(wanted, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, file.descriptor(), 0);
            // An older kernel may map it elsewhere.
            let elsewhere = got != libc::MAP_FAILED && got != wanted;
            if elsewhere {
                libc::munmap(got, bytes);
            }
            got == wanted
        }
    })
}
