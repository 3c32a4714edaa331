//! Changes the system: the affinity of programs' threads, and whether they run ([`gang`]). A program that is
//! granted fewer PUs than its own has its threads' affinity *narrowed*. Threads that have bound themselves,
//! whose mask is neither the program's own nor one that we set, keep it; those that the runtime has bound by
//! its user's settings don't. What is narrowed is recorded for the
//! [`guardian`] first.

mod broker_backend;
pub mod gang;
pub mod groups;
pub mod guardian;
pub mod stop;
mod threads;

pub use guardian::{MASKS, MOST_PROGRAMS};
pub use threads::{Target, Trouble, bound_thread, mask_words};

use crate::broker::Broker;
use crate::broker::protocol::Ask;
use crate::observe::{Observer, affinity};
use broker_backend::BrokerBackend;
use gang::Gangs;
use guardian::{Guardian, Lease};
use scaf_policy::PuSet;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use threads::{Having, sweep};

/// Carries out the daemon's decisions.
pub struct Apply {
    observer: Observer,
    gangs: Option<Gangs>,
    backend: Backend,
    broker: Option<Broker>,
}

enum Backend {
    Local(Guardian),
    Broker(BrokerBackend),
    DryRun,
}

impl Apply {
    /// Changes affinities in this process; the guardian restores them if it dies.
    pub fn new(guardian: Guardian) -> Apply {
        Apply::by(Backend::Local(guardian))
    }

    /// Changes nothing.
    pub fn dry_run() -> Apply {
        Apply::by(Backend::DryRun)
    }

    fn by(backend: Backend) -> Apply {
        Apply { observer: Observer::new(Path::new("/")), gangs: None, backend, broker: None }
    }

    /// Changes affinities through a broker; in a dry run nothing.
    pub fn through(broker: Broker, lease: Lease, dry_run: bool) -> Apply {
        let through_broker = || Backend::Broker(BrokerBackend { broker: broker.clone(), lease });
        let backend = if dry_run { Backend::DryRun } else { through_broker() };
        Apply { broker: Some(broker.clone()), ..Apply::by(backend) }
    }

    /// The broker, if there is one.
    pub fn broker(&self) -> Option<&Broker> {
        self.broker.as_ref()
    }

    /// Whether there was a broker, and is none any more.
    pub fn is_lost(&self) -> bool {
        self.broker.as_ref().is_some_and(Broker::is_lost)
    }

    /// Registers the process at the other end of a connection with the broker.
    pub fn attach(&self, connection: BorrowedFd) -> io::Result<()> {
        match &self.broker {
            Some(broker) => broker.ask_with(&Ask::Attach, connection)?.done().map(drop),
            None => Ok(()),
        }
    }

    /// Removes a process that is no longer managed from the broker's.
    pub fn leave(&self, pid: u32) {
        if let Some(broker) = &self.broker {
            let _ = broker.ask(&Ask::Leave(pid));
        }
    }

    pub(crate) fn look_after_guardian(&self) {
        if let Backend::Local(guardian) = &self.backend {
            guardian.look_after();
        }
    }

    pub(crate) fn wake_guardian(&self) {
        if let Backend::Local(guardian) = &self.backend {
            guardian.wake();
        }
    }

    /// Adds turns.
    #[must_use]
    pub fn with_gangs(self, gangs: Option<Gangs>) -> Apply {
        Apply { gangs, ..self }
    }

    /// Turns, if programs can take any.
    pub fn gangs(&mut self) -> Option<&mut Gangs> {
        self.gangs.as_mut()
    }

    /// Whether affinities are left as they are.
    pub fn leaves_affinities(&self) -> bool {
        !matches!(self.backend, Backend::Local(_) | Backend::Broker(_))
    }

    /// Says until when affinities are to stay as they are; `None` while nobody is attached. True if that was
    /// over: the guardian has restored them all.
    pub fn renew(&mut self, until_ns: Option<u64>) -> bool {
        let was_over = match &mut self.backend {
            Backend::Local(guardian) => guardian.renew(until_ns),
            Backend::Broker(broker) => broker.renew(until_ns),
            Backend::DryRun => false,
        };
        if let Some(gangs) = self.gangs.as_ref().filter(|_| was_over) {
            gangs.resume();
        }
        was_over
    }

    /// Sets the affinity of all threads to `mask`. Gives what the kernel set (within the cpuset).
    pub fn narrow(&mut self, target: &Target, mask: &PuSet) -> Result<PuSet, Trouble> {
        let guardian = match &mut self.backend {
            Backend::Local(guardian) => guardian,
            Backend::Broker(broker) => return broker.narrow(target, mask),
            Backend::DryRun => return Ok(mask.clone()),
        };
        let mut ours: Vec<&PuSet> = target.masks.iter().filter(|known| *known != mask).collect();
        ours.push(mask);
        guardian.record(target.pid, target.starttime, target.own, &ours);
        let known: Vec<&PuSet> = std::iter::once(target.own).chain(target.masks).collect();
        let having = if target.any_mask { Having::Any } else { Having::OneOf(&known) };
        match sweep(&self.observer, target.pid, target.starttime, having, mask)? {
            Some(taken) if taken != *mask => {
                if !ours.contains(&&taken) {
                    ours.push(&taken);
                    guardian.record(target.pid, target.starttime, target.own, &ours);
                }
                Ok(taken)
            }
            _ => Ok(mask.clone()),
        }
    }

    /// Restores all threads' own affinity. On an error the guardian keeps its record.
    pub fn restore(&mut self, target: &Target) -> Result<(), Trouble> {
        let guardian = match &mut self.backend {
            Backend::Local(guardian) => guardian,
            // Nothing was set.
            Backend::Broker(_) if target.masks.is_empty() => return Ok(()),
            Backend::Broker(broker) => return broker.restore(target),
            Backend::DryRun => return Ok(()),
        };
        let known: Vec<&PuSet> = target.masks.iter().collect();
        let result = if known.is_empty() {
            Ok(())
        } else {
            sweep(&self.observer, target.pid, target.starttime, Having::OneOf(&known), target.own).map(drop)
        };
        if matches!(result, Ok(()) | Err(Trouble::Gone(_))) {
            guardian.clear(target.pid);
        }
        result
    }

    /// Gives a child that was born with a narrowed affinity its parent's own. Gives the number of threads
    /// checked.
    pub fn restore_child(&self, pid: u32, parent: &Target) -> u32 {
        let narrow = |mask: &PuSet| mask != parent.own && parent.masks.contains(mask);
        if self.leaves_affinities() || !affinity(pid).is_ok_and(|mask| narrow(&mask)) {
            return 0;
        }
        let Ok(stat) = self.observer.process(pid).stat() else { return 0 };
        if let Backend::Broker(broker) = &self.backend {
            broker.restore_child(pid, parent);
        } else {
            let known: Vec<&PuSet> = parent.masks.iter().collect();
            let _ = sweep(&self.observer, pid, stat.starttime, Having::OneOf(&known), parent.own);
        }
        stat.threads
    }
}
