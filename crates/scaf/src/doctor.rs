//! `scaf doctor`: what this machine has, what of it scaf uses, and how a program can be managed.

mod counters;
mod daemon;
mod gather;
mod permission;
mod pools;
mod sessions;

use crate::daemon::beside_us;
use crate::mend::{self, Missing, mended};
use crate::output::{self, count};
use crate::{cli, host, launch, target};
use anyhow::{Context, Result};
use scaf_inspect::{ProgramFacts, Resizable};
use scafd::apply::gang::stop::{GangBy, Way};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Serialize)]
struct Findings {
    version: &'static str,
    machine: host::Machine,
    daemon: Option<daemon::Daemon>,
    daemon_missing: Option<Missing>,
    library: Option<PathBuf>,
    library_missing: Option<Missing>,
    topology: Option<Shape>,
    allowed_pus: String,
    cgroups: host::Cgroups,
    counters: counters::Counters,
    pools: pools::Pools,
    turns: Turns,
    sessions: sessions::Sessions,
    program: Option<Program>,
}

#[derive(Debug, Serialize)]
struct Turns {
    by: Option<Way>,
    /// Why there is no better way, or none.
    why: String,
    /// The command that starts a daemon that can.
    mend: Option<String>,
}

#[derive(Debug, Serialize)]
struct Shape {
    packages: usize,
    numa_nodes: usize,
    last_level_caches: usize,
    cores: usize,
    /// Cores of each class of a hybrid machine, the strongest first; one number if all are alike.
    core_classes: Vec<usize>,
    pus: usize,
}

#[derive(Debug, Serialize)]
struct Program {
    path: PathBuf,
    /// Why the client library can't be preloaded, if so.
    obstacle: Option<String>,
    facts: ProgramFacts,
    /// What overrules the code analysis, in sentences.
    permission: Vec<String>,
    /// What forbids its teams to be gathered, after "it".
    forbids_gathering: Option<String>,
    advice: String,
}

/// Carries out `scaf doctor`. The exit status is 1 if nothing can be managed.
/// # Errors
/// A program that isn't there or can't be read.
pub fn run(flags: &cli::Doctor) -> Result<ExitCode> {
    let findings = examine(flags.program.as_deref())?;
    let text = if flags.json { serde_json::to_string_pretty(&findings)? + "\n" } else { render(&findings) };
    output::print(&text)?;
    let able = findings.library.is_some()
        && findings.daemon.as_ref().is_none_or(|it| it.other_version.is_none())
        && (findings.daemon.is_some() || daemon::can_start())
        && findings.program.as_ref().is_none_or(|it| it.obstacle.is_none());
    Ok(if able { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn examine(program: Option<&OsStr>) -> Result<Findings> {
    let (daemon, daemon_missing) = split(daemon::find());
    let (library, library_missing) = split(launch::library().map_err(no_library));
    let counted = scafd::observe::counters::examine(Path::new("/"));
    let counters = counters::explain(&counted, daemon.as_ref().map(|daemon| daemon.counters));
    Ok(Findings {
        version: env!("CARGO_PKG_VERSION"),
        machine: host::machine(),
        daemon,
        daemon_missing,
        library,
        library_missing,
        topology: scaf_topology::load(&scaf_topology::Source::ThisMachine)
            .ok()
            .map(|topology| shape(&topology)),
        allowed_pus: host::allowed().to_string(),
        cgroups: host::cgroups(Path::new("/")),
        counters,
        pools: pools::Pools::examine(counted.paranoid),
        turns: turns(Path::new("/")),
        sessions: sessions::Sessions::examine(),
        program: program.map(examine_program).transpose()?,
    })
}

fn split<T>(result: Result<T, Missing>) -> (Option<T>, Option<Missing>) {
    match result {
        Ok(found) => (Some(found), None),
        Err(why) => (None, Some(why)),
    }
}

fn turns(root: &Path) -> Turns {
    match Way::choose(root, GangBy::Freezer) {
        Ok(way) => Turns { by: Some(way), why: String::new(), mend: None },
        Err(why) => Turns { by: None, why, mend: mend::daemon_of_roots(beside_us("scafd").as_deref()) },
    }
}

fn no_library(why: String) -> Missing {
    let named = std::env::var_os("SCAF_LIB").is_some_and(|path| !path.is_empty());
    let mend = if named {
        Some("unset SCAF_LIB".into())
    } else if beside_us("libscaf.so").is_some() {
        // It is there but can't be preloaded; `why` says where it should be.
        None
    } else {
        Some(mend::reinstall())
    };
    Missing { why, mend }
}

fn shape(topology: &scaf_policy::Topology) -> Shape {
    let count =
        |what: fn(&scaf_policy::Pu) -> u32| topology.pus.iter().map(what).collect::<HashSet<_>>().len();
    let mut classes: BTreeMap<u32, HashSet<u32>> = BTreeMap::new();
    for pu in &topology.pus {
        classes.entry(pu.class).or_default().insert(pu.core);
    }
    Shape {
        packages: count(|pu| pu.package),
        numa_nodes: count(|pu| pu.numa),
        last_level_caches: count(|pu| pu.l3),
        cores: count(|pu| pu.core),
        core_classes: classes.values().rev().map(HashSet::len).collect(),
        pus: topology.pus.len(),
    }
}

impl Shape {
    fn text(&self) -> String {
        let mut text = format!(
            "{}, {}, {}, {}, {}",
            count(self.packages, "package"),
            count(self.numa_nodes, "NUMA node"),
            count(self.last_level_caches, "last-level cache"),
            count(self.cores, "core"),
            count(self.pus, "PU"),
        );
        if self.core_classes.len() > 1 {
            let classes: Vec<String> = self.core_classes.iter().map(usize::to_string).collect();
            let _ =
                write!(text, "; hybrid, cores of each class, the strongest first: {}", classes.join(", "));
        }
        text
    }
}

fn examine_program(name: &OsStr) -> Result<Program> {
    let path = target::resolve(name)?;
    let facts = scaf_inspect::program(&path).with_context(|| format!("can't inspect {}", path.display()))?;
    let obstacle = target::obstacle(&path);
    let advice = match (&obstacle, &facts.resizable) {
        (Some(_), _) => {
            "Nothing can be done for it by scaf run; bind it with taskset, or set \
             OMP_NUM_THREADS."
        }
        (None, Resizable::Yes) => "Run it with: scaf run. Its teams follow the grant exactly.",
        (None, Resizable::No { .. }) => {
            "Run it with: scaf run. Its teams keep their size and are folded onto the PUs granted; \
             a long-spinning wait policy (OMP_WAIT_POLICY=active) would make that slow."
        }
    };
    let forbids_gathering = if obstacle.is_none() { gather::forbidden_by(&path) } else { None };
    let permission = if obstacle.is_none() { permission::of(&path) } else { permission::Found::default() };
    let advice = if permission.permits { "Run it with: scaf run." } else { advice };
    let (permission, advice) = (permission.sentences, advice.to_owned());
    Ok(Program { path, obstacle, facts, permission, forbids_gathering, advice })
}

fn render(found: &Findings) -> String {
    let mut text = String::new();
    let mut line = |what: &str, said: String| {
        let _ = writeln!(text, "{what:<12} {said}");
    };
    line("machine", format!("{}, Linux {}", found.machine.cpu_model, found.machine.kernel));
    line("topology", found.topology.as_ref().map_or("unknown to hwloc".into(), Shape::text));
    line("allowed", format!("PUs {} ({})", found.allowed_pus, found.machine.pus));
    let groups = &found.cgroups;
    let quota =
        groups.quota.map_or("no CPU quota".into(), |quota| format!("CPU quota of {quota:.2} contexts"));
    line("cgroups", format!("{}, controllers: {}; {quota}", groups.version, list(&groups.controllers)));
    line("counters", mended(&found.counters.said, found.counters.mend.as_deref()));
    line("pools", mended(&found.pools.said, found.pools.mend.as_deref()));
    line(
        "turns",
        match found.turns.by {
            Some(way) => format!("programs can take turns by {}", way.name()),
            None => mended(
                &format!(
                    "no freezer ({}); gang_by = \"signal\" needs none, and a daemon run by root has one",
                    found.turns.why
                ),
                found.turns.mend.as_deref(),
            ),
        },
    );
    line("sessions", found.sessions.text());
    let missing = |it: &Option<Missing>| it.as_ref().map_or_else(String::new, Missing::text);
    line(
        "library",
        found.library.as_ref().map_or_else(
            || format!("missing: {}", missing(&found.library_missing)),
            |path| path.display().to_string(),
        ),
    );
    line("daemon", found.daemon.as_ref().map_or_else(|| missing(&found.daemon_missing), |it| it.text()));
    if let Some(program) = &found.program {
        text.push_str(&render_program(program));
    }
    text
}

fn render_program(program: &Program) -> String {
    let mut text = format!("\n{}\n", program.path.display());
    if let Some(why) = &program.obstacle {
        let _ = writeln!(text, "  It runs unmanaged: {why}.");
    }
    for sentence in &program.facts.verdict {
        let _ = writeln!(text, "  {sentence}");
    }
    for sentence in &program.permission {
        let _ = writeln!(text, "  {sentence}");
    }
    if let Some(what) = &program.forbids_gathering {
        let _ = writeln!(text, "  Its teams are not gathered: it {what}.");
    }
    let _ = writeln!(text, "  {}", program.advice);
    text
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_examined_without_a_daemon_or_counters() {
        let text = render(&examine(None).unwrap());
        for part in ["machine", "topology", "counters", "pools", "turns", "library"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn classes_of_cores_are_shown_where_there_are_several() {
        let pu = |os: u32| scaf_policy::Pu {
            os,
            core: if os < 4 { os / 2 } else { os - 2 },
            l3: 0,
            numa: 0,
            package: 0,
            class: u32::from(os < 4),
        };
        let hybrid = scaf_policy::Topology { pus: (0..8).map(pu).collect() };
        let text = shape(&hybrid).text();
        assert!(text.contains("6 cores, 8 PUs; hybrid") && text.ends_with("first: 2, 4"), "{text}");
        let plain = hybrid.restrict(&(0..4).collect());
        assert_eq!(shape(&plain).text(), "1 package, 1 NUMA node, 1 last-level cache, 2 cores, 4 PUs");
    }

    #[test]
    fn a_program_without_regions_of_its_own_can_be_run() {
        let program = examine_program(OsStr::new("true")).unwrap();
        assert_eq!(program.obstacle, None);
        assert!(render_program(&program).contains("scaf run"));
    }
}
