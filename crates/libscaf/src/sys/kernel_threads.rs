//! Threads of the kernel's: their numbers and ends, and all that the process has.

use super::arch::bare_call;
use super::file::{File, decimal};
pub use super::process::thread_id as own_task;
pub use super::raw_syscalls::give_way;
use super::{glibc, process};
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, without_provenance};
use core::sync::atomic::{AtomicU32, Ordering};

/// Sleeps for so many milliseconds, up to 999.
pub fn pause(milliseconds: i64) {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
    // SAFETY: the kernel reads the time, and writes none back, as it is given no place for that.
    unsafe { libc::nanosleep(&pause, null_mut()) };
}

pub type AtEnd = extern "C" fn(*mut c_void);

/// Calls `ended` with `number`, not 0, when the calling thread ends. One function for the whole process.
pub fn when_ends(ended: AtEnd, number: u32) {
    static KEY: AtomicU32 = AtomicU32::new(0);
    // SAFETY: the key is created once; a second one made at the same moment is given back.
    unsafe {
        let mut key = KEY.load(Ordering::Acquire);
        if key == 0 {
            let mut new: libc::pthread_key_t = 0;
            if glibc::pthread_key_create(&mut new, Some(ended)) != 0 {
                return;
            }
            // Keys start at 0, which means none here.
            match KEY.compare_exchange(0, new + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => key = new + 1,
                Err(there) => {
                    glibc::pthread_key_delete(new);
                    key = there;
                }
            }
        }
        glibc::pthread_setspecific(key - 1, without_provenance(number as usize));
    }
}

/// Whether a thread of that number is this process's.
pub fn is_own(task: c_int) -> bool {
    // SAFETY: signal 0 is sent to nobody.
    task > 0 && unsafe { bare_call(libc::SYS_tgkill, [process::pid() as usize, task as usize, 0, 0]) } == 0
}

/// Where in an entry of a folder its length and its name are, in bytes: `struct linux_dirent64`.
const LENGTH: usize = 16;
const NAME: usize = 19;

/// Calls `with` for each thread there is, by its number in the kernel; not at all where /proc is missing.
pub fn for_each(mut with: impl FnMut(c_int)) {
    let mut entries = [0u64; 128];
    let Some(folder) = File::open(c"/proc/self/task", libc::O_RDONLY | libc::O_DIRECTORY) else { return };
    loop {
        let bytes = size_of_val(&entries);
        // SAFETY: the kernel writes no more than these bytes.
        let got =
            unsafe { libc::syscall(libc::SYS_getdents64, folder.descriptor(), entries.as_mut_ptr(), bytes) };
        let Some(got) = usize::try_from(got).ok().filter(|got| *got > 0 && *got <= bytes) else { return };
        // SAFETY: so many bytes of the array.
        let filled = unsafe { core::slice::from_raw_parts(entries.as_ptr().cast::<u8>(), got) };
        numbers(filled).for_each(&mut with);
    }
}

/// Calls `with` for children of the calling thread, 100 or more; not at all where the kernel doesn't say.
pub fn for_each_child(mut with: impl FnMut(c_int)) {
    let mut text = [0u8; 1024];
    let file = File::open(c"/proc/thread-self/children", libc::O_RDONLY);
    let Some(length) = file.and_then(|file| file.read(&mut text)) else { return };
    let text = text.get(..length).unwrap_or(&[]);
    // The last number may be cut off; each has a blank behind it.
    let whole = text.iter().rposition(|byte| *byte == b' ').unwrap_or(0);
    text.split_at(whole).0.split(|byte| *byte == b' ').filter_map(number).for_each(&mut with);
}

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
    c_int::try_from(decimal(digits)?).ok()
}
