//! Moves programs' threads onto contexts. A thread runs on a context by being in its group; affinities stay.
//! A new thread is in its creator's group, so [`Mover::follow`] has to be called every [`PERIOD`].

use super::contexts::Contexts;
use super::spread::spread;
use scafd::observe::Observer;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Time between two scans for new threads: a period of the quotas.
pub const PERIOD: Duration = Duration::from_millis(10);

/// What moves programs' threads.
pub struct Mover {
    contexts: Contexts,
    observer: Observer,
    placed: BTreeMap<u32, Placed>,
    has_warned: bool,
}

struct Placed {
    starttime: u64,
    on: Vec<u32>,
    at: BTreeMap<u32, u32>,
}

impl Mover {
    /// For these contexts.
    pub fn new(contexts: Contexts) -> Mover {
        let observer = Observer::new(Path::new("/"));
        Mover { contexts, observer, placed: BTreeMap::new(), has_warned: false }
    }

    /// The contexts.
    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// Places a process' threads, also those to come, on the contexts `on` in order; on all if it is empty.
    pub fn place(&mut self, pid: u32, on: Vec<u32>) {
        let Ok(stat) = self.observer.process(pid).stat() else { return };
        let on = if on.is_empty() { (0..self.contexts.count()).collect() } else { on };
        let known = self.placed.remove(&pid).filter(|placed| placed.starttime == stat.starttime);
        if known.as_ref().is_some_and(|placed| placed.on == on) {
            self.placed.extend(known.map(|placed| (pid, placed)));
            return;
        }
        let at = known.map(|placed| placed.at).unwrap_or_default();
        self.placed.insert(pid, Placed { starttime: stat.starttime, on, at });
        self.follow();
    }

    /// Places threads that have come since.
    pub fn follow(&mut self) {
        let Mover { contexts, observer, placed, has_warned } = self;
        placed.retain(|pid, placed| {
            settle(contexts, observer, *pid, placed).unwrap_or_else(|error| {
                if !std::mem::replace(has_warned, true) {
                    eprintln!("scaf-lab: a thread of process {pid} can't be moved to a context: {error}");
                }
                true
            })
        });
    }
}

/// Moves the threads that aren't where they belong; false if the process has ended.
fn settle(contexts: &Contexts, observer: &Observer, pid: u32, placed: &mut Placed) -> io::Result<bool> {
    let process = observer.process(pid);
    let Ok(mut threads) = process.threads() else { return Ok(false) };
    threads.sort_unstable();
    let same = threads.len() == placed.at.len() && threads.iter().all(|tid| placed.at.contains_key(tid));
    if same && placed.at.values().all(|context| placed.on.contains(context)) {
        return Ok(true);
    }
    if process.stat().map_or(true, |stat| stat.starttime != placed.starttime) {
        return Ok(false);
    }
    let mut at = BTreeMap::new();
    for (tid, context) in spread(&threads, &placed.at, &placed.on) {
        if placed.at.get(&tid) != Some(&context) {
            match contexts.put(tid, context) {
                Err(e) if e.raw_os_error() == Some(libc::ESRCH) => continue,
                moved => moved?,
            }
        }
        at.insert(tid, context);
    }
    placed.at = at;
    Ok(true)
}
