//! The daemon for `scaf run`: a running one, else a new one for this user's session.
//!
//! The new daemon outlives the program: it has a process group of its own, so Ctrl-C and Ctrl-Z don't reach
//! it, and none of our files. It is reparented to init at once, so that the program has no unknown child. It
//! stays in the session of that first program, because kernels that group programs by session may keep
//! another session's from a PU for seconds (docs/internals/mechanisms.md, Fold). Within the session, a nice
//! level of ours would hold it up: if it can't be undone the daemon has a session of its own all the same.

use crate::daemon::{self, Absent};
use scafd::paths::{self, Scope};
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait until a new daemon listens, which usually takes 20 ms.
const PATIENCE: Duration = Duration::from_secs(2);

/// The socket of a daemon that listens, started if need be, and a connection to it.
/// # Errors
/// Why there is none, for the user; the program is to run unmanaged then.
pub fn ensure() -> Result<(PathBuf, OwnedFd), String> {
    let absent = match daemon::reach() {
        Ok(found) => return Ok(found),
        Err(absent) => absent,
    };
    // Another user's socket is reported, and one that the user named isn't replaced.
    let strangers = absent.iter().any(|(_, why)| !matches!(why, Absent::Silent));
    if strangers || daemon::named_socket().is_some() {
        return Err(daemon::explain(&absent));
    }
    let socket = paths::socket(Scope::Session);
    let program = daemon::beside_us("scafd")
        .ok_or("there is no scafd beside scaf or in ../lib/scaf; install it there")?;
    start(&program, &socket).map_err(|error| format!("can't start {}: {error}", program.display()))?;
    wait_for(&socket)
}

/// The session's daemon's log, beside the socket.
const LOG: &str = "scafd.log";

fn start(program: &Path, socket: &Path) -> std::io::Result<()> {
    let folder = socket.parent().unwrap_or(Path::new("/"));
    paths::prepare(Scope::Session, folder).map_err(std::io::Error::other)?;
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(folder.join(LOG))
        .map_or_else(|_| Stdio::null(), Stdio::from);
    let mut command = Command::new(program);
    command.arg("--session").current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    // The program's variables must not govern the daemon.
    for name in
        ["LD_PRELOAD", "SCAF_SOCKET", "SCAF_NAME", "SCAF_MIN", "SCAF_MAX", "SCAF_WEIGHT_MILLI", "SCAF_RIGID"]
    {
        command.env_remove(name);
    }
    // SAFETY: between fork and exec, only async-signal-safe system calls are made and nothing is allocated.
    // The process that spawn() knows exits here; its child becomes the daemon and needs no wait.
    unsafe {
        command.pre_exec(|| {
            own_session_or_group()?;
            // Closes all files at exec, among them the pipe by which std reports a failing exec. Before Linux
            // 5.11 this fails, and the daemon inherits files that were leaked to us.
            // By its number, for glibc has its name from 2.34 on only.
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
            match libc::fork() {
                -1 => Err(std::io::Error::last_os_error()),
                0 => Ok(()),
                _ => libc::_exit(0),
            }
        });
    }
    command.spawn()?.wait()?;
    Ok(())
}

/// A process group of its own; a session of its own where it is nice and may not change that.
fn own_session_or_group() -> std::io::Result<()> {
    match rustix::process::setpriority_process(None, 0) {
        Ok(()) => rustix::process::setpgid(None, None)?,
        Err(_) => drop(rustix::process::setsid()?),
    }
    Ok(())
}

fn wait_for(socket: &Path) -> Result<(PathBuf, OwnedFd), String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match daemon::connect(socket) {
            Ok(connection) => return Ok((socket.to_owned(), connection)),
            Err(why) if Instant::now() >= deadline => {
                let log = socket.with_file_name(LOG);
                return Err(format!(
                    "the daemon that was started doesn't answer ({}; see {})",
                    daemon::explain(&[(socket.to_owned(), why)]),
                    log.display()
                ));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
