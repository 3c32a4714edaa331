//! Hardware counters of the programs, where there are any.
//!
//! Each event is opened for each thread that a program has at the first tick; threads started later inherit
//! it. So a program costs threads times events (7 at most) file descriptors; [`MOST_FILES`] limits all, and a
//! user has at most half of what others leave. Opening one takes 2 to 6 us, 13 ms for the machine's first,
//! and reading it at each tick 0.3 to 0.4 us. A thread started just before its creator's counters are opened
//! is missed. Then the counters' times are less than the program's CPU time, and they are opened again.

mod event_name;
mod perf;

pub use event_name::{Code, Name, NotAName, Unresolved};
pub use perf::Counter;

use crate::broker::Broker;
use crate::observe::proc_pid::Process;
use scaf_policy::ProgramId;
use scaf_policy::counters::{Counts, EVENTS, Event, Reading, Readings};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Open counters of all programs together, and at most this share of the files that the daemon may open.
const MOST_FILES: usize = 4096;
const SHARE_OF_FILES: usize = 4;
/// Counters that see less of a program's CPU time than this have missed threads, if it ran for
/// [`COVERED_NS`].
const COVERED: f64 = 0.9;
const COVERED_NS: u64 = 20_000_000;
/// How often a program's counters are opened again before it goes without.
const MOST_TRIES: u32 = 8;
/// For how long [`examine`] counts, to see whether events share counters.
const LOOK: Duration = Duration::from_millis(20);

const DEFAULTS: [(Event, &str); 5] = [
    (Event::Instructions, "instructions"),
    (Event::Cycles, "cycles"),
    (Event::L2Accesses, "L1-dcache-load-misses"),
    (Event::LlcAccesses, "LLC-loads"),
    (Event::LlcMisses, "LLC-load-misses"),
];

/// Cores (the kernel's names) with Intel's events CYCLE_ACTIVITY.STALLS_L2_MISS and .STALLS_L3_MISS.
const STALLING_CORES: [&str; 3] = ["skylake", "icelake", "sapphire_rapids"];
const STALLS: [(Event, &str); 2] = [
    (Event::StallsL2Miss, "cpu/event=0xa3,umask=0x5,cmask=0x5/"),
    (Event::StallsLlcMiss, "cpu/event=0xa3,umask=0x6,cmask=0x6/"),
];

/// Events that the configuration names, in the order of [`Event::ALL`].
pub type Chosen = [Option<Name>; EVENTS];

/// Whether there are counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// At least instructions and cycles are counted.
    There,
    /// The machine, or its kernel, has none.
    Absent,
    /// There may be some, but this process may not use them.
    Forbidden,
}

type Codes = [Option<Code>; EVENTS];

/// Counters of all programs.
#[derive(Debug)]
pub struct Counting {
    root: PathBuf,
    /// `None`: nothing is to be counted.
    chosen: Option<Chosen>,
    /// Found out at the first program.
    found: Option<(Codes, Access)>,
    open: BTreeMap<ProgramId, Program>,
    most_files: usize,
    broker: Option<Broker>,
}

#[derive(Debug, Default)]
struct Program {
    /// Its owner, unless that has no limit.
    owner: Option<u32>,
    counters: Vec<(Event, Counter)>,
    last: Option<(Readings, Option<u64>)>,
    tries: u32,
}

/// What failed, for the log.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// An event that the configuration names can't be counted; why.
    Chosen(String),
    /// A program goes without; why.
    Without(String),
}

impl Counting {
    /// Counts the events chosen, and the usual ones for the others, below `root`. `None`: nothing.
    pub fn new(root: &Path, chosen: Option<Chosen>) -> Counting {
        let most_files = (files() / SHARE_OF_FILES).min(MOST_FILES);
        let (root, open) = (root.to_owned(), BTreeMap::new());
        Counting { root, chosen, found: None, open, most_files, broker: None }
    }

    /// The same, by counters that a broker opens.
    #[must_use]
    pub fn through(self, broker: Option<Broker>) -> Counting {
        Counting { broker, ..self }
    }

    /// Whether there are counters; `None` before a program was there, or where nothing is to be counted.
    pub fn access(&self) -> Option<Access> {
        self.found.as_ref().map(|found| found.1)
    }

    /// Counters that are open of a program.
    pub fn opened(&self, id: ProgramId) -> usize {
        self.open.get(&id).map_or(0, |program| program.counters.len())
    }

    /// What was counted of a program since it was read last, given its CPU clock; `None` at first or if none.
    /// An `owner` has a part of the counters only.
    pub fn read(
        &mut self,
        id: ProgramId,
        process: &Process,
        owner: Option<u32>,
        cpu_ns: Option<u64>,
        mut report: impl FnMut(Failure),
    ) -> Option<Counts> {
        let chosen = self.chosen.as_ref()?;
        if self.found.is_none() {
            let (codes, access) = find(&self.root, chosen, self.broker.as_ref(), &mut report);
            self.found = Some((codes, access));
        }
        let (codes, Access::There) = self.found? else { return None };
        if let Some(program) = self.open.get_mut(&id).filter(|program| program.last.is_some()) {
            return program.read(cpu_ns);
        }
        let free = self.free(owner);
        let program = self.open.entry(id).or_insert_with(|| Program { owner, ..Program::default() });
        if program.tries < MOST_TRIES
            && let Err(why) = program.set_up(&codes, process, cpu_ns, free, self.broker.as_ref())
        {
            report(Failure::Without(why));
            program.tries = MOST_TRIES;
        }
        None
    }

    /// Counters that may be opened of one more program of that owner's.
    fn free(&self, owner: Option<u32>) -> usize {
        let open = |of_owner: bool| -> usize {
            let its = self.open.values().filter(|program| (program.owner == owner) == of_owner);
            its.map(|program| program.counters.len()).sum()
        };
        let left = self.most_files.saturating_sub(open(false));
        // Half, so that the next user finds some.
        let most = if owner.is_some() { left / 2 } else { left };
        most.saturating_sub(open(true))
    }

    /// Ends counting a program.
    pub fn close(&mut self, id: ProgramId) {
        self.open.remove(&id);
    }
}

impl Program {
    fn set_up(
        &mut self,
        codes: &Codes,
        process: &Process,
        cpu_ns: Option<u64>,
        free: usize,
        broker: Option<&Broker>,
    ) -> Result<(), String> {
        self.tries += 1;
        self.counters.clear();
        let threads = process.threads().map_err(|error| error.to_string())?;
        let events: Vec<(Event, Code)> =
            Event::ALL.into_iter().filter_map(|event| Some((event, codes[event as usize]?))).collect();
        if threads.len() * events.len() > free {
            let (threads, events) = (threads.len(), events.len());
            return Err(format!(
                "{threads} threads times {events} events are more open files than are left for counters \
                 ({free}); raise the daemon's limit (ulimit -n, LimitNOFILE=), or ignore this"
            ));
        }
        for tid in threads {
            for (event, code) in &events {
                match Counter::open_by(broker, *code, process.id(), tid) {
                    Ok(counter) => self.counters.push((*event, counter)),
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => break,
                    Err(error) => {
                        self.counters.clear();
                        return Err(format!("{} of thread {tid}: {error}", event.key()));
                    }
                }
            }
        }
        self.last = Some((self.readings(), cpu_ns));
        Ok(())
    }

    fn readings(&self) -> Readings {
        let mut sums = Readings::default();
        for (event, counter) in &self.counters {
            if let Ok(reading) = counter.read() {
                let sum = &mut sums[*event as usize];
                *sum = Some(sum.unwrap_or_default().plus(reading));
            }
        }
        sums
    }

    fn read(&mut self, cpu_ns: Option<u64>) -> Option<Counts> {
        let now = self.readings();
        let (earlier, earlier_cpu_ns) = self.last.replace((now, cpu_ns))?;
        let enabled = |readings: &Readings| readings[Event::Cycles as usize].unwrap_or_default().enabled_ns;
        let ran_ns = cpu_ns.zip(earlier_cpu_ns).map_or(0, |(now, earlier)| now.saturating_sub(earlier));
        let seen_ns = enabled(&now).saturating_sub(enabled(&earlier));
        if ran_ns >= COVERED_NS && (seen_ns as f64) < COVERED * ran_ns as f64 {
            self.counters.clear();
            self.last = None;
            return None;
        }
        Some(Counts::between(&now, &earlier))
    }
}

/// What each event is on the machine below `root`, and whether it can be counted: tried on this process.
fn find(
    root: &Path,
    chosen: &Chosen,
    broker: Option<&Broker>,
    report: &mut impl FnMut(Failure),
) -> (Codes, Access) {
    let mut codes = Codes::default();
    let mut forbidden = false;
    for event in Event::ALL {
        let (chosen, name) = match &chosen[event as usize] {
            Some(name) => (true, name.clone()),
            None => match usual(root, event) {
                Some(name) => (false, name),
                None => continue,
            },
        };
        let code = name.resolve(root).map_err(|why| why.to_string()).and_then(|code| {
            Counter::open_by(broker, code, 0, 0).map(|_| code).map_err(|error| {
                forbidden |= is_forbidden(&error);
                format!("{name}: {error}")
            })
        });
        match code {
            Ok(code) => codes[event as usize] = Some(code),
            Err(why) if chosen => report(Failure::Chosen(why)),
            Err(_) => {}
        }
    }
    let counted = |event: Event| codes[event as usize].is_some();
    let access = match forbidden {
        _ if counted(Event::Instructions) && counted(Event::Cycles) => Access::There,
        true => Access::Forbidden,
        false => Access::Absent,
    };
    (codes, access)
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

fn usual(root: &Path, event: Event) -> Option<Name> {
    let stalls = || {
        STALLS.iter().filter(|_| event_name::core(root).is_some_and(|core| STALLING_CORES.contains(&&*core)))
    };
    let (_, name) = DEFAULTS.iter().chain(stalls()).find(|(which, _)| *which == event)?;
    name.parse().ok()
}

fn files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

/// What this process may count on this machine, for `scaf doctor`.
#[derive(Clone, PartialEq, Debug)]
pub struct Examined {
    /// Whether there are counters.
    pub access: Access,
    /// Events that can be counted, by their keys in the configuration.
    pub events: Vec<&'static str>,
    /// `kernel.perf_event_paranoid`: above 2, only root and CAP_PERFMON may count.
    pub paranoid: Option<i32>,
    /// The smallest share of the time that an event was counted; below 1, events share counters.
    pub counted_ratio: Option<f64>,
    /// Whether the kernel keeps one counter for itself, to find PUs that hang.
    pub watchdog: bool,
}

/// Looks at the machine below `root` and counts this thread for a moment.
pub fn examine(root: &Path) -> Examined {
    let (codes, access) = find(root, &Chosen::default(), None, &mut |_| {});
    let setting = |file: &str| {
        let text = std::fs::read_to_string(root.join("proc/sys/kernel").join(file)).ok()?;
        text.trim().parse::<i32>().ok()
    };
    let events: Vec<(Event, Code)> =
        Event::ALL.into_iter().filter_map(|event| Some((event, codes[event as usize]?))).collect();
    let there = access == Access::There;
    Examined {
        access,
        events: events.iter().map(|(event, _)| event.key()).collect(),
        paranoid: setting("perf_event_paranoid"),
        counted_ratio: there.then(|| counted_ratio(&events)).flatten(),
        watchdog: setting("nmi_watchdog") == Some(1),
    }
}

fn counted_ratio(events: &[(Event, Code)]) -> Option<f64> {
    let counters: Vec<Counter> = events.iter().filter_map(|(_, code)| Counter::open(*code, 0).ok()).collect();
    let start = Instant::now();
    while start.elapsed() < LOOK {
        std::hint::spin_loop();
    }
    let share = |counter: &Counter| {
        Some(counter.read().ok()?.since(Reading::default()).map_or(0.0, |counted| counted.share))
    };
    counters.iter().filter_map(share).reduce(f64::min)
}
