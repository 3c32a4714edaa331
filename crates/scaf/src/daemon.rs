//! Finds a daemon and asks it.
//!
//! A daemon's socket is `SCAF_SOCKET` if that is set, else the system-wide one, else that of the user's
//! session. A socket is trusted only if root or the user owns it and listens on it: the daemon decides how
//! fast the user's programs run, and another user may have put a socket there. The client library has the
//! same rule (`crates/libscaf/src/sys/users.rs`).

use crate::mend;
use crate::program_limits::ProgramLimits;
use anyhow::{Context, Result, anyhow, bail};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use scaf_proto::hello::{ATTACH, Hello, Welcome};
use scaf_proto::{MAGIC, VERSION};
use scafd::control::{Decisions, Reply, Request, Snapshot};
use scafd::observe::proc_pid::FileId;
use scafd::paths::{self, Scope};
use scafd::privileges::UNKNOWN;
use scafd::talk::Peer;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Variable with a daemon's socket; `scaf run` sets it for the client library.
pub const SOCKET_VARIABLE: &str = "SCAF_SOCKET";
/// Longest wait for one packet. The daemon answers within 1 ms unless it is stopped.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest wait for an optional answer while a program starts.
const SHORT_PATIENCE: Duration = Duration::from_millis(100);
/// Somewhat longer than a ban for connecting too often (`scafd::talk`).
const BAN: Duration = Duration::from_millis(350);

/// Why there is no daemon at a socket.
#[derive(Debug, PartialEq)]
pub enum Absent {
    /// There is no socket, or nobody listens.
    Silent,
    /// The socket or its listener belongs to this other user.
    Foreign(u32),
    /// The user may not connect, or not now.
    Forbidden,
    /// The socket can't be reached, for this reason.
    Unreachable(String),
}

/// Where to look for a daemon, in this order.
pub fn sockets() -> Vec<PathBuf> {
    match named_socket() {
        Some(socket) => vec![socket],
        None => vec![paths::socket(Scope::System), paths::socket(Scope::Session)],
    }
}

/// The socket named by the user, if any.
pub fn named_socket() -> Option<PathBuf> {
    std::env::var_os(SOCKET_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The first socket with a daemon of root's or of the user's own.
/// # Errors
/// Why there is none at each place.
pub fn find() -> Result<PathBuf, Vec<(PathBuf, Absent)>> {
    reach().map(|(socket, _)| socket)
}

/// The same, and a connection to it.
/// # Errors
/// As for [`find`].
pub fn reach() -> Result<(PathBuf, OwnedFd), Vec<(PathBuf, Absent)>> {
    let mut absent = Vec::new();
    for socket in sockets() {
        match connect(&socket) {
            Ok(connection) => return Ok((socket, connection)),
            Err(why) => absent.push((socket, why)),
        }
    }
    Err(absent)
}

/// Connects to a daemon's socket, unless it is a stranger's.
/// # Errors
/// Why there is no trusted daemon.
pub fn connect(socket: &Path) -> Result<OwnedFd, Absent> {
    let owner = match std::fs::symlink_metadata(socket) {
        Ok(metadata) => metadata.uid(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(Absent::Silent),
        Err(error) => return Err(Absent::Unreachable(error.to_string())),
    };
    trusted(owner, socket)?;
    let address = SocketAddrUnix::new(socket).map_err(|error| Absent::Unreachable(error.to_string()))?;
    let connection = open(&address).map_err(|error| match error {
        Errno::CONNREFUSED | Errno::NOENT => Absent::Silent,
        Errno::ACCESS => Absent::Forbidden,
        other => Absent::Unreachable(other.to_string()),
    })?;
    // The file's owner may let another user listen.
    let listener = Peer::of(&connection).map_err(|error| Absent::Unreachable(error.to_string()))?;
    trusted(listener.uid, socket)?;
    Ok(connection)
}

fn trusted(uid: u32, socket: &Path) -> Result<(), Absent> {
    let known = uid == 0 || uid == rustix::process::geteuid().as_raw();
    // Places where no other user can put a socket.
    let safe = || socket == paths::socket(Scope::System) || named_socket().is_some_and(|it| it == socket);
    if known || (uid == UNKNOWN && safe() && hides_users()) { Ok(()) } else { Err(Absent::Foreign(uid)) }
}

/// Whether we are in a user namespace that maps only some users.
fn hides_users() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    !map.is_empty() && !map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn open(address: &SocketAddrUnix) -> Result<OwnedFd, Errno> {
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    let until = Instant::now() + BAN;
    loop {
        match rustix::net::connect(&socket, address) {
            Err(Errno::ACCESS) if Instant::now() < until => std::thread::sleep(BAN / 20),
            done => return done.map(|()| socket),
        }
    }
}

/// A sentence about each place without a daemon.
pub fn explain(absent: &[(PathBuf, Absent)]) -> String {
    let part = |(socket, why): &(PathBuf, Absent)| match why {
        Absent::Silent => format!("nobody answers at {}", socket.display()),
        Absent::Foreign(uid) => {
            format!("{} belongs to another user ({uid}), so it isn't used", socket.display())
        }
        Absent::Forbidden => format!(
            "your user may not connect to {}; if others of yours connect in a loop, end these",
            socket.display()
        ),
        Absent::Unreachable(why) => format!("{} can't be reached: {why}", socket.display()),
    };
    absent.iter().map(part).collect::<Vec<_>>().join("; ")
}

/// Finds a daemon.
/// # Errors
/// There is none; the message says how to start one.
pub fn require() -> Result<PathBuf> {
    find().map_err(|absent| {
        anyhow!(
            "no daemon is running ({}); `scaf run PROGRAM` starts one, and so does `systemctl start scafd`",
            explain(&absent)
        )
    })
}

/// Asks the daemon at `socket`.
/// # Errors
/// No trusted daemon, an answer that can't be understood, or the daemon's own refusal.
pub fn ask(socket: &Path, request: &Request) -> Result<Reply> {
    ask_within(PATIENCE, socket, request)
}

/// The same with this timeout for each packet.
fn ask_within(patience: Duration, socket: &Path, request: &Request) -> Result<Reply> {
    let about = || format!("daemon at {}", socket.display());
    let connection = connect(socket).map_err(|why| anyhow!(explain(&[(socket.to_owned(), why)])))?;
    set_socket_timeout(&connection, Timeout::Recv, Some(patience)).context("a connection's timeout")?;
    let packet = serde_json::to_vec(request).context("request")?;
    let failed = |error: Errno| match error {
        Errno::WOULDBLOCK => anyhow!(
            "the {} doesn't answer within {patience:?}: it is stopped or hangs. Meanwhile programs run \
             unmanaged; resume it, or start another one with: {}",
            about(),
            restart(socket).unwrap_or_default()
        ),
        other => anyhow::Error::from(other).context(about()),
    };
    rustix::net::send(&connection, &packet, SendFlags::NOSIGNAL).map_err(failed)?;
    let mut answer = Vec::new();
    let mut chunk = vec![0; scafd::control::CHUNK_BYTES];
    loop {
        let (filled, _) =
            rustix::net::recv(&connection, &mut chunk[..], RecvFlags::empty()).map_err(failed)?;
        if filled == 0 {
            break;
        }
        answer.extend_from_slice(&chunk[..filled]);
    }
    let reply = serde_json::from_slice(&answer).with_context(|| {
        let mend = restart(socket).unwrap_or_default();
        format!("the {} is of another version than this scaf; restart it with: {mend}", about())
    })?;
    match reply {
        Reply::Error(message) => bail!("{message}"),
        reply => Ok(reply),
    }
}

/// A daemon that speaks another version of the protocol than we and our client library.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherVersion {
    /// Its version.
    pub protocol: u32,
    /// The command that fixes it.
    pub mend: String,
}

impl std::fmt::Display for OtherVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; mend it with: {}", self.said(), self.mend)
    }
}

impl OtherVersion {
    /// What is wrong.
    pub fn said(&self) -> String {
        let theirs = self.protocol;
        format!("the daemon speaks version {theirs} of the protocol, and the client library {VERSION}")
    }
}

/// Whether the daemon at `socket` can't understand our client library; `None` as well if it doesn't say so at
/// once. A daemon answers a hello of another version, such as 0, with its own.
pub fn other_version(socket: &Path) -> Option<OtherVersion> {
    other_version_of(&connect(socket).ok()?, socket)
}

/// The same on an open connection, which can't be used afterwards.
pub fn other_version_of(connection: &OwnedFd, socket: &Path) -> Option<OtherVersion> {
    set_socket_timeout(connection, Timeout::Recv, Some(SHORT_PATIENCE)).ok()?;
    let question = Hello { version: 0, ..Hello::new(ATTACH, 1) };
    rustix::net::send(connection, question.as_bytes(), SendFlags::NOSIGNAL).ok()?;
    let mut answer = [0u8; size_of::<Welcome>()];
    let (filled, _) = rustix::net::recv(connection, &mut answer[..], RecvFlags::empty()).ok()?;
    let word = |at: usize| answer.get(at..at + 4).and_then(|it| it.try_into().ok()).map(u32::from_ne_bytes);
    if filled != answer.len() || word(0) != Some(MAGIC) {
        return None;
    }
    let protocol = word(4).filter(|theirs| *theirs != VERSION)?;
    Some(OtherVersion { protocol, mend: restart(socket)? })
}

/// The command that starts the daemon at `socket` anew, if there is one.
pub fn restart(socket: &Path) -> Option<String> {
    let listener = connect(socket).ok().and_then(|connection| Peer::of(&connection).ok());
    // The pid is 0 if we are in a container and the daemon isn't.
    mend::restart(socket, listener.map(|it| it.pid).filter(|pid| *pid != 0))
}

/// The state of everything that the daemon at `socket` manages.
/// # Errors
/// As [`ask`].
pub fn snapshot(socket: &Path) -> Result<Snapshot> {
    match ask(socket, &Request::Snapshot)? {
        Reply::Snapshot(snapshot) => Ok(*snapshot),
        other => bail!("the daemon at {} answered a question not asked: {other:?}", socket.display()),
    }
}

/// Whether that executable should start with as many threads as it is granted; false without a quick answer.
pub fn is_better_molded(socket: &Path, program: &Path) -> bool {
    let Ok(file) = std::fs::metadata(program) else { return false };
    matches!(ask_within(SHORT_PATIENCE, socket, &Request::Mold(FileId::of(&file))), Ok(Reply::Mold(true)))
}

/// Has the daemon manage this process from outside, and what it starts, where they don't attach. They have
/// one share together, unless `each` is to have its own.
pub fn adopt_self(socket: &Path, limits: &ProgramLimits, each: bool) {
    let (limits, turns) = (limits.values(), limits.turns);
    let _ = ask_within(SHORT_PATIENCE, socket, &Request::Adopt { pid: 0, limits, each, turns });
}

/// Decisions from the daemon's journal.
/// # Errors
/// As [`ask`].
pub fn decisions(socket: &Path, request: &Request) -> Result<Decisions> {
    match ask(socket, request)? {
        Reply::Decisions(decisions) => Ok(*decisions),
        other => bail!("the daemon at {} answered a question not asked: {other:?}", socket.display()),
    }
}

/// An installed file called `name`, beside the running executable or in `../lib/scaf`.
pub fn beside_us(name: &str) -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let here = exe.parent()?;
    [here.join(name), here.join("../lib/scaf").join(name)]
        .into_iter()
        .find(|path| path.is_file())
        .and_then(|path| path.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_listens_there_is_no_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        assert_eq!(connect(&socket).unwrap_err(), Absent::Silent);
        // A socket file without a listener counts the same.
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        assert!(matches!(connect(&socket), Err(Absent::Silent | Absent::Unreachable(_))));
    }

    #[test]
    fn a_strangers_socket_is_refused_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        std::fs::write(&socket, "").unwrap();
        if std::os::unix::fs::chown(&socket, Some(54_321), None).is_err() {
            return; // only root can make the situation
        }
        let absent = connect(&socket).unwrap_err();
        assert_eq!(absent, Absent::Foreign(54_321));
        assert!(explain(&[(socket, absent)]).contains("another user (54321)"));
    }
}
