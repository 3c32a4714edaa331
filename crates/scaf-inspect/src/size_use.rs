//! What a module does with the size of its teams.

use crate::elf::Elf;
use crate::module::SizeUse;

/// Judges one module.
pub(crate) fn of(elf: &Elf<'_>) -> SizeUse {
    for name in elf.imports.keys() {
        if name.starts_with("omp_get_num_threads") || name.starts_with("omp_get_thread_num") {
            return SizeUse::Depends {
                why: format!("it calls {name}"),
            };
        }
    }
    SizeUse::None
}
