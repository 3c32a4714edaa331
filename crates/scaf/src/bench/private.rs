//! A daemon of a benchmark's own: its own socket in its own folder, a chosen policy, no configuration file,
//! and gone with its folder when dropped.

use super::child::{Child, Recipe};
use super::interrupt::Interrupt;
use super::slow::Motion;
use crate::daemon;
use crate::launch::{self, Change, Wish};
use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for it to listen. It takes 20 ms, and has been seen to take 5 s on a machine that was busy
/// linking.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running private daemon.
pub struct Private {
    // In this order: the daemon has to be gone before its folder goes.
    daemon: Child,
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl Private {
    /// Starts one that decides by `policy`.
    ///
    /// # Errors
    /// scafd or the client library isn't beside us, or the daemon doesn't come up.
    pub fn start(policy: &str, interrupt: &Interrupt) -> Result<Private> {
        Private::configured(policy, "", interrupt)
    }

    /// Starts one for programs that take turns with others. Those are load that nobody manages: a daemon that
    /// counted it would take contexts away.
    ///
    /// # Errors
    /// As for [`Private::start`].
    pub fn beside_others(policy: &str, interrupt: &Interrupt) -> Result<Private> {
        Private::configured(policy, "count_load = false\n", interrupt)
    }

    /// Starts one that sends programs to DoPs that nothing is known of.
    ///
    /// # Errors
    /// As for [`Private::start`].
    pub fn exploring(interrupt: &Interrupt) -> Result<Private> {
        Private::configured("equi", "explore = true\n", interrupt)
    }

    /// Starts one that runs regions alone in copies of their processes, where their speedup isn't known.
    ///
    /// # Errors
    /// As for [`Private::start`].
    pub fn experimenting(interrupt: &Interrupt) -> Result<Private> {
        Private::configured("equi", "experiments = \"always\"\nrate_hz = 10\n", interrupt)
    }

    /// Starts one for a machine in slow motion, where load that nobody manages takes no context away, and a
    /// context's counters are a core's.
    ///
    /// # Errors
    /// As for [`Private::start`].
    pub fn in_slow_motion(
        policy: &str,
        motion: &Motion,
        memory: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Private> {
        let topology = format!("pack:1 core:{} pu:1", motion.contexts());
        let words = ["--topology".into(), topology.into(), "--slow-motion".into(), motion.folder().into()];
        Private::told(policy, "counters = \"off\"\n", memory, words.into(), Some(motion), interrupt)
    }

    /// Starts one that remembers in this folder what programs teach.
    ///
    /// # Errors
    /// As for [`Private::start`].
    pub fn remembering(policy: &str, memory: &Path, interrupt: &Interrupt) -> Result<Private> {
        Private::told(policy, "", Some(memory), vec![], None, interrupt)
    }

    /// Starts one of this configuration.
    ///
    /// # Errors
    /// As for [`Private::start`].
    pub fn configured(policy: &str, configuration: &str, interrupt: &Interrupt) -> Result<Private> {
        Private::told(policy, configuration, None, vec![], None, interrupt)
    }

    fn told(
        policy: &str,
        configuration: &str,
        memory: Option<&Path>,
        words: Vec<OsString>,
        motion: Option<&Motion>,
        interrupt: &Interrupt,
    ) -> Result<Private> {
        let library = launch::library().map_err(|why| anyhow!(why))?;
        let program = daemon::beside_us("scafd")
            .context("there is no scafd beside scaf or in ../lib/scaf; build it")?;
        let folder = tempfile::Builder::new().prefix("scaf-bench-").tempdir().context("temporary folder")?;
        let (socket, file) = (folder.path().join("scafd.sock"), folder.path().join("scafd.toml"));
        // What it learns is not the user's, and what the user's programs taught is not to decide a
        // comparison.
        let memory = match memory {
            Some(folder) => format!("memory_dir = {:?}", folder.to_str().context("temporary folder")?),
            None => "memory = false".to_owned(),
        };
        let configuration = format!("{memory}\n{configuration}");
        std::fs::write(&file, configuration).context("temporary configuration file")?;
        let arguments = ["--session", "--idle-exit", "0", "--policy", policy];
        let paths =
            ["--config".into(), file.into_os_string(), "--socket".into(), socket.clone().into_os_string()];
        let arguments = arguments.iter().map(Into::into).chain(paths).chain(words).collect();
        let recipe = Recipe::new(program, arguments);
        let daemon = Child::start(&motion.map_or(recipe.clone(), |motion| motion.beside(recipe)))?;
        let mut private = Private { daemon, folder, library };
        private.wait_until_it_listens(&socket, interrupt)?;
        Ok(private)
    }

    fn wait_until_it_listens(&mut self, socket: &Path, interrupt: &Interrupt) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while daemon::connect(socket).is_err() {
            if let Some(outcome) = self.daemon.ended()? {
                let how = outcome.failure().unwrap_or_else(|| "ended at once".into());
                bail!("the private daemon {how}");
            }
            if Instant::now() > deadline {
                bail!("the private daemon doesn't listen at {} after {PATIENCE:?}", socket.display());
            }
            interrupt.wait(&[], Duration::from_millis(2))?;
        }
        Ok(())
    }

    /// Kills it, as nothing but a fault or an administrator does.
    pub fn kill(&mut self) {
        if let Some(pid) = Pid::from_raw(self.daemon.pid() as i32) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("scafd.sock")
    }

    /// The environment of a program that it manages under `name`: what `scaf run --min MIN` makes of a clean
    /// one.
    pub fn environment(&self, name: &str, min: u32) -> Vec<Change> {
        let wish = Wish {
            name: Some(name.to_owned()),
            min,
            max: None,
            weight_milli: 1000,
            rigid: false,
            exact: false,
        };
        launch::environment(&wish, &self.socket(), &self.library, &|_| None)
    }
}

impl Drop for Private {
    /// Asks it to leave, so that what it does on the way out is part of every benchmark; dropping the child
    /// then kills one that doesn't.
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.daemon.pid() as i32) {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline && matches!(self.daemon.ended(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
