//! The daemon's parts.

use super::adopted::Adopted;
use super::allocate::Decider;
use super::capacity::Capacity;
use super::deferred_narrowing::DeferredNarrowing;
use super::grants::Grants;
use super::measure::Meters;
use super::move_budget::MoveBudget;
use super::mpi_loans::Loans;
use super::per_user::PerUser;
use super::process_trees::ProcessTrees;
use super::profile_recall::Profiles;
use super::recently_detached::RecentlyDetached;
use super::spinning::Spinning;
use super::starting::Newcomers;
use super::time_slices::TimeSlices;
use super::timers::Timers;
use super::user_processes::UserProcesses;
use super::waited_for::WaitedFor;
use crate::apply::Apply;
use crate::config::Config;
use crate::control::Tried;
use crate::history::History;
use crate::inspect::{CacheFile, Inspector};
use crate::log::UserLimiters;
use crate::observe::Observer;
use crate::observe::command_lines::CommandLines;
use crate::observe::unmanaged_load::Load;
use crate::paths::Scope;
use crate::registry::Registry;
use crate::remember::Remember;
use crate::service::Notify;
use crate::talk::Talk;
use crate::verdicts::Verdicts;
use scaf_policy::{Policy, Topology};
use std::time::Instant;

/// Tokens of descriptors that [`Talk`] watches: the pipe of signals,
pub const SIGNALS: u64 = 1;
/// the profile database's answers,
pub const MEMORY: u64 = 2;
/// the broker,
pub const BROKER: u64 = 3;
/// and inspection helpers' pipes, from this one on.
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
    /// Carries out what it decides.
    pub apply: Apply,
    /// Its clients; [`SIGNALS`] is watched already.
    pub talk: Talk,
    /// Reads command lines.
    pub command_lines: CommandLines,
    /// What programs taught, if that is kept; [`MEMORY`] is watched already.
    pub remember: Option<Remember>,
    /// What was shown of executables and libraries.
    pub verdicts: Verdicts,
    /// What was found out about files, if that is kept.
    pub kept: Option<CacheFile>,
    /// The connection to a service manager.
    pub notify: Notify,
    /// Whether every decision is logged.
    pub verbose: bool,
}

/// The daemon. Each concern has its own state; [`Daemon::run`] calls them in order.
pub struct Daemon {
    pub(super) scope: Scope,
    pub(super) config: Config,
    pub(super) apply: Apply,
    pub(super) talk: Talk,
    pub(super) command_lines: CommandLines,
    pub(super) verdicts: Verdicts,
    pub(super) notify: Notify,
    pub(super) verbose: bool,
    pub(super) pace: f64,
    pub(super) observer: Observer,
    pub(super) registry: Registry,
    pub(super) inspector: Inspector,
    pub(super) capacity: Capacity,
    pub(super) load: Load,
    pub(super) meters: Meters,
    pub(super) decider: Decider,
    pub(super) grants: Grants,
    pub(super) loans: Loans,
    pub(super) slices: TimeSlices,
    pub(super) waited_for: WaitedFor,
    pub(super) newcomers: Newcomers,
    pub(super) deferred: DeferredNarrowing,
    pub(super) budget: MoveBudget,
    pub(super) spinning: Spinning,
    pub(super) detached: RecentlyDetached,
    pub(super) bound: UserProcesses,
    pub(super) adopted: Adopted,
    pub(super) trees: ProcessTrees,
    pub(super) profiles: Profiles,
    /// What `scaf check` tried out lately.
    pub(super) tried: PerUser<Tried>,
    pub(super) history: History,
    pub(super) timers: Timers,
    pub(super) limiters: UserLimiters,
    pub(super) stop: bool,
}

impl Daemon {
    /// A daemon without programs.
    pub fn new(parts: Parts) -> Daemon {
        let Parts { scope, policy, topology, pretended, apply, mut talk, command_lines, verdicts, .. } =
            parts;
        let Parts { remember, kept, notify, verbose, pace, .. } = parts;
        let config = parts.config.at_pace(pace);
        let broker = apply.broker().cloned();
        let root = std::path::Path::new("/");
        let observer = Observer::new(root).at_pace(pace).through(broker.clone());
        let capacity = Capacity::new(topology, pretended, &observer);
        talk.refresh_owners();
        Daemon {
            registry: Registry::default(),
            inspector: Inspector::new(FIRST_HELPER, kept, broker),
            capacity,
            load: Load::new(config.rc_s),
            meters: Meters::new(&observer, &config),
            decider: Decider::new(policy),
            grants: Grants::default(),
            loans: Loans::new(Instant::now()),
            slices: TimeSlices::default(),
            waited_for: WaitedFor::default(),
            newcomers: Newcomers::default(),
            deferred: DeferredNarrowing::default(),
            budget: MoveBudget::default(),
            spinning: Spinning::default(),
            detached: RecentlyDetached::default(),
            bound: UserProcesses::default(),
            adopted: Adopted::default(),
            trees: ProcessTrees::default(),
            profiles: Profiles::new(remember),
            tried: PerUser::default(),
            history: History::default(),
            timers: Timers::new(),
            limiters: UserLimiters::default(),
            stop: false,
            scope,
            config,
            apply,
            talk,
            command_lines,
            verdicts,
            notify,
            verbose,
            pace,
            observer,
        }
    }
}
