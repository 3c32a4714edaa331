//! /proc/PID/maps: what a forked copy shares with the process. Private memory is the copy's own. Shared
//! writable memory must be made read-only in the copy. A process with mappings of devices or of kernel state,
//! which a copy could disturb, isn't copied.

/// One mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping<'a> {
    /// First address.
    pub start: usize,
    /// The address behind the last, above `start`.
    pub end: usize,
    /// Whether it may be written to.
    pub writable: bool,
    /// Whether it is shared with others.
    pub shared: bool,
    /// The mapped file; empty for anonymous memory.
    pub path: &'a [u8],
}

/// How a mapping is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Care {
    /// Nothing.
    None,
    /// The copy must not write to it.
    Guard,
    /// The process must not be copied.
    Refuse,
}

const HARMLESS: [&[u8]; 2] = [b"/dev/shm/", b"/dev/zero"];
/// Path prefixes of more than memory: devices, rings and buffers of kernel and drivers, asynchronous reads
/// and writes, and large pages, which are too few to be copied.
const REFUSED: [&[u8]; 6] = [b"/dev/", b"anon_inode:", b"socket:", b"/dmabuf", b"/[aio]", b"/anon_hugepage"];

impl Mapping<'_> {
    /// Parses a line of the file; `None` if it isn't one.
    pub fn parse(line: &[u8]) -> Option<Mapping<'_>> {
        let (range, rest) = split(line, b' ')?;
        let (start, end) = split(range, b'-')?;
        let (start, end) = (number(start)?, number(end)?);
        let (access, rest) = split(rest, b' ')?;
        let &[_, writable, _, shared] = access else { return None };
        // Offset, device, inode.
        let rest = split(split(rest, b' ')?.1, b' ')?.1;
        let path = split(rest, b' ').map_or(&b""[..], |(_, path)| path).trim_ascii();
        let shared = match shared {
            b's' => true,
            b'p' => false,
            _ => return None,
        };
        (start < end).then_some(Mapping { start, end, writable: writable == b'w', shared, path })
    }

    /// How it is treated, if the copy has to write to `own` addresses (its stack, its thread's state).
    pub fn care(&self, own: &[usize]) -> Care {
        let begins = |with: &[&[u8]]| with.iter().any(|start| self.path.starts_with(start));
        if begins(&REFUSED) && !begins(&HARMLESS) {
            return Care::Refuse;
        }
        match self.shared {
            true if own.iter().any(|address| (self.start..self.end).contains(address)) => Care::Refuse,
            true if self.writable => Care::Guard,
            _ => Care::None,
        }
    }
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = text.iter().position(|byte| *byte == at)?;
    Some((text.get(..place)?, text.get(place + 1..)?))
}

fn number(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0usize, |value, byte| {
        let digit = (*byte as char).to_digit(16)?;
        Some(value.checked_mul(16)? | digit as usize)
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn care(line: &str) -> Care {
        Mapping::parse(line.as_bytes()).expect("a mapping").care(&[0x7000_1000])
    }

    #[test]
    fn private_memory_is_left_alone_and_shared_memory_guarded() {
        let file = "fe:00 247026                     /usr/lib/x86_64-linux-gnu/libc.so.6";
        assert_eq!(care(&format!("560bc50f8000-560bc50fa000 r-xp 00000000 {file}")), Care::None);
        assert_eq!(care("560bc50f8000-560bc50fa000 rw-p 00000000 00:00 0 "), Care::None);
        assert_eq!(
            care("560bc50f8000-560bc50fa000 rw-p 00000000 00:00 0                          [heap]"),
            Care::None
        );
        assert_eq!(care("7f00-7f01 rw-s 00000000 00:01 1029   /dev/zero (deleted)"), Care::Guard);
        assert_eq!(care("7f00-7f01 rw-s 00000000 00:17 3   /dev/shm/my data"), Care::Guard);
        assert_eq!(care("7f00-7f01 -w-s 00000000 00:01 2   /SYSV00000000 (deleted)"), Care::Guard);
        assert_eq!(care("7f00-7f01 rw-s 00000000 00:01 2   /memfd:scaf-report (deleted)"), Care::Guard);
        assert_eq!(care("7f00-7f01 r--s 00000000 00:01 2   /memfd:scaf-grant (deleted)"), Care::None);
    }

    #[test]
    fn devices_rings_and_a_shared_stack_stand_in_the_way() {
        for path in [
            "/dev/nvidia0",
            "/dev/dri/card0",
            "/dev/hugepages/x",
            "anon_inode:[io_uring]",
            "anon_inode:[perf_event]",
            "/[aio] (deleted)",
            "/anon_hugepage (deleted)",
            "/dmabuf:",
            "socket:[1234]",
        ] {
            assert_eq!(care(&format!("7f00-7f01 rw-s 00000000 00:0e 99 {path}")), Care::Refuse, "{path}");
        }
        assert_eq!(care("70000000-70002000 rw-s 00000000 00:01 2 /dev/zero (deleted)"), Care::Refuse);
        assert_eq!(care("70000000-70002000 rw-p 00000000 00:00 0 [stack]"), Care::None);
    }

    #[test]
    fn what_is_no_mapping_is_not_taken_for_one() {
        for line in [
            "",
            "x",
            "7f00-7f00 rw-s 0 0 0",
            "7f00-7f01 rw-x 0 0 0",
            "7f00-7f01 rw 0 0 0",
            "-7f01 rw-s 0 0 0",
        ] {
            assert_eq!(Mapping::parse(line.as_bytes()), None, "{line}");
        }
        assert_eq!(Mapping::parse(b"fffffffffffffffff-fffffffffffffffff1 rw-s 0 0 0"), None);
    }

    #[test]
    fn this_process_has_mappings_and_each_is_understood() {
        let text = std::fs::read("/proc/self/maps").unwrap();
        let all = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        assert!(all.clone().count() > 5);
        for line in all {
            assert!(Mapping::parse(line).is_some(), "{}", String::from_utf8_lossy(line));
        }
    }
}
