//! The tables by which the dynamic linker binds a module. A search in them allocates nothing and is no error,
//! whether or not it finds something: `dlsym` calls the program's `malloc`, and says so by `dlerror`.

use super::linker::{any_module, own_base, segments_of};
use core::ffi::{CStr, c_char};
use core::ptr::{null, with_exposed_provenance};

/// Entries of the table of a module's dynamic linking that are needed.
pub struct Tables {
    base: usize,
    pub symbols: *const libc::Elf64_Sym,
    pub names: *const c_char,
    /// Two tables, and how many there are in each.
    pub relocations: [(*const Relocation, usize); 2],
    /// So many of the first table come first that name no symbol.
    pub nameless: usize,
    /// Tables of the symbols by their hashes, GNU's and the older one; null where there is none.
    hashes: [*const u32; 2],
    /// The version of each symbol; null where it has none.
    versions: *const u16,
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
            let dynamic = segments_of(about).iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
            let at = base.wrapping_add(dynamic.p_vaddr as usize);
            Tables::at(base, with_exposed_provenance(at))
        }
    }

    /// This library's own.
    pub fn ours() -> Option<Tables> {
        unsafe extern "C" {
            #[link_name = "_DYNAMIC"]
            static DYNAMIC: [u64; 2];
        }
        // SAFETY: the linker has put this name where the table begins.
        unsafe { Tables::at(own_base(), &raw const DYNAMIC) }
    }

    /// # Safety
    /// The table of the module at `base` begins at `entry`, and ends with tag 0.
    unsafe fn at(base: usize, mut entry: *const [u64; 2]) -> Option<Tables> {
        // Where the dynamic linker can't write to the table, addresses in it are from the module's start.
        let address = |value: u64| {
            let value = value as usize;
            if value < base { value.wrapping_add(base) } else { value }
        };
        let (relocations, hashes) = ([(null(), 0); 2], [null(); 2]);
        let (symbols, names, versions) = (null(), null(), null());
        let mut tables = Tables { base, symbols, names, relocations, nameless: 0, hashes, versions };
        loop {
            // SAFETY: the end isn't reached yet.
            let [tag, value] = unsafe { *entry };
            match tag {
                0 => break,
                4 => tables.hashes[1] = with_exposed_provenance(address(value)),
                5 => tables.names = with_exposed_provenance(address(value)),
                6 => tables.symbols = with_exposed_provenance(address(value)),
                7 => tables.relocations[0].0 = with_exposed_provenance(address(value)),
                8 => tables.relocations[0].1 = value as usize / size_of::<Relocation>(),
                23 => tables.relocations[1].0 = with_exposed_provenance(address(value)),
                2 => tables.relocations[1].1 = value as usize / size_of::<Relocation>(),
                0x6fff_fef5 => tables.hashes[0] = with_exposed_provenance(address(value)),
                0x6fff_fff0 => tables.versions = with_exposed_provenance(address(value)),
                0x6fff_fff9 => tables.nameless = value as usize,
                _ => {}
            }
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
        for table in &mut tables.relocations {
            if table.0.is_null() {
                table.1 = 0;
            }
        }
        (!tables.symbols.is_null() && !tables.names.is_null()).then_some(tables)
    }

    /// The address of a function that the module defines, of whatever version; 0 for none.
    fn find(&self, name: &CStr) -> usize {
        self.number(name, |_| true).map_or(0, |number| self.address(number))
    }

    /// The address of a function that the module defines, of the version that programs are linked with today.
    pub fn find_function(&self, name: &CStr) -> Option<usize> {
        const HIDDEN: u16 = 0x8000;
        const FUNCTION: u8 = 2;
        // SAFETY: the module has a symbol of that number, and a version of each or of none.
        let is_it = |number: u32| unsafe {
            (self.versions.is_null() || *self.versions.add(number as usize) & HIDDEN == 0)
                && (*self.symbols.add(number as usize)).st_info & 0xf == FUNCTION
        };
        self.number(name, is_it).map(|number| self.address(number))
    }

    /// The number of a symbol that the module defines, if one of that name `is_it`.
    fn number(&self, name: &CStr, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        // SAFETY: the module's tables, as the dynamic linker uses them: chains of symbols' numbers that end.
        unsafe {
            match self.hashes {
                [table, _] if !table.is_null() => self.find_by_gnus(table, name, is_it),
                [_, table] if !table.is_null() => self.find_by_old(table, name, is_it),
                _ => None,
            }
        }
    }

    unsafe fn find_by_gnus(
        &self,
        table: *const u32,
        name: &CStr,
        is_it: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let hash = name
            .to_bytes()
            .iter()
            .fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)));
        // SAFETY: as the caller says. Behind four numbers come filters of 64 bits, the first of each chain,
        // and the hashes of all symbols from `first` on, whose lowest bit ends a chain.
        unsafe {
            let [buckets, first, filters] = [0, 1, 2].map(|at| *table.add(at));
            if buckets == 0 {
                return None;
            }
            let heads = table.add(4 + 2 * filters as usize);
            let mut number = *heads.add((hash % buckets) as usize);
            while number >= first {
                let known = *heads.add(buckets as usize + (number - first) as usize);
                if known | 1 == hash | 1 && self.is_defined(number, name) && is_it(number) {
                    return Some(number);
                }
                if known & 1 != 0 {
                    break;
                }
                number += 1;
            }
            None
        }
    }

    unsafe fn find_by_old(&self, table: *const u32, name: &CStr, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = name.to_bytes().iter().fold(0_u32, |hash, byte| {
            let hash = (hash << 4).wrapping_add(u32::from(*byte));
            let high = hash & 0xf000_0000;
            (hash ^ high >> 24) & !high
        });
        // SAFETY: as the caller says. Behind two numbers come the first of each chain, and the next of each.
        unsafe {
            let buckets = *table;
            if buckets == 0 {
                return None;
            }
            let heads = table.add(2);
            let mut number = *heads.add((hash % buckets) as usize);
            while number != 0 {
                if self.is_defined(number, name) && is_it(number) {
                    return Some(number);
                }
                number = *heads.add(buckets as usize + number as usize);
            }
            None
        }
    }

    /// # Safety
    /// The module has a symbol of that number.
    unsafe fn is_defined(&self, number: u32, name: &CStr) -> bool {
        // SAFETY: as the caller says; its name is a C string in the module's table of them.
        unsafe {
            let symbol = &*self.symbols.add(number as usize);
            symbol.st_shndx != 0 && CStr::from_ptr(self.names.add(symbol.st_name as usize)) == name
        }
    }

    /// Of a symbol of the module's.
    fn address(&self, number: u32) -> usize {
        // SAFETY: the module has a symbol of that number.
        unsafe { self.base.wrapping_add((*self.symbols.add(number as usize)).st_value as usize) }
    }
}

/// Whether this library has a function of that name, and no other module of the process has.
pub fn is_only_ours(name: &CStr) -> bool {
    let Some(ours) = Tables::ours().filter(|ours| ours.find(name) != 0) else { return false };
    !any_module(|about| {
        // SAFETY: the dynamic linker has handed it in just now.
        let others = unsafe { Tables::of(about) }.filter(|other| other.base != ours.base);
        others.is_some_and(|other| other.find(name) != 0)
    })
}

/// The function of that name of the first module that was loaded after this library; 0 if there is none.
pub fn next(name: &CStr) -> usize {
    let (mut is_behind, mut found) = (false, 0);
    any_module(|about| {
        if is_behind {
            // SAFETY: the dynamic linker has handed it in just now.
            found = unsafe { Tables::of(about) }.map_or(0, |tables| tables.find(name));
        }
        is_behind |= about.dlpi_addr as usize == own_base();
        found != 0
    });
    found
}
