//! The Thread Composability Manager's functions, by which oneTBB (from 2021.11 on) asks how many workers each
//! of its arenas may have. oneTBB finds them in `libtcm.so.1`, which it loads by name, or by weak references.
//! Ours divides the grant ([`permits`]); Intel's (in PyPI's `tbb`) divides the PUs. oneTBB gets
//! - ours, where a manager isn't switched on or isn't there: [`instead_of`] answers when oneTBB loads one;
//! - Intel's, if `TCM_ENABLE` is 1 and it is there, and in programs linked with it: our functions, which are
//!   found first, pass the calls on, and the grant is followed by folding;
//! - ours in any case if `SCAF_TCM` is `scaf`; none if it is `off`, or with `scaf run --exact`.
//!
//! Without a daemon, [`tcmConnect`] declines, and oneTBB does without a manager for good. Permits count
//! *workers*, not threads that enter an arena from outside; -1 leaves a number to us. oneTBB keeps one permit
//! an arena. Changes that it hasn't caused come by its callback; surplus workers leave between two tasks.

mod clients;
pub mod permits;
mod table;

use self::clients::Callback;
use self::permits::Demand;
use self::table::Entry;
use super::caller::{Caller, caller};
use super::files::{is_tbb, own_handle};
use crate::link::affinity::own_pus;
use crate::link::attachment;
use crate::program::non_openmp;
use crate::sys::errno::keeping_errno;
use crate::sys::settings::{self, Manager};
use crate::sys::symbols::search;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::{offset_of, transmute};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Answers to calls that make no sense, and to those that can't be served, or not now.
const INVALID_ARGUMENT: c_int = 0x7800_0004;
const UNKNOWN: c_int = 0x7fff_fffe;

/// What a permit is asked for with. Passed by value, which for its size is on the stack.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Request {
    /// Fewest and most workers, -1 for any.
    least: i32,
    most: i32,
    /// Sorts of cores, each with numbers of its own; null for any core. oneTBB adds up what it gets of each.
    constraints: *const c_void,
    constraint_count: u32,
    priority: i32,
    flags: u32,
    reserved: [u8; 4],
}

const _: () = assert!(size_of::<Request>() == 32 && offset_of!(Request, flags) == 24);
/// Flags of requests and permits: the number stays while the permit is active; not wanted yet.
const RIGID: u32 = 1 << 1;
const INACTIVE: u32 = 1 << 3;

#[repr(C)]
pub struct Data {
    concurrencies: *mut u32,
    /// Sets of PUs as hwloc has them: never written.
    masks: *mut *mut c_void,
    count: u32,
    state: u8,
    flags: u32,
}

const _: () = assert!(size_of::<Data>() == 32 && offset_of!(Data, flags) == 24);

const NAMES: [&CStr; 11] = [
    c"tcmConnect",
    c"tcmDisconnect",
    c"tcmRequestPermit",
    c"tcmGetPermitData",
    c"tcmReleasePermit",
    c"tcmIdlePermit",
    c"tcmDeactivatePermit",
    c"tcmActivatePermit",
    c"tcmRegisterThread",
    c"tcmUnregisterThread",
    c"tcmGetVersionInfo",
];

/// The functions of another manager to pass calls on to; null if there is none.
static THEIRS: [AtomicPtr<c_void>; NAMES.len()] = [const { AtomicPtr::new(null_mut()) }; NAMES.len()];

fn may_be_ours() -> bool {
    settings::get().manager != Manager::Off && !settings::get().exact
}

/// Another manager's function that gets the calls; null if ours does. oneTBB finds ours first, so we decide.
fn theirs(number: usize) -> *mut c_void {
    static LOOKED: AtomicU32 = AtomicU32::new(0);
    if LOOKED.load(Ordering::Acquire) == 0 {
        keeping_errno(look_for_theirs);
        LOOKED.store(1, Ordering::Release);
    }
    THEIRS.get(number).map_or(null_mut(), |function| function.load(Ordering::Relaxed))
}

#[cold]
fn look_for_theirs() {
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
    let library = match settings::get().manager {
        Manager::Unsaid => libc::RTLD_NEXT,
        // SAFETY: dlopen reads a C string; oneTBB would load the library just so.
        Manager::Theirs => unsafe { libc::dlopen(c"libtcm.so.1".as_ptr(), flags) },
        Manager::Ours | Manager::Off => return,
    };
    // dlsym would take null for RTLD_DEFAULT.
    if library.is_null() {
        return;
    }
    // SAFETY: a library that stays loaded.
    let found = NAMES.map(|name| unsafe { search(library, name) });
    // All of them or none.
    if found.iter().all(|function| !function.is_null()) {
        for (place, function) in THEIRS.iter().zip(found) {
            place.store(function, Ordering::Relaxed);
        }
    }
}

/// Returns the result of the other manager's function of this number, if there is one.
macro_rules! theirs_first {
    ($number:literal, ($($argument:expr),*), fn($($kind:ty),*)) => {
        let theirs = theirs($number);
        if !theirs.is_null() {
            // SAFETY: the function of that name has this type; the arguments are the caller's.
            return unsafe {
                transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) -> c_int>(theirs)($($argument),*)
            };
        }
    };
}

/// For code at `from` that loads `name`: our own handle if oneTBB loads a manager that we are, else null.
pub unsafe extern "C" fn instead_of(name: *const c_char, from: usize) -> *mut c_void {
    const MANAGERS: [&CStr; 2] = [c"libtcm.so.1", c"libtcm_debug.so.1"];
    // SAFETY: what is handed to dlopen is null or a C string.
    let asked = unsafe { (!name.is_null()).then(|| CStr::from_ptr(name)) };
    let ours = may_be_ours() && settings::get().manager != Manager::Theirs;
    if !ours || !asked.is_some_and(|name| MANAGERS.contains(&name)) {
        return null_mut();
    }
    keeping_errno(|| if is_tbb(from) { own_handle() } else { null_mut() })
}

/// Attaches for a oneTBB that has counted the PUs and will ask for permits; `true` if there is a daemon.
fn attach() -> bool {
    non_openmp::attach(own_pus()) || attachment::is_expected()
}

/// A runtime connects; `callback` tells it of changes. Declined without a daemon.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcmConnect(callback: Option<Callback>, number: *mut u64) -> c_int {
    theirs_first!(0, (callback, number), fn(Option<Callback>, *mut u64));
    if number.is_null() || !may_be_ours() || !attach() {
        return UNKNOWN;
    }
    match keeping_errno(|| permits::connect(callback)) {
        // SAFETY: not null, so it is where oneTBB wants its number.
        Some(new) => unsafe {
            *number = new;
            0
        },
        None => UNKNOWN,
    }
}

/// A runtime disconnects; its permits have been released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcmDisconnect(number: u64) -> c_int {
    theirs_first!(1, (number), fn(u64));
    permits::disconnect(number);
    0
}

/// A new permit (`*handle` is null), or another request for one that exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcmRequestPermit(
    number: u64,
    request: Request,
    argument: *mut c_void,
    handle: *mut *mut c_void,
    data: *mut Data,
) -> c_int {
    theirs_first!(
        2,
        (number, request, argument, handle, data),
        fn(u64, Request, *mut c_void, *mut *mut c_void, *mut Data)
    );
    let least = if request.least == -1 { 0 } else { request.least };
    let most = if request.most == -1 { own_pus().max(least as u32) as i32 } else { request.most };
    if handle.is_null() || least < 0 || most < least {
        return INVALID_ARGUMENT;
    }
    let demand = Demand {
        least: least as u32,
        most: most as u32,
        rigid: request.flags & RIGID != 0,
        active: request.flags & INACTIVE == 0,
        flags: request.flags & !INACTIVE,
        argument,
    };
    // SAFETY: `handle` isn't null, so it is oneTBB's variable, with null or a handle of a permit.
    unsafe {
        let Some(entry) = permits::request(caller(), number, Entry::from_handle(*handle), &demand) else {
            return UNKNOWN;
        };
        *handle = entry.handle();
        write(entry, data);
    }
    0
}

unsafe fn write(entry: &Entry, data: *mut Data) {
    // SAFETY: null or oneTBB's structure, whose array has room for as many numbers as it says.
    unsafe {
        let Some(data) = data.as_mut() else {
            return;
        };
        let (workers, state, flags) = permits::look(entry);
        for place in 0..data.count as usize {
            if !data.concurrencies.is_null() {
                *data.concurrencies.add(place) = if place == 0 { workers } else { 0 };
            }
        }
        data.state = state;
        data.flags = flags;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcmGetPermitData(handle: *mut c_void, data: *mut Data) -> c_int {
    theirs_first!(3, (handle, data), fn(*mut c_void, *mut Data));
    // SAFETY: null, or a handle that a request has given.
    match unsafe { Entry::from_handle(handle) } {
        // SAFETY: `data` isn't null, so it is oneTBB's structure.
        Some(entry) if !data.is_null() => unsafe {
            write(entry, data);
            0
        },
        _ => UNKNOWN,
    }
}

/// Entry points that take a permit's handle and nothing else.
macro_rules! of_permit {
    ($($(#[$about:meta])* $name:ident is $number:literal => $act:expr;)*) => {
        $(
            $(#[$about])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(handle: *mut c_void) -> c_int {
                theirs_first!($number, (handle), fn(*mut c_void));
                let act: fn(&Caller, &'static Entry) -> bool = $act;
                // SAFETY: oneTBB passes null, or a handle that a request for a permit has given it.
                let entry = unsafe { Entry::from_handle(handle) };
                if entry.is_some_and(|entry| act(caller(), entry)) { 0 } else { UNKNOWN }
            }
        )*
    };
}

of_permit! {
    /// Releases a permit. Its callback doesn't run when this returns, and won't, but for one that calls this.
    tcmReleasePermit is 4 => |this, entry| { permits::release(this, entry); true };
    /// A permit's workers have nothing to do now, but will soon.
    tcmIdlePermit is 5 => permits::idle;
    /// A permit's workers have nothing to do.
    tcmDeactivatePermit is 6 => permits::deactivate;
    /// A permit's workers have work again, with the request as it was.
    tcmActivatePermit is 7 => permits::activate;
    /// The calling thread begins to work for a permit, as a worker or as a thread from outside.
    tcmRegisterThread is 8 => |this, entry| { permits::enter(this, entry); true };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcmUnregisterThread() -> c_int {
    theirs_first!(9, (), fn());
    permits::leave(caller());
    0
}

/// Writes who we are, for `TBB_VERSION=1`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcmGetVersionInfo(text: *mut c_char, room: u32) -> c_int {
    theirs_first!(10, (text, room), fn(*mut c_char, u32));
    const TEXT: &[u8] = concat!("TCM: scaf ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
    if text.is_null() || room == 0 {
        return INVALID_ARGUMENT;
    }
    for place in 0..room as usize {
        // SAFETY: `text` isn't null, and has room for so many bytes.
        unsafe { *text.add(place) = TEXT.get(place).map_or(0, |byte| *byte as c_char) };
    }
    0
}
