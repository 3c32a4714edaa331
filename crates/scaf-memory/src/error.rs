use std::path::PathBuf;

/// Why something was not read or kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or its folder cannot be made or examined.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The contents make no sense.
    #[error("{}: is damaged ({source}); remove it to begin anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file is of another version.
    #[error("{}: is of version {found}, and this scaf knows version {known}; use the scaf that wrote it, or \
        remove it to begin anew", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: i64,
        /// The version that this crate knows.
        known: i64,
    },
    /// The disk is full.
    #[error("{}: there is no room left to write; make some", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process has locked the file.
    #[error("{}: is locked by another process; try again when that is done", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Anything else.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}
