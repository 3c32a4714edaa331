//! A scenario, a TOML file: a machine, the programs that come to it, and assumptions. Words: a *phase* is a
//! serial stretch and then some regions, gone through several times; a region is *run* so often in a row.
//! *Work* is counted in seconds of one undisturbed context: a region of 2 s on one context is 2 s of work.

use crate::shape::{MOST_CONTEXTS, Shape};
use scaf_policy::{Gang, Users};
use serde::{Deserialize, Serialize};

/// A scenario file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it shows.
    #[serde(default)]
    pub description: String,
    /// The machine, as hwloc's synthetic descriptions put it: `pack:2 core:4 pu:2`.
    pub machine: String,
    /// (seconds, contexts): from when on how many can be given away, in order; all before the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity: Vec<(f64, u32)>,
    /// What is assumed, a sentence each, printed with the results.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// Standard deviation of programs' speed from tick to tick, in percent, 0 to 50.
    #[serde(default)]
    pub noise_pct: f64,
    /// What programs take from each other.
    #[serde(default)]
    pub contention: Contention,
    /// How grants reach programs.
    #[serde(default)]
    pub mechanisms: Mechanisms,
    /// How the daemon looks and decides.
    #[serde(default)]
    pub daemon: DaemonSettings,
    /// The programs.
    pub programs: Vec<ProgramSpec>,
}

/// What programs take from each other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Contention {
    /// Bandwidth of a NUMA node's memory, in the unit of [`RegionSpec::bandwidth`]; none for no limit.
    pub node_bandwidth: Option<f64>,
    /// Cost of taking turns: with L threads a context, work takes 1 + this (L - 1) times as long.
    pub slice_loss: f64,
    /// The same, in addition, for programs that spin while they wait.
    pub spin_loss: f64,
}

impl Default for Contention {
    /// A guess for turns, within what docs/internals/mechanisms.md has for folded barriers; spinning costs a
    /// turn.
    fn default() -> Contention {
        Contention { node_bandwidth: None, slice_loss: 0.05, spin_loss: 1.0 }
    }
}

/// How grants reach programs: latencies and costs measured on prototypes (docs/internals/mechanisms.md).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mechanisms {
    /// From a smaller grant until running threads have left the contexts, in milliseconds.
    pub fold_ms: f64,
    /// From a larger grant until running threads have spread, in milliseconds.
    pub unfold_ms: f64,
    /// Share of the speed that a folded team loses: 1.05 of one thread's time at a barrier each 50 us.
    pub fold_loss: f64,
    /// From a grant to the next chunk or wait, if parked or gathered, in milliseconds.
    pub chunk_ms: f64,
    /// Loss by cold caches for a program moved to other contexts altogether, in milliseconds; else a part.
    pub cold_ms: f64,
    /// A time slice of programs that take turns, in milliseconds: 50 to 100 in TACO's section 3.3.
    pub slice_ms: f64,
    /// From a turn's begin to its programs' first progress, in milliseconds, before `cold_ms`.
    pub switch_ms: f64,
    /// From a serial phase's end to the decision that gives its contexts back, in milliseconds.
    pub wake_ms: f64,
}

impl Default for Mechanisms {
    fn default() -> Mechanisms {
        Mechanisms {
            fold_ms: 0.064,
            unfold_ms: 0.179,
            fold_loss: 0.05,
            chunk_ms: 1.0,
            cold_ms: 1.0,
            slice_ms: 50.0,
            switch_ms: 0.2,
            wake_ms: 1.0,
        }
    }
}

/// How the daemon looks and decides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DaemonSettings {
    /// Decisions a second, where the policy doesn't ask for another rate.
    pub rate_hz: f64,
    /// Time constant of the efficiency's filter, in seconds.
    pub rc_s: f64,
    /// Whether programs' true speedups alone are given as profiles (SCALO's OPPTS).
    pub profiles: bool,
    /// Whether contexts are arbitrary: a program keeps what it has, and takes any that are free.
    pub any_contexts: bool,
    /// Whether programs that should take turns run all at once, on the contexts of their turns.
    pub all_at_once: bool,
    /// Whether unmanaged programs' teams shrink with the load of 15 minutes: libgomp's OMP_DYNAMIC.
    pub load_adaptive: bool,
    /// Who may be made to take turns.
    pub gang: Gang,
    /// Whom contexts and time are divided among.
    pub users: Users,
    /// Policies' floor: no speedup below this share of that with equal parts.
    pub floor: f64,
}

impl Default for DaemonSettings {
    fn default() -> DaemonSettings {
        DaemonSettings {
            rate_hz: 4.0,
            rc_s: 1.0,
            profiles: false,
            any_contexts: false,
            all_at_once: false,
            load_adaptive: false,
            gang: Gang::default(),
            users: Users::default(),
            floor: 0.5,
        }
    }
}

/// A program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// Its name.
    pub name: String,
    /// When it comes, in seconds.
    #[serde(default)]
    pub arrives_s: f64,
    /// Its threads without a daemon; all contexts if unset.
    #[serde(default)]
    pub natural: Option<u32>,
    /// Fewest contexts.
    #[serde(default = "one")]
    pub min: u32,
    /// Most contexts; none for no limit.
    #[serde(default)]
    pub max: Option<u32>,
    /// Its weight; 1 is normal.
    #[serde(default = "unit")]
    pub weight: f64,
    /// Its user: where programs take turns, each user has as much time as any other.
    #[serde(default)]
    pub user: u32,
    /// Whether its threads spin while they wait, also when others could use their contexts.
    #[serde(default)]
    pub spins: bool,
    /// Whether its teams always have all its threads, which have to run at the same time.
    #[serde(default)]
    pub rigid: bool,
    /// Its phases, in order.
    pub phases: Vec<PhaseSpec>,
}

/// A serial stretch, then regions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// How often it is gone through.
    #[serde(default = "one")]
    pub times: u32,
    /// Seconds on one context before the regions.
    #[serde(default)]
    pub serial_s: f64,
    /// The regions.
    #[serde(default)]
    pub regions: Vec<RegionSpec>,
}

/// A parallel region that is run several times in a row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionSpec {
    /// Seconds of a run on one context alone.
    pub seconds: f64,
    /// Runs in a row.
    #[serde(default = "one")]
    pub times: u32,
    /// Its speedup alone.
    pub speedup: Shape,
    /// Memory traffic at the speed of one context; on p contexts S(p) times as much, as far as possible.
    #[serde(default)]
    pub bandwidth: f64,
    /// Share of the lost efficiency that is waits, as useful over wall sees; the rest is slow memory.
    #[serde(default = "unit")]
    pub waits: f64,
    /// Intervals between barriers in a run, by which a long run is observed before its end; 1 for none.
    #[serde(default = "one")]
    pub marks: u32,
    /// How grants reach it.
    #[serde(default)]
    pub mechanism: Permits,
}

/// Which mechanisms a region permits (docs/internals/mechanisms.md); the choice is the client's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permits {
    /// All: wide and folded if long and evenly foldable, else resized.
    #[default]
    Auto,
    /// The next run has another team; one that runs is folded onto fewer contexts, but can't grow.
    Resize,
    /// The team stays whole, its affinity changes, also in mid-region.
    Fold,
    /// Threads sleep from the next chunk on.
    Park,
    /// Fewer threads run the members of all.
    Gather,
}

fn one() -> u32 {
    1
}

fn unit() -> f64 {
    1.0
}

/// Why a scenario can't be simulated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not TOML, or an unknown key.
    #[error("not a scenario: {0}")]
    Toml(#[from] toml::de::Error),
    /// A value that makes no sense.
    #[error("{place}: {problem}")]
    Value {
        /// Its place.
        place: String,
        /// What is wrong and what is right.
        problem: String,
    },
    /// A machine that hwloc doesn't know.
    #[error(transparent)]
    Machine(#[from] scaf_topology::Error),
}

/// Limits beyond which programs are refused: seconds of work, number, steps.
const MOST_WORK_S: f64 = 1e7;
const MOST_PROGRAMS: usize = 10_000;
const MOST_STEPS: f64 = 1e7;

impl Scenario {
    /// Reads a scenario.
    /// # Errors
    /// Unknown keys, and values that make no sense.
    pub fn parse(text: &str) -> Result<Scenario, Error> {
        let scenario: Scenario = toml::from_str(text)?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Whether it can be simulated.
    /// # Errors
    /// The first value that makes no sense.
    pub fn check(&self) -> Result<(), Error> {
        let at = |place: &str, problem: String| Err(Error::Value { place: place.to_owned(), problem });
        let (c, m, d) = (&self.contention, &self.mechanisms, &self.daemon);
        let bounded = [
            ("noise_pct", self.noise_pct, 0.0, 50.0),
            ("contention.node_bandwidth", c.node_bandwidth.unwrap_or(1.0), 1e-9, 1e9),
            ("contention.slice_loss", c.slice_loss, 0.0, 100.0),
            ("contention.spin_loss", c.spin_loss, 0.0, 100.0),
            ("mechanisms.fold_ms", m.fold_ms, 0.0, 1e4),
            ("mechanisms.unfold_ms", m.unfold_ms, 0.0, 1e4),
            ("mechanisms.fold_loss", m.fold_loss, 0.0, 0.99),
            ("mechanisms.chunk_ms", m.chunk_ms, 0.0, 1e4),
            ("mechanisms.cold_ms", m.cold_ms, 0.0, 1e4),
            ("mechanisms.slice_ms", m.slice_ms, 1.0, 1e4),
            ("mechanisms.switch_ms", m.switch_ms, 0.0, 1e4),
            ("mechanisms.wake_ms", m.wake_ms, 0.0, 1e4),
            ("daemon.rate_hz", d.rate_hz, 0.1, 100.0),
            ("daemon.rc_s", d.rc_s, 0.0, 60.0),
            ("daemon.floor", d.floor, 0.0, 1.0),
        ];
        for (place, value, least, most) in bounded {
            within(place, value, least, most)?;
        }
        for (from_s, contexts) in &self.capacity {
            within("capacity: seconds", *from_s, 0.0, MOST_WORK_S)?;
            within("capacity: contexts", f64::from(*contexts), 1.0, f64::from(MOST_CONTEXTS))?;
        }
        if !self.capacity.is_sorted_by(|a, b| a.0 <= b.0) {
            return at("capacity", "its times need to be in their order".into());
        }
        if self.programs.is_empty() || self.programs.len() > MOST_PROGRAMS {
            return at("programs", format!("1 to {MOST_PROGRAMS} are needed"));
        }
        self.programs.iter().try_for_each(ProgramSpec::check)
    }

    /// Contexts of `all` that can be given away at `now_s`.
    pub fn capacity_at(&self, now_s: f64, all: u32) -> u32 {
        let since = self.capacity.partition_point(|(from_s, _)| *from_s <= now_s);
        since.checked_sub(1).map_or(all, |at| self.capacity[at].1.min(all))
    }

    /// The machine's contexts.
    /// # Errors
    /// A description that hwloc doesn't know.
    pub fn topology(&self) -> Result<scaf_policy::Topology, Error> {
        Ok(scaf_topology::load(&scaf_topology::Source::Synthetic(self.machine.clone()))?)
    }
}

fn within(place: &str, value: f64, least: f64, most: f64) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::Value { place: place.to_owned(), problem: format!("{value} is not from {least} to {most}") })
}

impl ProgramSpec {
    /// A program of one run-through of this region.
    pub fn of_region(name: &str, arrives_s: f64, region: RegionSpec) -> ProgramSpec {
        let phases = vec![PhaseSpec { times: 1, serial_s: 0.0, regions: vec![region] }];
        ProgramSpec::of_phases(name, arrives_s, phases)
    }

    /// A program with default settings.
    pub fn of_phases(name: &str, arrives_s: f64, phases: Vec<PhaseSpec>) -> ProgramSpec {
        let name = name.to_owned();
        ProgramSpec {
            name,
            arrives_s,
            natural: None,
            min: 1,
            max: None,
            weight: 1.0,
            user: 0,
            spins: false,
            rigid: false,
            phases,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let name = &self.name;
        within(&format!("{name}: arrives_s"), self.arrives_s, 0.0, MOST_WORK_S)?;
        within(&format!("{name}: weight"), self.weight, 1e-3, 1e3)?;
        let threads = [self.natural.unwrap_or(1), self.min, self.max.unwrap_or(1)];
        for value in threads {
            within(&format!("{name}: natural, min or max"), f64::from(value), 1.0, f64::from(MOST_CONTEXTS))?;
        }
        for phase in &self.phases {
            within(&format!("{name}: serial_s"), phase.serial_s, 0.0, MOST_WORK_S)?;
            for region in &phase.regions {
                let place = format!("{name}: region");
                within(&place, region.seconds, 1e-7, MOST_WORK_S)?;
                within(&place, region.bandwidth, 0.0, 1e9)?;
                within(&place, region.waits, 0.0, 1.0)?;
                within(&format!("{place}, times"), f64::from(region.times), 1.0, 1e9)?;
                within(&format!("{place}, marks"), f64::from(region.marks), 1.0, 1e6)?;
                let wrong = |problem| Error::Value { place: format!("{place}, speedup"), problem };
                region.speedup.check().map_err(wrong)?;
            }
        }
        let steps: f64 = self.phases.iter().map(|p| f64::from(p.times) * (p.regions.len() + 1) as f64).sum();
        within(&format!("{name}: times times regions"), steps, 1.0, MOST_STEPS)?;
        within(&format!("{name}: seconds of work"), self.work_s(), 1e-6, MOST_WORK_S)
    }

    /// Seconds that it takes on one context alone.
    pub fn work_s(&self) -> f64 {
        self.time_s(1)
    }

    /// Seconds on `p` contexts of a machine without other programs.
    pub fn time_s(&self, p: u32) -> f64 {
        let region = |r: &RegionSpec| f64::from(r.times) * r.seconds / r.speedup.at(p);
        let phase =
            |ph: &PhaseSpec| f64::from(ph.times) * (ph.serial_s + ph.regions.iter().map(region).sum::<f64>());
        self.phases.iter().map(phase).sum()
    }

    /// The speedup on `p` contexts of a machine without other programs.
    pub fn speedup(&self, p: u32) -> f64 {
        self.work_s() / self.time_s(p)
    }
}

#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;
