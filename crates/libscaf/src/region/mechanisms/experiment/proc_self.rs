//! What the kernel says of this process.

use core::ffi::c_void;
use scaf_team::sandbox::proc_lines;
use scaf_team::sandbox::proc_maps::Mapping;

/// Hands over all mappings of the process until `take` says `false`; `true` if it never did.
pub fn each_mapping(mut take: impl FnMut(&Mapping) -> bool) -> bool {
    each_line(c"/proc/self/maps", |line| Mapping::parse(line).is_some_and(|mapping| take(&mapping)))
}

pub fn each_line(path: &core::ffi::CStr, take: impl FnMut(&[u8]) -> bool) -> bool {
    // SAFETY: plain system calls on memory of ours.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let read = |room: &mut [u8]| {
            usize::try_from(libc::read(file, room.as_mut_ptr().cast::<c_void>(), room.len())).ok()
        };
        let all = proc_lines::each(read, take);
        libc::close(file);
        all
    }
}
