//! Finds the BLAS libraries of the process, by their files' names and by their setters, which have many
//! names. numpy and scipy hide theirs from other code, so each library is asked through a handle of its own.
//! The handle is kept: a library that is looked after is never unloaded.

use super::table::{self, NEWS, add, lock};
use crate::runtimes::linker::{any_module, file_of};
use crate::sys::errno::keeping_errno;
use crate::sys::glibc;
use crate::sys::symbols::{c_string, function, search};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use scaf_functions::files;
use scaf_proto::runtimes::{Kind, Promise};

struct Names {
    kind: Kind,
    get: &'static CStr,
    set: &'static CStr,
    /// Name of the function that tells whose threads it uses: 0 none, 1 its own, 2 OpenMP's.
    parallel: Option<&'static CStr>,
}

macro_rules! openblas {
    ($($prefix:literal, $suffix:literal;)*) => {
        [
            $(Names {
                kind: Kind::OpenBlas,
                get: c_string(concat!($prefix, "openblas_get_num_threads", $suffix, "\0")),
                set: c_string(concat!($prefix, "openblas_set_num_threads", $suffix, "\0")),
                parallel: Some(c_string(concat!($prefix, "openblas_get_parallel", $suffix, "\0"))),
            },)*
            Names {
                kind: Kind::Mkl,
                get: c"MKL_Get_Max_Threads",
                set: c"MKL_Set_Num_Threads",
                parallel: None,
            },
            Names {
                kind: Kind::Blis,
                get: c"bli_thread_get_num_threads",
                set: c"bli_thread_set_num_threads",
                parallel: None,
            },
        ]
    };
}

static NAMES: [Names; 8] = openblas! {
    "scipy_", "64_";
    "scipy_", "";
    "scipy_", "_64";
    "", "64_";
    "", "_64";
    "", "";
};

/// Whether `name` is the getter or setter of a library that may be looked after.
pub fn is_named(name: &CStr) -> bool {
    NAMES.iter().any(|names| names.get == name || names.set == name)
}

const MOST_FILES: usize = 32;
#[unsafe(link_section = ".data.at_load")]
static LOOKING: AtomicU32 = AtomicU32::new(0);
/// Load addresses of the files that were looked into.
static SEEN: [AtomicUsize; MOST_FILES] = [const { AtomicUsize::new(0) }; MOST_FILES];

struct Fresh {
    files: [(usize, *const c_char); MOST_FILES],
    count: usize,
}

fn fresh() -> Fresh {
    let mut fresh = Fresh { files: [(0, core::ptr::null()); MOST_FILES], count: 0 };
    any_module(|about| {
        let (name, base) = (about.dlpi_name, about.dlpi_addr as usize);
        // SAFETY: the dynamic linker has handed it in just now.
        if files::may_be_blas(unsafe { file_of(about) })
            && !SEEN.iter().any(|seen| seen.load(Ordering::Relaxed) == base)
            && let Some(place) = fresh.files.get_mut(fresh.count)
        {
            *place = (base, name);
            fresh.count += 1;
        }
        false
    });
    fresh
}

/// Whether the process has a library that may be looked after: by its file's name and what it exports.
/// Takes a microsecond where no file is called so. The library needn't be initialised.
pub fn are_there() -> bool {
    if LOOKING.swap(1, Ordering::Acquire) != 0 {
        return false;
    }
    let fresh = fresh();
    let has_own_threads = |(base, name): &(usize, *const c_char)| {
        // SAFETY: a loaded library's name.
        let opened = unsafe { Opened::new(*base, *name) };
        let exports = |names: &Names| {
            opened.as_ref().is_some_and(|it| it.own(names.get).is_some() && it.own(names.set).is_some())
        };
        NAMES.iter().filter(|names| names.kind != Kind::Mkl).any(exports)
    };
    let found = keeping_errno(|| fresh.files.iter().take(fresh.count).any(has_own_threads));
    LOOKING.store(0, Ordering::Release);
    found
}

/// Looks into new files; `true` if a library follows the grant. The program's libraries must be initialised.
pub fn look() -> bool {
    // The calls below pass through our own dlopen and dlsym, so this may be a nested call.
    if LOOKING.swap(1, Ordering::Acquire) != 0 {
        return false;
    }
    NEWS.store(0, Ordering::Relaxed);
    let fresh = fresh();
    for (base, name) in fresh.files.iter().take(fresh.count) {
        // SAFETY: a loaded library's name. If it is unloaded just now, dlopen fails.
        unsafe { look_into(*base, *name) };
        if let Some(free) = SEEN.iter().find(|seen| seen.load(Ordering::Relaxed) == 0) {
            free.store(*base, Ordering::Relaxed);
        }
    }
    LOOKING.store(0, Ordering::Release);
    let mut has_follower = false;
    for library in table::table().filter(|library| library.is_ready()) {
        has_follower = true;
        let _locked = lock();
        library.number.adopt();
    }
    has_follower
}

pub fn after_fork() {
    LOOKING.store(0, Ordering::Relaxed);
}

/// A loaded library, by a handle that is given back.
struct Opened {
    handle: *mut c_void,
    base: usize,
}

impl Opened {
    /// # Safety
    /// The name is a C string.
    unsafe fn new(base: usize, name: *const c_char) -> Option<Opened> {
        // SAFETY: as the caller says. With RTLD_NOLOAD no constructor runs.
        let handle = unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Opened { handle, base })
    }

    /// Only the library's own symbols: each library that it depends on is a file by itself.
    fn own(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle is dlopen's; zeros are a value of what dladdr fills in.
        unsafe {
            let found = search(self.handle, name);
            let mut about: libc::Dl_info = core::mem::zeroed();
            let known = !found.is_null() && glibc::dladdr(found, &mut about) != 0;
            (known && about.dli_fbase as usize == self.base).then_some(found)
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the handle is dlopen's, and is given back once.
        unsafe { libc::dlclose(self.handle) };
    }
}

unsafe fn look_into(base: usize, name: *const c_char) {
    // SAFETY: the name is a C string; functions of these names have these types, and take nothing.
    unsafe {
        let Some(library) = Opened::new(base, name) else { return };
        let own = |name: &CStr| library.own(name);
        for names in &NAMES {
            let (Some(get), Some(set)) = (own(names.get), own(names.set)) else { continue };
            let variable = own(c"blas_cpu_number").filter(|_| names.kind == Kind::OpenBlas);
            let parallel = names.parallel.and_then(own).map(|asked| asked as usize);
            let own_threads = match names.kind {
                Kind::OpenBlas => {
                    let asked = parallel.and_then(|at| function::<unsafe extern "C" fn() -> c_int>(at));
                    asked.is_some_and(|asked| asked() == 1) && variable.is_some()
                }
                // MKL's threads belong to OpenMP or oneTBB, and so to those ports. Its functions hold a lock
                // while they call dlsym, so they mustn't be called from there.
                Kind::Mkl => false,
                _ => true,
            };
            let promise = if own_threads { Promise::Follows } else { Promise::Left };
            if add(names.kind, promise, (base, name), (get, set, variable)) {
                // The reference that dlopen took is kept.
                core::mem::forget(library);
                return;
            }
        }
    }
}
