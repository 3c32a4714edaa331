//! Threads: what is kept of each, threads of our own, and the end of one.

use super::arch::{THREAD_BYTES, thread_block, tls_base};
pub use super::bare::give_way;
use super::bare::set_blocked;
use super::errno::keeping_errno;
use super::glibc;
use super::signals::block_signals;
use core::ffi::c_void;
use core::mem::zeroed;
use core::ptr::{null, null_mut, without_provenance};
use core::sync::atomic::{AtomicU32, Ordering};

/// Where in a thread's state each owner keeps its part: `program`, `region`, the port for oneTBB, and the
/// port for MPI.
pub const PROGRAM_AT: usize = 0;
pub const REGION_AT: usize = 16;
pub const TBB_AT: usize = 192;
pub const CALLER_AT: usize = 288;
pub const END: usize = THREAD_BYTES;

#[inline(always)]
pub fn part<T, const AT: usize>() -> *mut T {
    const { assert!(AT.is_multiple_of(align_of::<T>()) && AT + size_of::<T>() <= END) };
    thread_block().wrapping_byte_add(AT).cast()
}

/// The part at `AT` of the thread with this storage: it lies as far from its pointer as in any other thread.
pub fn part_of<T, const AT: usize>(other: usize) -> *mut T {
    part::<T, AT>().wrapping_byte_add(other.wrapping_sub(tls_base()))
}

pub type Run = extern "C" fn(*mut c_void) -> *mut c_void;

/// Starts a thread that handles no signal of the program's; `false` if the system has none.
pub fn spawn(run: Run, argument: *mut c_void) -> bool {
    keeping_errno(|| {
        let before = block_signals();
        // SAFETY: plain calls on memory of ours; nobody else knows the thread, which inherits the mask.
        let started = unsafe {
            let mut thread: libc::pthread_t = zeroed();
            glibc::pthread_create(&mut thread, null(), run, argument) == 0
                && glibc::pthread_detach(thread) == 0
        };
        set_blocked(before);
        started
    })
}

/// The calling thread's number in the kernel.
pub fn own_task() -> u32 {
    // SAFETY: takes nothing, and can't fail.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Sleeps for so many milliseconds, up to 999.
pub fn pause(milliseconds: i64) {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
    // SAFETY: reads a time of ours.
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
