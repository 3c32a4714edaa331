//! Standard output, where a reader that has seen enough (`scaf ps | head -1`) is no error.

use std::io::{ErrorKind, IsTerminal, Write};

/// Prints to standard output.
///
/// # Errors
/// A full disk and the like; a closed pipe is none.
pub fn print(text: &str) -> std::io::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Whether a person watches standard error, so that a progress bar is of use.
pub fn watched() -> bool {
    std::io::stderr().is_terminal()
}
