//! Hands for slow motion: contexts that are control groups, each with a CPU quota, so that few cores pass for
//! more contexts, all equally slow. A thread runs on a context by being in its group; affinities stay. A new
//! thread is in its creator's group, so [`Slow::follow`] has to be called every [`RHYTHM`], a period of the
//! quotas. The groups belong to `scaf bench mix --contexts`, which takes them away at the end: nothing here
//! is guarded or given back.

mod contexts;
mod spread;

pub use contexts::{Contexts, Error, MOST_PERIOD_US};

use crate::apply::threads::Trouble;
use crate::observe::Observer;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Time between two looks for new threads.
pub const RHYTHM: Duration = Duration::from_millis(10);

/// Moves programs' threads onto contexts.
pub struct Slow {
    contexts: Contexts,
    observer: Observer,
    placed: BTreeMap<u32, Placed>,
}

struct Placed {
    starttime: u64,
    on: Vec<u32>,
    at: BTreeMap<u32, u32>,
}

impl Slow {
    /// Hands for these contexts.
    pub fn new(contexts: Contexts) -> Slow {
        Slow { contexts, observer: Observer::new(Path::new("/")), placed: BTreeMap::new() }
    }

    /// The contexts.
    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// Places a process' threads, also those to come, on the contexts `on` in order; on all if it is empty.
    /// # Errors
    /// The process has ended, or the kernel refuses.
    pub fn place(&mut self, pid: u32, starttime: u64, on: &[u32]) -> Result<(), Trouble> {
        let within: Vec<u32> =
            on.iter().copied().filter(|context| *context < self.contexts.count()).collect();
        let on = if within.is_empty() { (0..self.contexts.count()).collect() } else { within };
        let known = self.placed.remove(&pid).filter(|placed| placed.starttime == starttime);
        let mut placed = Placed { starttime, on, at: known.map(|placed| placed.at).unwrap_or_default() };
        let done = settle(&self.contexts, &self.observer, pid, &mut placed);
        if !matches!(done, Err(Trouble::Gone(_))) {
            self.placed.insert(pid, placed);
        }
        done
    }

    /// Places threads that have come since.
    pub fn follow(&mut self) {
        let (contexts, observer) = (&self.contexts, &self.observer);
        self.placed
            .retain(|pid, placed| !matches!(settle(contexts, observer, *pid, placed), Err(Trouble::Gone(_))));
    }
}

fn settle(contexts: &Contexts, observer: &Observer, pid: u32, placed: &mut Placed) -> Result<(), Trouble> {
    let process = observer.process(pid);
    let mut threads = process.threads().map_err(|_| Trouble::Gone(pid))?;
    threads.sort_unstable();
    let same = threads.len() == placed.at.len() && threads.iter().all(|tid| placed.at.contains_key(tid));
    if same && placed.at.values().all(|context| placed.on.contains(context)) {
        return Ok(());
    }
    if process.stat().map_err(|_| Trouble::Gone(pid))?.starttime != placed.starttime {
        return Err(Trouble::Gone(pid));
    }
    let wanted = spread::spread(&threads, &placed.at, &placed.on);
    let mut at = BTreeMap::new();
    for (tid, context) in wanted {
        if placed.at.get(&tid) != Some(&context) {
            match contexts.put(tid, context) {
                Err(e) if e.raw_os_error() == Some(libc::ESRCH) => continue,
                Err(source) => return Err(Trouble::Unmoved { pid, context, source }),
                Ok(()) => {}
            }
        }
        at.insert(tid, context);
    }
    placed.at = at;
    Ok(())
}
