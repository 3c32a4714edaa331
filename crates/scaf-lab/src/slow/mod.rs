//! Slow motion: a machine of N contexts on fewer real cores. Each context is a control group with a CPU
//! quota, so that all are equally slow; a thread runs on a context by being in its group
//! ([`scafd::apply::slow`]).
//!
//! The private daemon moves the threads of programs that it manages; a thread of ours moves all others. The
//! folder's name has the process that made it. The groups go with [`Motion`]; those of a killed benchmark are
//! removed by the next one.

use super::child::Recipe;
use super::seat::{Seat, lock};
use crate::environment::Change;
use crate::host;
use anyhow::{Context, Result};
use scafd::apply::slow::{Contexts, MOST_PERIOD_US, RHYTHM, Slow};
use scafd::observe::{Observer, cgroup};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The folder's name is this, then the process id and start time of the process that made it.
const PREFIX: &str = "scaf-slow-";

/// What slow motion can't show: only contexts are slow, what they share isn't.
pub const CANNOT_SHOW: [&str; 4] = [
    "memory contention: bandwidth and caches are the real cores', and fast against slow contexts",
    "placement: contexts have no topology",
    "spinning: waiting threads sleep at once",
    "regions much shorter than a quota's period of 10 ms scale worse than they would: a wait at their end \
     may last until the next \
     period",
];

/// A machine in slow motion, until it is dropped.
pub struct Motion {
    hands: Arc<Mutex<Slow>>,
    stop: Arc<AtomicBool>,
    follower: Option<JoinHandle<()>>,
    // Dropped after the rest: the groups are empty by then.
    groups: Groups,
}

#[derive(Clone, Debug, Serialize)]
pub struct About {
    contexts: u32,
    pace_ratio: f64,
    period_ms: f64,
    cannot_show: [&'static str; 4],
}

impl About {
    pub fn words(&self) -> String {
        let mut text = format!(
            "slow motion: {} contexts, each {:.0}% of a core's time by periods of {:.0} ms; what it can't \
             show:\n",
            self.contexts,
            self.pace_ratio * 100.0,
            self.period_ms
        );
        for what in self.cannot_show {
            text += &format!("  - {what}\n");
        }
        text
    }
}

impl Motion {
    /// Makes a machine of `contexts`; the error says what control groups don't allow.
    pub fn start(contexts: u32) -> Result<Motion> {
        let root = Path::new("/");
        let (parent, version_2) = cgroup::cpu_group(root).context(
            "slow motion needs the cpu controller of control groups, version 1 or 2, and none is mounted \
             here; on a machine or \
             in a container that has it (docker run --privileged --cgroupns=host), it works for root",
        )?;
        let observer = Observer::new(root);
        remove_leftovers(&parent, &observer);
        let pus = host::allowed().len() as f64;
        let cores = host::cgroups(root).quota.map_or(pus, |quota| quota.min(pus));
        let pid = std::process::id();
        let name = format!("{PREFIX}{pid}-{}", observer.process(pid).stat()?.starttime);
        let groups = Groups(parent.join(name));
        let hands = Slow::new(Contexts::make(&groups.0, version_2, contexts, cores)?);
        let (hands, stop) = (Arc::new(Mutex::new(hands)), Arc::new(AtomicBool::new(false)));
        let (follows, stops) = (Arc::clone(&hands), Arc::clone(&stop));
        let follower = std::thread::spawn(move || {
            while !stops.load(Ordering::Relaxed) {
                lock(&follows).follow();
                std::thread::sleep(RHYTHM);
            }
        });
        Ok(Motion { hands, stop, follower: Some(follower), groups })
    }

    pub fn contexts(&self) -> u32 {
        lock(&self.hands).contexts().count()
    }

    /// Speed of a context relative to a core.
    pub fn pace(&self) -> f64 {
        lock(&self.hands).contexts().pace()
    }

    pub fn folder(&self) -> &Path {
        &self.groups.0
    }

    /// The recipe of a private daemon beside the contexts, so that it runs when they are busy.
    pub fn beside(&self, recipe: Recipe) -> Recipe {
        let seat = Seat { hands: Arc::clone(&self.hands), contexts: vec![], managed: true };
        Recipe { seat: Some(seat), ..recipe }
    }

    pub fn about(&self) -> About {
        About {
            contexts: self.contexts(),
            pace_ratio: self.pace(),
            period_ms: MOST_PERIOD_US as f64 * 1e-3,
            cannot_show: CANNOT_SHOW,
        }
    }

    /// The recipe in slow motion, on the contexts numbered by its PUs; without PUs on all, beginning with
    /// `first`. The daemon moves a `managed` program once it has attached.
    pub fn of(&self, recipe: Recipe, first: u32, managed: bool) -> Recipe {
        let count = self.contexts();
        let all = || (0..count).map(|context| (context + first) % count).collect();
        let contexts = recipe.pus.clone().unwrap_or_else(all);
        let mut environment = vec![("OMP_NUM_THREADS", Some(count.to_string().into()))];
        environment.extend(recipe.environment.iter().cloned());
        environment.extend(passive(managed));
        let seat = Seat { hands: Arc::clone(&self.hands), contexts, managed };
        Recipe { environment, pus: None, seat: Some(seat), ..recipe }
    }
}

/// Makes waiting threads sleep: a spinning one would use up its context's quota.
fn passive(managed: bool) -> Vec<Change> {
    let zero = |name| (name, Some("0".into()));
    if managed {
        // Here the library keeps the waits that it takes over.
        vec![zero("GOMP_SPINCOUNT"), zero("SCAF_SPIN"), zero("KMP_BLOCKTIME")]
    } else {
        vec![("OMP_WAIT_POLICY", Some("passive".into()))]
    }
}

impl Drop for Motion {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(follower) = self.follower.take() {
            let _ = follower.join();
        }
    }
}

/// A folder of groups, removed when this is dropped.
struct Groups(PathBuf);

impl Drop for Groups {
    fn drop(&mut self) {
        if let Err(error) = Contexts::remove(&self.0) {
            eprintln!("scaf: {} is left behind: {error}; the next run removes it", self.0.display());
        }
    }
}

/// Removes the groups in `parent` of benchmarks that were killed.
fn remove_leftovers(parent: &Path, observer: &Observer) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some((pid, starttime)) = name.to_str().and_then(maker)
            && observer.process(pid).stat().map_or(true, |stat| stat.starttime != starttime)
        {
            report_left(&entry.path(), Contexts::remove(&entry.path()));
        }
    }
}

fn report_left(path: &Path, removed: io::Result<()>) {
    if let Err(error) = removed {
        eprintln!("scaf: {} of an earlier run can't be removed: {error}", path.display());
    }
}

/// Process id and start time in the name of a folder of groups; `None` for another name.
fn maker(name: &str) -> Option<(u32, u64)> {
    let (pid, starttime) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Some((pid.parse().ok()?, starttime.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_tell_who_made_them() {
        assert_eq!(maker("scaf-slow-12-3456"), Some((12, 3456)));
        assert_eq!(maker("scaf-slow-12"), None);
        assert_eq!(maker("user.slice"), None);
    }

    #[test]
    fn groups_of_the_dead_are_taken_away_and_those_of_the_living_stay() {
        let parent = tempfile::tempdir().unwrap();
        let observer = Observer::new(Path::new("/"));
        let pid = std::process::id();
        let starttime = observer.process(pid).stat().unwrap().starttime;
        let folder = |starttime: u64| parent.path().join(format!("{PREFIX}{pid}-{starttime}"));
        let others = parent.path().join("others");
        for path in [folder(starttime), folder(starttime + 1).join("0"), others.clone()] {
            std::fs::create_dir_all(path).unwrap();
        }
        remove_leftovers(parent.path(), &observer);
        assert!(folder(starttime).exists() && !folder(starttime + 1).exists() && others.exists());
    }
}
