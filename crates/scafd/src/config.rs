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

/// The configuration in effect, by the keys of `docs/guide/configuration.md`.
#[allow(missing_docs)] // see there
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    pub policy: String,
    pub objective: Objective,
    pub floor: f64,
    pub profiles: BTreeMap<String, Vec<Measured>>,
    pub placement: Style,
    pub rate_hz: f64,
    pub idle_exit_s: Option<u64>,
    pub rc_s: f64,
    pub max_clients_per_uid: u32,
    pub tell: Visible,
    pub users: Users,
    pub lease_s: f64,
    pub reserve: u32,
    pub count_load: bool,
    pub explore: bool,
    pub memory: bool,
    pub memory_dir: Option<PathBuf>,
    pub verdicts: Option<PathBuf>,
    pub counters: bool,
    pub events: Chosen,
    pub experiments: When,
    pub experiment_again_s: u64,
    pub gang: Option<Gang>,
    pub gang_by: GangBy,
    pub slice_ms: u32,
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
            tell: Visible::Own,
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

/// Whose programs are shown to users other than root and the daemon's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visible {
    /// Their own; of others' the number and the contexts.
    Own,
    /// Everyone's.
    All,
}

/// What is wrong with a configuration.
#[allow(missing_docs)] // names say enough of most fields
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: cannot be read", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A line of it is wrong.
    #[error("{}:{line}: {why}", path.display())]
    Line { path: PathBuf, line: usize, why: String },
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
    tell: Option<Visible>,
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
    events: BTreeMap<String, Spanned<String>>,
}

impl Config {
    /// Reads a file; the error of a wrong one names the line.
    pub fn load(path: &Path) -> Result<Config, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Config::parse(path, &text)
    }

    /// Reads a file's text; `path` is for error messages.
    pub fn parse(path: &Path, text: &str) -> Result<Config, Error> {
        let error = |(at, why): (usize, String)| Error::at(path, text, at, why);
        let file: File = toml::from_str(text)
            .map_err(|e| error((e.span().map_or(0, |span| span.start), e.message().to_owned())))?;
        let mut config = Config { idle_exit_s: file.idle_exit_s, gang: file.gang, ..Config::default() };
        if let Some(policy) = file.policy {
            check_policy(policy.get_ref()).map_err(|why| error((policy.span().start, why)))?;
            config.policy = policy.into_inner();
        }
        for (name, points) in file.profiles {
            let curve = profile(&name, points).map_err(error)?;
            config.profiles.insert(name, curve);
        }
        set(&mut config.objective, file.objective);
        set_within(&mut config.floor, file.floor, (0.0, 1.0), "floor").map_err(error)?;
        set(&mut config.placement, file.placement);
        set_within(&mut config.rate_hz, file.rate_hz, (0.1, 100.0), "rate_hz").map_err(error)?;
        set_within(&mut config.rc_s, file.rc_s, (0.0, 60.0), "rc_s").map_err(error)?;
        let most = (file.max_clients_per_uid, (1, 1024), "max_clients_per_uid");
        set_within(&mut config.max_clients_per_uid, most.0, most.1, most.2).map_err(error)?;
        set(&mut config.tell, file.tell);
        set(&mut config.users, file.users);
        set_within(&mut config.lease_s, file.lease_s, (1.0, 600.0), "lease_s").map_err(error)?;
        set(&mut config.reserve, file.reserve);
        set(&mut config.count_load, file.count_load);
        set(&mut config.explore, file.explore);
        set(&mut config.memory, file.memory);
        config.memory_dir = absolute("memory_dir", file.memory_dir).map_err(error)?;
        config.verdicts = absolute("verdicts", file.verdicts).map_err(error)?;
        if let Some(counters) = file.counters {
            config.counters = match counters.get_ref().as_str() {
                "auto" => true,
                "off" => false,
                other => {
                    let why = format!("counters is '{other}'; it has to be 'auto' or 'off'");
                    return Err(error((counters.span().start, why)));
                }
            };
        }
        for (key, name) in file.events {
            let event = Event::ALL.into_iter().find(|event| event.key() == key).ok_or_else(|| {
                let keys = Event::ALL.map(Event::key).join(", ");
                error((name.span().start, format!("there is no event '{key}'; there are {keys}")))
            })?;
            let parsed: Result<Name, NotAName> = name.get_ref().parse();
            let wrong = |why| error((name.span().start, format!("events.{key}: {why}")));
            config.events[event as usize] = Some(parsed.map_err(wrong)?);
        }
        set(&mut config.experiments, file.experiments);
        set(&mut config.experiment_again_s, file.experiment_again_s);
        set(&mut config.gang_by, file.gang_by);
        set(&mut config.user, file.user);
        set_within(&mut config.slice_ms, file.slice_ms, (20, 1000), "slice_ms").map_err(error)?;
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

/// Relative standard error of a speedup in the configuration, which was measured on another day.
const GIVEN_ERROR: f64 = 0.05;

/// A program's speedups at some DoPs, in their order, or what is wrong with them and where.
fn profile(name: &str, points: BTreeMap<String, Spanned<f64>>) -> Result<Vec<Measured>, (usize, String)> {
    let mut curve = Vec::new();
    for (dop, speedup) in points {
        let key = format!("profiles.{name}: the speedup on {dop}");
        let value = within(&speedup, (1e-3, 65_535.0), &key)?;
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

/// Whether there is a policy of that name; the error lists those that there are.
pub fn check_policy(name: &str) -> Result<(), String> {
    let known: Vec<&str> = scaf_policy::POLICIES.iter().map(|entry| entry.name).collect();
    if known.contains(&name) {
        Ok(())
    } else {
        Err(format!("there is no policy '{name}'; there are {}", known.join(", ")))
    }
}

fn set<T>(value: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *value = given;
    }
}

fn set_within<T: PartialOrd + Copy + std::fmt::Display>(
    value: &mut T,
    given: Option<Spanned<T>>,
    range: (T, T),
    key: &str,
) -> Result<(), (usize, String)> {
    set(value, given.map(|given| within(&given, range, key)).transpose()?);
    Ok(())
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(
    value: &Spanned<T>,
    (low, high): (T, T),
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

fn absolute(key: &str, path: Option<Spanned<PathBuf>>) -> Result<Option<PathBuf>, (usize, String)> {
    match path {
        Some(path) if !path.get_ref().is_absolute() => {
            let why = format!("{key} is '{}'; it has to begin with /", path.get_ref().display());
            Err((path.span().start, why))
        }
        path => Ok(path.map(Spanned::into_inner)),
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
