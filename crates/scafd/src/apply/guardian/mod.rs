//! The guardian: a small process that gives programs their affinity back when the daemon is killed or hangs,
//! and resumes those that it had stopped ([`crate::apply::gang`]). It sleeps in a `read` on a pipe whose
//! other end the daemon holds ([`guardian_process`]); when the daemon dies, the read ends ([`restore`]).
//! What is narrowed stands in an anonymous mapping that both share; after a clean exit it is empty. Where the
//! guardian dies, another one takes its place at once while programs are attached, and before anything else
//! is changed. Where both are killed together, the next daemon finds what was narrowed in a file
//! ([`record`]).

mod guardian_process;
mod lease;
mod narrowed;
mod record;
mod restore;
pub mod stop_records;
mod stop_table;
mod table;

pub use lease::Lease;
pub use stop_table::MOST_PROGRAMS;
pub use table::MASKS;

use crate::log::warning;
use crate::observe::Observer;
use guardian_process::GuardianProcess;
use lease::share;
use record::Record;
use scaf_policy::PuSet;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use stop_records::Stops;
use table::{Entry, SharedMask, Table, load, store};

/// The daemon's side of the guardian.
pub struct Guardian {
    table: &'static Table,
    places: BTreeMap<u32, usize>,
    process: GuardianProcess,
    lease: Lease,
    record: Option<Record>,
}

impl Guardian {
    /// Starts the guardian, of affinities that hold for as long as that lease.
    /// # Errors
    /// No memory, no process or no file descriptor left.
    pub fn start(lease: Lease) -> io::Result<Guardian> {
        Guardian::with(lease, None)
    }

    /// The same, with a record in a file that is removed in the end, unless it can't be written. What an
    /// earlier daemon left in it, killed together with its guardian, is given back first.
    /// # Errors
    /// As for [`Guardian::start`].
    pub fn recorded(lease: Lease, path: &Path) -> io::Result<Guardian> {
        narrowed::give_back(&record::left(path));
        let record = Record::begin(path).map_err(|error| {
            warning!("{}: {error}; no daemon after this one will know what it narrowed", path.display());
        });
        Guardian::with(lease, record.ok())
    }

    fn with(lease: Lease, record: Option<Record>) -> io::Result<Guardian> {
        let table = share::<Table>()?;
        let process = GuardianProcess::start(table, lease, record.as_ref().map(Record::site))?;
        Ok(Guardian { table, places: BTreeMap::new(), process, lease, record })
    }

    /// Where the gangs' thread records whom it stops.
    pub fn stops(&self) -> Stops {
        Stops::new(&self.table.stops, self.process.clone())
    }

    /// Notes that the threads of a process have or are about to have one of `masks`, of which there are at
    /// most two more than [`crate::apply::MASKS`].
    pub fn record(&mut self, pid: u32, starttime: u64, own: &PuSet, masks: &[&PuSet]) {
        // Where there can't be another one we go on without, as long as nobody is stopped.
        self.process.ensure();
        let same = |at: &usize| self.table.entries[*at].starttime.load(Ordering::Relaxed) == starttime;
        let known = self.places.get(&pid).copied().filter(same);
        if known.is_none() {
            self.clear(pid);
        }
        let Some(at) = known.or_else(|| self.free()) else { return };
        let entry = &self.table.entries[at];
        if known.is_none() {
            entry.ours.iter().for_each(|slot| store(slot, &PuSet::new()));
            entry.starttime.store(starttime, Ordering::Relaxed);
            store(&entry.own, own);
        }
        let wanted = |slot: &&SharedMask| masks.contains(&&load(slot));
        for mask in masks {
            if !entry.ours.iter().any(|slot| load(slot) == **mask)
                && let Some(slot) = entry.ours.iter().find(|slot| !wanted(slot))
            {
                store(slot, mask);
            }
        }
        entry.pid.store(pid, Ordering::Release);
        self.places.insert(pid, at);
        if let Some(record) = &self.record {
            record.write(at, entry, masks);
        }
    }

    /// Says until when what is recorded holds. True if that was over before.
    pub fn renew(&mut self, until_ns: Option<u64>) -> bool {
        if until_ns.is_some() {
            self.look_after();
        }
        let renewed = self.lease.renew(until_ns);
        if renewed.begins {
            self.wake();
        }
        renewed.was_over
    }

    /// Starts another one where it has died.
    pub fn look_after(&self) {
        self.process.ensure();
    }

    /// Has it look at the lease again: it sleeps without a limit while there is nobody.
    pub fn wake(&self) {
        self.process.wake();
    }

    /// A free entry. There are as many as clients; records of programs that left and couldn't be restored
    /// can use them up.
    fn free(&mut self) -> Option<usize> {
        let free = |e: &Entry| e.pid.load(Ordering::Relaxed) == 0;
        if !self.table.entries.iter().any(free) {
            let observer = Observer::new(Path::new("/"));
            let ended = |(pid, at): (&u32, &usize)| {
                let starttime = self.table.entries[*at].starttime.load(Ordering::Relaxed);
                observer.process(*pid).stat().map_or(true, |stat| stat.starttime != starttime).then_some(*pid)
            };
            let ended: Vec<u32> = self.places.iter().filter_map(ended).collect();
            ended.into_iter().for_each(|pid| self.clear(pid));
        }
        self.table.entries.iter().position(free)
    }

    /// Notes that a process has its own affinity again, or has ended.
    pub fn clear(&mut self, pid: u32) {
        if let Some(at) = self.places.remove(&pid) {
            self.table.entries[at].pid.store(0, Ordering::Release);
            if let Some(record) = &self.record {
                record.clear(at);
            }
        }
    }
}

impl Drop for Guardian {
    /// Lets the guardian end, and waits until it has. What is still recorded, it gives back.
    fn drop(&mut self) {
        self.process.end();
    }
}
