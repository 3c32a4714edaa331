//! Paths of the socket, configuration and databases, and checks of the socket's folder.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The system-wide daemon's socket.
pub const SYSTEM_SOCKET: &str = "/run/scaf/scafd.sock";
/// Configuration that is read where none is named.
pub const CONFIG: &str = "/etc/scaf/scafd.toml";
/// The system-wide daemon's profile databases, a file for each user.
pub const SYSTEM_MEMORY: &str = "/var/lib/scaf/memory";

/// The users that a daemon serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All users.
    System,
    /// One user.
    Session,
}

impl Scope {
    /// "system" or "session".
    pub fn name(self) -> &'static str {
        match self {
            Scope::System => "system",
            Scope::Session => "session",
        }
    }
}

/// Why a folder can't be used for a socket.
#[allow(missing_docs)] // names say enough of most fields
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be made or looked at.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// Another user could put a socket there.
    #[error("{}: {why}; remove it, or name another place with --socket", path.display())]
    Untrusted { path: PathBuf, why: String },
}

/// Socket of a scope, for the user and environment of this process.
pub fn socket(scope: Scope) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match scope {
        Scope::System => PathBuf::from(SYSTEM_SOCKET),
        Scope::Session => session_socket(runtime, rustix::process::getuid().as_raw()),
    }
}

/// A session's socket, given what `XDG_RUNTIME_DIR` says. A relative path counts as none (XDG's rule).
pub fn session_socket(runtime: Option<PathBuf>, uid: u32) -> PathBuf {
    let folder = match runtime.filter(|dir| dir.is_absolute()) {
        Some(dir) => dir.join("scaf"),
        None => PathBuf::from(format!("/tmp/scaf-{uid}")),
    };
    folder.join("scafd.sock")
}

/// The folder of a daemon's profile databases, `named` by its configuration or the usual one. A session's is
/// `$XDG_DATA_HOME/scaf`, else `~/.local/share/scaf`; `None` without a home.
pub fn memory_folder(scope: Scope, named: Option<&Path>) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    match (named, scope) {
        (Some(named), _) => Some(named.to_owned()),
        (None, Scope::System) => Some(PathBuf::from(SYSTEM_MEMORY)),
        (None, Scope::Session) => session_memory(folder("XDG_DATA_HOME"), folder("HOME")),
    }
}

/// A session's folder, given what `XDG_DATA_HOME` and `HOME` say; see [`memory_folder`].
pub fn session_memory(data: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    let data = absolute(data).or_else(|| Some(absolute(home)?.join(".local/share")))?;
    Some(data.join("scaf"))
}

/// The folder of a session's cache of inspections: `$XDG_CACHE_HOME/scaf`, else `~/.cache/scaf`.
pub fn session_cache() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("scaf"))
}

/// The file of user `uid` in that folder. A session has one user.
pub fn memory_file(scope: Scope, folder: &Path, uid: u32) -> PathBuf {
    match scope {
        Scope::System => folder.join(format!("{uid}.sqlite")),
        Scope::Session => folder.join("memory.sqlite"),
    }
}

/// Makes the folder of a socket if it is missing, and checks it.
pub fn prepare(scope: Scope, folder: &Path) -> Result<(), Error> {
    let io = |source| Error::Io { path: folder.to_owned(), source };
    let mode = match scope {
        Scope::System => 0o755,
        Scope::Session => 0o700,
    };
    match std::fs::DirBuilder::new().mode(mode).create(folder) {
        Ok(()) => {}
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(io(e)),
    }
    check(folder, rustix::process::getuid().as_raw())
}

/// Checks that only this user can write to a folder.
pub fn check(folder: &Path, uid: u32) -> Result<(), Error> {
    let meta =
        std::fs::symlink_metadata(folder).map_err(|source| Error::Io { path: folder.to_owned(), source })?;
    let untrusted = |why: String| Err(Error::Untrusted { path: folder.to_owned(), why });
    if meta.file_type().is_symlink() {
        untrusted("is a symbolic link".into())
    } else if !meta.is_dir() {
        untrusted("is not a folder".into())
    } else if meta.uid() != uid {
        untrusted(format!("belongs to user {}, not to {uid}", meta.uid()))
    } else if meta.mode() & 0o022 != 0 {
        untrusted(format!("others can write to it (mode {:03o})", meta.mode() & 0o777))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_session_has_its_socket_in_the_runtime_folder_or_in_tmp() {
        assert_eq!(session_socket(Some("/run/user/7".into()), 7), Path::new("/run/user/7/scaf/scafd.sock"));
        assert_eq!(session_socket(None, 7), Path::new("/tmp/scaf-7/scafd.sock"));
        assert_eq!(session_socket(Some("relative".into()), 7), Path::new("/tmp/scaf-7/scafd.sock"));
    }

    #[test]
    fn a_memory_is_where_data_are_kept() {
        let session = |data: Option<&str>, home: Option<&str>| {
            let folder = session_memory(data.map(PathBuf::from), home.map(PathBuf::from))?;
            Some(memory_file(Scope::Session, &folder, 7).to_string_lossy().into_owned())
        };
        assert_eq!(session(Some("/d"), Some("/h")).as_deref(), Some("/d/scaf/memory.sqlite"));
        assert_eq!(session(None, Some("/h")).as_deref(), Some("/h/.local/share/scaf/memory.sqlite"));
        assert_eq!(session(Some("relative"), None), None);
        assert_eq!(memory_file(Scope::System, "/m".as_ref(), 7), Path::new("/m/7.sqlite"));
    }

    #[test]
    fn a_folder_is_made_private_and_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("scaf");
        prepare(Scope::Session, &folder).unwrap();
        prepare(Scope::Session, &folder).unwrap();
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_control_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let uid = rustix::process::getuid().as_raw();
        let real = dir.path().join("real");
        prepare(Scope::Session, &real).unwrap();
        let link = dir.path().join("link");
        symlink(&real, &link).unwrap();
        assert!(prepare(Scope::Session, &link).unwrap_err().to_string().contains("symbolic link"));
        assert!(check(&real, uid + 1).unwrap_err().to_string().contains("belongs to user"));
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(check(&real, uid).unwrap_err().to_string().contains("mode 777"));
    }
}
