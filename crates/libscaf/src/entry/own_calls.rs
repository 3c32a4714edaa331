//! What this library calls of the C library. A program may have functions of the same names that mean
//! something else (`access`, `send`), and the dynamic linker binds our calls to these as well.

use super::symbol_searches::write;
use crate::runtimes::linker::{any_module, file_of, own_base, segments_of};
use crate::runtimes::module_tables::Tables;
use crate::sys::arch;
use core::ffi::CStr;
use core::ops::Range;
use core::ptr::with_exposed_provenance_mut;

/// Files of the C library, and of its parts before 2.34.
const FILES: [&[u8]; 4] = [b"libc.so.", b"libpthread.so.", b"libdl.so.", b"ld-linux"];

/// A module of the process, as the dynamic linker describes it.
type About = libc::dl_phdr_info;

/// Binds them to the C library's functions.
pub fn at_load() {
    let (mut own, mut libraries) = (None, [const { None::<About> }; FILES.len()]);
    any_module(|about| {
        // SAFETY: the dynamic linker has handed it in just now.
        let file = unsafe { file_of(about) };
        if about.dlpi_addr as usize == own_base() {
            own = Some(*about);
        } else if let Some(at) = FILES.iter().position(|name| file.starts_with(name)) {
            libraries[at] = Some(*about);
        }
        false
    });
    if let Some(own) = own {
        // SAFETY: nothing has been unloaded: no code of the program's has run.
        unsafe { bind(&own, libraries.each_ref().map(Option::as_ref)) };
    }
}

/// # Safety
/// The dynamic linker has handed in all of them, and no code of the program's has run since.
unsafe fn bind(own: &About, libraries: [Option<&About>; FILES.len()]) {
    // SAFETY: as the caller says. The relocations are in our tables, and their places words of ours.
    unsafe {
        let spans = libraries.map(|library| library.map_or(0..0, |about| span(about)));
        let Some(tables) = Tables::ours() else { return };
        for (first, count) in tables.relocations {
            for number in 0..count {
                let relocation = &*first.add(number);
                if !arch::IS_ADDRESS.contains(&(relocation.info as u32)) || relocation.addend != 0 {
                    continue;
                }
                let symbol = &*tables.symbols.add((relocation.info >> 32) as usize);
                let place = (own.dlpi_addr as usize).wrapping_add(relocation.offset as usize);
                let place = with_exposed_provenance_mut::<usize>(place);
                let bound = if place.is_aligned() { *place } else { 0 };
                if symbol.st_shndx != 0 || bound == 0 || spans.iter().any(|span| span.contains(&bound)) {
                    continue;
                }
                let name = CStr::from_ptr(tables.names.add(symbol.st_name as usize));
                let found = libraries.into_iter().flatten().find_map(|library| function(library, name));
                if let Some(found) = found.filter(|_| !is_watched(bound)) {
                    write(own, place, found);
                }
            }
        }
    }
}

/// The addresses of a module.
/// # Safety
/// As for [`bind`].
unsafe fn span(about: &About) -> Range<usize> {
    // SAFETY: as the caller says.
    let loaded = unsafe { segments_of(about) }.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let none = Range { start: usize::MAX, end: 0 };
    loaded.fold(none, |span, header| {
        let start = (about.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        span.start.min(start)..span.end.max(start.wrapping_add(header.p_memsz as usize))
    })
}

/// Its function of that name.
/// # Safety
/// As for [`bind`].
unsafe fn function(library: &About, name: &CStr) -> Option<usize> {
    // SAFETY: as the caller says.
    unsafe { Tables::of(library) }?.find_function(name)
}

/// Whether the module around `address` is a sanitizer's, or has one in it: those have to see what we do.
/// # Safety
/// As for [`bind`].
unsafe fn is_watched(address: usize) -> bool {
    any_module(|about| {
        // SAFETY: the dynamic linker has handed it in just now.
        unsafe {
            span(about).contains(&address)
                && Tables::of(about).is_some_and(|tables| {
                    let inits =
                        [c"__asan_init", c"__hwasan_init", c"__lsan_init", c"__msan_init", c"__tsan_init"];
                    inits.iter().any(|init| tables.find_function(init).is_some())
                })
        }
    })
}
