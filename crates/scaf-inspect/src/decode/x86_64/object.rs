use object::elf;

pub(crate) const MACHINE: elf::Machine = elf::EM_X86_64;

pub(crate) fn is_thread_local(relocation: elf::RelocationType) -> bool {
    matches!(
        relocation,
        elf::R_X86_64_DTPMOD64 | elf::R_X86_64_DTPOFF64 | elf::R_X86_64_TPOFF64 | elf::R_X86_64_TLSDESC
    )
}

/// Puts an address of the module's own there.
pub(crate) fn is_relative(relocation: elf::RelocationType) -> bool {
    matches!(relocation, elf::R_X86_64_RELATIVE | elf::R_X86_64_IRELATIVE)
}

pub(crate) fn fills_slot(relocation: elf::RelocationType) -> bool {
    matches!(relocation, elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_GLOB_DAT)
}
