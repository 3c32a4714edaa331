//! What forbids gathering a program: functions that one of its modules calls, found in the tables by which
//! the dynamic linker binds them.
//!
//! - Of the runtime, whatever isn't answered here for a member ([`ANSWERED`]).
//! - What depends on the kernel thread: mutexes that the kernel knows the owners of, restartable sequences of
//!   one's own, and tools that keep something for each thread.

use crate::runtimes::modules;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{null, with_exposed_provenance};
use core::sync::atomic::{AtomicU32, Ordering};

/// Prefixes of the runtimes' functions.
const RUNTIMES: [&[u8]; 6] = [b"GOMP_", b"omp_", b"__kmpc_", b"kmp_", b"GOACC_", b"acc_"];

/// The runtime's functions that members may call: those that are answered here, and those that know nothing
/// of a team. Sorted.
const ANSWERED: [&[u8]; 75] = [
    b"GOMP_atomic_end",
    b"GOMP_atomic_start",
    b"GOMP_barrier",
    b"GOMP_critical_end",
    b"GOMP_critical_name_end",
    b"GOMP_critical_name_start",
    b"GOMP_critical_start",
    b"GOMP_loop_dynamic_next",
    b"GOMP_loop_dynamic_start",
    b"GOMP_loop_end",
    b"GOMP_loop_end_nowait",
    b"GOMP_loop_guided_next",
    b"GOMP_loop_guided_start",
    b"GOMP_loop_nonmonotonic_dynamic_next",
    b"GOMP_loop_nonmonotonic_dynamic_start",
    b"GOMP_loop_nonmonotonic_guided_next",
    b"GOMP_loop_nonmonotonic_guided_start",
    b"GOMP_loop_ull_dynamic_next",
    b"GOMP_loop_ull_dynamic_start",
    b"GOMP_loop_ull_guided_next",
    b"GOMP_loop_ull_guided_start",
    b"GOMP_loop_ull_nonmonotonic_dynamic_next",
    b"GOMP_loop_ull_nonmonotonic_dynamic_start",
    b"GOMP_loop_ull_nonmonotonic_guided_next",
    b"GOMP_loop_ull_nonmonotonic_guided_start",
    b"GOMP_parallel",
    b"GOMP_parallel_loop_dynamic",
    b"GOMP_parallel_loop_guided",
    b"GOMP_parallel_loop_nonmonotonic_dynamic",
    b"GOMP_parallel_loop_nonmonotonic_guided",
    b"GOMP_sections_end",
    b"GOMP_sections_end_nowait",
    b"GOMP_sections_next",
    b"GOMP_sections_start",
    b"GOMP_single_copy_end",
    b"GOMP_single_copy_start",
    b"GOMP_single_start",
    b"omp_destroy_lock",
    b"omp_destroy_lock_",
    b"omp_destroy_nest_lock",
    b"omp_get_active_level",
    b"omp_get_ancestor_thread_num",
    b"omp_get_level",
    b"omp_get_max_threads",
    b"omp_get_max_threads_",
    b"omp_get_num_devices",
    b"omp_get_num_procs",
    b"omp_get_num_procs_",
    b"omp_get_num_threads",
    b"omp_get_num_threads_",
    b"omp_get_supported_active_levels",
    b"omp_get_team_size",
    b"omp_get_thread_limit",
    b"omp_get_thread_num",
    b"omp_get_thread_num_",
    b"omp_get_wtick",
    b"omp_get_wtick_",
    b"omp_get_wtime",
    b"omp_get_wtime_",
    b"omp_in_parallel",
    b"omp_in_parallel_",
    b"omp_init_lock",
    b"omp_init_lock_",
    b"omp_init_nest_lock",
    b"omp_is_initial_device",
    b"omp_set_lock",
    b"omp_set_lock_",
    b"omp_set_nest_lock",
    b"omp_set_num_threads",
    b"omp_set_num_threads_",
    b"omp_test_lock",
    b"omp_test_lock_",
    b"omp_unset_lock",
    b"omp_unset_lock_",
    b"omp_unset_nest_lock",
];

/// Other functions that forbid it. Sorted.
const FORBIDDEN: [&[u8]; 8] = [
    b"__asan_init",
    b"__hwasan_init",
    b"__msan_init",
    b"__rseq_abi",
    b"__rseq_offset",
    b"__tsan_init",
    b"pthread_mutexattr_setprotocol",
    b"pthread_mutexattr_setrobust",
];

/// What is known: how many modules there were, plus one, and whether nothing was found.
static LOOKED: AtomicU32 = AtomicU32::new(0);
const CLEAN: u32 = 1 << 31;

/// Whether nothing in the process forbids it. Looks again where libraries have come.
#[inline(always)]
pub fn nothing() -> bool {
    let now = modules::met().wrapping_add(1) & !CLEAN;
    let known = LOOKED.load(Ordering::Relaxed);
    if known & !CLEAN == now && modules::NEWS.load(Ordering::Relaxed) == 0 {
        return known & CLEAN != 0;
    }
    let mut clean = true;
    // SAFETY: `look` has the type that is wanted.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut clean).cast()) };
    LOOKED.store(now | if clean { CLEAN } else { 0 }, Ordering::Relaxed);
    clean
}

/// Whether nothing did when that was last looked for, and no library has come since. Doesn't ask the dynamic
/// linker, whose lock a master that waits may hold.
pub fn still_nothing() -> bool {
    let now = modules::met().wrapping_add(1) & !CLEAN;
    LOOKED.load(Ordering::Relaxed) == now | CLEAN && modules::NEWS.load(Ordering::Relaxed) == 0
}

/// Entries of the table of a module's dynamic linking that are needed.
struct Dynamic {
    symbols: *const libc::Elf64_Sym,
    names: *const c_char,
    tables: [(*const Relocation, usize); 2],
}

#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

unsafe extern "C" fn look(about: *mut libc::dl_phdr_info, _: usize, clean: *mut c_void) -> c_int {
    // SAFETY: glibc hands in its own structure and our own out-parameter; a module's tables are as the
    // dynamic linker has used them itself.
    unsafe {
        let Some(dynamic) = tables(&*about) else { return 0 };
        for (first, count) in dynamic.tables {
            for number in 0..count {
                let symbol = &*dynamic.symbols.add(((*first.add(number)).info >> 32) as usize);
                if symbol.st_name == 0 || symbol.st_shndx != 0 {
                    continue;
                }
                let name = CStr::from_ptr(dynamic.names.add(symbol.st_name as usize)).to_bytes();
                if is_forbidden(name) {
                    *clean.cast::<bool>() = false;
                    return 1;
                }
            }
        }
        0
    }
}

fn is_forbidden(name: &[u8]) -> bool {
    if RUNTIMES.iter().any(|prefix| name.starts_with(prefix)) {
        ANSWERED.binary_search(&name).is_err()
    } else {
        FORBIDDEN.binary_search(&name).is_ok()
    }
}

/// The tables of a module; `None` if it has none, or is one whose calls don't count: the runtimes themselves,
/// the C library and us.
unsafe fn tables(about: &libc::dl_phdr_info) -> Option<Dynamic> {
    // SAFETY: as in `look`.
    unsafe {
        let name = if about.dlpi_name.is_null() { c"" } else { CStr::from_ptr(about.dlpi_name) };
        let file = name.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or(b"");
        let own: [&[u8]; 7] =
            [b"libgomp", b"libomp.", b"libiomp5", b"libc.so", b"libscaf", b"ld-linux", b"linux-vdso"];
        if own.iter().any(|prefix| file.starts_with(prefix)) {
            return None;
        }
        let base = about.dlpi_addr as usize;
        let headers = (0..usize::from(about.dlpi_phnum)).map(|number| &*about.dlpi_phdr.add(number));
        let at =
            headers.filter(|header| header.p_type == libc::PT_DYNAMIC).map(|header| header.p_vaddr).next()?;
        let mut entry = with_exposed_provenance::<[u64; 2]>(base.wrapping_add(at as usize));
        // Where the dynamic linker can't write to the table, addresses in it are from the module's start.
        let address = |value: u64| {
            let value = value as usize;
            if value < base { value.wrapping_add(base) } else { value }
        };
        let mut dynamic = Dynamic { symbols: null(), names: null(), tables: [(null(), 0); 2] };
        loop {
            let [tag, value] = *entry;
            match tag {
                0 => break,
                5 => dynamic.names = with_exposed_provenance(address(value)),
                6 => dynamic.symbols = with_exposed_provenance(address(value)),
                7 => dynamic.tables[0].0 = with_exposed_provenance(address(value)),
                8 => dynamic.tables[0].1 = value as usize / size_of::<Relocation>(),
                23 => dynamic.tables[1].0 = with_exposed_provenance(address(value)),
                2 => dynamic.tables[1].1 = value as usize / size_of::<Relocation>(),
                _ => {}
            }
            entry = entry.add(1);
        }
        for table in &mut dynamic.tables {
            if table.0.is_null() {
                table.1 = 0;
            }
        }
        (!dynamic.symbols.is_null() && !dynamic.names.is_null()).then_some(dynamic)
    }
}
