//! Searches for encodings without decoding all code.

use std::collections::BTreeSet;

/// The linker's stubs in `code`, which lies at `address`: the slot of each, and its possible entries.
pub(crate) fn stubs(code: &[u8], address: u64) -> impl Iterator<Item = (u64, [u64; 3])> {
    let jumps = code.windows(6).enumerate().filter(|(_, bytes)| bytes[..2] == [0xff, 0x25]);
    jumps.map(move |(at, bytes)| {
        let jump = address.wrapping_add(at as u64);
        // A stub may begin with endbr64, `bnd` or both.
        let before = &code[at.saturating_sub(5)..at];
        let bare = before.strip_suffix(&[0xf2]).unwrap_or(before);
        let bnd = jump.wrapping_sub((before.len() - bare.len()) as u64);
        let landing = if bare.ends_with(&[0xf3, 0x0f, 0x1e, 0xfa]) { bnd.wrapping_sub(4) } else { bnd };
        (relative(jump.wrapping_add(6), &bytes[2..]), [jump, bnd, landing])
    })
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

/// Whether a mention is in a direct call or jump; `code` begins one byte before the mention.
pub(crate) fn is_call(code: &[u8]) -> bool {
    matches!(code.first(), Some(0xe8 | 0xe9))
}

/// Addresses loaded into the first argument's register, or with `third` also the third argument's.
pub(crate) fn handed_on(code: &[u8], address: u64, third: bool) -> impl Iterator<Item = u64> {
    const LEA_RDI: [u8; 3] = [0x48, 0x8d, 0x3d];
    const LEA_RDX: [u8; 3] = [0x48, 0x8d, 0x15];
    let hands = move |bytes: &[u8]| bytes.starts_with(&LEA_RDI) || (third && bytes.starts_with(&LEA_RDX));
    let found = code.windows(7).enumerate().filter(move |(_, bytes)| hands(bytes));
    found.map(move |(at, bytes)| relative(address.wrapping_add(at as u64 + 7), &bytes[3..]))
}

fn relative(next: u64, offset: &[u8]) -> u64 {
    let offset = i32::from_le_bytes([offset[0], offset[1], offset[2], offset[3]]);
    next.wrapping_add_signed(i64::from(offset))
}
