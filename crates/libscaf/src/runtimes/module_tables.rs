//! The tables by which the dynamic linker binds a module.

use core::ffi::c_char;
use core::ptr::{null, with_exposed_provenance};

/// Entries of the table of a module's dynamic linking that are needed.
pub struct Tables {
    pub symbols: *const libc::Elf64_Sym,
    pub names: *const c_char,
    /// Two tables, and how many there are in each.
    pub relocations: [(*const Relocation, usize); 2],
    /// So many of the first table come first that name no symbol.
    pub nameless: usize,
}

#[repr(C)]
pub struct Relocation {
    pub offset: u64,
    pub info: u64,
    pub addend: i64,
}

impl Tables {
    /// Those of a module; `None` if it has none.
    /// # Safety
    /// The dynamic linker has handed the module in, and hasn't taken it back.
    pub unsafe fn of(about: &libc::dl_phdr_info) -> Option<Tables> {
        // SAFETY: a loaded module's table of dynamic linking is where its headers say, and ends with tag 0.
        unsafe {
            let base = about.dlpi_addr as usize;
            let headers = (0..usize::from(about.dlpi_phnum)).map(|number| &*about.dlpi_phdr.add(number));
            let mut dynamics = headers.filter(|header| header.p_type == libc::PT_DYNAMIC);
            let at = dynamics.next()?.p_vaddr;
            let mut entry = with_exposed_provenance::<[u64; 2]>(base.wrapping_add(at as usize));
            // Where the dynamic linker can't write to the table, addresses in it are from the module's start.
            let address = |value: u64| {
                let value = value as usize;
                if value < base { value.wrapping_add(base) } else { value }
            };
            let mut tables =
                Tables { symbols: null(), names: null(), relocations: [(null(), 0); 2], nameless: 0 };
            loop {
                let [tag, value] = *entry;
                match tag {
                    0 => break,
                    5 => tables.names = with_exposed_provenance(address(value)),
                    6 => tables.symbols = with_exposed_provenance(address(value)),
                    7 => tables.relocations[0].0 = with_exposed_provenance(address(value)),
                    8 => tables.relocations[0].1 = value as usize / size_of::<Relocation>(),
                    23 => tables.relocations[1].0 = with_exposed_provenance(address(value)),
                    2 => tables.relocations[1].1 = value as usize / size_of::<Relocation>(),
                    0x6fff_fff9 => tables.nameless = value as usize,
                    _ => {}
                }
                entry = entry.add(1);
            }
            for table in &mut tables.relocations {
                if table.0.is_null() {
                    table.1 = 0;
                }
            }
            (!tables.symbols.is_null() && !tables.names.is_null()).then_some(tables)
        }
    }
}
