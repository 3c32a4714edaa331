//! Replaces files atomically, so that readers never see a part.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Replaces a file by rename; all may read it. The temporary file beside it has a hidden name that ends in
/// `.new`, so that readers who select by extension skip it.
/// # Errors
/// The folder isn't there or can't be written to, or the disk is full.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".scaf-").suffix(".new").tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_all_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scaf.prom");
        replace(&file, "a 1\n").unwrap();
        replace(&file, "b 2\n").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "b 2\n");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
