//! Watches a private daemon while programs run: one snapshot each 20 ms, in a thread of its own. A snapshot
//! costs the daemon and us together about 0.1 ms of one PU, so that watching takes under 1% of it.

use crate::daemon;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two snapshots.
const PERIOD: Duration = Duration::from_millis(20);

/// What every program had at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When, in nanoseconds of CLOCK_MONOTONIC.
    pub now_ns: u64,
    /// Managed programs.
    pub programs: Vec<Point>,
}

/// One program at that moment; times in nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The daemon's number for it; a restarted program has another one.
    pub id: u64,
    /// Its name in the mix.
    pub name: String,
    /// Contexts granted.
    pub dop: Option<u32>,
    /// When it attached.
    pub attached_ns: u64,
    /// When this DoP was granted.
    pub granted_ns: u64,
    /// When this DoP was in effect.
    pub effective_ns: Option<u64>,
}

impl Sample {
    /// The program called `name`, if it is managed at this moment.
    pub fn program(&self, name: &str) -> Option<&Point> {
        self.programs.iter().find(|point| point.name == name)
    }
}

/// A thread that takes snapshots until it is dropped or stopped.
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Sample>>>,
}

impl Sampler {
    /// Starts watching the daemon at `socket`.
    pub fn start(socket: PathBuf) -> Sampler {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !seen.load(Ordering::Relaxed) {
                // A moment without an answer is a gap in the picture and no more.
                samples.extend(sample(&socket));
                std::thread::sleep(PERIOD);
            }
            samples
        });
        Sampler { stop, thread: Some(thread) }
    }

    /// Ends it and gives what it saw.
    pub fn finish(mut self) -> Vec<Sample> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn sample(socket: &std::path::Path) -> Option<Sample> {
    let snapshot = daemon::snapshot(socket).ok()?;
    let programs = snapshot.programs.into_iter().map(|program| Point {
        id: program.id,
        name: program.name,
        dop: program.dop,
        attached_ns: program.attached_ns,
        granted_ns: program.granted_ns,
        effective_ns: program.effective_ns,
    });
    Some(Sample { now_ns: snapshot.now_ns, programs: programs.collect() })
}
