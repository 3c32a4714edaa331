//! Watches a private daemon while programs run: a thread takes a snapshot every 20 ms. A snapshot costs about
//! 0.1 ms of one PU, daemon included, so watching takes under 1% of a PU.

use crate::daemon;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(20);

#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub now_ns: u64,
    pub policy: String,
    pub programs: Vec<Point>,
}

/// One program at that moment; times in nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The daemon's number for the program; a restarted program gets another one.
    pub id: u64,
    pub name: String,
    pub dop: Option<u32>,
    pub attached_ns: u64,
    pub granted_ns: u64,
    pub effective_ns: Option<u64>,
}

impl Sample {
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
    pub fn start(socket: PathBuf) -> Sampler {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !seen.load(Ordering::Relaxed) {
                // A moment without an answer is only a gap in the picture.
                samples.extend(sample(&socket));
                std::thread::sleep(PERIOD);
            }
            samples
        });
        Sampler { stop, thread: Some(thread) }
    }

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
    Some(Sample { now_ns: snapshot.now_ns, policy: snapshot.policy, programs: programs.collect() })
}
