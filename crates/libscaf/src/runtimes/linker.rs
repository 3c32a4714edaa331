//! What the dynamic linker knows of the modules of the process.

use crate::sys::glibc;
use crate::sys::symbols::search;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A loaded module, as the dynamic linker keeps it.
#[repr(C)]
pub struct LinkMap {
    pub base: usize,
    /// Its file; empty for the program itself.
    pub name: *const c_char,
    dynamic: *mut c_void,
    next: *mut LinkMap,
    previous: *mut LinkMap,
}

const RTLD_DL_LINKMAP: c_int = 2;

/// The module that `address` lies in, and its load address.
pub fn module_of(address: usize) -> Option<(*mut LinkMap, usize)> {
    let mut info =
        libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    let mut map: *mut c_void = null_mut();
    // SAFETY: both out-parameters are ours, and RTLD_DL_LINKMAP makes the second a link map.
    let known = unsafe { glibc::dladdr1(address as *const c_void, &mut info, &mut map, RTLD_DL_LINKMAP) };
    (known != 0 && !map.is_null()).then_some((map.cast(), info.dli_fbase as usize))
}

/// Calls `look` for each loaded module until it returns `true`; whether it did.
pub fn any_module<F: FnMut(&libc::dl_phdr_info) -> bool>(mut look: F) -> bool {
    unsafe extern "C" fn one<F: FnMut(&libc::dl_phdr_info) -> bool>(
        about: *mut libc::dl_phdr_info,
        _: usize,
        look: *mut c_void,
    ) -> c_int {
        // SAFETY: the dynamic linker passes its description of a module, and the `look` that it was given.
        unsafe { (*look.cast::<F>())(&*about).into() }
    }
    // SAFETY: `one` has the type that is wanted, for a `look` of type `F`.
    unsafe { libc::dl_iterate_phdr(Some(one::<F>), (&raw mut look).cast()) != 0 }
}

/// A symbol of a loaded library, or of the first of those that it depends on.
/// # Safety
/// `file` is null or a C string.
pub unsafe fn in_library(file: *const c_char, name: &CStr) -> Option<*mut c_void> {
    if file.is_null() {
        return None;
    }
    // SAFETY: both names are C strings. With RTLD_NOLOAD no constructor runs.
    unsafe {
        let library = libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        let found = search(library, name);
        libc::dlclose(library);
        (!found.is_null()).then_some(found)
    }
}

/// The symbol in the library around `address`, or in the first of those that it depends on.
pub fn in_library_of(address: usize, name: &CStr) -> Option<*mut c_void> {
    let (map, _) = module_of(address)?;
    // SAFETY: a loaded module's name. It is empty for the program, whose libraries are searched globally.
    unsafe {
        let file = (*map).name;
        if file.is_null() || *file == 0 {
            return None;
        }
        in_library(file, name).filter(|found| !is_ours(found.addr()))
    }
}

/// The name of a module's file, without its folder; empty for the program's own.
/// # Safety
/// The dynamic linker has handed it in, and hasn't taken it back.
pub unsafe fn file_of(about: &libc::dl_phdr_info) -> &[u8] {
    // SAFETY: the dynamic linker's text.
    let name = if about.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(about.dlpi_name) } };
    base_name(name)
}

/// The headers of a module's segments.
/// # Safety
/// As for [`file_of`].
pub unsafe fn segments_of(about: &libc::dl_phdr_info) -> &[libc::Elf64_Phdr] {
    // SAFETY: the dynamic linker's table of them.
    unsafe { core::slice::from_raw_parts(about.dlpi_phdr, usize::from(about.dlpi_phnum)) }
}

pub fn base_name(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or(b"")
}

/// Bytes of a module that are mapped if its header is.
const FIRST_PAGE: u64 = 4096;

/// Bytes that the module loaded at `base` spans, by its header; 0 if unknown.
pub fn size_of_module(base: usize) -> usize {
    let header = core::ptr::with_exposed_provenance::<libc::Elf64_Ehdr>(base);
    // SAFETY: a module's first bytes are its header, which says where its segments' table is, in memory, too.
    unsafe {
        if (*header).e_ident.first_chunk::<4>() != Some(b"\x7fELF") {
            return 0;
        }
        let end = (*header)
            .e_phoff
            .saturating_add(u64::from((*header).e_phnum) * size_of::<libc::Elf64_Phdr>() as u64);
        // Tools that change files may move the table; only the dynamic linker knows where to.
        if end > FIRST_PAGE {
            return 0;
        }
        let table = header.byte_add((*header).e_phoff as usize).cast::<libc::Elf64_Phdr>();
        let (mut first, mut end) = (u64::MAX, 0);
        for number in 0..usize::from((*header).e_phnum) {
            let segment = &*table.add(number);
            if segment.p_type == libc::PT_LOAD {
                first = first.min(segment.p_vaddr);
                end = end.max(segment.p_vaddr.wrapping_add(segment.p_memsz));
            }
        }
        end.saturating_sub(first) as usize
    }
}

/// Where this library begins.
#[inline(always)]
pub fn own_base() -> usize {
    unsafe extern "C" {
        #[link_name = "__ehdr_start"]
        static HEADER: u8;
    }
    (&raw const HEADER).addr()
}

/// Whether `address` lies in this library. A return address here means a call, or a jump, by what we called.
#[inline(always)]
pub fn is_ours(address: usize) -> bool {
    #[unsafe(link_section = ".data.at_load")]
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    let base = own_base();
    let mut size = SIZE.load(Ordering::Relaxed);
    if size == 0 {
        size = size_of_module(base);
        SIZE.store(size, Ordering::Relaxed);
    }
    address.wrapping_sub(base) < size
}
