//! Slow motion: a machine of more contexts than there are cores, all equally slow. Each context is a control
//! group with a CPU quota. The daemon decides in a dry run, as on such a machine; its decisions are read from
//! its control socket and carried out here, by moving threads between the groups ([`Mover`]). The groups go
//! with [`SlowMachine`]; those of a killed benchmark are removed by the next one.

mod contexts;
mod mover;
mod spread;

use anyhow::{Context, Result};
use contexts::{Contexts, MOST_PERIOD_US};
use mover::{Mover, PERIOD};
use scaf_cli::bench::child::{Recipe, Seat};
use scaf_cli::bench::interrupt::Interrupt;
use scaf_cli::bench::mix::{SlowMotion, Testbed};
use scaf_cli::bench::private::Private;
use scaf_cli::environment::Change;
use scaf_cli::{daemon, host};
use scafd::observe::{Observer, cgroup};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The folder's name is this, then the process id and start time of the process that made it.
const PREFIX: &str = "scaf-slow-";

/// What slow motion can't show: only contexts are slow, what they share isn't.
pub const CANNOT_SHOW: [&str; 4] = [
    "memory contention: bandwidth and caches are the real cores', and fast against slow contexts",
    "placement: contexts have no topology",
    "spinning: waiting threads sleep at once",
    "regions much shorter than a quota's period of 10 ms scale worse than they would: a wait at their end \
     may last until the next period",
];

/// A machine in slow motion, until it is dropped.
pub struct SlowMachine {
    mover: Arc<Mutex<Mover>>,
    daemons: Arc<Mutex<Vec<Daemon>>>,
    stop: Arc<AtomicBool>,
    follower: Option<JoinHandle<()>>,
    // Dropped after the rest: the groups are empty by then.
    groups: Groups,
}

/// A daemon that decides for this machine.
struct Daemon {
    socket: PathBuf,
    managed: BTreeSet<u32>,
}

impl Daemon {
    /// Places its programs as it says; false if it has ended.
    fn obey(&mut self, mover: &Mutex<Mover>) -> bool {
        let Ok(snapshot) = daemon::snapshot(&self.socket) else { return self.socket.exists() };
        let mut mover = lock(mover);
        let before = std::mem::take(&mut self.managed);
        for program in snapshot.programs {
            let on = if program.dop.is_some() { program.pus.iter().collect() } else { vec![] };
            mover.place(program.pid, on);
            self.managed.insert(program.pid);
        }
        before.difference(&self.managed).for_each(|left| mover.place(*left, vec![]));
        true
    }
}

impl SlowMachine {
    /// Makes a machine of `contexts`.
    /// # Errors
    /// What control groups don't allow.
    pub fn start(contexts: u32) -> Result<SlowMachine> {
        let root = Path::new("/");
        let (parent, version_2) = cgroup::cpu_group(root).context(
            "slow motion needs the cpu controller of control groups, version 1 or 2, and none is mounted \
             here; on a machine or in a container that has it (docker run --privileged --cgroupns=host), it \
             works for root",
        )?;
        let observer = Observer::new(root);
        remove_leftovers(&parent, &observer);
        let pus = host::allowed().len() as f64;
        let cores = host::cgroups(root).quota.map_or(pus, |quota| quota.min(pus));
        let pid = std::process::id();
        let name = format!("{PREFIX}{pid}-{}", observer.process(pid).stat()?.starttime);
        let groups = Groups(parent.join(name));
        let mover = Mover::new(Contexts::make(&groups.0, version_2, contexts, cores)?);
        let (mover, stop) = (Arc::new(Mutex::new(mover)), Arc::new(AtomicBool::new(false)));
        let daemons = Arc::new(Mutex::new(Vec::<Daemon>::new()));
        let (moves, stops, decide) = (Arc::clone(&mover), Arc::clone(&stop), Arc::clone(&daemons));
        let follower = std::thread::spawn(move || {
            while !stops.load(Ordering::Relaxed) {
                lock(&decide).retain_mut(|daemon| daemon.obey(&moves));
                lock(&moves).follow();
                std::thread::sleep(PERIOD);
            }
        });
        Ok(SlowMachine { mover, daemons, stop, follower: Some(follower), groups })
    }

    /// Folder of the contexts' groups, which are numbered.
    pub fn folder(&self) -> &Path {
        &self.groups.0
    }

    /// The further words on the command line of a daemon that decides for this machine.
    pub fn words(&self) -> Vec<String> {
        let topology = format!("pack:1 core:{} pu:1", lock(&self.mover).contexts().count());
        ["--dry-run", "--topology", &topology, "--pace", &self.pace().to_string()].map(String::from).into()
    }

    /// Carries out what the daemon at that socket decides.
    pub fn obey(&self, socket: PathBuf) {
        lock(&self.daemons).push(Daemon { socket, managed: BTreeSet::new() });
    }

    fn seat(&self, contexts: Vec<u32>, managed: bool) -> Option<Arc<dyn Seat>> {
        Some(Arc::new(Start { mover: Arc::clone(&self.mover), contexts, managed }))
    }
}

impl Testbed for SlowMachine {
    fn pus(&self) -> Vec<u32> {
        (0..lock(&self.mover).contexts().count()).collect()
    }

    fn pace(&self) -> f64 {
        lock(&self.mover).contexts().pace()
    }

    // All programs wait passively anyway.
    fn configs(&self) -> &[&'static str] {
        &["unmanaged", "pinned", "equi", "scaf"]
    }

    /// The daemon runs beside the contexts, so that it runs when they are busy. Hardware counters are off:
    /// they count for a core.
    fn daemon(
        &self,
        policy: &str,
        _by_turns: bool,
        memory: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Private> {
        let words = self.words().into_iter().map(Into::into).collect();
        let off = "counters = \"off\"\n";
        let private = Private::launch(policy, off, memory, words, self.seat(vec![], true), interrupt)?;
        self.obey(private.socket());
        Ok(private)
    }

    /// On the contexts numbered by its PUs; without PUs on all, beginning with `first`.
    fn place(&self, recipe: Recipe, first: u32, managed: bool) -> Recipe {
        let count = self.pus().len() as u32;
        let all = || (0..count).map(|context| (context + first) % count).collect();
        let contexts = recipe.pus.clone().unwrap_or_else(all);
        let mut environment = vec![("OMP_NUM_THREADS", Some(count.to_string().into()))];
        environment.extend(recipe.environment.iter().cloned());
        environment.extend(passive(managed));
        Recipe { environment, pus: None, seat: self.seat(contexts, managed), ..recipe }
    }

    fn slow_motion(&self) -> Option<SlowMotion> {
        Some(SlowMotion {
            contexts: self.pus().len() as u32,
            pace_ratio: self.pace(),
            period_ms: MOST_PERIOD_US as f64 * 1e-3,
            cannot_show: &CANNOT_SHOW,
        })
    }
}

/// Where a program starts.
struct Start {
    mover: Arc<Mutex<Mover>>,
    /// The program's contexts, the first of which it starts on; if empty, it starts beside them.
    contexts: Vec<u32>,
    managed: bool,
}

impl Seat for Start {
    fn processes(&self) -> Result<File> {
        let file = lock(&self.mover).contexts().processes(self.contexts.first().copied());
        File::options().write(true).open(&file).with_context(|| format!("can't open {}", file.display()))
    }

    fn started(&self, pid: u32) {
        // A managed program is placed once it has attached to the daemon.
        if !self.managed {
            lock(&self.mover).place(pid, self.contexts.clone());
        }
    }
}

impl std::fmt::Debug for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "contexts {:?}", self.contexts)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

impl Drop for SlowMachine {
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
            eprintln!("scaf-lab: {} is left behind: {error}; the next run removes it", self.0.display());
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
        eprintln!("scaf-lab: {} of an earlier run can't be removed: {error}", path.display());
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
