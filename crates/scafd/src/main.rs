//! `scafd`: builds a daemon from the command line and the configuration, and runs it.

use anyhow::{Context, Result};
use clap::Parser;
use scafd::apply::Apply;
use scafd::apply::gang::Gangs;
use scafd::apply::gang::stop::{self, Way};
use scafd::apply::guardian::{Guardian, Lease};
use scafd::cli::Args;
use scafd::config::{Config, Gang, check_policy};
use scafd::daemon::{BROKER, Daemon, MEMORY, Parts, SIGNALS};
use scafd::inspect::{CacheFile, Line as InspectionLine};
use scafd::log::{Level, line};
use scafd::observe::command_lines::CommandLines;
use scafd::paths::{self, Scope};
use scafd::privileges::{self, Account};
use scafd::remember::Remember;
use scafd::service::{self, Notify};
use scafd::talk::{Place, Talk};
use scafd::verdicts::Verdicts;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(pid) = args.inspect {
        let print = |line: &InspectionLine| println!("{}", serde_json::to_string(line).unwrap_or_default());
        return match scafd::inspect::helper(pid, args.inspect_as, print) {
            Ok(answer) => {
                print(&InspectionLine::Answer(Box::new(answer)));
                ExitCode::SUCCESS
            }
            Err(e) => {
                line(Level::Error, format_args!("cannot give up what an inspection doesn't need: {e}"));
                ExitCode::FAILURE
            }
        };
    }
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            line(Level::Error, format_args!("{e:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let given = service::given_socket().context("cannot take over the socket")?;
    let scope = if args.system { Scope::System } else { Scope::Session };
    let mut config = configuration(args)?;
    config.gang.get_or_insert(if args.system { Gang::Off } else { Gang::Spinning });
    let verdicts = Verdicts::all(config.verdicts.as_deref())?;
    let policy = match args.seed {
        Some(seed) if config.policy == "chaos" => scaf_policy::chaos(seed),
        Some(_) => anyhow::bail!("--seed is for the policy 'chaos'; '{}' has no use for it", config.policy),
        None => scaf_policy::by_name(&config.policy, &config.settings()).context("the policy has gone")?,
    };
    let path = socket(args, scope)?;
    // First, because only its successor restores what an earlier daemon had narrowed.
    let place = Place::take(&path)?;
    // Before anything else, because a fork inherits what there is.
    let apply = if is_split(args) {
        split(args, &config, &path)?
    } else {
        backend(args, &config, Lease::new()?, &path)?
    };
    let (signals, write) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    let source = match &args.topology {
        Some(text) => scaf_topology::Source::parse(text),
        None => scaf_topology::Source::ThisMachine,
    };
    let topology = scaf_topology::load(&source)?;
    // The client trusts a socket that root listens on.
    let mut talk = listen(place, scope, &config, given)?;
    let notify = Notify::of_environment();
    talk.watch(&signals, SIGNALS)?;
    if let Some(broker) = apply.broker() {
        talk.watch(broker, BROKER)?;
        talk.with_broker(broker.clone());
        give_up(args, &config)?;
    }
    let remember = remember(args, scope, &config, &topology);
    let command_lines = CommandLines::start();
    let kept = match scope {
        Scope::Session => paths::session_cache().map(|folder| CacheFile::of(&folder)),
        Scope::System => None,
    };
    if let Some(remember) = &remember {
        talk.watch(remember, MEMORY)?;
    }
    if apply.broker().is_some() {
        privileges::confine().context("cannot give up system calls")?;
    }
    line(
        Level::Info,
        format_args!("{} PUs, policy {}, pid {}", topology.pus.len(), config.policy, std::process::id()),
    );
    Daemon::new(Parts {
        scope,
        policy,
        config,
        topology,
        pretended: args.topology.is_some(),
        pace: args.pace.unwrap_or(1.0),
        apply,
        talk,
        command_lines,
        remember,
        verdicts,
        kept,
        notify,
        verbose: args.verbose,
    })
    .run()
}

/// The configuration file as overruled by the command line.
fn configuration(args: &Args) -> Result<Config> {
    let default = Path::new(paths::CONFIG);
    let mut config = match &args.config {
        Some(file) => Config::load(file)?,
        None if default.exists() => Config::load(default)?,
        None => Config::default(),
    };
    if let Some(policy) = &args.policy {
        check_policy(policy).map_err(anyhow::Error::msg)?;
        config.policy.clone_from(policy);
    }
    if args.idle_exit.is_some() {
        config.idle_exit_s = args.idle_exit;
    }
    Ok(config)
}

/// Turns, if programs can be stopped; else a warning if the configuration counts on it.
fn gangs(config: &Config, guardian: &Guardian) -> Option<Gangs> {
    if config.gang == Some(Gang::Off) {
        return None;
    }
    match Way::choose(Path::new("/"), config.gang_by) {
        Ok(way) => {
            if !stop::sweep(Path::new("/"), way) {
                let why = "there are too many control groups to look through all for programs that a \
                           killed daemon left stopped";
                line(Level::Warning, why);
            }
            Some(Gangs::new(way, Duration::from_millis(config.slice_ms.into()), guardian.stops()))
        }
        Err(why) => {
            if config.gang == Some(Gang::Auto) || config.policy == "taco" {
                line(Level::Warning, format_args!("programs can't take turns: {why}"));
            }
            None
        }
    }
}

/// Whether the daemon runs without rights, and a broker keeps those that are needed.
fn is_split(args: &Args) -> bool {
    args.system && rustix::process::geteuid().is_root()
}

/// The backend, for the daemon or its broker.
fn backend(args: &Args, config: &Config, lease: Lease, socket: &Path) -> Result<Apply> {
    if args.dry_run {
        return Ok(Apply::dry_run());
    }
    let guardian = Guardian::recorded(lease, &socket.with_extension("narrowed"));
    let guardian = guardian.context("cannot start the guardian process")?;
    let gangs = gangs(config, &guardian);
    Ok(Apply::new(guardian).with_gangs(gangs))
}

fn split(args: &Args, config: &Config, socket: &Path) -> Result<Apply> {
    let lease = Lease::new()?;
    let turns = config.gang != Some(Gang::Off) && !args.dry_run;
    let rights = if turns { privileges::BROKERS | privileges::GANGS } else { privileges::BROKERS };
    // The broker changes its folder.
    let socket = &std::path::absolute(socket)?;
    let (broker, way) =
        scafd::broker_process::start(socket, rights, lease, || backend(args, config, lease, socket))?;
    let slice = Duration::from_millis(config.slice_ms.into());
    let gangs = Way::of_code(way).map(|way| Gangs::through(broker.clone(), way, slice));
    Ok(Apply::through(broker, lease, args.dry_run).with_gangs(gangs))
}

/// Becomes a user without rights, who can still write the profile database.
fn give_up(args: &Args, config: &Config) -> Result<()> {
    let account = Account::of_daemon(&config.user, &Account::passwd());
    if !account.named {
        let (user, uid) = (&config.user, account.uid);
        let text = format_args!("there is no user '{user}' on this machine: runs as {uid}, who has no name");
        line(Level::Warning, text);
    }
    let folder = paths::memory_folder(Scope::System, config.memory_dir.as_deref());
    if config.memory
        && !args.dry_run
        && let Some(folder) = folder
        && let Err(e) = privileges::hand_over(&folder, &account)
    {
        line(Level::Warning, format_args!("{}: {e}: what programs teach isn't kept", folder.display()));
    }
    match privileges::become_for_good(&account) {
        // A container may have no such user, or forbid the change. The rights are dropped all the same.
        Err(e) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::EPERM)) => {
            let text = format_args!("cannot become user {}: {e}: runs as root without rights", account.uid);
            line(Level::Warning, text);
            Ok(())
        }
        done => Ok(done.context("cannot give up root's rights")?),
    }
}

fn remember(
    args: &Args,
    scope: Scope,
    config: &Config,
    topology: &scaf_policy::Topology,
) -> Option<Remember> {
    if !config.memory || args.dry_run && args.pace.is_none() {
        return None;
    }
    let folder = paths::memory_folder(scope, config.memory_dir.as_deref());
    let Some(folder) = folder else {
        let why = "what programs teach isn't kept: neither XDG_DATA_HOME nor HOME is set";
        line(Level::Warning, why);
        return None;
    };
    let machine = format!("{} PUs, {}", topology.pus.len(), scafd::observe::processor(Path::new("/")));
    match Remember::start(scope, folder, machine) {
        Ok(remember) => Some(remember),
        Err(e) => {
            line(Level::Warning, format_args!("what programs teach isn't kept: {e}"));
            None
        }
    }
}

fn socket(args: &Args, scope: Scope) -> Result<PathBuf> {
    if let Some(path) = &args.socket {
        return Ok(path.clone());
    }
    let path = paths::socket(scope);
    paths::prepare(scope, path.parent().context("the socket has no folder")?)?;
    Ok(path)
}

fn listen(place: Place, scope: Scope, config: &Config, given: Option<OwnedFd>) -> Result<Talk> {
    let mode = match scope {
        Scope::System => 0o666,
        Scope::Session => 0o600,
    };
    let max = config.max_clients_per_uid;
    Ok(match given {
        Some(socket) => Talk::adopt(socket, place, max)?,
        None => Talk::listen(place, mode, max)?,
    })
}
