//! The process's threads, as the kernel lists them.

use core::ffi::c_int;

/// Where in an entry of a folder its length and its name are, in bytes: `struct linux_dirent64`.
const LENGTH: usize = 16;
const NAME: usize = 19;

/// Calls `with` for each thread there is, by its number in the kernel; not at all where /proc is missing.
pub fn each(mut with: impl FnMut(c_int)) {
    let mut entries = [0u64; 128];
    // SAFETY: system calls on memory of ours.
    unsafe {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        let folder = libc::open(c"/proc/self/task".as_ptr(), flags);
        if folder < 0 {
            return;
        }
        loop {
            let bytes = size_of_val(&entries);
            let got = libc::syscall(libc::SYS_getdents64, folder, entries.as_mut_ptr(), bytes);
            let Some(got) = usize::try_from(got).ok().filter(|got| *got > 0 && *got <= bytes) else { break };
            let filled = core::slice::from_raw_parts(entries.as_ptr().cast::<u8>(), got);
            numbers(filled).for_each(&mut with);
        }
        libc::close(folder);
    }
}

/// The entries' names that are numbers.
fn numbers(mut entries: &[u8]) -> impl Iterator<Item = c_int> {
    core::iter::from_fn(move || {
        loop {
            let length = usize::from(u16::from_ne_bytes([*entries.get(LENGTH)?, *entries.get(LENGTH + 1)?]));
            let name = entries.get(NAME..length)?;
            entries = entries.get(length..)?;
            if let Some(number) = number(name) {
                return Some(number);
            }
        }
    })
}

fn number(name: &[u8]) -> Option<c_int> {
    let digits = name.split(|byte| *byte == 0).next().filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0 as c_int, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(c_int::from(digit))
    })
}
