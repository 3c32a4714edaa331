//! Code that is in no file, and what it is likely to be: a just-in-time compiler's, libffi's closures, or
//! threads' stacks, which are executable where any module asks for it.

use crate::module::Opened;
use object::LittleEndian;
use object::read::elf::ProgramHeader as _;
use object::{ReadCache, elf};
use std::path::Path;

/// Most bytes of a piece of memory in which libffi keeps closures; it takes pages one by one.
const MAX_CLOSURES: u64 = 1 << 16;

/// What a process has of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AnonymousCode {
    /// The first place.
    pub first: Option<String>,
    /// What looks like libffi's closures, and like stacks,
    closures: bool,
    stacks: bool,
    /// and other places, of which this is the first.
    other: Option<String>,
    /// Where memory ends that nobody may use, if that was met last. Such is below each stack.
    guard: Option<u64>,
}

impl AnonymousCode {
    /// Looks at the next line of a maps file; `place` if it is executable and from no file.
    pub fn meet(&mut self, line: &[u8], place: Option<String>) {
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_ascii_whitespace();
        let range = words.next().and_then(|range| range.split_once('-'));
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let Some((start, end)) = range.and_then(|(start, end)| Some((number(start)?, number(end)?))) else {
            return;
        };
        let access = words.next().unwrap_or_default();
        let below = self.guard.take();
        if access == "---p" {
            self.guard = Some(end);
        }
        let Some(place) = place else { return };
        let name = words.nth(3);
        let is_writable = access == "rwxp";
        if name == Some("[stack]") || (name.is_none() && is_writable && below == Some(start)) {
            self.stacks = true;
        } else if name.is_none() && is_writable && end.wrapping_sub(start) <= MAX_CLOSURES {
            self.closures = true;
        } else {
            self.other.get_or_insert_with(|| place.clone());
        }
        self.first.get_or_insert(place);
    }

    /// A place with code that nobody knows, in a process with these files.
    pub fn unknown(&self, files: &[(&Opened, &Path)]) -> Option<&str> {
        let is_any = |start: &str| {
            let mut names = files.iter().filter_map(|(_, path)| path.file_name());
            names.any(|name| name.to_string_lossy().starts_with(start))
        };
        // ctypes makes such closures of Python's functions.
        let are_closures = || is_any("libffi") && is_any("_ctypes.cpython-");
        let are_stacks = || files.iter().any(|(opened, _)| wants_code_on_stacks(opened));
        let excused =
            self.other.is_none() && (!self.closures || are_closures()) && (!self.stacks || are_stacks());
        if excused { None } else { self.other.as_deref().or(self.first.as_deref()) }
    }
}

/// Whether the module asks for executable stacks, by its header for them or by having none.
fn wants_code_on_stacks(opened: &Opened) -> bool {
    let cache = ReadCache::new(&opened.file);
    let Ok(file) = crate::elf::File::parse(&cache) else { return false };
    let mut headers = file.elf_program_headers().iter();
    let stack = headers.find(|header| header.p_type(LittleEndian) == elf::PT_GNU_STACK);
    stack.is_none_or(|header| header.p_flags(LittleEndian).0 & elf::PF_X.0 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(lines: &[&str]) -> AnonymousCode {
        let mut code = AnonymousCode::default();
        for line in lines {
            code.meet(line.as_bytes(), line.contains('x').then(|| (*line).to_owned()));
        }
        code
    }

    #[test]
    fn stacks_have_a_guard_below_and_closures_are_small() {
        let stack = met(&["1000-2000 ---p 0 00:00 0", "2000-902000 rwxp 0 00:00 0"]);
        assert!(stack.stacks && !stack.closures && stack.other.is_none());
        let closures = met(&["1000-2000 rw-p 0 00:00 0", "2000-3000 rwxp 0 00:00 0"]);
        assert!(closures.closures && !closures.stacks && closures.other.is_none());
        for other in [
            "2000-902000 rwxp 0 00:00 0",
            "2000-3000 r-xp 0 00:00 0",
            "2000-3000 rwxp 0 00:01 9 /memfd:jit (deleted)",
            "2000-3000 rwxp 0 00:00 0 [heap]",
        ] {
            assert!(met(&[other]).other.is_some(), "{other}");
        }
        assert!(met(&["7ffc1000-7ffc2000 rwxp 0 00:00 0 [stack]"]).stacks);
    }

    #[test]
    fn without_a_file_that_explains_them_they_are_not_known() {
        assert_eq!(met(&["1000-2000 rw-p 0 00:00 0"]).unknown(&[]), None);
        assert!(met(&["2000-3000 rwxp 0 00:00 0"]).unknown(&[]).is_some());
        assert!(met(&["1000-2000 ---p 0 00:00 0", "2000-3000 rwxp 0 00:00 0"]).unknown(&[]).is_some());
    }
}
