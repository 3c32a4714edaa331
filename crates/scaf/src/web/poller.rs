//! The daemon's history, kept up to date by one thread for all pages and metrics.
//!
//! It asks twenty times a second while a page is open, else every few seconds, and at once for metrics.
//! Nothing is missed, because the daemon keeps ten minutes.

use super::metrics::{self, Format, Known};
use super::program_totals::ProgramTotals;
use crate::daemon;
use crate::feed::Feed;
use anyhow::{Context, Result};
use scaf_policy::Topology;
use scafd::control::{History, Reply, Request};
use scafd::observe::clock::now_ns;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Duration;
use tokio::sync::watch;

/// Time between two requests while a page is open: what happens is kept within 0.05 s and so seen within
/// 0.1.
const WATCHED: Duration = Duration::from_millis(50);
/// The same while none is, and while there is no daemon.
const UNWATCHED: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_secs(1);
/// Answers taken at once: a full history has fewer.
const AT_ONCE: usize = 200;

/// See the module.
#[derive(Debug)]
pub struct Poller {
    state: Mutex<State>,
    /// Only one asks at a time.
    asking: Mutex<()>,
    /// Counts what is new.
    news: watch::Sender<u64>,
    viewers: AtomicUsize,
    thread: OnceLock<Thread>,
}

#[derive(Debug)]
struct State {
    feed: Feed,
    totals: ProgramTotals,
    machine: Topology,
    socket: Option<PathBuf>,
    /// Why there is no daemon, if there is none.
    lost: Option<String>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Poller {
    /// Of a daemon that is yet to be asked, with metrics of so many programs' names.
    pub fn new(programs: usize) -> Arc<Poller> {
        let state = State {
            feed: Feed::default(),
            totals: ProgramTotals::new(programs),
            machine: Topology::default(),
            socket: None,
            lost: None,
        };
        Arc::new(Poller {
            state: Mutex::new(state),
            asking: Mutex::new(()),
            news: watch::Sender::new(0),
            viewers: AtomicUsize::new(0),
            thread: OnceLock::new(),
        })
    }

    /// Starts the thread that asks. It ends with the process.
    /// # Errors
    /// There can't be another thread.
    pub fn start(self: &Arc<Poller>) -> Result<()> {
        let live = Arc::clone(self);
        let follow = move || {
            loop {
                live.ask();
                let watched = live.viewers.load(Ordering::SeqCst) > 0;
                std::thread::park_timeout(match live.lost() {
                    Some(_) => AGAIN,
                    None if watched => WATCHED,
                    None => UNWATCHED,
                });
            }
        };
        let thread = std::thread::Builder::new().name("scaf-live".into()).spawn(follow);
        _ = self.thread.set(thread.context("a thread")?.thread().clone());
        Ok(())
    }

    /// Asks for what is new.
    pub fn ask(&self) {
        let _alone = locked(&self.asking);
        let (before, socket) = {
            let state = locked(&self.state);
            ((state.feed.daemon(), state.feed.moment(), state.lost.clone()), state.socket.clone())
        };
        let asked = match socket {
            Some(socket) => self.take_from(&socket),
            None => self.find().and_then(|socket| self.take_from(&socket)),
        };
        let mut state = locked(&self.state);
        match asked {
            Ok(()) => state.lost = None,
            // Another one may answer elsewhere, of another machine's size.
            Err(error) => (state.lost, state.socket) = (Some(format!("{error:#}")), None),
        }
        if before != (state.feed.daemon(), state.feed.moment(), state.lost.clone()) {
            self.news.send_modify(|count| *count += 1);
        }
    }

    fn find(&self) -> Result<PathBuf> {
        let socket = daemon::require()?;
        if let Reply::Machine(machine) = daemon::ask(&socket, &Request::Machine)? {
            locked(&self.state).machine = *machine;
        }
        locked(&self.state).socket = Some(socket.clone());
        Ok(socket)
    }

    fn take_from(&self, socket: &std::path::Path) -> Result<()> {
        for _ in 0..AT_ONCE {
            let moment = locked(&self.state).feed.moment();
            let Reply::History(answer) = daemon::ask(socket, &Request::History(moment))? else { break };
            let state = &mut *locked(&self.state);
            let totals = &mut state.totals;
            let more = state.feed.take(*answer, |before, frame| totals.add(before, frame));
            if let Some(now) = state.feed.latest() {
                totals.admit(now);
            }
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Why there is no daemon, if there is none.
    pub fn lost(&self) -> Option<String> {
        locked(&self.state).lost.clone()
    }

    /// The daemon's socket, if there is one.
    pub fn socket(&self) -> Option<PathBuf> {
        locked(&self.state).socket.clone()
    }

    /// The machine; empty before it is known.
    pub fn machine(&self) -> Topology {
        locked(&self.state).machine.clone()
    }

    /// As many moments as are sent at once after that moment of that daemon, and whether that is all.
    pub fn since(&self, daemon: u32, moment: u64) -> (History, bool) {
        let state = locked(&self.state);
        let answer = state.feed.since(daemon, moment);
        let last = answer.frames.last().map(|frame| frame.moment);
        let all = last.is_none_or(|last| last == answer.latest);
        (answer, all)
    }

    /// All metrics, as of now.
    /// # Errors
    /// As [`metrics::text`].
    pub fn metrics(&self, format: Format) -> Result<String> {
        self.ask();
        let state = locked(&self.state);
        let now = state.feed.latest().filter(|_| state.lost.is_none());
        Ok(metrics::text(&Known { now, totals: &state.totals, clock_ns: now_ns() }, format)?)
    }

    /// A channel that signals news.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// A page is open until what is returned is dropped; `None` if too many are.
    pub fn watch(self: &Arc<Poller>, most: usize) -> Option<Viewer> {
        let one_more = |now: usize| (now < most).then_some(now + 1);
        self.viewers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).ok()?;
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
        Some(Viewer(Arc::clone(self)))
    }
}

/// An open page.
#[derive(Debug)]
pub struct Viewer(Arc<Poller>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_may_watch_at_a_time() {
        let live = Poller::new(1);
        let first = live.watch(2);
        let second = live.watch(2);
        assert!(first.is_some() && second.is_some() && live.watch(2).is_none());
        drop(second);
        assert!(live.watch(2).is_some());
    }
}
