//! The guardian: a small process that gives programs their affinity back when the daemon is killed, and lets those go on that it had
//! stopped ([`super::gang`]): these first, and also where the daemon itself was stopped or hangs.
//!
//! It is forked before anything else happens and sleeps in a `read` on a pipe whose other end the daemon holds. When
//! the daemon dies, of whatever, the read ends. What the daemon has narrowed stands in a table that both share:
//! an anonymous mapping, so it needs no file and outlives neither of them. After a clean exit the table is empty and
//! the guardian just ends.

use crate::apply::gang::stops::{self, Stops};
use crate::apply::{mask_words, sweep};
use crate::observe::{Observer, affinity};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use scaf_policy::PuSet;
use scaf_proto::MASK_WORDS;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Programs that can be narrowed at a time: as many as can be attached.
pub const ENTRIES: usize = crate::talk::MAX_CLIENTS;

/// Masks in an entry: those that are remembered, the one that is being set, and what the kernel made of it.
const SLOTS: usize = crate::registry::MASKS + 2;

/// How many generations of children are given their affinity back.
const GENERATIONS: u32 = 8;

/// How often the daemon is looked after while it has stopped somebody.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

type SharedMask = [AtomicU64; MASK_WORDS];

/// One narrowed program. `pid` is written last and cleared first; 0 marks a free entry.
#[repr(C)]
struct Entry {
    pid: AtomicU32,
    starttime: AtomicU64,
    own: SharedMask,
    /// What was set, now and before: some threads may have any of them when the daemon dies. Free ones are empty, which
    /// no thread's mask is.
    ours: [SharedMask; SLOTS],
}

#[repr(C)]
struct Table {
    entries: [Entry; ENTRIES],
    stops: stops::Table,
}

/// The daemon's side of the guardian.
pub struct Guardian {
    table: &'static Table,
    places: BTreeMap<u32, usize>,
    /// Its closing is what the guardian waits for.
    alive: Option<OwnedFd>,
    pid: rustix::process::Pid,
}

impl Guardian {
    /// Forks the guardian. Has to be called while the process has one thread.
    ///
    /// # Errors
    /// No memory, no process or no file descriptor left.
    pub fn start() -> io::Result<Guardian> {
        let table = map_table()?;
        let (wait, alive) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        // SAFETY: there is one thread, so the child may do whatever the parent may.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(alive);
                watch(table, &wait)
            }
            pid => {
                let pid =
                    rustix::process::Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave pid 0"))?;
                Ok(Guardian { table, places: BTreeMap::new(), alive: Some(alive), pid })
            }
        }
    }

    /// Where the gangs' thread notes whom it stops.
    ///
    /// # Errors
    /// No file descriptor left.
    pub fn stops(&self) -> io::Result<Stops> {
        let alive = self.alive.as_ref().map(OwnedFd::try_clone).transpose()?;
        Ok(Stops::new(&self.table.stops, alive))
    }

    /// Notes that the threads of a process have or are about to have one of `masks`, of which there are at most two more than
    /// [`crate::registry::MASKS`].
    pub fn note(&mut self, pid: u32, starttime: u64, own: &PuSet, masks: &[&PuSet]) {
        let same = |at: &usize| self.table.entries[*at].starttime.load(Ordering::Relaxed) == starttime;
        let known = self.places.get(&pid).copied().filter(same);
        if known.is_none() {
            // Of an earlier process with its id.
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
    }

    /// A free entry. There are as many as there can be clients; only notes about programs that have left and could not
    /// be restored can use them up, and of those the ones that have ended since need theirs no more.
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
        }
    }
}

impl Drop for Guardian {
    /// Lets the guardian end, and waits until it has. What is noted still, it gives back.
    fn drop(&mut self) {
        drop(self.alive.take());
        let _ = rustix::process::waitpid(Some(self.pid), rustix::process::WaitOptions::empty());
    }
}

/// Memory that stays shared over a fork; zeroed, so all entries are free.
fn map_table() -> io::Result<&'static Table> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    // SAFETY: a fresh mapping at an address of the kernel's choice; it is never unmapped.
    let at = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            size_of::<Table>(),
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
        )?
    };
    // SAFETY: the mapping has the table's size and page alignment, and a table consists of atomics, for which zero is
    // a value.
    Ok(unsafe { &*at.cast::<Table>() })
}

/// The guardian itself. Never returns.
fn watch(table: &Table, wait: &OwnedFd) -> ! {
    // Signals meant for the daemon's process group or terminal are not for us: we leave when it has left.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let _ = rustix::thread::set_name(c"scafd-guardian");
    while wait_for_end(table, wait) {
        // The daemon is stopped, or hangs. When it goes on, it stops them again.
        table.stops.let_all_go();
    }
    table.stops.let_all_go();
    table.stops.take_all_away();
    restore_all(table);
    // SAFETY: ends the process without running the daemon's exit handlers.
    unsafe { libc::_exit(0) }
}

/// True if the daemon is late, false when it has ended.
fn wait_for_end(table: &Table, wait: &OwnedFd) -> bool {
    loop {
        let timeout = table.stops.is_watched().then_some(LOOK);
        let mut poll = [PollFd::new(wait, PollFlags::IN)];
        match rustix::event::poll(&mut poll, timeout.as_ref()) {
            // A byte only wakes us: from now on there is somebody to watch.
            Ok(1..) => match rustix::io::read(wait, &mut [0u8; 64]) {
                Ok(0) => return false,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return false,
            },
            Ok(0) if table.stops.is_late() => return true,
            Ok(0) | Err(_) => {}
        }
    }
}

fn restore_all(table: &Table) {
    let observer = Observer::new(Path::new("/"));
    let entries: Vec<(u32, &Entry)> = table
        .entries
        .iter()
        .map(|entry| (entry.pid.load(Ordering::Acquire), entry))
        .filter(|(pid, _)| *pid != 0)
        .collect();
    let programs: Vec<u32> = entries.iter().map(|(pid, _)| *pid).collect();
    for (pid, entry) in entries {
        let own = load(&entry.own);
        let masks: Vec<PuSet> = entry.ours.iter().map(load).filter(|mask| !mask.is_empty()).collect();
        let ours: Vec<&PuSet> = masks.iter().collect();
        // Whatever can't be restored has ended or isn't ours to change.
        let _ = sweep(&observer, pid, entry.starttime.load(Ordering::Relaxed), &ours, &own);
        restore_children(&observer, pid, &programs, &ours, &own, GENERATIONS);
    }
}

/// Children born with a narrowed affinity have it still, and nobody else knows.
fn restore_children(
    observer: &Observer,
    pid: u32,
    programs: &[u32],
    ours: &[&PuSet],
    own: &PuSet,
    depth: u32,
) {
    for child in observer.process(pid).children(usize::MAX) {
        if programs.contains(&child) {
            continue;
        }
        if affinity(child).is_ok_and(|mask| ours.contains(&&mask))
            && let Ok(stat) = observer.process(child).stat()
        {
            let _ = sweep(observer, child, stat.starttime, ours, own);
        }
        if depth > 1 {
            restore_children(observer, child, programs, ours, own, depth - 1);
        }
    }
}

fn store(to: &SharedMask, set: &PuSet) {
    for (cell, word) in to.iter().zip(mask_words(set)) {
        cell.store(word, Ordering::Relaxed);
    }
}

fn load(from: &SharedMask) -> PuSet {
    PuSet::from_words(&std::array::from_fn::<u64, MASK_WORDS, _>(|i| from[i].load(Ordering::Relaxed)))
}
