//! Programs take turns: whoever isn't in the turn that runs is stopped until its own ([`scaf_policy::Turn`]).
//!
//! The daemon says who takes turns; a thread of its own carries them out ([`thread`]), since a tick may last
//! longer than a switch may be late. [`rounds`] says whose turn it is, [`stop`] stops a program, and the
//! guardian shares the table of who is stopped ([`crate::apply::guardian::stops`]).

pub mod rounds;
mod thread;
mod turn;

pub use crate::apply::stop;
pub use turn::{Member, Turn};

use crate::apply::guardian::stops::Stops;
use crate::apply::stop::Way;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use turn::Order;

/// The daemon's side of it.
pub struct Gangs {
    way: Way,
    /// Nanoseconds between two switches, as they are now.
    slice_ns: Arc<AtomicU64>,
    stops: Option<Stops>,
    thread: Option<(Sender<Order>, JoinHandle<()>)>,
    turns: Vec<Turn>,
    failed: Option<Receiver<(Member, String)>>,
}

impl Gangs {
    /// Nobody takes turns yet.
    pub fn new(way: Way, slice: Duration, stops: Stops) -> Gangs {
        let slice_ns = Arc::new(AtomicU64::new(slice.as_nanos() as u64));
        Gangs { way, slice_ns, stops: Some(stops), thread: None, turns: Vec::new(), failed: None }
    }

    /// How programs are stopped.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Time between two switches, as it is now: up to twice what was asked for where they cost too much.
    pub fn slice(&self) -> Duration {
        Duration::from_nanos(self.slice_ns.load(Ordering::Relaxed))
    }

    /// Who takes turns from now on; everybody else runs.
    pub fn take(&mut self, turns: Vec<Turn>) {
        if turns == self.turns {
            return;
        }
        if let Some(stops) = self.stops.take() {
            let (sender, orders) = channel();
            let (fail, failed) = channel();
            self.failed = Some(failed);
            let (way, slice_ns) = (self.way, Arc::clone(&self.slice_ns));
            let run = move || thread::run(way, &slice_ns, &stops, &orders, &fail);
            let name = "scafd-gang".to_owned();
            self.thread =
                std::thread::Builder::new().name(name).spawn(run).ok().map(|thread| (sender, thread));
        }
        if let Some((orders, _)) = &self.thread {
            // It ends only with us.
            let _ = orders.send(Order::Turns(turns.clone()));
        }
        self.turns = turns;
    }

    /// Who couldn't be stopped since the last call, and why.
    pub fn failed(&mut self) -> Vec<(Member, String)> {
        self.failed.as_ref().map(|failed| failed.try_iter().collect()).unwrap_or_default()
    }

    /// Lets everyone go, and takes all groups away.
    pub fn end(&mut self) {
        if let Some((orders, thread)) = self.thread.take() {
            let _ = orders.send(Order::End);
            let _ = thread.join();
        }
        self.turns.clear();
    }
}

impl Drop for Gangs {
    fn drop(&mut self) {
        self.end();
    }
}
