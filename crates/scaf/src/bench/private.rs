//! A benchmark's private daemon: with its own socket, folder, configuration and policy. Both end when it is
//! dropped.

use super::child::{Child, Recipe, Seat};
use super::interrupt::Interrupt;
use crate::daemon;
use crate::environment::{self, Change};
use crate::launch;
use crate::program_limits::ProgramLimits;
use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest wait until the daemon listens. It takes 20 ms; on a machine that was busy linking, it took 5 s.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Private {
    // In this order: the daemon has to end before its folder is removed.
    daemon: Child,
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl Private {
    /// Starts a daemon with this policy; errors are as for [`Private::launch`].
    pub fn start(policy: &str, interrupt: &Interrupt) -> Result<Private> {
        Private::configured(policy, "", interrupt)
    }

    /// Starts a daemon that doesn't count unmanaged load, such as programs that take turns with its own.
    pub fn beside_others(policy: &str, interrupt: &Interrupt) -> Result<Private> {
        Private::configured(policy, "count_load = false\n", interrupt)
    }

    /// Starts a daemon with this configuration; errors are as for [`Private::launch`].
    pub fn configured(policy: &str, configuration: &str, interrupt: &Interrupt) -> Result<Private> {
        Private::launch(policy, configuration, None, vec![], None, interrupt)
    }

    /// Starts a daemon with these further words on its command line, which remembers programs in the folder
    /// `memory`, if given.
    /// # Errors
    /// scafd or the client library isn't beside us, or the daemon can't be started.
    pub fn launch(
        policy: &str,
        configuration: &str,
        memory: Option<&Path>,
        words: Vec<OsString>,
        seat: Option<Arc<dyn Seat>>,
        interrupt: &Interrupt,
    ) -> Result<Private> {
        let library = launch::library().map_err(|why| anyhow!(why))?;
        let program = daemon::beside_us("scafd")
            .context("there is no scafd beside scaf or in ../lib/scaf; build it")?;
        let folder = tempfile::Builder::new().prefix("scaf-bench-").tempdir().context("temporary folder")?;
        let (socket, file) = (folder.path().join("scafd.sock"), folder.path().join("scafd.toml"));
        // The user's memory must neither learn from a benchmark nor decide one.
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
        let daemon = Child::start(&Recipe { seat, ..Recipe::new(program, arguments) })?;
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

    /// Starts a daemon with random grants that gives away all contexts.
    pub fn chaos(seed: u64, interrupt: &Interrupt) -> Result<Private> {
        let words = vec![format!("--seed={seed}").into()];
        Private::launch("chaos", "count_load = false\n", None, words, None, interrupt)
    }

    /// Kills the daemon, as a fault or an administrator would.
    pub fn kill(&mut self) {
        if let Some(pid) = Pid::from_raw(self.daemon.pid() as i32) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("scafd.sock")
    }

    /// The changes to the user's environment for a program under this daemon.
    pub fn changes(&self, limits: &ProgramLimits) -> Vec<Change> {
        environment::managed(limits, &self.socket(), &self.library, &|name| std::env::var_os(name))
    }

    /// The environment of a program called `name` under this daemon: that of `scaf run --min MIN`, from a
    /// clean one.
    pub fn environment(&self, name: &str, min: u32) -> Vec<Change> {
        let limits = ProgramLimits { name: Some(name.to_owned()), min, ..ProgramLimits::none() };
        environment::managed(&limits, &self.socket(), &self.library, &|_| None)
    }
}

impl Drop for Private {
    /// Asks the daemon to exit, so that every benchmark covers this. Dropping the child kills it after 1 s.
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
