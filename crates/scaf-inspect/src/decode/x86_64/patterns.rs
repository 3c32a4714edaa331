//! Searches for encodings without decoding all code.

use crate::decode::operation::RelativeLoad;
use memchr::memmem;
use std::collections::BTreeSet;

/// The linker's stubs in `code`, which lies at `address`: the slot of each, and its possible entries.
pub(crate) fn stubs(code: &[u8], address: u64) -> impl Iterator<Item = (u64, [u64; 5])> {
    const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    let jumps = code.windows(6).enumerate().filter(|(_, bytes)| bytes[..2] == [0xff, 0x25]);
    jumps.map(move |(at, bytes)| {
        let jump = address.wrapping_add(at as u64);
        // A stub may begin with endbr64, `bnd` or both.
        let before = &code[at.saturating_sub(5)..at];
        let bare = before.strip_suffix(&[0xf2]).unwrap_or(before);
        let bnd = jump.wrapping_sub((before.len() - bare.len()) as u64);
        let landing = if bare.ends_with(&LANDING) { bnd.wrapping_sub(4) } else { bnd };
        // mold's first say their number: endbr64 or nothing, `mov $number,%r11d`.
        let number = &code[at.saturating_sub(6)..at];
        let numbered = if matches!(number, [0x41, 0xbb, _, _, _, _]) { jump.wrapping_sub(6) } else { jump };
        let lands = code[at.saturating_sub(10)..at.saturating_sub(6)] == LANDING;
        let first = if numbered != jump && lands { numbered.wrapping_sub(4) } else { numbered };
        (relative(jump.wrapping_add(6), &bytes[2..]), [jump, bnd, landing, numbered, first])
    })
}

/// Whether code ends with `pause`, or with the system call that yields, as libraries make it: who is behind
/// it waits.
pub(crate) fn waits_before(code: &[u8]) -> bool {
    const PAUSE: [u8; 2] = [0xf3, 0x90];
    // mov $24,%eax; syscall
    const YIELD: [u8; 7] = [0xb8, 24, 0, 0, 0, 0x0f, 0x05];
    code.ends_with(&PAUSE) || code.ends_with(&YIELD)
}

/// Where `code`, which lies at `address`, has four bytes that may be the distance to one of `targets`.
pub(crate) fn mentions(code: &[u8], address: u64, targets: &BTreeSet<u64>) -> Vec<u64> {
    let (Some(low), Some(high)) = (targets.first(), targets.last()) else { return Vec::new() };
    let span = (high - low).saturating_add(5);
    let mut found = Vec::new();
    for (at, bytes) in code.windows(4).enumerate() {
        let address = address.wrapping_add(at as u64);
        let target = relative(address.wrapping_add(4), bytes);
        // Up to four bytes of an immediate operand may follow.
        if target.wrapping_sub(*low).wrapping_add(4) > span {
            continue;
        }
        if (0..=4).any(|behind| targets.contains(&target.wrapping_add(behind))) {
            found.push(address);
        }
    }
    found
}

/// Whether `code`, which lies at `address`, has bytes that may be a far jump or branch to one of `targets`.
pub(crate) fn jumps_to(code: &[u8], address: u64, targets: &BTreeSet<u64>) -> bool {
    code.windows(5).enumerate().any(|(at, bytes)| {
        let next = address.wrapping_add(at as u64 + 5);
        let jumps = bytes[0] == 0xe9 || (bytes[0] & 0xf0 == 0x80 && at > 0 && code[at - 1] == 0x0f);
        jumps && targets.contains(&relative(next, &bytes[1..]))
    })
}

/// Whether a mention is in a direct call, jump or branch; `code` begins two bytes before the mention.
pub(crate) fn is_call(code: &[u8]) -> bool {
    matches!(code, [_, 0xe8 | 0xe9, ..] | [0x0f, 0x80..=0x8f, ..])
}

/// Addresses loaded into the first argument's register, with `third` also the third's; and the next address.
pub(crate) fn function_arguments(code: &[u8], address: u64, third: bool) -> impl Iterator<Item = (u64, u64)> {
    const LEA_RDI: [u8; 3] = [0x48, 0x8d, 0x3d];
    const LEA_RDX: [u8; 3] = [0x48, 0x8d, 0x15];
    let third = third.then(|| memmem::find_iter(code, &LEA_RDX));
    let found = memmem::find_iter(code, &LEA_RDI).chain(third.into_iter().flatten());
    found.filter_map(move |at| {
        let next = address.wrapping_add(at as u64 + 7);
        Some((relative(next, code.get(at + 3..at + 7)?), next))
    })
}

/// Where code loads addresses, or from there, into registers; or has bytes that look like it.
pub(crate) fn relative_loads(code: &[u8], address: u64) -> impl Iterator<Item = (u64, RelativeLoad)> {
    const LEA: u8 = 0x8d;
    const MOV: u8 = 0x8b;
    memchr::memchr2_iter(LEA, MOV, code).filter_map(move |opcode| {
        let at = opcode.checked_sub(1)?;
        let bytes = code.get(at..at + 7)?;
        let is_wide = matches!(bytes[0], 0x48 | 0x4c);
        let is_relative = bytes[2] & 0xc7 == 0x05;
        if !(is_wide && is_relative) {
            return None;
        }
        let place = address.wrapping_add(at as u64);
        let target = relative(place.wrapping_add(7), &bytes[3..]);
        let load = if bytes[1] == LEA { RelativeLoad::Address(target) } else { RelativeLoad::Slot(target) };
        Some((place, load))
    })
}

fn relative(next: u64, offset: &[u8]) -> u64 {
    let offset = i32::from_le_bytes([offset[0], offset[1], offset[2], offset[3]]);
    next.wrapping_add_signed(i64::from(offset))
}

#[cfg(test)]
mod tests {
    use super::stubs;

    #[test]
    fn the_entries_of_all_linkers_stubs_are_known() {
        let jump = [0xff, 0x25, 0x10, 0, 0, 0];
        let entries = |before: &[u8]| {
            let code = [&[0x90; 16][..], before, &jump[..]].concat();
            let at = 0x1000 + 16 + before.len() as u64;
            let all: Vec<(u64, [u64; 5])> = stubs(&code, 0x1000).collect();
            let [(slot, entries)] = all.as_slice() else { panic!("{all:?}") };
            assert_eq!(*slot, at + 6 + 0x10);
            assert!(entries.contains(&at), "the jump itself");
            entries.contains(&(at - before.len() as u64))
        };
        assert!(entries(&[]) && entries(&[0xf2]) && entries(&[0xf3, 0x0f, 0x1e, 0xfa]));
        assert!(entries(&[0xf3, 0x0f, 0x1e, 0xfa, 0xf2]));
        assert!(
            entries(&[0x41, 0xbb, 7, 0, 0, 0]) && entries(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 7, 0, 0, 0])
        );
        assert!(!entries(&[0x90, 0x90]));
    }
}
