//! What the kernel says of this process.

use crate::sys::file::File;
use scaf_team::sandbox::proc_lines;
use scaf_team::sandbox::proc_maps::Mapping;

/// Passes on all mappings of the process until `take` says `false`; `true` if it never did.
pub fn each_mapping(mut take: impl FnMut(&Mapping) -> bool) -> bool {
    each_line(c"/proc/self/maps", |line| Mapping::parse(line).is_some_and(|mapping| take(&mapping)))
}

pub fn each_line(path: &core::ffi::CStr, take: impl FnMut(&[u8]) -> bool) -> bool {
    let Some(file) = File::open(path, libc::O_RDONLY) else { return false };
    proc_lines::each(|room: &mut [u8]| file.read(room), take)
}
