//! Reads the system: `/proc`, `/sys`, clocks and counters. Files are read below a root folder, which is `/`
//! in the daemon and a folder of files in tests.

pub mod cgroup;
pub mod clock;
pub mod command_lines;
pub mod counters;
pub(crate) mod files;
pub mod priority;
pub mod proc_pid;
pub(crate) mod proc_stat;
pub(crate) mod program_name;
pub mod samples;
pub mod slurm_step;
pub mod sockets;
pub(crate) mod unmanaged_load;
pub mod wakes;

use crate::broker::Broker;
use crate::observe::unmanaged_load::Sample;
use scaf_policy::{ProgramId, PuSet};
use std::io;
use std::path::{Path, PathBuf};

/// What the daemon may give away, unmanaged load not subtracted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Limits {
    /// PUs that are online and that affinity and cpuset allow.
    pub pus: PuSet,
    /// CPU quota of the daemon's cgroup, or of one around it, in contexts.
    pub quota: Option<f64>,
}

impl Limits {
    /// Contexts that can be given away when nothing else runs: whole ones, at least 1.
    pub fn contexts(&self) -> u32 {
        let pus = u32::try_from(self.pus.len()).unwrap_or(u32::MAX);
        self.quota.map_or(pus, |quota| pus.min(cgroup::whole_contexts(quota))).max(1)
    }
}

/// Reads files and clocks.
#[derive(Clone, Debug)]
pub struct Observer {
    root: PathBuf,
    pace: f64,
    broker: Option<Broker>,
}

impl Observer {
    /// Reads below `root`.
    pub fn new(root: &Path) -> Observer {
        Observer { root: root.to_owned(), pace: 1.0, broker: None }
    }

    /// For programs whose contexts have only so much of a core's time, as in slow motion.
    #[must_use]
    pub fn at_pace(self, pace: f64) -> Observer {
        Observer { pace, ..self }
    }

    /// Asks the broker for what the daemon may not read.
    #[must_use]
    pub fn through(self, broker: Option<Broker>) -> Observer {
        Observer { broker, ..self }
    }

    /// Time of contexts that a process has used, in nanoseconds, by its CPU clock; `None` if it has ended.
    pub fn cpu_ns(&self, pid: u32) -> Option<u64> {
        let ns = clock::cpu_ns(pid)?;
        Some(if self.pace < 1.0 { (ns as f64 / self.pace) as u64 } else { ns })
    }

    /// What may be given away, given the daemon's own affinity.
    pub fn limits(&self, affinity: &PuSet, groups: &mut cgroup::Groups) -> Limits {
        let mut pus = affinity.clone();
        if let Ok(online) = self.set("sys/devices/system/cpu/online") {
            pus = pus.intersection(&online);
        }
        let cgroup = groups.of("self");
        Limits { pus: cgroup.within(&pus), quota: cgroup.quota }
    }

    /// What processes' control groups allow now.
    pub fn groups(&self) -> cgroup::Groups {
        cgroup::Groups::new(&self.root)
    }

    /// Ignoring control groups.
    pub fn no_groups(&self) -> cgroup::Groups {
        cgroup::Groups::unseen(&self.root)
    }

    /// Time that `pus` were busy since the machine started, in seconds: without and with threads of a nice
    /// level above 0.
    pub fn busy_s(&self, pus: &PuSet) -> io::Result<(f64, f64)> {
        let text = files::read_text(self.root.join("proc/stat"))?;
        let busy = proc_stat::busy_ticks(&text, pus);
        let seconds = |ticks: u64| ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        Ok((seconds(busy.normal), seconds(busy.nice)))
    }

    /// One sample for the load model; also says which programs' processes are gone.
    pub fn sample(
        &self,
        pus: &PuSet,
        programs: impl Iterator<Item = (ProgramId, u32)>,
        children: impl Iterator<Item = u32>,
    ) -> io::Result<(Sample, Vec<ProgramId>)> {
        let mut gone = Vec::new();
        let (busy_s, nice_s) = self.busy_s(pus)?;
        let mut sample = Sample {
            t_ns: clock::now_ns(),
            pus: pus.clone(),
            busy_s,
            nice_s,
            own_ns: clock::own_ns(),
            children_ns: clock::children_ns(children),
            ..Sample::default()
        };
        for (id, pid) in programs {
            match self.cpu_ns(pid) {
                Some(ns) => drop(sample.cpu_ns.insert(id, ns)),
                None => gone.push(id),
            }
        }
        Ok((sample, gone))
    }

    /// Counters of programs: the events chosen and the usual ones; `None` for none at all.
    pub fn counting(&self, chosen: Option<counters::Chosen>) -> counters::Counting {
        counters::Counting::new(&self.root, chosen).through(self.broker.clone())
    }

    /// A process; nothing is read yet.
    pub fn process(&self, pid: u32) -> proc_pid::Process {
        proc_pid::Process::new(&self.root, pid).through(self.broker.clone())
    }

    fn set(&self, file: &str) -> io::Result<PuSet> {
        let text = files::read_text(self.root.join(file))?;
        text.trim().parse().map_err(|e| io::Error::new(io::ErrorKind::InvalidData, format!("{file}: {e}")))
    }
}

/// The processors' model, as `/proc/cpuinfo` below `root` calls it; empty if it doesn't.
pub fn processor(root: &Path) -> String {
    let text = files::read_text(root.join("proc/cpuinfo")).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(String::new, |(_, name)| name.trim().to_owned())
}

/// Affinity of a thread or (by its main thread) of a process; 0 for the calling thread. PUs beyond
/// [`scaf_proto::MAX_PUS`] are left out.
pub fn affinity(tid: u32) -> io::Result<PuSet> {
    let pid = i32::try_from(tid).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut words = vec![0u64; scaf_proto::MASK_WORDS];
    loop {
        let bytes = size_of_val(words.as_slice());
        // SAFETY: the kernel writes at most the given number of bytes, which is the size of `words`.
        if unsafe { libc::sched_getaffinity(pid, bytes, words.as_mut_ptr().cast()) } == 0 {
            return Ok(PuSet::from_words(&words[..scaf_proto::MASK_WORDS]));
        }
        // The kernel refuses a set that is smaller than all its possible PUs need.
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINVAL) || words.len() >= MOST_WORDS {
            return Err(error);
        }
        words.resize(words.len() * 2, 0);
    }
}

/// Words of the largest set that is tried.
const MOST_WORDS: usize = 1_024;
