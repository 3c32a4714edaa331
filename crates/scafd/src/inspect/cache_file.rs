//! A cache file with what is known of a user's files, for the next daemon of that user. It is trusted as
//! little as a helper's answer, and only used if the same executable wrote it: another version may have
//! another analysis. Each executable has a file of its own, so that two that are used by turns, of the system
//! and of a wheel, don't begin anew each time.

use rustix::fs::OFlags;
use scaf_inspect::ModuleCache;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of helpers' answers that are remembered for a user; when there would be more, what
/// files do by pointers is forgotten, and if that doesn't do, all.
pub const MOST_KNOWN: usize = 1 << 22;
/// Longest file that is read, in bytes: what is remembered, written otherwise.
const MOST: u64 = 4 * MOST_KNOWN as u64;
/// Executables whose files are kept; of more, those that were written last.
const MOST_FILES: usize = 4;

/// How the files' names begin,
const BEGIN: &str = "files-";
/// and end.
const END: &str = ".json";

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
    /// This executable's file in a folder; neither need exist.
    pub fn of(folder: &Path) -> CacheFile {
        let mut hasher = DefaultHasher::new();
        executable().hash(&mut hasher);
        CacheFile(folder.join(format!("{BEGIN}{:016x}{END}", hasher.finish())))
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
        remove_oldest(folder);
        written
    }
}

/// Leaves as many executables' files as are kept.
fn remove_oldest(folder: &Path) {
    // Of earlier versions.
    let _ = std::fs::remove_file(folder.join("files.json"));
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|file| {
        file.file_name().to_str().is_some_and(|name| name.starts_with(BEGIN) && name.ends_with(END))
    });
    let dated = files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())));
    let mut dated: Vec<_> = dated.collect();
    dated.sort_unstable_by(|one, other| other.cmp(one));
    for (_, path) in dated.into_iter().skip(MOST_FILES) {
        let _ = std::fs::remove_file(path);
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
        let inner = folder.path().join("a/b");
        let kept = CacheFile::of(&inner);
        assert!(kept.read().is_empty());
        for _ in 0..2 {
            kept.write(&known()).expect("written");
            assert_eq!(kept.read(), known());
        }
        let about = std::fs::metadata(&kept.0).expect("a file");
        assert_eq!(about.mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(inner).expect("a folder").count(), 1);
    }

    #[test]
    fn files_of_other_executables_stay_but_not_of_many() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = |number: usize| folder.path().join(format!("{BEGIN}{number:016x}{END}"));
        let other = folder.path().join("topology.json");
        std::fs::write(&other, "{}").expect("written");
        let old = std::time::SystemTime::UNIX_EPOCH;
        for number in 0..MOST_FILES + 3 {
            let file = std::fs::File::create(name(number)).expect("a file");
            let at = old + std::time::Duration::from_secs(number as u64);
            file.set_modified(at).expect("its time");
        }
        let kept = CacheFile::of(folder.path());
        kept.write(&known()).expect("written");
        assert_eq!(kept.read(), known());
        assert!(other.exists());
        let left: Vec<usize> = (0..MOST_FILES + 3).filter(|number| name(*number).exists()).collect();
        assert_eq!(left, [4, 5, 6], "and this executable's own");
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_version_is_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = CacheFile::of(folder.path());
        kept.write(&known()).expect("written");
        let text = std::fs::read_to_string(&kept.0).expect("text");
        std::fs::write(&kept.0, text.replace(&executable(), "another")).expect("written");
        assert!(kept.read().is_empty());
        std::fs::write(&kept.0, &text[..text.len() / 2]).expect("written");
        assert!(kept.read().is_empty());
        std::fs::remove_file(&kept.0).expect("removed");
        std::os::unix::fs::symlink("/dev/zero", &kept.0).expect("a link");
        assert!(kept.read().is_empty());
        assert!(CacheFile::of(Path::new("/proc/no/folder")).write(&known()).is_err());
    }
}
