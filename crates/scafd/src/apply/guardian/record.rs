//! What the table says of affinities, once more in a file beside the socket. It is for the next daemon, where
//! this one and its guardian are killed together: programs go on then with the affinities that they have, and
//! those that enter no region don't notice.

use super::narrowed::Narrowed;
use super::stop_table::MOST_PROGRAMS;
use super::table::{Entry, SLOTS, load};
use crate::apply::threads::mask_words;
use rustix::fs::{FileType, Mode, OFlags, fstat, lstat, open, rename, unlink};
use rustix::io::pwrite;
use scaf_policy::PuSet;
use scaf_proto::MASK_WORDS;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::Ordering;

/// A program's words: process id, 0 where there is none; start time; its own affinity; ours.
const WORDS: usize = 2 + (1 + SLOTS) * MASK_WORDS;
const RECORD: usize = WORDS * size_of::<u64>();
/// In front stands of which start of the machine, and of which version, the rest is.
const HEAD: usize = size_of::<u64>();
/// Bytes of a whole file.
const MOST: u64 = (HEAD + MOST_PROGRAMS * RECORD) as u64;

/// The file; removed on drop.
pub(super) struct Record {
    file: OwnedFd,
    site: Site,
}

/// Where it is, for a guardian, which has no file open.
#[derive(Clone, Copy)]
pub(super) struct Site {
    path: &'static Path,
    inode: u64,
}

impl Site {
    /// Removes it, unless another daemon's is there by now.
    pub(super) fn remove(&self) {
        if lstat(self.path).is_ok_and(|status| status.st_ino == self.inode) {
            let _ = unlink(self.path);
        }
    }
}

impl Record {
    /// Begins a new one in the place of any that is there.
    /// # Errors
    /// The file can't be made.
    pub(super) fn begin(path: &Path) -> io::Result<Record> {
        // Another inode than the last one's, whose guardian may still be about to remove that.
        let first = path.with_extension("narrowed-first");
        let begun = Record::begin_at(&first, path);
        if begun.is_err() {
            // What stands there has been given back.
            let _ = unlink(&first);
            let _ = unlink(path);
        }
        begun
    }

    fn begin_at(first: &Path, path: &Path) -> io::Result<Record> {
        match unlink(first) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(e) => return Err(e.into()),
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = open(first, flags, Mode::RUSR | Mode::WUSR)?;
        pwrite(&file, &head().to_ne_bytes(), 0)?;
        rename(first, path)?;
        // A daemon has one. Its guardian is in another folder.
        let path = Box::leak(std::path::absolute(path)?.into_boxed_path());
        let site = Site { path, inode: fstat(&file)?.st_ino };
        Ok(Record { file, site })
    }

    /// Where it is.
    pub(super) fn site(&self) -> Site {
        self.site
    }

    /// What stands at a place of the table now, but for masks that threads don't have any more: who comes
    /// later can't tell these from the user's own. Where it can't be written the guardian has to do.
    pub(super) fn write(&self, at: usize, entry: &Entry, masks: &[&PuSet]) {
        let mut words =
            vec![u64::from(entry.pid.load(Ordering::Relaxed)), entry.starttime.load(Ordering::Relaxed)];
        words.extend(mask_words(&load(&entry.own)));
        let none = PuSet::new();
        let slots = masks.iter().copied().chain(std::iter::repeat(&none)).take(SLOTS);
        words.extend(slots.flat_map(mask_words));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.put(HEAD + at * RECORD, &bytes);
    }

    /// Nobody stands at that place any more.
    pub(super) fn clear(&self, at: usize) {
        self.put(HEAD + at * RECORD, &[0; size_of::<u64>()]);
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        // Less than all of it is no less than nothing: its masks are looked at one by one.
        let _ = pwrite(&self.file, bytes, at as u64);
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.site.remove();
    }
}

/// Whose affinities an earlier daemon left as they were; nobody's where the file isn't ours.
pub(super) fn left(path: &Path) -> Vec<Narrowed> {
    contents(path).map(|bytes| parse(&bytes, head())).unwrap_or_default()
}

fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = open(path, flags, Mode::empty())?;
    let status = fstat(&file)?;
    let is_ours = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile
        && status.st_uid == rustix::process::geteuid().as_raw()
        && status.st_mode & 0o077 == 0;
    if !is_ours {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    File::from(file).take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn parse(bytes: &[u8], head: u64) -> Vec<Narrowed> {
    let Some((first, rest)) = bytes.split_first_chunk::<HEAD>() else { return Vec::new() };
    if u64::from_ne_bytes(*first) != head {
        return Vec::new();
    }
    let (records, _) = rest.as_chunks::<RECORD>();
    records.iter().filter_map(parse_one).collect()
}

fn parse_one(bytes: &[u8; RECORD]) -> Option<Narrowed> {
    let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let ([pid, starttime], masks) = words.split_first_chunk::<2>()?;
    let mut masks = masks.chunks(MASK_WORDS).map(PuSet::from_words);
    let (pid, own) = (u32::try_from(*pid).ok().filter(|pid| *pid != 0)?, masks.next()?);
    let ours = masks.filter(|mask| !mask.is_empty()).collect();
    Some(Narrowed { pid, starttime: *starttime, own, ours })
}

/// Process ids mean something until the machine is started anew, and words while their order is this one.
fn head() -> u64 {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits = boot.bytes().filter_map(|byte| char::from(byte).to_digit(16));
    let boot = digits.fold(0u64, |all, digit| all.rotate_left(4) ^ u64::from(digit));
    boot ^ (1 << 32 | WORDS as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection;
    use proptest::prelude::*;

    fn set(text: &str) -> PuSet {
        text.parse().unwrap()
    }

    fn some_entry(pid: u32, own: &str) -> Box<Entry> {
        // SAFETY: an entry consists of atomics, for which zero is a value.
        let entry: Box<Entry> = unsafe { Box::new(std::mem::zeroed()) };
        entry.pid.store(pid, Ordering::Relaxed);
        entry.starttime.store(7, Ordering::Relaxed);
        super::super::table::store(&entry.own, &set(own));
        super::super::table::store(&entry.ours[SLOTS - 1], &set("2"));
        entry
    }

    #[test]
    fn what_was_written_and_not_cleared_is_found_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("narrowed");
        assert!(left(&path).is_empty());
        let record = Record::begin(&path).unwrap();
        record.write(3, &some_entry(41, "0-5"), &[&set("1")]);
        record.write(0, &some_entry(42, "0-1"), &[&set("0")]);
        record.write(9, &some_entry(43, "0-1"), &[&set("0"), &set("1")]);
        record.clear(9);
        let found = left(&path);
        assert_eq!(found.iter().map(|one| one.pid).collect::<Vec<_>>(), [42, 41]);
        let last = &found[1];
        assert_eq!((last.starttime, last.own.to_string(), last.ours.len()), (7, "0-5".into(), 1));
        assert_eq!(last.ours[0].to_string(), "1");
        drop(record);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_of_others_or_of_another_start_says_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("narrowed");
        let record = Record::begin(&path).unwrap();
        record.write(0, &some_entry(42, "0-1"), &[&set("0")]);
        assert_eq!(parse(&std::fs::read(&path).unwrap(), head() ^ 1).len(), 0);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(left(&path).is_empty());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!((left(&path).len(), left(&link).len()), (1, 0));
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_more_records_than_fit(mut bytes in collection::vec(any::<u8>(), 0..3 * RECORD)) {
            if let Some(first) = bytes.first_chunk_mut::<HEAD>() {
                *first = head().to_ne_bytes();
            }
            prop_assert!(parse(&bytes, head()).len() <= bytes.len() / RECORD);
        }
    }
}
