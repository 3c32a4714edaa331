//! Calls that ask for an affinity, or set one. A thread that the daemon has narrowed has, for whoever asks,
//! the affinity that it would have without scaf: libraries count their PUs by it, and programs save it to set
//! it again. Of another process the daemon knows it. What the program sets is its own choice, and the daemon
//! learns of it (`link/bindings.rs`).

use crate::link::bindings::{self, Whose};
use crate::link::{affinity, attachment, question};
use crate::runtimes::lookup;
use crate::sys::errno::keeping_errno;
use crate::sys::symbols::Next;
use crate::sys::{arch, kernel_threads, sched_affinity, settings};
use core::ffi::{c_int, c_long};
use core::mem::size_of_val;
use libc::pthread_t;
use scaf_proto::grant::Mask;

static SCHED: Next = Next::called(c"sched_getaffinity");
static PTHREAD: Next = Next::called(c"pthread_getaffinity_np");
static SCHED_SET: Next = Next::called(c"sched_setaffinity");
static PTHREAD_SET: Next = Next::called(c"pthread_setaffinity_np");

/// When the process is attached, so that no search is made within a call.
pub fn look() {
    [&SCHED, &PTHREAD, &SCHED_SET, &PTHREAD_SET].into_iter().for_each(Next::look);
}

arch::with_caller! {
    sched_setaffinity => set_of_task, behind (c_int, usize, *const u8);
    pthread_setaffinity_np => set_of_thread, behind (pthread_t, usize, *const u8);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_getaffinity(task: c_int, bytes: usize, set: *mut u8) -> c_int {
    type Real = unsafe extern "C" fn(c_int, usize, *mut u8) -> c_int;
    // SAFETY: the C library's function has this type, and gets the program's arguments. It has filled the
    // set.
    unsafe {
        let Some(real) = SCHED.get::<Real>() else { return -1 };
        let result = real(task, bytes, set);
        if result == 0 {
            amend_of(task, set, bytes);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_getaffinity_np(thread: pthread_t, bytes: usize, set: *mut u8) -> c_int {
    type Real = unsafe extern "C" fn(pthread_t, usize, *mut u8) -> c_int;
    // SAFETY: the C library's function has this type, and gets the program's arguments. It has filled the
    // set.
    unsafe {
        let Some(real) = PTHREAD.get::<Real>() else { return libc::ENOSYS };
        let result = real(thread, bytes, set);
        if result == 0 {
            amend(set, bytes);
        }
        result
    }
}

unsafe extern "C" fn set_of_task(task: c_int, bytes: usize, set: *const u8, caller: usize) -> c_int {
    type Real = unsafe extern "C" fn(c_int, usize, *const u8) -> c_int;
    // SAFETY: the C library's function has this type, and gets the program's arguments. It reads the set.
    unsafe {
        match SCHED_SET.get::<Real>() {
            Some(real) => binding(task, set, bytes, whose(caller), || real(task, bytes, set)),
            None => -1,
        }
    }
}

unsafe extern "C" fn set_of_thread(thread: pthread_t, bytes: usize, set: *const u8, caller: usize) -> c_int {
    type Real = unsafe extern "C" fn(pthread_t, usize, *const u8) -> c_int;
    // SAFETY: the C library's function has this type, and gets the program's arguments. It reads the set.
    unsafe {
        match PTHREAD_SET.get::<Real>() {
            Some(real) => binding(0, set, bytes, whose(caller), || real(thread, bytes, set)),
            None => libc::ENOSYS,
        }
    }
}

/// Who says where a thread is to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Binder {
    Program,
    /// The runtime, as the user's settings say; the daemon knows of these, and moves what was bound so.
    Runtime,
}

fn whose(caller: usize) -> Binder {
    let is_runtimes = settings::runtime_binds() && keeping_errno(|| lookup::is_runtimes_own(caller));
    if is_runtimes { Binder::Runtime } else { Binder::Program }
}

/// Makes a `call` by which a thread is to have the affinity `set`; it gives 0 where that was done.
/// # Safety
/// The call passes the set on to the kernel, as having so many bytes.
pub unsafe fn binding<R: Into<c_long> + Copy>(
    task: c_int,
    set: *const u8,
    bytes: usize,
    binder: Binder,
    call: impl Fn() -> R,
) -> R {
    if binder == Binder::Runtime {
        // Known before it is changed.
        keeping_errno(affinity::own);
        return call();
    }
    attachment::take_late_answer();
    let whose = || match task == 0 || kernel_threads::is_own(task) {
        true if attachment::is_this_process() => Whose::Ours,
        true => Whose::Process(0),
        false => Whose::Process(task.cast_unsigned()),
    };
    let mask = || {
        let mut mask: Mask = [0; _];
        let bytes = bytes.min(sched_affinity::known_bytes()).min(size_of_val(&mask));
        // SAFETY: asked only after the kernel has taken the set, so it has read these bytes. Those of a mask
        // may be any.
        unsafe { core::ptr::copy_nonoverlapping(set, mask.as_mut_ptr().cast(), bytes) };
        mask
    };
    bindings::set(whose, mask, || {
        let result = call();
        (result, result.into() == 0)
    })
}

/// The same for the kernel's call, which says how many bytes it has written.
/// # Safety
/// So many were written there.
pub unsafe fn amend_written(task: c_int, written: c_long, set: *mut u8) {
    if let Ok(bytes) = usize::try_from(written) {
        // SAFETY: as the caller says.
        unsafe { amend_of(task, set, bytes) }
    }
}

/// # Safety
/// The set has so many bytes.
unsafe fn amend_of(task: c_int, set: *mut u8, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe {
        if task == 0 || kernel_threads::is_own(task) {
            amend(set, bytes);
        } else if let Some(own) = question::affinity_of(task) {
            core::ptr::copy_nonoverlapping(own.as_ptr().cast(), set, bytes.min(size_of_val(&own)));
        }
    }
}

/// # Safety
/// The set has so many bytes.
unsafe fn amend(set: *mut u8, bytes: usize) {
    attachment::take_late_answer();
    if !affinity::may_be_narrow() {
        return;
    }
    let mut mask: Mask = [0; _];
    let bytes = bytes.min(size_of_val(&mask));
    // SAFETY: so many bytes are there, and in a mask, whose bytes may be any.
    unsafe {
        core::ptr::copy_nonoverlapping(set, mask.as_mut_ptr().cast(), bytes);
        if let Some(own) = affinity::behind(&mask) {
            core::ptr::copy_nonoverlapping(own.as_ptr().cast(), set, bytes);
        }
    }
}
