//! Reads processes' command lines without blocking the daemon.
//!
//! The kernel reads them from the process's memory, which can block for ever: the page may belong to a file
//! system of its user's (FUSE) that doesn't answer. So reader threads read, and the daemon waits for them for
//! a moment only. A reader that hangs is left alone, its user's command lines aren't read for a while, and
//! other readers serve the other users.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

/// Reader threads.
const READERS: usize = 4;
/// Time for one command line. It takes some 20 us, and a busy machine may be late by some milliseconds.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long a user's command lines aren't read after one took longer.
const PENANCE: Duration = Duration::from_secs(60);

/// The readers.
pub struct CommandLines {
    readers: Vec<Reader>,
    patience: Duration,
    late: BTreeMap<u32, Instant>,
}

struct Reader {
    paths: SyncSender<PathBuf>,
    lines: Receiver<io::Result<Vec<u8>>>,
    /// The user of the process that it is late with.
    late_for: Option<u32>,
}

impl CommandLines {
    /// Starts the threads, as many as can be had.
    pub fn start() -> CommandLines {
        let readers = (0..READERS).filter_map(|_| Reader::start().ok()).collect();
        CommandLines { readers, patience: PATIENCE, late: BTreeMap::new() }
    }

    /// The command line of the process with this folder in `/proc`, of the user `uid`: up to
    /// [`scaf_inspect::MAX_ARGUMENTS`] bytes.
    pub fn of(&mut self, folder: &Path, uid: u32) -> io::Result<Vec<u8>> {
        let now = Instant::now();
        self.late.retain(|_, until| *until > now);
        self.readers.iter_mut().for_each(Reader::look);
        // A user can block one reader at most.
        if self.late.contains_key(&uid) || self.readers.iter().any(|reader| reader.late_for == Some(uid)) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        for _ in 0..=READERS {
            let at = self.free().ok_or(io::ErrorKind::WouldBlock)?;
            let reader = &mut self.readers[at];
            let asked = reader.paths.send(folder.join("cmdline"));
            match asked.map(|()| reader.lines.recv_timeout(self.patience)) {
                Ok(Ok(line)) => return line,
                Ok(Err(RecvTimeoutError::Timeout)) => {
                    reader.late_for = Some(uid);
                    self.late.insert(uid, Instant::now() + PENANCE);
                    return Err(io::ErrorKind::TimedOut.into());
                }
                // Its thread has died, as one does that gets no memory at its start. Another is started.
                Ok(Err(RecvTimeoutError::Disconnected)) | Err(_) => drop(self.readers.remove(at)),
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// A reader that isn't late; starts one more if there are fewer than [`READERS`].
    fn free(&mut self) -> Option<usize> {
        let free = self.readers.iter().position(|reader| reader.late_for.is_none());
        if free.is_none() && self.readers.len() < READERS {
            self.readers.push(Reader::start().ok()?);
            return Some(self.readers.len() - 1);
        }
        free
    }
}

impl Reader {
    fn start() -> io::Result<Reader> {
        let (paths, asked) = sync_channel::<PathBuf>(1);
        let (answer, lines) = sync_channel(1);
        let work = move || {
            while let Ok(path) = asked.recv() {
                if answer.send(read(&path)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("scafd-words".into()).stack_size(64 << 10).spawn(work)?;
        Ok(Reader { paths, lines, late_for: None })
    }

    /// Drops the late answer, if it has come.
    fn look(&mut self) {
        self.late_for = self.late_for.filter(|_| matches!(self.lines.try_recv(), Err(TryRecvError::Empty)));
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    std::fs::File::open(path)?.take(scaf_inspect::MAX_ARGUMENTS).read_to_end(&mut line)?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_whose_thread_has_died_are_replaced_and_nobody_is_punished_for_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cmdline"), b"a").unwrap();
        let dead = || Reader { paths: sync_channel(1).0, lines: sync_channel(1).1, late_for: Some(7) };
        let readers = (0..READERS).map(|_| dead()).collect();
        let mut words = CommandLines { readers, patience: Duration::from_secs(60), late: BTreeMap::new() };
        for uid in [7, 8] {
            assert_eq!(words.of(folder.path(), uid).unwrap(), b"a");
        }
    }

    #[test]
    fn a_command_line_that_never_comes_is_left_and_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let of = |pid: &str| folder.path().join(pid);
        for pid in ["1", "2"] {
            std::fs::create_dir(of(pid)).unwrap();
        }
        // To open a pipe that nobody writes to takes for ever.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            of("1").join("cmdline"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        std::fs::write(of("2").join("cmdline"), b"a\0b\0").unwrap();
        // Also on a busy machine the others are read in that time.
        let mut words = CommandLines { patience: Duration::from_secs(1), ..CommandLines::start() };
        let kind = |words: &mut CommandLines, pid: &str, uid| words.of(&of(pid), uid).unwrap_err().kind();
        for uid in 0..READERS as u32 {
            assert_eq!(words.of(&of("2"), uid).unwrap(), b"a\0b\0");
            assert_eq!(kind(&mut words, "1", uid), io::ErrorKind::TimedOut);
            // Its user has had its chance, also when the minute is over.
            assert_eq!(kind(&mut words, "2", uid), io::ErrorKind::TimedOut);
            words.late.clear();
            assert_eq!(kind(&mut words, "2", uid), io::ErrorKind::TimedOut);
        }
        assert_eq!(kind(&mut words, "2", 77), io::ErrorKind::WouldBlock);
        // When they no longer hang, they read again.
        drop(std::fs::OpenOptions::new().write(true).open(of("1").join("cmdline")).unwrap());
        let until = Instant::now() + Duration::from_secs(60);
        let mut uids = 77..;
        while words.of(&of("2"), uids.next().unwrap()).is_err() {
            assert!(Instant::now() < until);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(kind(&mut words, "3", uids.next().unwrap()), io::ErrorKind::NotFound);
    }
}
