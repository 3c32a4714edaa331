//! Libraries that are known by their files' names.

use crate::module::is_openmp_runtime;

/// How calls into a library are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// By its code.
    Followed,
    /// Not: what each function of the C library does is in the table of functions.
    C,
    /// Not: its functions do nothing to the kernel thread, but may call back.
    CallsBack,
    /// Not: it answers for itself.
    Closed,
}

const C: [&str; 8] = ["libc", "libpthread", "libdl", "librt", "libutil", "libresolv", "ld", "libanl"];
const CALL_BACK: [&str; 3] = ["libstdc++", "libgcc_s", "libgfortran"];
/// Mathematics. OpenMP runtimes and this project's own are, too ([`is_openmp_runtime`]).
const CLOSED: [&str; 3] = ["libm", "libmvec", "libquadmath"];

/// Modules of Python's own library that offer what the interpreter offers.
const PYTHONS: [&str; 12] = [
    "_ctypes",
    "_hashlib",
    "_multiprocessing",
    "_posixshmem",
    "_posixsubprocess",
    "_socket",
    "_ssl",
    "_uuid",
    "fcntl",
    "mmap",
    "resource",
    "select",
];

/// The kind of the library in a file of this name; `is_executable`: of a program that is the executable.
pub(super) fn kind(file: &str, is_executable: bool) -> Kind {
    let is_any = |names: &[&str]| names.iter().any(|name| is_file_of(file, name));
    // A script's own risk.
    let is_module = file.split_once(".cpython-").is_some_and(|(name, _)| PYTHONS.contains(&name));
    let is_python = file.starts_with("libpython3.") || is_module || (is_executable && is_python(file));
    if is_any(&C) || (file.starts_with("ld-linux-") && file.contains(".so")) {
        Kind::C
    } else if is_any(&CALL_BACK) {
        Kind::CallsBack
    } else if is_any(&CLOSED) || is_openmp_runtime(file) || is_python {
        Kind::Closed
    } else {
        Kind::Followed
    }
}

fn is_python(file: &str) -> bool {
    let version = file.strip_prefix("python").unwrap_or("no");
    version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `name.so`, with a version behind it; before the ending may stand the hash of Python's wheels, or the
/// version of an older C library (`libc-2.31.so`).
fn is_file_of(file: &str, name: &str) -> bool {
    let Some(rest) = file.strip_prefix(name) else { return false };
    let ends = |rest: &str| rest == ".so" || rest.starts_with(".so.");
    let hash = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        digits >= 6 && ends(&rest[digits..])
    };
    let version = |rest: &str| {
        let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        rest.strip_suffix(".so").is_some_and(|version| version.len() <= digits && version.contains('.'))
    };
    ends(rest) || rest.strip_prefix('-').is_some_and(|rest| hash(rest) || version(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_whole_names() {
        assert_eq!(kind("libc.so.6", false), Kind::C);
        assert_eq!(kind("libc-2.31.so", false), Kind::C);
        assert_eq!(kind("ld-2.31.so", false), Kind::C);
        assert_eq!(kind("ld-linux-x86-64.so.2", false), Kind::C);
        assert_eq!(kind("libm-2.31.so", false), Kind::Closed);
        assert_eq!(kind("libstdc++.so.6.0.30", false), Kind::CallsBack);
        assert_eq!(kind("libgomp-e985bcbb.so.1.0.0", false), Kind::Closed);
        assert_eq!(kind("libpython3.11.so.1.0", false), Kind::Closed);
        assert_eq!(kind("python3.11", true), Kind::Closed);
        for file in ["libc-2.so", "libc-2.31-mine.so", "libc-client.so.2007e"] {
            assert_eq!(kind(file, true), Kind::Followed, "{file}");
        }
        for file in ["libgomp_helpers.so", "libcurl.so.4", "libm-helpers.so", "pythonic", "libc++.so.1"] {
            assert_eq!(kind(file, true), Kind::Followed, "{file}");
        }
        assert_eq!(kind("python3.11", false), Kind::Followed);
    }
}
