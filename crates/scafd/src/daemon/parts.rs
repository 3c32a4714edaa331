//! What the daemon keeps from one pass to the next.

use super::base::Base;
use super::executable::Executable;
use super::ground::Ground;
use super::move_budget::Sweeps;
use super::per_user::PerUser;
use super::recently_detached::Formers;
use super::timers::Timers;
use crate::apply::Apply;
use crate::config::Config;
use crate::control::{Tried, Turns};
use crate::history::History;
use crate::inspect::{CacheFile, Inspector};
use crate::journal::Journal;
use crate::log::UserLimiters;
use crate::observe::cgroup::Groups;
use crate::observe::clock::Tsc;
use crate::observe::command_lines::CommandLines;
use crate::observe::counters::Counting;
use crate::observe::proc_pid::FileId;
use crate::observe::unmanaged_load::Load;
use crate::observe::{Limits, Observer};
use crate::paths::Scope;
use crate::registry::Registry;
use crate::remember::Remember;
use crate::service::Notify;
use crate::talk::Talk;
use crate::verdicts::Verdicts;
use scaf_policy::{Policy, ProgramId, PuSet, Topology};
use std::collections::BTreeMap;

/// Token of the signals' pipe. Helpers' pipes have the tokens from [`FIRST_HELPER`] on.
pub const SIGNALS: u64 = 1;
/// See [`SIGNALS`].
pub const MEMORY: u64 = 2;
/// See [`SIGNALS`].
pub const BROKER: u64 = 3;
/// See [`SIGNALS`].
pub const FIRST_HELPER: u64 = 4;

/// What a daemon is made of.
pub struct Parts {
    /// Whom it serves.
    pub scope: Scope,
    /// How it is to behave.
    pub config: Config,
    /// How it decides.
    pub policy: Box<dyn Policy>,
    /// The machine.
    pub topology: Topology,
    /// Whether that is another machine than this one, in a dry run.
    pub pretended: bool,
    /// A context's speed over a core's, which scaf-lab's slow motion makes less than 1: rates and CPU times
    /// are then of a slower machine.
    pub pace: f64,
    /// Its hands.
    pub apply: Apply,
    /// Its mouth and ears; [`SIGNALS`] is watched already.
    pub talk: Talk,
    /// Who reads command lines.
    pub command_lines: CommandLines,
    /// What programs taught, if that is kept; [`MEMORY`] is watched already.
    pub remember: Option<Remember>,
    /// An admin's verdicts about executables.
    pub verdicts: Verdicts,
    /// What was found out about files, if that is kept.
    pub kept: Option<CacheFile>,
    /// The service manager's ear.
    pub notify: Notify,
    /// Whether every decision is logged.
    pub verbose: bool,
}

/// The daemon.
pub struct Daemon {
    pub(super) parts: Parts,
    pub(super) observer: Observer,
    pub(super) registry: Registry,
    pub(super) inspector: Inspector,
    pub(super) limits: Limits,
    /// What control groups have allowed since the limits were read.
    pub(super) groups: Groups,
    pub(super) ground: Ground,
    /// PUs that the topology doesn't know although they are there.
    pub(super) strange: PuSet,
    pub(super) load: Load,
    pub(super) counting: Counting,
    pub(super) tsc: Tsc,
    pub(super) decisions: u64,
    /// How long the latest pass took that decided anything.
    pub(super) decision_ns: u64,
    /// Number of the first decision by the policy that is in force.
    pub(super) policy_since: u64,
    pub(super) journal: Journal,
    pub(super) history: History,
    /// What was decided about each program last, before loans.
    pub(super) bases: BTreeMap<ProgramId, Base>,
    pub(super) newcomers: Vec<ProgramId>,
    /// Programs that have left lately and were narrowed at some time.
    pub(super) former: Formers,
    pub(super) sweeps: Sweeps,
    pub(super) spinners: PerUser<String>,
    /// Executables whose loops can't be made to yield, and who waited for themselves.
    pub(super) unyielding: PerUser<FileId>,
    /// What `scaf check` tried out lately.
    pub(super) tried: PerUser<Tried>,
    /// Executables that were inspected, by users' owners: only where a program's past is looked for first,
    /// and when it is inspected itself, goes by it.
    pub(super) executables: PerUser<Executable>,
    /// Connections that wait for an answer of the memory's, and whose they are.
    pub(super) asking: Vec<(u64, u32)>,
    pub(super) timers: Timers,
    pub(super) complaints: UserLimiters,
    pub(super) stop: bool,
    pub(super) turns: Option<Turns>,
}

impl Daemon {
    /// A daemon without programs.
    pub fn new(mut parts: Parts) -> Daemon {
        parts.config = parts.config.at_pace(parts.pace);
        let broker = parts.apply.broker().cloned();
        let observer = Observer::new(std::path::Path::new("/")).at_pace(parts.pace);
        let observer = observer.through(broker.clone());
        let chosen = parts.config.counters.then(|| parts.config.events.clone());
        let mut daemon = Daemon {
            counting: observer.counting(chosen),
            groups: observer.no_groups(),
            observer,
            registry: Registry::default(),
            inspector: Inspector::new(FIRST_HELPER, parts.kept.take(), broker),
            limits: Limits::default(),
            ground: Ground::default(),
            strange: PuSet::new(),
            load: Load::new(parts.config.rc_s),
            tsc: Tsc::measure(),
            decisions: 0,
            decision_ns: 0,
            policy_since: 1,
            journal: Journal::default(),
            history: History::default(),
            bases: BTreeMap::new(),
            newcomers: Vec::new(),
            former: Formers::default(),
            sweeps: Sweeps::default(),
            spinners: PerUser::default(),
            unyielding: PerUser::default(),
            tried: PerUser::default(),
            executables: PerUser::default(),
            asking: Vec::new(),
            timers: Timers::new(),
            complaints: UserLimiters::default(),
            stop: false,
            turns: None,
            parts,
        };
        daemon.refresh_limits();
        daemon
    }
}
