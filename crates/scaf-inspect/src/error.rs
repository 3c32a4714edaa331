//! Why an inspection failed. A verdict against resizing is no error.

use std::path::{Path, PathBuf};

/// Why there are no facts; the messages say what to do.
#[allow(missing_docs)] // they say enough of the fields, too
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot read {path}: {source}; check that it exists and that this user may read it")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} has {bytes} bytes, more than the {limit} that are inspected; run it unmanaged")]
    TooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("{path} is not an intact ELF file ({detail}); name a compiled program or shared library")]
    NotElf { path: PathBuf, detail: String },
    #[error("cannot list what process {pid} has mapped ({path}): {source}; is it running, and yours?")]
    Process { pid: u32, path: PathBuf, source: std::io::Error },
}

impl Error {
    pub(crate) fn not_elf(path: &Path, detail: impl ToString) -> Self {
        Self::NotElf { path: path.to_owned(), detail: detail.to_string() }
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }
}
