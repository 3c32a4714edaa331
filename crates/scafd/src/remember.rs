//! Access to the profile database ([`scaf_memory`]) by a thread of its own.
//!
//! A disk may be slow, and a home on another machine may never answer. The daemon sends requests, goes on,
//! and is woken by the answers. Requests beyond the queue's length are dropped, and errors are logged.

mod profile_link;

pub(crate) use profile_link::ProfileLink;

use crate::control::{Reply, Request};
use crate::log::warning;
use crate::paths::{self, Scope};
use rustix::event::{EventfdFlags, eventfd};
use scaf_memory::{Checked, Error, Key, Profile, Profiles, Recalled};
use scaf_policy::ProgramId;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Requests that may wait; the largest has some 100 KB.
const WAITING: usize = 256;
/// How long to wait at the daemon's end.
const AT_THE_END: Duration = Duration::from_secs(1);

/// A request to the thread.
#[allow(missing_docs)] // names say enough of most fields
#[derive(Debug)]
pub enum Ask {
    /// Recall what is known of a program: [`Answer::Recalled`].
    Recall { id: ProgramId, uid: u32, key: Key },
    /// Save a program's profile.
    Keep {
        uid: u32,
        profile: Box<Profile>,
        /// Whether this run has saved nothing before.
        fresh: bool,
    },
    /// Save a place at which a program spun for its own threads.
    Spinner { uid: u32, place: String },
    /// A user's request: [`Answer::Reply`].
    Request { connection: u64, uid: u32, request: Request },
}

/// An answer of the thread.
#[allow(missing_docs)] // names say enough of most fields
#[derive(Debug)]
pub enum Answer {
    /// What is known of a program.
    Recalled {
        id: ProgramId,
        key: Key,
        found: Option<Box<Recalled>>,
        /// What `scaf check` found out about its executable.
        checked: Option<Checked>,
        /// Of its user's programs: see [`Ask::Spinner`].
        spinners: Vec<String>,
    },
    /// For a user.
    Reply { connection: u64, reply: Reply },
}

/// The daemon's side of the thread.
pub struct Remember {
    machine: String,
    to: SyncSender<Ask>,
    from: Receiver<Answer>,
    ready: Arc<OwnedFd>,
    ended: Receiver<()>,
    full: bool,
}

impl Remember {
    /// Starts the thread, for the files in `folder` and profiles of this kind of `machine`.
    pub fn start(scope: Scope, folder: PathBuf, machine: String) -> std::io::Result<Remember> {
        let ready = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (to, asked) = sync_channel(WAITING);
        let (answers, from) = channel();
        let (end, ended) = channel();
        let wake = Arc::clone(&ready);
        std::thread::Builder::new().name("memory".into()).spawn(move || {
            Worker { scope, folder, open: None, answers, wake, complained: false }.work(&asked);
            let _ = end.send(());
        })?;
        Ok(Remember { machine, to, from, ready, ended, full: false })
    }

    /// The kind of machine.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Sends a request; false if the queue is full, and it was dropped.
    pub fn ask(&mut self, ask: Ask) -> bool {
        let asked = self.to.try_send(ask);
        if matches!(asked, Err(TrySendError::Full(_))) && !self.full {
            warning!("the memory's files don't answer: what programs teach meanwhile isn't kept");
        }
        self.full = asked.is_err();
        !self.full
    }

    /// Answers since the last call.
    pub fn answers(&mut self) -> Vec<Answer> {
        let mut count = [0u8; 8];
        let _ = rustix::io::read(&*self.ready, &mut count);
        self.from.try_iter().collect()
    }

    /// Waits for pending requests, but not for long.
    pub fn end(self) {
        let Remember { to, ended, .. } = self;
        drop(to);
        let _ = ended.recv_timeout(AT_THE_END);
    }
}

impl AsFd for Remember {
    /// Readable when there are answers.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}

struct Worker {
    scope: Scope,
    folder: PathBuf,
    /// The user whose file was used last, and the file.
    open: Option<(u32, Profiles)>,
    answers: Sender<Answer>,
    wake: Arc<OwnedFd>,
    complained: bool,
}

impl Worker {
    fn work(&mut self, asked: &Receiver<Ask>) {
        while let Ok(ask) = asked.recv() {
            let answer = match ask {
                Ask::Recall { id, uid, key } => {
                    let found = self.with(uid, |memory| memory.recall(&key)).flatten().map(Box::new);
                    let spinners = self.with(uid, Profiles::spinners).unwrap_or_default();
                    let checked = self.with(uid, |memory| memory.checked(&key.executable)).flatten();
                    Answer::Recalled { id, key, found, checked, spinners }
                }
                Ask::Keep { uid, profile, fresh } => {
                    self.with(uid, |memory| memory.keep(&profile, fresh));
                    continue;
                }
                Ask::Spinner { uid, place } => {
                    self.with(uid, |memory| memory.keep_spinner(&place, now_s()));
                    continue;
                }
                Ask::Request { connection, uid, request } => {
                    let reply = answer(self.memory(uid), &request);
                    Answer::Reply { connection, reply }
                }
            };
            if self.answers.send(answer).is_err() {
                return;
            }
            let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        }
    }

    fn memory(&mut self, uid: u32) -> &mut Profiles {
        let (scope, folder) = (self.scope, &self.folder);
        let open = || (uid, Profiles::renewing(&paths::memory_file(scope, folder, uid)));
        if self.open.as_ref().is_some_and(|(of, _)| *of != uid) {
            self.open = None;
        }
        &mut self.open.get_or_insert_with(open).1
    }

    /// `None` on an error; the first of several is logged.
    fn with<T>(&mut self, uid: u32, work: impl FnOnce(&mut Profiles) -> Result<T, Error>) -> Option<T> {
        let memory = self.memory(uid);
        let result = work(memory);
        if let Some(aside) = memory.set_aside() {
            warning!("what programs taught couldn't be read and begins anew; see {}", aside.display());
        }
        match result {
            Ok(value) => {
                self.complained = false;
                Some(value)
            }
            Err(e) => {
                if !std::mem::replace(&mut self.complained, true) {
                    warning!("what programs teach isn't kept: {e}");
                }
                None
            }
        }
    }
}

/// Answers one of the requests that are about profiles.
pub fn answer(memory: &mut Profiles, request: &Request) -> Reply {
    let reply = match request {
        Request::Profiles => memory.programs().map(Reply::Profiles),
        Request::Profile(id) => memory.program(*id).map(|found| Reply::Profile(found.map(Box::new))),
        Request::Forget(id) => memory.forget(*id).map(|was| Reply::Forgotten(usize::from(was))),
        Request::ForgetAll => memory.forget_all().map(Reply::Forgotten),
        Request::Checked => memory.all_checked().map(Reply::Checked),
        Request::KeepChecked(checked) => memory.keep_checked(checked).map(|()| Reply::Kept),
        Request::ForgetChecked(executable) => {
            memory.forget_checked(executable).map(|was| Reply::Forgotten(usize::from(was)))
        }
        Request::Snapshot
        | Request::History(_)
        | Request::Machine
        | Request::AffinityOf(_)
        | Request::Adopt { .. }
        | Request::Release(_)
        | Request::Binds(_)
        | Request::BindsNoMore(_)
        | Request::SetPolicy(_)
        | Request::SetLimits(_)
        | Request::SetLimitsOf(..)
        | Request::Mold(_)
        | Request::Decision(_)
        | Request::Decisions(_) => return Reply::Error("that isn't about profiles".into()),
    };
    reply.unwrap_or_else(|e| Reply::Error(e.to_string()))
}

/// Seconds since 1970.
pub fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
