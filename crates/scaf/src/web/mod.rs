//! `scaf web`: a page and metrics about the daemon, from an unprivileged process.
//!
//! [`poller`] follows the daemon with the rights of the user who runs us.
//! [`server`] takes connections, [`strangers`] limits those without the token, [`access`] checks requests,
//! [`routes`] answers them: with a file of the page ([`assets`]), with [`events`] as they come, with
//! [`metrics`], or with what other policies would have decided ([`what_if`]). Nothing can be changed from
//! there.

mod access;
mod assets;
mod events;
mod metrics;
mod poller;
mod program_totals;
mod routes;
mod server;
mod strangers;
mod textfile;
mod token;
mod what_if;
mod write_timeout;

use crate::{cli, output};
use access::Access;
use anyhow::{Context, Result, bail};
use poller::Poller;
use routes::Shared;
use rustix::process::{Resource, getrlimit, setrlimit};
use server::Listener;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

/// Carries out `scaf web`.
/// # Errors
/// An address that is taken, or a file that can't be read or written.
pub fn run(flags: &cli::Web) -> Result<ExitCode> {
    let live = Poller::new(flags.programs);
    if let Some(file) = &flags.textfile {
        return textfile::run(&live, file, Duration::from_secs_f64(flags.every));
    }
    let token = match (&flags.socket, &flags.token_file) {
        (Some(_), _) => None,
        (None, Some(file)) => Some(token::in_file(file)?),
        (None, None) => Some(token::random()?),
    };
    enough_descriptors();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // It looks often for what clients sent, lest one is closed for others before it is heard (strangers.rs).
    let runtime = runtime.enable_all().max_blocking_threads(4).event_interval(8).build();
    let runtime = runtime.context("the server")?;
    runtime.block_on(async {
        let mut ends = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
            .map(signal)
            .into_iter()
            .collect::<std::io::Result<Vec<_>>>()
            .context("signal handler")?;
        let (listener, access, address, _made) = match (&flags.socket, token) {
            (None, Some(token)) => on_port(flags.port, token).await?,
            (path, _) => on_socket(path.as_deref().unwrap_or(Path::new("")))?,
        };
        live.start()?;
        output::print(&format!("{address}\n"))?;
        let shared = Arc::new(Shared { live, access, turn: Semaphore::new(1) });
        let [interrupt, terminate, hangup] = &mut ends[..] else { bail!("signal handler") };
        tokio::select! {
            () = server::serve(listener, shared) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        Ok(())
    })?;
    // A question to a daemon that hangs may be under way.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

type Opened = (Listener, Access, String, Option<Made>);

async fn on_port(port: u16, token: String) -> Result<Opened> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await;
    let listener = listener.with_context(|| format!("port {port} of this machine; try another --port"))?;
    let port = listener.local_addr().context("our address")?.port();
    let address = format!("http://127.0.0.1:{port}/?token={token}");
    let access = Access::Token { token, page: token::random()? };
    Ok((Listener::Tcp(listener), access, address, None))
}

/// A socket that only its owner can open. A stale one is replaced.
fn on_socket(path: &Path) -> Result<Opened> {
    let about = || path.display().to_string();
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    if is_socket
        && let Err(error) = std::os::unix::net::UnixStream::connect(path)
        && error.kind() == ErrorKind::ConnectionRefused
    {
        std::fs::remove_file(path).with_context(about)?;
    }
    // With a umask, so that others can't open it before a chmod.
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(mask);
    let listener = listener.with_context(about)?;
    Ok((Listener::Unix(listener), Access::Open, about(), Some(Made(path.to_owned()))))
}

/// A file that is removed at the end.
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// Each connection takes a descriptor, and 1,024 is all that many systems allow at first.
fn enough_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = server::MOST_CONNECTIONS as u64 + 100;
    if limit.current.is_some_and(|now| now < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
        _ = setrlimit(Resource::Nofile, limit);
    }
}
