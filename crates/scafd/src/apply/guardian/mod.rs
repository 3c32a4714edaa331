//! The guardian: a small process that restores programs' affinity when the daemon is killed or hangs, and
//! resumes those that it had stopped ([`crate::apply::gang`]). It sleeps in a `read` on a pipe whose other
//! end the daemon holds ([`guardian_process`]); when the daemon dies, the read ends ([`restore`]). What is
//! narrowed is in an anonymous mapping that both share. If the guardian dies, another one is started at once
//! while programs are attached, and before any other change. If both are killed together, the next daemon
//! finds what was narrowed in a file ([`record`]).

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
    /// Starts the guardian of affinities that hold for as long as that lease.
    pub fn start(lease: Lease) -> io::Result<Guardian> {
        Guardian::with(lease, None)
    }

    /// The same, with a record in a file that is removed at the end, unless it can't be written. What an
    /// earlier daemon left in it, killed together with its guardian, is restored first.
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

    /// Where stopped programs are recorded.
    pub fn stops(&self) -> Stops {
        Stops::new(&self.table.stops, self.process.clone())
    }

    /// Records that the threads of a process have or are about to have one of `masks`, at most
    /// [`crate::apply::MASKS`] and two more.
    pub fn record(&mut self, pid: u32, starttime: u64, own: &PuSet, masks: &[&PuSet]) {
        // Without a guardian the daemon goes on, as long as no program is stopped.
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

    /// Says until when what is recorded holds. True if that was over.
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

    /// Starts another one if it has died.
    pub fn look_after(&self) {
        self.process.ensure();
    }

    /// Wakes it to read the lease: it sleeps without a limit while nobody is attached.
    pub fn wake(&self) {
        self.process.wake();
    }

    /// A free entry. Entries of programs that left and couldn't be restored may have used all up.
    fn free(&mut self) -> Option<usize> {
        let free = |e: &Entry| e.pid.load(Ordering::Relaxed) == 0;
        if !self.table.entries.iter().any(free) {
            let observer = Observer::new(Path::new("/"));
            let ended = |(pid, at): (&u32, &usize)| {
                let starttime = self.table.entries[*at].starttime.load(Ordering::Relaxed);
                (!observer.process(*pid).is_since(starttime)).then_some(*pid)
            };
            let ended: Vec<u32> = self.places.iter().filter_map(ended).collect();
            ended.into_iter().for_each(|pid| self.clear(pid));
        }
        self.table.entries.iter().position(free)
    }

    /// Records that a process has its own affinity again, or has ended.
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
    /// Ends the guardian and waits for that. It restores what is still recorded.
    fn drop(&mut self) {
        self.process.end();
    }
}
