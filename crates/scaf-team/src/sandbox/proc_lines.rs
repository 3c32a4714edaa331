//! Reads lines of a file in /proc through a buffer of fixed size, without allocation.

/// Longest line. With longer ones there is no experiment.
const BYTES: usize = 4096;

/// Passes each line without its end to `take`, until that returns `false`. `read` fills a part of the buffer
/// and returns the number of bytes: 0 at the end, `None` on failure. Returns whether all was read and taken.
pub fn each(mut read: impl FnMut(&mut [u8]) -> Option<usize>, mut take: impl FnMut(&[u8]) -> bool) -> bool {
    let mut buffer = [0u8; BYTES];
    let mut filled = 0;
    loop {
        let Some(room) = buffer.get_mut(filled..) else { return false };
        if room.is_empty() {
            return false;
        }
        match read(room) {
            None => return false,
            Some(0) => return filled == 0,
            Some(more) => filled = (filled + more).min(BYTES),
        }
        let mut done = 0;
        while let Some(rest) = buffer.get(done..filled)
            && let Some(length) = rest.iter().position(|byte| *byte == b'\n')
        {
            if !take(rest.get(..length).unwrap_or_default()) {
                return false;
            }
            done += length + 1;
        }
        // Moves the rest to the front, in a way that the compiler can check.
        let mut kept = 0;
        while done > 0
            && done + kept < filled
            && let Some(byte) = buffer.get(done + kept).copied()
            && let Some(cell) = buffer.get_mut(kept)
        {
            *cell = byte;
            kept += 1;
        }
        if done > 0 {
            filled = kept;
        }
    }
}

/// The number of a line such as `Threads:   3` of /proc/PID/status, if the line has that `name`.
pub fn field(line: &[u8], name: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(name)?.strip_prefix(b":")?.trim_ascii();
    let digits = digits.split(|byte| *byte == b' ').next()?;
    digits.iter().try_fold(None, |value: Option<u64>, byte| {
        let digit = byte.wrapping_sub(b'0');
        let grown = value.unwrap_or(0).checked_mul(10)?.checked_add(u64::from(digit))?;
        (digit < 10).then_some(Some(grown))
    })?
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn lines(text: &[u8], step: usize) -> Option<Vec<Vec<u8>>> {
        let (mut rest, mut found) = (text, Vec::new());
        let read = |room: &mut [u8]| {
            let length = step.min(rest.len()).min(room.len());
            room[..length].copy_from_slice(&rest[..length]);
            rest = &rest[length..];
            Some(length)
        };
        each(read, |line| {
            found.push(line.to_vec());
            true
        })
        .then_some(found)
    }

    #[test]
    fn a_line_that_is_too_long_or_not_ended_is_not_understood() {
        assert_eq!(lines(&[b'x'; 5000], 100), None);
        assert_eq!(lines(b"one\ntwo", 100), None);
        assert_eq!(lines(b"", 100), Some(vec![]));
        assert!(!each(|_| None, |_| true));
        assert!(!each(
            |room| {
                room[0] = b'\n';
                Some(1)
            },
            |_| false
        ));
    }

    #[test]
    fn fields_are_found_by_their_names() {
        assert_eq!(field(b"Threads:\t12", b"Threads"), Some(12));
        assert_eq!(field(b"VmRSS:\t    2208 kB", b"VmRSS"), Some(2208));
        assert_eq!(field(b"Threads:\t", b"Threads"), None);
        assert_eq!(field(b"Threads:\tx", b"Threads"), None);
        assert_eq!(field(b"Threads: 99999999999999999999", b"Threads"), None);
        assert_eq!(field(b"NoThreads: 1", b"Threads"), None);
    }

    proptest! {
        #[test]
        fn steps_make_no_difference(
            all in vec(vec(32u8..127, 0..200), 0..80), step in 1usize..5000,
        ) {
            let text: Vec<u8> = all.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect();
            prop_assert_eq!(lines(&text, step), Some(all));
        }
    }
}
