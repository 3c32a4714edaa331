//! Uses of LLVM's runtime that depend on the team size.
//!
//! LLVM's compilers leave loops and sections to the runtime, which assigns each thread its iterations.
//! Sections may wait for each other, and a smaller team would never reach the one that is waited for. Each
//! call has its place in the source (`ident_t`), and a bit there distinguishes sections from loops.

use super::verdict::SizeUse;
use crate::elf::Elf;
use crate::functions::{MASKED, STATIC_LOOPS, THREADPRIVATE};

/// Bits of a description's second word; the first word is always zero.
const LLVMS: u32 = 0x2;
const LOOP: u32 = 0x200;
const SECTIONS: u32 = 0x400;
const DISTRIBUTE: u32 = 0x800;
const KNOWN: u32 = 0xfff;
/// Longest description of a place, in bytes: a path, a function and numbers.
const MAX_SOURCE: u32 = 1 << 16;

pub(super) fn objection(elf: &Elf<'_>) -> Option<SizeUse> {
    let imports = |prefix: &str| elf.imports.keys().find(|name| name.starts_with(prefix));
    if let Some(name) = imports(MASKED) {
        return Some(SizeUse::depends(format!("it has code for one certain thread, as {name} is called")));
    }
    if let Some(name) = imports(THREADPRIVATE) {
        return Some(SizeUse::depends(format!(
            "its threads have variables of their own, as {name} is called"
        )));
    }
    imports(STATIC_LOOPS)?;
    let seen = elf.data.iter().fold(0, |seen, piece| seen | places(piece.data));
    if seen & SECTIONS != 0 {
        return Some(SizeUse::depends("its sections may wait for each other"));
    }
    if seen & (LOOP | DISTRIBUTE) == 0 {
        return Some(SizeUse::unknown(
            "its loops can't be told from sections, which may wait for each other",
        ));
    }
    None
}

fn places(data: &[u8]) -> u32 {
    // Descriptions and sections are aligned to eight bytes.
    let words = data.as_chunks::<8>().0.windows(2);
    let descriptions = words.filter_map(|pair| {
        let word = |at: usize, from: usize| {
            u32::from_le_bytes([pair[at][from], pair[at][from + 1], pair[at][from + 2], pair[at][from + 3]])
        };
        let (first, flags, reserved, length) = (word(0, 0), word(0, 4), word(1, 0), word(1, 4));
        let may_be_one =
            first == 0 && flags & LLVMS != 0 && flags & !KNOWN == 0 && reserved == 0 && length <= MAX_SOURCE;
        // Tables of numbers look alike. A place is at most one of these; and sections are believed more
        // easily than loops, for loops without sections are harmless. Older compilers give no length.
        let kind = flags & (LOOP | SECTIONS | DISTRIBUTE);
        let is_one = kind.count_ones() <= 1 && (length != 0 || kind == SECTIONS);
        (may_be_one && is_one).then_some(flags)
    });
    descriptions.fold(0, |seen, flags| seen | flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(flags: u32) -> Vec<u8> {
        [0, flags, 0, 22, 0, 0].iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
    }

    #[test]
    fn sections_are_told_from_loops_by_the_places_that_they_are_at() {
        let data = [description(LLVMS), description(LLVMS | LOOP)].concat();
        assert_eq!(places(&data) & (LOOP | SECTIONS), LOOP);
        let data = [data, description(LLVMS | SECTIONS)].concat();
        assert_eq!(places(&data) & (LOOP | SECTIONS), LOOP | SECTIONS);
    }

    #[test]
    fn other_data_says_nothing() {
        assert_eq!(places(&[0; 64]), 0);
        assert_eq!(places(&[7; 5]), 0);
        let with_length = |flags, length: u32| {
            [0, flags, 0, length, 0, 0].iter().flat_map(|word: &u32| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        assert_eq!(places(&with_length(LLVMS | LOOP, 0)), 0);
        assert_eq!(places(&with_length(LLVMS | SECTIONS, 0)), LLVMS | SECTIONS);
        assert_eq!(places(&with_length(LLVMS | SECTIONS | DISTRIBUTE | 0x75, 22)), 0);
        // The rest may pass for a description, but not for one of a loop or of sections.
        assert_eq!(places(&description(LOOP)) & (LOOP | SECTIONS), 0);
        assert_eq!(places(&description(LLVMS | SECTIONS | 1 << 20)) & (LOOP | SECTIONS), 0);
    }
}
