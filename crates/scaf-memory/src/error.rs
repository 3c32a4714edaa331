use std::path::PathBuf;

/// Why something was not read or kept.
#[allow(missing_docs)] // names say enough of most fields
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or its folder cannot be made or examined.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The contents make no sense.
    #[error("{}: is damaged ({source}); remove it to begin anew", path.display())]
    Damaged { path: PathBuf, source: rusqlite::Error },
    /// The file is of another version.
    #[error("{}: is of version {found}, and this scaf knows version {known}; use the scaf that wrote it, or \
        remove it to begin anew", path.display())]
    Version { path: PathBuf, found: i64, known: i64 },
    /// The disk is full.
    #[error("{}: there is no room left to write; make some", path.display())]
    Full { path: PathBuf },
    /// Another process has locked the file.
    #[error("{}: is locked by another process; try again when that is done", path.display())]
    Busy { path: PathBuf },
    /// Anything else.
    #[error("{}: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}
