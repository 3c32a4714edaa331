//! A cache file with what is known of a user's files, for the next daemon of that user. It is trusted as
//! little as a helper's answer, and only used if the same executable wrote it: another version may have
//! another analysis.

use rustix::fs::OFlags;
use scaf_inspect::ModuleCache;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of helpers' answers that are remembered for a user; when there would be more, what
/// files do by pointers is forgotten, and if that doesn't do, all.
pub const MOST_KNOWN: usize = 1 << 22;
/// Longest file that is read, in bytes: what is remembered, written otherwise.
const MOST: u64 = 4 * MOST_KNOWN as u64;

#[derive(Serialize, Deserialize)]
struct Contents<C> {
    /// Which executable wrote it.
    by: String,
    files: C,
}

/// The file.
#[derive(Debug, Clone)]
pub struct CacheFile(PathBuf);

impl CacheFile {
    /// The file at this path, which need not exist.
    pub fn at(path: PathBuf) -> CacheFile {
        CacheFile(path)
    }

    /// Its contents; empty if it can't be read or is of another version.
    pub fn read(&self) -> ModuleCache {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let open = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(&self.0);
        let text = open.and_then(|file| {
            let mut text = Vec::new();
            file.take(MOST).read_to_end(&mut text)?;
            Ok(text)
        });
        let contents = text.ok().and_then(|text| serde_json::from_slice::<Contents<ModuleCache>>(&text).ok());
        let mut files =
            contents.filter(|contents| contents.by == executable()).map(|contents| contents.files);
        files.iter_mut().for_each(ModuleCache::cut);
        files.unwrap_or_default()
    }

    /// Replaces it atomically.
    pub fn write(&self, files: &ModuleCache) -> io::Result<()> {
        let folder = self.0.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let new = self.0.with_extension(format!("{}.new", std::process::id()));
        let text = serde_json::to_vec(&Contents { by: executable(), files })?;
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| std::fs::rename(&new, &self.0));
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    }
}

/// Identifies this executable.
fn executable() -> String {
    let about = std::fs::metadata("/proc/self/exe")
        .map(|about| format!("{}:{}:{}.{}", about.ino(), about.len(), about.mtime(), about.mtime_nsec()));
    format!("{} {}", env!("CARGO_PKG_VERSION"), about.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> ModuleCache {
        serde_json::from_str(r#"{"files": {"1:2:3": null}}"#).expect("a cache")
    }

    #[test]
    fn contents_are_read_as_written_and_only_by_the_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = CacheFile::at(folder.path().join("a/b/files.json"));
        assert!(kept.read().is_empty());
        for _ in 0..2 {
            kept.write(&known()).expect("written");
            assert_eq!(kept.read(), known());
        }
        let about = std::fs::metadata(folder.path().join("a/b/files.json")).expect("a file");
        assert_eq!(about.mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path().join("a/b")).expect("a folder").count(), 1);
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_version_is_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("files.json");
        let kept = CacheFile::at(path.clone());
        kept.write(&known()).expect("written");
        let text = std::fs::read_to_string(&path).expect("text");
        std::fs::write(&path, text.replace(&executable(), "another")).expect("written");
        assert!(kept.read().is_empty());
        std::fs::write(&path, &text[..text.len() / 2]).expect("written");
        assert!(kept.read().is_empty());
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        assert!(kept.read().is_empty());
        assert!(CacheFile::at("/proc/no/folder".into()).write(&known()).is_err());
    }
}
