//! The configuration file: TOML, every key optional, unknown keys refused. Keys:
//! `docs/guide/configuration.md`.

use crate::apply::gang::stop::GangBy;
use crate::observe::counters::{Chosen, Name, NotAName};
use crate::privileges::USER;
use crate::serial_trials::When;
use scaf_policy::counters::Event;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::place::Style;
pub use scaf_policy::{Gang, Users};
use scaf_policy::{Objective, Settings};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// What is in force. [`Config::default`] holds where no file says otherwise.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Policy to decide by; one of [`scaf_policy::POLICIES`].
    pub policy: String,
    /// What policies that can be told are to aim at.
    pub objective: Objective,
    /// The share of its speedup under equal parts below which no program is to fall, 0 to 1.
    pub floor: f64,
    /// Speedups of programs, by their names, as they are known before these start.
    pub profiles: BTreeMap<String, Vec<Measured>>,
    /// How programs' partitions lie on the machine.
    pub placement: Style,
    /// How often efficiencies are taken in and acted on, in hertz, 0.1 to 100.
    pub rate_hz: f64,
    /// Seconds without a client after which the daemon ends; 0 for never, `None` for the scope's default.
    pub idle_exit_s: Option<u64>,
    /// Time constant of the smoothing of efficiencies and load, in seconds, 0 to 60.
    pub rc_s: f64,
    /// Programs that one user may have, 1 to 1,024.
    pub max_clients_per_uid: u32,
    /// Whose programs users are told of.
    pub tell: Tell,
    /// Whom contexts are divided among.
    pub users: Users,
    /// Seconds for which a grant holds if nothing is heard of the daemon, 1 to 600.
    pub lease_s: f64,
    /// Contexts that are never given away.
    pub reserve: u32,
    /// Whether contexts that unmanaged processes keep busy are given away no more.
    pub count_load: bool,
    /// Whether programs are sent to DoPs that nothing is known of, for a tick each.
    pub explore: bool,
    /// Whether what programs teach is kept for their next runs.
    pub memory: bool,
    /// The folder that it is kept in, an absolute path; `None` for the usual one.
    pub memory_dir: Option<PathBuf>,
    /// The file with an admin's verdicts about executables ([`crate::verdicts`]), an absolute path.
    pub verdicts: Option<PathBuf>,
    /// Whether hardware counters are read where there are any.
    pub counters: bool,
    /// Events that are counted instead of the usual ones.
    pub events: Chosen,
    /// When serial experiments are made.
    pub experiments: When,
    /// Seconds after which a region may be tried again, changed or not; 0 for never.
    pub experiment_again_s: u64,
    /// Who takes turns; by default [`Gang::Spinning`] for one user's daemon, and nobody for the system's.
    pub gang: Option<Gang>,
    /// How those are stopped whose turn it isn't.
    pub gang_by: GangBy,
    /// Time between two switches in milliseconds, 20 to 1,000.
    pub slice_ms: u32,
    /// As whom a daemon for all users runs, by name or number.
    pub user: String,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            policy: "scaf".into(),
            objective: Settings::default().objective,
            floor: Settings::default().floor,
            profiles: BTreeMap::new(),
            placement: Style::Compact,
            rate_hz: 4.0,
            idle_exit_s: None,
            rc_s: 1.0,
            max_clients_per_uid: 256,
            tell: Tell::Own,
            users: Users::Equal,
            lease_s: 5.0,
            reserve: 0,
            count_load: true,
            explore: false,
            memory: true,
            memory_dir: None,
            verdicts: None,
            counters: true,
            events: Chosen::default(),
            experiments: When::Off,
            experiment_again_s: 0,
            gang: None,
            gang_by: GangBy::default(),
            slice_ms: 50,
            user: USER.into(),
        }
    }
}

/// Whose programs users other than root and the daemon's own are told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tell {
    /// Their own; of others' the number and the contexts.
    Own,
    /// Everyone's.
    All,
}

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: cannot be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line of it is wrong.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what would be right.
        why: String,
    },
}

impl Error {
    /// What is wrong at a place in a file's text.
    pub(crate) fn at(path: &Path, text: &str, at: usize, why: String) -> Error {
        let line = 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
        Error::Line { path: path.to_owned(), line, why }
    }
}

/// The file as written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    policy: Option<Spanned<String>>,
    objective: Option<Objective>,
    floor: Option<Spanned<f64>>,
    #[serde(default)]
    profiles: BTreeMap<String, BTreeMap<String, Spanned<f64>>>,
    placement: Option<Style>,
    rate_hz: Option<Spanned<f64>>,
    idle_exit_s: Option<u64>,
    rc_s: Option<Spanned<f64>>,
    max_clients_per_uid: Option<Spanned<u32>>,
    tell: Option<Tell>,
    users: Option<Users>,
    lease_s: Option<Spanned<f64>>,
    reserve: Option<u32>,
    count_load: Option<bool>,
    explore: Option<bool>,
    experiments: Option<When>,
    experiment_again_s: Option<u64>,
    gang: Option<Gang>,
    gang_by: Option<GangBy>,
    slice_ms: Option<Spanned<u32>>,
    user: Option<String>,
    memory: Option<bool>,
    memory_dir: Option<Spanned<PathBuf>>,
    verdicts: Option<Spanned<PathBuf>>,
    counters: Option<Spanned<String>>,
    #[serde(default)]
    events: Events,
}

/// A name for each event of [`scaf_policy::counters`].
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Events {
    instructions: Option<Spanned<String>>,
    cycles: Option<Spanned<String>>,
    stalls_l2_miss: Option<Spanned<String>>,
    stalls_llc_miss: Option<Spanned<String>>,
    l2_accesses: Option<Spanned<String>>,
    llc_accesses: Option<Spanned<String>>,
    llc_misses: Option<Spanned<String>>,
}

impl Events {
    fn of(&self, event: Event) -> Option<&Spanned<String>> {
        match event {
            Event::Instructions => self.instructions.as_ref(),
            Event::Cycles => self.cycles.as_ref(),
            Event::StallsL2Miss => self.stalls_l2_miss.as_ref(),
            Event::StallsLlcMiss => self.stalls_llc_miss.as_ref(),
            Event::L2Accesses => self.l2_accesses.as_ref(),
            Event::LlcAccesses => self.llc_accesses.as_ref(),
            Event::LlcMisses => self.llc_misses.as_ref(),
        }
    }
}

impl Config {
    /// Reads a file.
    /// # Errors
    /// It cannot be read, is no TOML, or a key or value is wrong; the error names the line.
    pub fn load(path: &Path) -> Result<Config, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Config::parse(path, &text)
    }

    /// Reads a file's text; `path` is for error messages only.
    /// # Errors
    /// As for [`Config::load`], but for reading.
    pub fn parse(path: &Path, text: &str) -> Result<Config, Error> {
        let error = |at: usize, why: String| Error::at(path, text, at, why);
        let file: File = toml::from_str(text)
            .map_err(|e| error(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
        let mut config = Config { idle_exit_s: file.idle_exit_s, ..Config::default() };
        if let Some(policy) = file.policy {
            check_policy(policy.get_ref()).map_err(|why| error(policy.span().start, why))?;
            config.policy = policy.into_inner();
        }
        config.objective = file.objective.unwrap_or(config.objective);
        if let Some(floor) = file.floor {
            config.floor = within(&floor, 0.0, 1.0, "floor").map_err(|(at, why)| error(at, why))?;
        }
        for (name, points) in file.profiles {
            let curve = profile(&name, points).map_err(|(at, why)| error(at, why))?;
            config.profiles.insert(name, curve);
        }
        config.placement = file.placement.unwrap_or(config.placement);
        if let Some(rate) = file.rate_hz {
            config.rate_hz = within(&rate, 0.1, 100.0, "rate_hz").map_err(|(at, why)| error(at, why))?;
        }
        if let Some(rc) = file.rc_s {
            config.rc_s = within(&rc, 0.0, 60.0, "rc_s").map_err(|(at, why)| error(at, why))?;
        }
        if let Some(max) = file.max_clients_per_uid {
            config.max_clients_per_uid =
                within(&max, 1, 1024, "max_clients_per_uid").map_err(|(at, why)| error(at, why))?;
        }
        config.tell = file.tell.unwrap_or(config.tell);
        config.users = file.users.unwrap_or(config.users);
        if let Some(lease) = file.lease_s {
            config.lease_s = within(&lease, 1.0, 600.0, "lease_s").map_err(|(at, why)| error(at, why))?;
        }
        config.reserve = file.reserve.unwrap_or(config.reserve);
        config.count_load = file.count_load.unwrap_or(config.count_load);
        config.explore = file.explore.unwrap_or(config.explore);
        config.memory = file.memory.unwrap_or(config.memory);
        let absolute = |key: &str, path: Option<Spanned<PathBuf>>| match path {
            Some(path) if !path.get_ref().is_absolute() => {
                let why = format!("{key} is '{}'; it has to begin with /", path.get_ref().display());
                Err(error(path.span().start, why))
            }
            other => Ok(other.map(Spanned::into_inner)),
        };
        config.memory_dir = absolute("memory_dir", file.memory_dir)?;
        config.verdicts = absolute("verdicts", file.verdicts)?;
        if let Some(counters) = file.counters {
            config.counters = match counters.get_ref().as_str() {
                "auto" => true,
                "off" => false,
                other => {
                    let why = format!("counters is '{other}'; it has to be 'auto' or 'off'");
                    return Err(error(counters.span().start, why));
                }
            };
        }
        for event in Event::ALL {
            if let Some(name) = file.events.of(event) {
                let parsed: Result<Name, NotAName> = name.get_ref().parse();
                let parsed = parsed
                    .map_err(|why| error(name.span().start, format!("events.{}: {why}", event.key())))?;
                config.events[event as usize] = Some(parsed);
            }
        }
        config.experiments = file.experiments.unwrap_or(config.experiments);
        config.experiment_again_s = file.experiment_again_s.unwrap_or(config.experiment_again_s);
        config.gang = file.gang;
        config.gang_by = file.gang_by.unwrap_or(config.gang_by);
        config.user = file.user.unwrap_or(config.user);
        if let Some(slice) = file.slice_ms {
            config.slice_ms = within(&slice, 20, 1000, "slice_ms").map_err(|(at, why)| error(at, why))?;
        }
        Ok(config)
    }

    /// The same for programs that run at `pace` (0 to 1) of their speed: as many decisions for as much work.
    #[must_use]
    pub fn at_pace(self, pace: f64) -> Config {
        Config { rate_hz: self.rate_hz * pace, rc_s: self.rc_s / pace, ..self }
    }

    /// How policies are to decide.
    pub fn settings(&self) -> Settings {
        Settings { objective: self.objective, floor: self.floor }
    }
}

/// How sure a speedup is that somebody wrote down, as a relative standard error: measured on another day.
const GIVEN_ERROR: f64 = 0.05;

/// A program's speedups at some DoPs, in their order; what is wrong with them and where, otherwise.
fn profile(name: &str, points: BTreeMap<String, Spanned<f64>>) -> Result<Vec<Measured>, (usize, String)> {
    let mut curve = Vec::new();
    for (dop, speedup) in points {
        let key = format!("profiles.{name}: the speedup on {dop}");
        let value = within(&speedup, 1e-3, 65_535.0, &key)?;
        let number = dop.parse().ok().filter(|dop| (1..=65_535).contains(dop));
        let dop = number.ok_or_else(|| {
            let why = format!("profiles.{name}: '{dop}' is no number of contexts from 1 to 65535");
            (speedup.span().start, why)
        })?;
        let error = if dop == 1 { 0.0 } else { GIVEN_ERROR };
        curve.push(Measured { dop, speedup: Estimate { value, error } });
    }
    curve.sort_by_key(|point| point.dop);
    curve.dedup_by_key(|point| point.dop);
    Ok(curve)
}

/// Whether there is a policy of that name.
/// # Errors
/// A sentence that lists those that there are.
pub fn check_policy(name: &str) -> Result<(), String> {
    let known: Vec<&str> = scaf_policy::POLICIES.iter().map(|entry| entry.name).collect();
    if known.contains(&name) {
        Ok(())
    } else {
        Err(format!("there is no policy '{name}'; there are {}", known.join(", ")))
    }
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(
    value: &Spanned<T>,
    low: T,
    high: T,
    key: &str,
) -> Result<T, (usize, String)> {
    let v = *value.get_ref();
    // Written so that NaN is out of range.
    if v >= low && v <= high {
        Ok(v)
    } else {
        Err((value.span().start, format!("{key} is {v}; it has to be within {low} and {high}")))
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
