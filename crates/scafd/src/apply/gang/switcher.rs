//! The thread that switches.
//!
//! It sleeps until the next look by an absolute time, so that switches don't drift. On a core that spins it
//! would be up to 4 ms late, so it asks for real-time priority. It runs for 50 to 100 us a switch.

use super::rounds::{self, Rounds};
use super::turn::{Member, Order, Turn, everyone};
use crate::apply::guardian::stop_records::Stops;
use crate::apply::stop::{self, Stoppable, Way};
use crate::log::{self, Level};
use crate::observe::clock::{cpu_ns, now_ns};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// How often children born in a program's group are put back, and groups that weren't empty taken away.
const TIDY_NS: u64 = 1_000_000_000;
/// Later than that after a look was due, the guardian takes us for stopped and has let everyone go on.
const LATE_NS: u64 = 1_000_000_000;
/// Of a core's time, what switching may take as long as longer slices help: up to twice as long as asked for.
/// With eight partitions of two programs a switch takes 0.25 ms, nearly all in 16 writes.
const SHARE: f64 = 0.003;

struct Thread<'a> {
    way: Way,
    slice_ns: u64,
    /// Wall and CPU time when that was looked at last.
    looked_ns: (u64, u64),
    stops: &'a Stops,
    failed: &'a Sender<(Member, String)>,
    rounds: Option<Rounds>,
    held: BTreeMap<u32, (Stoppable, usize)>,
    free: BTreeSet<Member>,
    clocks: BTreeMap<u32, u64>,
    leftovers: Vec<PathBuf>,
    tidied_ns: u64,
}

/// Carries out turns until the end is ordered, or whoever orders is gone.
pub(super) fn run(
    way: Way,
    slice_ns: &AtomicU64,
    stops: &Stops,
    orders: &Receiver<Order>,
    failed: &Sender<(Member, String)>,
) {
    hurry();
    let mut thread = Thread {
        way,
        slice_ns: slice_ns.load(Ordering::Relaxed),
        looked_ns: (now_ns(), own_ns()),
        stops,
        failed,
        rounds: None,
        held: BTreeMap::new(),
        free: BTreeSet::new(),
        clocks: BTreeMap::new(),
        leftovers: Vec::new(),
        tidied_ns: now_ns(),
    };
    loop {
        let next_ns = thread.next_ns();
        thread.stops.be_back(thread.rounds.is_some().then(|| next_ns.unwrap_or(0) + LATE_NS));
        let order = match next_ns {
            Some(at_ns) => orders.recv_timeout(Duration::from_nanos(at_ns.saturating_sub(now_ns()))),
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match order {
            Ok(Order::Turns(turns)) => {
                // From the first stop on the guardian watches.
                thread.stops.be_back((!turns.is_empty()).then(|| now_ns() + LATE_NS));
                thread.take(&turns);
            }
            Ok(Order::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => thread.look(),
        }
        thread.tidy();
        if let Some(rounds) = &thread.rounds {
            slice_ns.store(rounds.slice_ns(), Ordering::Relaxed);
        }
    }
    thread.take(&[]);
    thread.stops.be_back(None);
    for _ in 0..50 {
        thread.leftovers.retain(|group| !stop::remove(group));
        if thread.leftovers.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Real-time priority, the least there is; or else a nice value, if that is permitted.
fn hurry() {
    let param = libc::sched_param { sched_priority: 1 };
    // A guardian that has to be started from here is to be like any.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads the parameter, for this thread only.
    unsafe {
        if libc::sched_setscheduler(0, policy, &param) != 0 {
            libc::setpriority(libc::PRIO_PROCESS, 0, -10);
        }
    }
}

fn own_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How long slices are to be, given how long they are and were to be, and switching's share of a core.
fn bearable_ns(slice_ns: u64, asked_ns: u64, share: f64) -> u64 {
    ((slice_ns as f64 * share / SHARE) as u64).clamp(asked_ns, 2 * asked_ns)
}

impl Thread<'_> {
    fn next_ns(&self) -> Option<u64> {
        let tidy = (!self.leftovers.is_empty()).then_some(self.tidied_ns + TIDY_NS);
        self.rounds.as_ref().map(Rounds::next_ns).into_iter().chain(tidy).min()
    }

    fn take(&mut self, turns: &[Turn]) {
        let members = everyone(turns);
        self.free.retain(|member| members.contains(member));
        let there =
            |held: &Stoppable, pid: u32| members.contains(&Member { pid, starttime: held.starttime() });
        let gone: Vec<u32> =
            self.held.iter().filter(|(pid, (held, _))| !there(held, **pid)).map(|(pid, _)| *pid).collect();
        for pid in gone {
            if let Some((held, at)) = self.held.remove(&pid) {
                self.leftovers.extend(held.release());
                self.stops.clear(at);
            }
        }
        for member in members {
            if !self.held.contains_key(&member.pid) && !self.free.contains(&member) {
                self.hold(member);
            }
        }
        let pids = |turn: &Turn| rounds::Turn {
            slices: turn.slices,
            members: turn.members.iter().map(|member| member.pid).collect(),
        };
        let turns: Vec<rounds::Turn> = turns.iter().map(pids).collect();
        let now_ns = now_ns();
        match &mut self.rounds {
            _ if turns.is_empty() => self.rounds = None,
            Some(rounds) => rounds.replace(turns, now_ns),
            None => self.rounds = Some(Rounds::new(turns, self.slice_ns, now_ns)),
        }
        self.switch(false);
        self.used_ns();
    }

    fn hold(&mut self, member: Member) {
        let Member { pid, starttime } = member;
        let held = Stoppable::take(Path::new("/"), self.way, pid, starttime).and_then(|held| {
            match self.stops.add(pid, &held, self.way) {
                Ok(at) => Ok((held, at)),
                Err(error) => {
                    self.leftovers.extend(held.release());
                    Err(error)
                }
            }
        });
        match held {
            Ok(held) => {
                self.leftovers.retain(|group| Some(group.as_path()) != held.0.group());
                self.held.insert(pid, held);
            }
            Err(error) => {
                self.free.insert(member);
                if Path::new("/proc").join(pid.to_string()).exists() {
                    let way = self.way.name();
                    let text = format_args!("process {pid} takes no turns: {way}: {error}");
                    log::line(Level::Warning, text);
                    let _ = self.failed.send((member, format!("{way}: {error}")));
                }
            }
        }
    }

    fn look(&mut self) {
        let used_ns = self.used_ns();
        let now_ns = now_ns();
        if let Some(rounds) = &mut self.rounds {
            let late = now_ns > rounds.next_ns() + LATE_NS / 2;
            rounds.look(now_ns, used_ns);
            self.switch(late);
        }
    }

    /// CPU time that those whose turn it is have used since the last call.
    fn used_ns(&mut self) -> u64 {
        let Some(rounds) = &self.rounds else { return 0 };
        let mut used_ns = 0;
        let before = std::mem::take(&mut self.clocks);
        for pid in rounds.members() {
            let Some(now_ns) = cpu_ns(*pid) else { continue };
            used_ns += before.get(pid).map_or(0, |before| now_ns.saturating_sub(*before));
            self.clocks.insert(*pid, now_ns);
        }
        used_ns
    }

    /// Makes those run who are to run; `all` if it isn't known who does.
    fn switch(&mut self, all: bool) {
        let Some(rounds) = &self.rounds else { return };
        let guarded = self.stops.is_guarded();
        let runs = |pid: &u32| !guarded || rounds.running().contains(pid);
        // First those who have to stop, so that nobody waits for a context on which one of them spins.
        for stopped in [true, false] {
            for (pid, (held, at)) in &mut self.held {
                if runs(pid) != stopped && (all || held.stopped != stopped) {
                    if stopped {
                        // What the guardian resumed meanwhile isn't stopped any more.
                        held.stopped &= !all;
                        self.stops.mark(*at, true);
                    }
                    // One that has ended is taken out of the turns in a moment.
                    let _ = held.set(stopped);
                    self.stops.mark(*at, held.stopped);
                }
            }
        }
        for pid in rounds.members() {
            self.clocks.entry(*pid).or_insert_with(|| cpu_ns(*pid).unwrap_or(0));
        }
    }

    fn tidy(&mut self) {
        let now_ns = now_ns();
        if now_ns < self.tidied_ns + TIDY_NS {
            return;
        }
        self.tidied_ns = now_ns;
        let ((wall_ns, used_ns), own_ns) = (self.looked_ns, own_ns());
        self.looked_ns = (now_ns, own_ns);
        let share = own_ns.saturating_sub(used_ns) as f64 / now_ns.saturating_sub(wall_ns).max(1) as f64;
        if let Some(rounds) = &mut self.rounds {
            rounds.set_slice(bearable_ns(rounds.slice_ns(), self.slice_ns, share));
        }
        self.leftovers.retain(|group| !stop::remove(group));
        self.held.values().for_each(|(held, _)| held.evict());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_as_asked_for_unless_switching_takes_too_much_and_at_most_twice_as_long() {
        let next = |slice_ms: u64, share| bearable_ns(slice_ms * 1_000_000, 50_000_000, share) / 1_000_000;
        assert_eq!([next(50, 0.0), next(50, 0.001), next(50, SHARE)], [50, 50, 50]);
        assert_eq!([next(50, 0.005), next(83, 0.00301)], [83, 83]);
        assert_eq!([next(50, 0.05), next(100, 0.001)], [100, 50]);
    }
}
