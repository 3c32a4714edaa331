//! The program to run: where it is, and whether the client library can be preloaded into it.
//!
//! The dynamic loader preloads a library only into a program that is dynamically linked, has our machine code
//! and C library, and gains no rights at its start (setuid and the like). All others run *unmanaged*, exactly
//! as without scaf.

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A program that can't be started.
#[derive(Debug, PartialEq)]
pub enum Unstartable {
    /// Nothing of this name in the PATH, or no such file.
    NotFound(OsString),
    /// A file that can't be executed.
    NotExecutable(PathBuf),
    /// A program for another machine than this.
    Foreign(PathBuf),
}

impl Unstartable {
    /// The exit status that shells use for this.
    pub fn exit_status(&self) -> u8 {
        match self {
            Unstartable::NotFound(_) => 127,
            Unstartable::NotExecutable(_) | Unstartable::Foreign(_) => 126,
        }
    }
}

impl fmt::Display for Unstartable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unstartable::NotFound(name) => {
                let place = if name.as_bytes().contains(&b'/') { "" } else { " in the PATH" };
                write!(f, "{}: not found{place}", name.display())
            }
            Unstartable::NotExecutable(path) => {
                write!(f, "{}: not executable; allow it with chmod +x if it is a program", path.display())
            }
            Unstartable::Foreign(path) => {
                write!(f, "{}: a program that this machine can't execute", path.display())
            }
        }
    }
}

impl std::error::Error for Unstartable {}

/// The file that `name` means, found as execvp does.
/// # Errors
/// Not there, or not executable.
pub fn resolve(name: &OsStr) -> Result<PathBuf, Unstartable> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    resolve_in(name, &path)
}

fn resolve_in(name: &OsStr, path: &OsStr) -> Result<PathBuf, Unstartable> {
    let candidates: Vec<PathBuf> = if name.as_bytes().contains(&b'/') {
        vec![name.into()]
    } else {
        std::env::split_paths(path).map(|folder| folder.join(name)).collect()
    };
    let mut refused = None;
    for candidate in candidates {
        match std::fs::metadata(&candidate) {
            Ok(found) if found.is_file() && executable(&candidate) => return Ok(candidate),
            Ok(_) => refused = refused.or(Some(candidate)),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                refused = refused.or(Some(candidate));
            }
            Err(_) => {}
        }
    }
    match refused {
        // An empty name would join to the folder itself.
        Some(path) if !name.is_empty() => Err(Unstartable::NotExecutable(path)),
        _ => Err(Unstartable::NotFound(name.to_owned())),
    }
}

fn executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Why the client library can't be preloaded, to follow "it runs unmanaged: "; `None` if it can. For a
/// script, its interpreter counts.
pub fn obstacle(program: &Path) -> Option<String> {
    let mut program = program.to_owned();
    // Linux follows interpreters of interpreters four deep.
    for _ in 0..5 {
        let head = match head(&program) {
            Ok(head) => head,
            // Not readable for us, but the loader can run it: no known obstacle.
            Err(_) => return None,
        };
        let Some(interpreter) = interpreter_of_script(&head) else {
            return if head.starts_with(elf::ELFMAG.as_slice()) {
                gains_rights(&program).or_else(|| foreign_binary(&program))
            } else {
                None
            };
        };
        // For `env`, the program that it starts counts.
        program = match interpreter.as_slice() {
            [env, name, ..] if env.ends_with("/env") && !name.starts_with('-') => {
                resolve(OsStr::new(name)).ok()?
            }
            [interpreter, ..] => interpreter.into(),
            [] => return None,
        };
    }
    None
}

/// Whether it is a program rather than a script.
pub fn is_binary(path: &Path) -> bool {
    head(path).is_ok_and(|head| head.starts_with(elf::ELFMAG.as_slice()))
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(256).read_to_end(&mut head)?;
    Ok(head)
}

fn interpreter_of_script(head: &[u8]) -> Option<Vec<String>> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).split_whitespace().map(str::to_owned).collect())
}

fn gains_rights(path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok()?;
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    // Mode bits: 0o4000 setuid, 0o2010 setgid (without the group's x it means mandatory locking).
    if file.mode() & 0o4000 != 0 && file.uid() != uid {
        return Some("it is setuid, and the loader preloads nothing into such programs".into());
    }
    if file.mode() & 0o2010 == 0o2010 && file.gid() != gid {
        return Some("it is setgid, and the loader preloads nothing into such programs".into());
    }
    let capabilities = rustix::fs::getxattr(path, c"security.capability", &mut [0u8; 64][..]).is_ok();
    (capabilities && uid != 0)
        .then(|| "it has file capabilities, and the loader preloads nothing into such programs".into())
}

fn foreign_binary(path: &Path) -> Option<String> {
    let data = std::fs::File::open(path).map(object::ReadCache::new);
    let Ok(data) = data else { return None };
    let Ok(header) = elf::FileHeader64::<Endianness>::parse(&data) else {
        return Some("it isn't a 64-bit program".into());
    };
    let endian = header.endian().ok()?;
    if header.e_machine(endian) != OUR_MACHINE {
        return Some(format!("it isn't a program for {}", std::env::consts::ARCH));
    }
    let segments = header.program_headers(endian, &data).ok()?;
    let loader = segments.iter().find_map(|segment| segment.interpreter(endian, &data).ok().flatten());
    match loader {
        None => Some("it is statically linked, so there is no loader to preload the client library".into()),
        Some(loader) if loader.windows(7).any(|part| part == b"ld-musl") => {
            Some("its C library is musl, and the client library is made for glibc".into())
        }
        Some(_) => None,
    }
}

#[cfg(target_arch = "x86_64")]
const OUR_MACHINE: elf::Machine = elf::EM_X86_64;
#[cfg(target_arch = "aarch64")]
const OUR_MACHINE: elf::Machine = elf::EM_AARCH64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn file(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn programs_are_found_in_the_path_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::create_dir(&a).unwrap();
        std::fs::create_dir(&b).unwrap();
        file(&a, "x", b"", 0o644);
        let wanted = file(&b, "x", b"", 0o755);
        let path = std::env::join_paths([&a, &b]).unwrap();
        assert_eq!(resolve_in(OsStr::new("x"), &path), Ok(wanted));
        assert_eq!(resolve_in(OsStr::new("y"), &path), Err(Unstartable::NotFound("y".into())));
        assert_eq!(resolve_in(OsStr::new(""), &path), Err(Unstartable::NotFound("".into())));
    }

    #[test]
    fn shells_exit_statuses_are_ours() {
        let folder = tempfile::tempdir().unwrap();
        let plain = file(folder.path(), "x", b"", 0o644);
        assert_eq!(resolve(plain.as_os_str()).unwrap_err().exit_status(), 126);
        assert_eq!(resolve(folder.path().as_os_str()).unwrap_err().exit_status(), 126);
        assert_eq!(resolve(OsStr::new("/nowhere/x")).unwrap_err().exit_status(), 127);
    }

    #[test]
    fn an_ordinary_program_has_no_obstacle_and_neither_has_its_script() {
        assert_eq!(obstacle(Path::new("/bin/true")), None);
        let folder = tempfile::tempdir().unwrap();
        for line in ["#!/bin/sh\n", "#!/usr/bin/env sh\n", "#! /bin/sh -e\n", "no magic\n"] {
            assert_eq!(obstacle(&file(folder.path(), "s", line.as_bytes(), 0o755)), None, "{line}");
        }
    }

    #[test]
    fn other_machines_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let mut binary = std::fs::read("/bin/true").unwrap();
        binary[18] = 8; // e_machine: MIPS
        binary[19] = 0;
        let why = obstacle(&file(folder.path(), "mips", &binary, 0o755)).unwrap();
        assert!(why.contains("isn't a program for"), "{why}");
        binary[4] = 1; // EI_CLASS: 32 bits
        let why = obstacle(&file(folder.path(), "small", &binary, 0o755)).unwrap();
        assert!(why.contains("64-bit"), "{why}");
    }

    #[test]
    fn a_program_that_gains_rights_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), "su", &std::fs::read("/bin/true").unwrap(), 0o755);
        if std::os::unix::fs::chown(&path, Some(54_321), None).is_err() {
            return; // only root can make the situation
        }
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o4755)).unwrap();
        assert!(obstacle(&path).unwrap().contains("setuid"));
    }
}
