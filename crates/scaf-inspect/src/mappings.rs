//! What a process has mapped that may be executed, from its maps file.

use crate::anonymous_code::AnonymousCode;
use crate::error::Error;
use scaf_team::arch::spin_marks::NAME;
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Most lines read of a maps file; the kernel's default limit is 65,530 mappings.
const MAX_MAPPINGS: usize = 1 << 18;
/// Most bytes of a line: PATH_MAX, four-fold escaped, and the columns before it.
const MAX_LINE: u64 = 20_000;

/// Code from a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub range: String,
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    /// Device and inode.
    pub identity: (String, String),
    pub path: PathBuf,
    pub deleted: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Mapped {
    File(Mapping),
    /// Code from no readable file, such as a just-in-time compiler's, and where it lies.
    Anonymous(String),
}

const KERNELS_OWN: [&[u8]; 3] = [b"[vdso]", b"[vsyscall]", b"[uprobes]"];

/// Whether these are scaf's own stubs.
fn are_stubs(name: &[u8]) -> bool {
    let rest = name.strip_prefix(b"/memfd:").and_then(|rest| rest.strip_prefix(NAME.to_bytes()));
    rest == Some(b" (deleted)")
}

/// The files with code, and a place with code that has no file.
pub(crate) fn mappings(pid: u32, maps: &Path) -> Result<(Vec<Mapping>, AnonymousCode), Error> {
    let failed = |source| Error::Process { pid, path: maps.to_owned(), source };
    let mut reader = BufReader::new(std::fs::File::open(maps).map_err(failed)?);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut anonymous = AnonymousCode::default();
    let mut line = Vec::new();
    let mut any = false;
    for _ in 0..MAX_MAPPINGS {
        line.clear();
        let read = std::io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 && any {
            return Ok((found, anonymous));
        } else if read == 0 {
            // So it is once its first thread has ended, whatever the others still run.
            let source = std::io::Error::other("its mappings can't be read any more");
            return Err(Error::Process { pid, path: maps.to_owned(), source });
        }
        any = true;
        let mut place = None;
        match mapping(&line) {
            Some(Mapped::File(mapping)) if seen.insert((mapping.identity.clone(), mapping.path.clone())) => {
                found.push(mapping);
            }
            Some(Mapped::Anonymous(code)) => place = Some(code),
            Some(Mapped::File(_)) | None => {}
        }
        anonymous.meet(&line, place);
    }
    let source = std::io::Error::other("more mappings than are read");
    Err(Error::Process { pid, path: maps.to_owned(), source })
}

/// Parses one line of a maps file; `None` if it is not executable.
fn mapping(line: &[u8]) -> Option<Mapped> {
    use std::os::unix::ffi::OsStrExt;
    let mut rest = line.trim_ascii_end();
    let mut column = || {
        if rest.is_empty() {
            return None;
        }
        // The inode comes last where there is no path.
        let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        let word = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = rest[end..].trim_ascii_start();
        Some(word)
    };
    let (range, access) = (column()?, column()?);
    let offset = u64::from_str_radix(&column()?, 16).ok()?;
    let (start, end) = range.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let identity = (column()?, column()?);
    if !access.contains('x') || KERNELS_OWN.contains(&rest) || are_stubs(rest) {
        return None;
    }
    if !rest.starts_with(b"/") || rest.starts_with(b"/memfd:") {
        let name = if rest.is_empty() { "anonymous memory".into() } else { String::from_utf8_lossy(rest) };
        return Some(Mapped::Anonymous(format!("{name} at {range}")));
    }
    let (name, deleted) = match rest.strip_suffix(b" (deleted)") {
        Some(name) => (name, true),
        None => (rest, false),
    };
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(name));
    Some(Mapped::File(Mapping { range, start, end, offset, identity, path, deleted }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_from_files_is_looked_at() {
        let code = b"7f12-7f34 r-xp 00001000 08:01 77   /usr/lib/lib a.so\n";
        let Some(Mapped::File(found)) = mapping(code) else { panic!("code from a file") };
        assert_eq!(found.path, Path::new("/usr/lib/lib a.so"));
        assert_eq!((found.range.as_str(), found.deleted), ("7f12-7f34", false));
        assert_eq!((found.start, found.offset), (0x7f12, 0x1000));
        assert_eq!(mapping(b"7f12-7f34 rw-p 00001000 08:01 77   /usr/lib/liba.so\n"), None);
        assert_eq!(mapping(b"7f12-7f34 r-xp 00000000 00:00 0    [vdso]\n"), None);
        assert_eq!(mapping(b"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n"), None);
        let own = b"7f12-7f34 r-xp 00000000 00:01 12    /memfd:scaf-yields (deleted)\n";
        assert_eq!(mapping(own), None);
        let others = b"7f12-7f34 r-xp 00000000 00:01 12    /memfd:scaf-yields-too (deleted)\n";
        assert!(matches!(mapping(others), Some(Mapped::Anonymous(_))));
        assert_eq!(mapping(b"\n"), None);
    }

    #[test]
    fn a_process_whose_mappings_are_not_there_any_more_is_no_empty_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = mappings(7, file.path()).unwrap_err();
        assert!(error.to_string().contains("can't be read any more"), "{error}");
    }

    #[test]
    fn code_without_a_file_is_noticed_and_data_without_one_is_not() {
        let anonymous = |line: &[u8]| matches!(mapping(line), Some(Mapped::Anonymous(_)));
        assert!(anonymous(b"7f12-7f34 rwxp 00000000 00:00 0 \n"));
        assert!(anonymous(b"7f12-7f34 r-xp 00000000 00:00 0 [anon:jit]\n"));
        assert!(anonymous(b"7f12-7f34 r-xs 00000000 00:01 9 /memfd:jit (deleted)\n"));
        assert!(!anonymous(b"7f12-7f34 rw-p 00000000 00:00 0 \n"));
        assert!(!anonymous(b"7f12-7f34 rw-s 00000000 00:01 9 /memfd:scaf-report (deleted)\n"));
    }

    #[test]
    fn a_replaced_file_is_opened_through_its_mapping() {
        let line = b"7f12-7f34 r-xp 00001000 08:01 77 /opt/a.so (deleted)\n";
        let Some(Mapped::File(found)) = mapping(line) else { panic!("code from a file") };
        assert_eq!((found.path.as_path(), found.deleted), (Path::new("/opt/a.so"), true));
    }
}
