//! Programs take turns: whoever isn't in the turn that runs is stopped until its own ([`scaf_policy::Turn`]).
//!
//! The daemon says who takes turns. A thread of its own carries them out ([`switcher`]), since a tick may
//! last longer than a switch may be late. [`rounds`] says whose turn it is, [`stop`] stops a program, and the
//! guardian shares the table of who is stopped ([`crate::apply::guardian::stop_records`]).

mod broker_turns;
pub mod rounds;
mod switcher;
mod turn;

pub use crate::apply::stop;
pub use turn::{Member, Turn};

use crate::apply::guardian::stop_records::Stops;
use crate::apply::stop::Way;
use crate::broker::Broker;
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
    turns: Vec<Turn>,
    by: By,
}

enum By {
    /// Nobody yet.
    Stops(Stops),
    Thread {
        orders: Sender<Order>,
        failed: Receiver<(Member, String)>,
        thread: JoinHandle<()>,
    },
    Broker(Broker),
    Nobody,
}

impl Gangs {
    /// Nobody takes turns yet.
    pub fn new(way: Way, slice: Duration, stops: Stops) -> Gangs {
        Gangs::by(way, slice, By::Stops(stops))
    }

    /// The same where a broker stops programs.
    pub fn through(broker: Broker, way: Way, slice: Duration) -> Gangs {
        Gangs::by(way, slice, By::Broker(broker))
    }

    fn by(way: Way, slice: Duration, by: By) -> Gangs {
        let slice_ns = Arc::new(AtomicU64::new(slice.as_nanos() as u64));
        Gangs { way, slice_ns, turns: Vec::new(), by }
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
        if matches!(self.by, By::Stops(_))
            && let By::Stops(stops) = std::mem::replace(&mut self.by, By::Nobody)
        {
            self.by = self.begin(stops);
        }
        match &self.by {
            // It ends only with us.
            By::Thread { orders, .. } => drop(orders.send(Order::Turns(turns.clone()))),
            By::Broker(broker) => {
                if let Ok(slice_ns) = broker_turns::take(broker, &turns) {
                    self.slice_ns.store(slice_ns, Ordering::Relaxed);
                }
            }
            By::Stops(_) | By::Nobody => {}
        }
        self.turns = turns;
    }

    /// The daemon hung, and those who take turns run all: they take turns again.
    pub fn resume(&self) {
        if let By::Broker(broker) = &self.by {
            let _ = broker_turns::take(broker, &self.turns);
        }
    }

    fn begin(&self, stops: Stops) -> By {
        let (sender, orders) = channel();
        let (fail, failed) = channel();
        let (way, slice_ns) = (self.way, Arc::clone(&self.slice_ns));
        let run = move || switcher::run(way, &slice_ns, &stops, &orders, &fail);
        match std::thread::Builder::new().name("scafd-gang".to_owned()).spawn(run) {
            Ok(thread) => By::Thread { orders: sender, failed, thread },
            Err(_) => By::Nobody,
        }
    }

    /// Who couldn't be stopped since the last call, and why.
    pub fn failed(&mut self) -> Vec<(Member, String)> {
        match &self.by {
            By::Thread { failed, .. } => failed.try_iter().collect(),
            By::Broker(broker) if !self.turns.is_empty() => broker_turns::failed(broker),
            _ => Vec::new(),
        }
    }

    /// Lets everyone go, and takes all groups away.
    pub fn end(&mut self) {
        match std::mem::replace(&mut self.by, By::Nobody) {
            By::Thread { orders, thread, .. } => {
                let _ = orders.send(Order::End);
                let _ = thread.join();
            }
            By::Broker(broker) => drop(broker_turns::take(&broker, &[])),
            By::Stops(_) | By::Nobody => {}
        }
        self.turns.clear();
    }
}

impl Drop for Gangs {
    fn drop(&mut self) {
        self.end();
    }
}
