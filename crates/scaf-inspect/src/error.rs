//! Why a question about a program could not be answered at all.
//!
//! An answer of "better not" is not an error: it is a verdict, and carries its reason itself.

use std::path::{Path, PathBuf};

/// What went wrong, and with which file or process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {source}; check that it exists and that this user may read it")]
    Read {
        /// The file that was asked about.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is larger than this crate is willing to look at.
    #[error("{path} has {bytes} bytes, more than the {limit} that are inspected; run it unmanaged")]
    TooLarge {
        /// The file that was asked about.
        path: PathBuf,
        /// Its size, or the size of the part that is too large, in bytes.
        bytes: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The file is no ELF file, or a damaged one.
    #[error("{path} is not an intact ELF file ({detail}); name a compiled program or shared library")]
    NotElf {
        /// The file that was asked about.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The process is gone, or belongs to somebody else.
    #[error("cannot list what process {pid} has mapped ({path}): {source}; is it running, and yours?")]
    Process {
        /// The process that was asked about.
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
