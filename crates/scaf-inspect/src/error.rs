//! Why a question about a program could not be answered. A verdict against resizing is no error.

use std::path::{Path, PathBuf};

/// An error, with the file or process concerned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {source}; check that it exists and that this user may read it")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file, or a part of it, is too large.
    #[error("{path} has {bytes} bytes, more than the {limit} that are inspected; run it unmanaged")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The size in bytes of the file or of the part that is too large.
        bytes: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The file is no ELF file, or a damaged one.
    #[error("{path} is not an intact ELF file ({detail}); name a compiled program or shared library")]
    NotElf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The process is gone, or belongs to another user.
    #[error("cannot list what process {pid} has mapped ({path}): {source}; is it running, and yours?")]
    Process {
        /// The process.
        pid: u32,
        /// The maps file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn not_elf(path: &Path, detail: impl ToString) -> Self {
        Self::NotElf { path: path.to_owned(), detail: detail.to_string() }
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }
}
