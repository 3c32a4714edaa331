//! Symbols that the program wouldn't find without scaf: libscaf has the names of OpenMP's and MPI's
//! functions, whether or not the process has a library with them. A program that asks whether there is one,
//! by `dlsym` or by a weak reference, is answered as without scaf. Libraries that are loaded later, or
//! whose constructors run before ours, are told that it is there.

use super::blas;
use crate::link::no_syscalls;
use crate::runtimes::linker::{any_module, file_of, is_ours, module_of, segments_of};
use crate::runtimes::module_tables::{Tables, is_only_ours};
use crate::sys::symbols::{Dlsym, function};
use crate::sys::{arch, glibc, process};
use core::ffi::{CStr, c_char, c_void};
use core::ptr::{null_mut, with_exposed_provenance_mut, without_provenance_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

#[unsafe(link_section = ".data.at_load")]
static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

arch::answered! {
    /// Other calls are passed on so that libc sees the caller, on whom the meaning of RTLD_NEXT depends.
    dlsym: asked, else REAL
}

/// Our function for this symbol; null if the call is to be passed on.
unsafe extern "C" fn asked(handle: *mut c_void, name: *const c_char, caller: usize) -> *mut c_void {
    if REAL.load(Ordering::Relaxed).is_null() {
        find_real();
    }
    // SAFETY: what is handed to dlsym is null or a C string, and `real` is glibc's function.
    unsafe {
        let Some(real) = function::<Dlsym>(REAL.load(Ordering::Relaxed).addr()) else { return null_mut() };
        // The second search finds nothing, which is the program's to hear of.
        if !name.is_null()
            && is_only_found_here(handle, CStr::from_ptr(name), caller)
            && real(libc::RTLD_NEXT, name).is_null()
        {
            return without_provenance_mut(arch::NOTHING);
        }
        blas::instead_of(handle, name, real)
    }
}

#[cold]
fn find_real() {
    // SAFETY: dlvsym reads C strings. These are the versions that glibc has had.
    unsafe {
        let find = |version: &CStr| glibc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr());
        let new = find(c"GLIBC_2.34");
        REAL.store(if new.is_null() { find(arch::FIRST_GLIBC) } else { new }, Ordering::Relaxed);
    }
}

/// Whether a search in what all see would find our function, and no module has another one of that name.
fn is_only_found_here(handle: *mut c_void, name: &CStr, caller: usize) -> bool {
    let of_all = || module_of(process::program_headers()).map(|(map, _)| map.cast::<c_void>());
    IS_LOADED.load(Ordering::Relaxed)
        && !is_ours(caller)
        && is_hidden(name)
        && (handle == libc::RTLD_DEFAULT || handle == libc::RTLD_NEXT || of_all() == Some(handle))
}

/// Whether only we have that function, and it isn't what we offer: oneTBB finds its manager so, and programs
/// scaf's own functions.
fn is_hidden(name: &CStr) -> bool {
    let offered: [&[u8]; 2] = [b"scaf_", b"tcm"];
    !offered.iter().any(|prefix| name.to_bytes().starts_with(prefix)) && is_only_ours(name)
}

/// Whether the process's libraries have been relocated and initialised as far as our constructor. Sanitizers
/// search before, and their functions in place of the C library's can't be called yet.
#[unsafe(link_section = ".data.at_load")]
static IS_LOADED: AtomicBool = AtomicBool::new(false);

/// Clears weak references to functions that only we have.
pub fn at_load() {
    IS_LOADED.store(true, Ordering::Relaxed);
    any_module(|about| {
        // SAFETY: the dynamic linker has handed it in just now.
        unsafe {
            let known: [&[u8]; 7] = [
                b"libc.so",
                b"libm.so",
                b"libstdc++",
                b"libgcc_s",
                b"libscaf.so",
                b"ld-linux",
                b"linux-vdso",
            ];
            if !known.iter().any(|prefix| file_of(about).starts_with(prefix)) {
                clear(about);
            }
        }
        false
    });
}

const WEAK: u8 = 2;

/// # Safety
/// The dynamic linker has handed the module in, and no code of it runs yet.
unsafe fn clear(about: &libc::dl_phdr_info) {
    // SAFETY: the module's relocations name symbols in its table, and these C strings in its string table,
    // and say which of its words have their addresses: the dynamic linker has written them.
    unsafe {
        let Some(tables) = Tables::of(about) else { return };
        let (first, count) = tables.relocations[0];
        for number in tables.nameless..count {
            let relocation = &*first.add(number);
            if !arch::IS_ADDRESS.contains(&(relocation.info as u32)) {
                continue;
            }
            let place = (about.dlpi_addr as usize).wrapping_add(relocation.offset as usize);
            let place = with_exposed_provenance_mut::<usize>(place);
            let symbol = &*tables.symbols.add((relocation.info >> 32) as usize);
            if !place.is_aligned()
                || symbol.st_shndx != 0
                || symbol.st_info >> 4 != WEAK
                || !is_ours((*place).wrapping_sub(relocation.addend as usize))
            {
                continue;
            }
            let name = CStr::from_ptr(tables.names.add(symbol.st_name as usize));
            if is_hidden(name) {
                write(about, place, relocation.addend as usize);
            }
        }
    }
}

/// Writes a word of a module, also where the dynamic linker has made its page read-only.
/// # Safety
/// The dynamic linker has handed the module in, and no code of it runs yet, or it is ours. The word is
/// aligned.
pub unsafe fn write(about: &libc::dl_phdr_info, place: *mut usize, value: usize) {
    const PAGE: u64 = 4096;
    let whole = |address: u64| address & !(PAGE - 1);
    // SAFETY: as the caller says.
    let segments = unsafe { segments_of(about) };
    let offset = (place.addr() as u64).wrapping_sub(about.dlpi_addr);
    let is_writable = segments.iter().any(|header| {
        header.p_type == libc::PT_LOAD
            && header.p_flags & libc::PF_W != 0
            && offset.wrapping_sub(header.p_vaddr) < header.p_memsz
    });
    // Of its last page a part may be writable: then all of it is.
    let is_read_only = segments.iter().any(|header| {
        let (first, end) = (whole(header.p_vaddr), whole(header.p_vaddr.wrapping_add(header.p_memsz)));
        header.p_type == libc::PT_GNU_RELRO && first <= offset && offset < end
    });
    let page = place.map_addr(|address| whole(address as u64) as usize).cast::<c_void>();
    // Not by the C library's function: the program may have one of that name.
    // SAFETY: a page of the module's data, which nothing executes.
    let protect = |how: i32| unsafe {
        arch::bare_call(libc::SYS_mprotect, [page.addr(), PAGE as usize, how as usize, 0]) == 0
    };
    if !is_writable || (is_read_only && no_syscalls::are_forbidden()) {
        return;
    }
    if !is_read_only || protect(libc::PROT_READ | libc::PROT_WRITE) {
        // SAFETY: the word is the module's, and in a page that may be written to now.
        unsafe { place.write(value) };
        if is_read_only {
            protect(libc::PROT_READ);
        }
    }
}
