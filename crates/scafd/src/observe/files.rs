//! Reads files of `/proc` and `/sys`. Their length is said to be 0, so the standard library would read them
//! in many small pieces, which takes twice as long.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Most files are shorter, in bytes.
const USUAL: usize = 4 << 10;

/// A whole file of `/proc` or `/sys`.
pub fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::with_capacity(USUAL);
    // With take() the standard library doesn't ask for the file's length.
    File::open(path)?.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_to_their_end_whatever_their_length() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for length in [0, 1, USUAL - 1, USUAL, USUAL + 1, 10 * USUAL] {
            std::fs::write(&file, "x".repeat(length)).unwrap();
            assert_eq!(read_text(&file).unwrap().len(), length);
        }
        assert!(read_text("/proc/self/status").unwrap().starts_with("Name:"));
        assert!(read_text(folder.path()).is_err() && read_text(folder.path().join("none")).is_err());
    }
}
