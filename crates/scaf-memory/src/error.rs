use std::path::PathBuf;

/// Why the file can't be used; the messages say what to do.
#[allow(missing_docs)] // they say enough of the fields, too
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or its folder cannot be made or examined.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}: is damaged ({source}); remove it to begin anew", path.display())]
    Damaged { path: PathBuf, source: rusqlite::Error },
    #[error("{}: is of version {found}, and this scaf knows version {known}; use the scaf that wrote it, or \
        remove it to begin anew", path.display())]
    Version { path: PathBuf, found: i64, known: i64 },
    #[error("{}: there is no room left to write; make some", path.display())]
    Full { path: PathBuf },
    #[error("{}: is locked by another process; try again when that is done", path.display())]
    Busy { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}
