//! The daemon under a service manager, whose part the test plays: it listens, passes its socket as file
//! descriptor 3, and is told how the daemon is.

#[macro_use]
mod support;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
use scafd::control::{Reply, Request};
use scafd::observe::Observer;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{
    DEADLINE, Daemon, connect, connect_as, connects_until_it_is_kept_out, is_root, kill, stderr, until,
};

const STRANGER: u32 = 65_533;

fn made(path: &Path, kind: SocketType) -> OwnedFd {
    let fd = socket(AddressFamily::UNIX, kind, None).unwrap();
    bind(&fd, &SocketAddrUnix::new(path).unwrap()).unwrap();
    listen(&fd, 16).unwrap();
    fd
}

/// A daemon for `path`, given `fd`. The shell knows its process id before it becomes the daemon.
fn start(path: &Path, fd: &OwnedFd, variables: &[(&str, &str)]) -> Child {
    start_with(&["--session".as_ref()], path, fd, variables)
}

fn start_with(args: &[&OsStr], path: &Path, fd: &OwnedFd, variables: &[(&str, &str)]) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_scafd")]);
    command.args(args);
    command.args(["--dry-run", "--topology", "core:2 pu:1", "--idle-exit", "0", "--socket"]);
    command.arg(path).envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let fd = fd.as_raw_fd();
    // SAFETY: between fork and exec only system calls are made. A descriptor that is 3 already would keep its
    // flag that closes it.
    unsafe {
        command.pre_exec(move || match libc::dup2(fd, 3) {
            3 if libc::fcntl(3, libc::F_SETFD, 0) == 0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    command.spawn().unwrap()
}

#[test]
fn a_socket_that_is_given_is_served_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("scafd.sock");
    let fd = made(&path, SocketType::SEQPACKET);
    for _ in 0..2 {
        // It asks before there is a daemon.
        let early = connect(&path).unwrap();
        let question = serde_json::to_vec(&Request::Snapshot).unwrap();
        rustix::net::send(&early, &question, rustix::net::SendFlags::NOSIGNAL).unwrap();
        let mut child = start(&path, &fd, &[]);
        assert!(matches!(Daemon::take(&early), Reply::Snapshot(_)));
        // Another one by hand doesn't take its place.
        let mut other = Daemon::command(&path, &["--dry-run"]).spawn().unwrap();
        let said = stderr(&mut other);
        assert!(said.contains(&format!("already running (pid {})", child.id())), "{said}");
        other.wait().unwrap();
        kill(child.id(), libc::SIGTERM);
        assert!(child.wait().unwrap().success(), "{}", stderr(&mut child));
        assert!(path.exists());
    }
}

#[test]
fn nobody_is_kept_out_by_a_daemon_that_was_killed() {
    needs!(is_root(), "root, to be other users");
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o711)).unwrap();
    let path = dir.path().join("scafd.sock");
    let fd = made(&path, SocketType::SEQPACKET);
    std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let config = dir.path().join("scafd.toml");
    std::fs::write(&config, "memory = false\n").unwrap();
    let start = || start_with(&["--system".as_ref(), "--config".as_ref(), config.as_ref()], &path, &fd, &[]);
    for broker_too in [false, true] {
        let mut child = start();
        if !connects_until_it_is_kept_out(STRANGER, &path) {
            kill(child.id(), libc::SIGTERM);
            assert!(child.wait().unwrap().success());
            return;
        }
        let broker = Observer::new(Path::new("/")).process(child.id()).children(1)[0];
        let both = [child.id(), broker];
        until("neither lets it in by the clock", || {
            both.iter().for_each(|pid| kill(*pid, libc::SIGSTOP));
            let is_out = connect_as(STRANGER, &path).is_none();
            if !is_out {
                both.iter().for_each(|pid| kill(*pid, libc::SIGCONT));
                connects_until_it_is_kept_out(STRANGER, &path);
            }
            is_out.then_some(())
        });
        if broker_too {
            kill(broker, libc::SIGKILL);
        }
        kill(child.id(), libc::SIGKILL);
        child.wait().unwrap();
        kill(broker, libc::SIGCONT);
        if broker_too {
            assert!(connect_as(STRANGER, &path).is_none());
            child = start();
        }
        until("it is let in", || connect_as(STRANGER, &path));
        if broker_too {
            kill(child.id(), libc::SIGTERM);
            assert!(child.wait().unwrap().success(), "{}", stderr(&mut child));
        }
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o666);
}

#[test]
fn what_isnt_the_socket_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("scafd.sock");
    let stream = made(&path, SocketType::STREAM);
    let elsewhere = made(&dir.path().join("elsewhere"), SocketType::SEQPACKET);
    for fd in [stream, elsewhere] {
        let mut child = start(&path, &fd, &[]);
        assert_eq!(child.wait().unwrap().code(), Some(1));
        let said = stderr(&mut child);
        assert!(said.contains("passed something else than this SOCK_SEQPACKET socket"), "{said}");
    }
}

#[test]
fn the_service_manager_hears_how_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (path, notify) = (dir.path().join("scafd.sock"), dir.path().join("notify"));
    let socket = UnixDatagram::bind(&notify).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let next = || {
        let mut text = [0u8; 64];
        let n = socket.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..n]).into_owned()
    };
    let fd = made(&path, SocketType::SEQPACKET);
    let mut child =
        start(&path, &fd, &[("NOTIFY_SOCKET", notify.to_str().unwrap()), ("WATCHDOG_USEC", "400000")]);
    assert_eq!(next(), "READY=1");
    let since = Instant::now();
    // Nobody is there, so that nothing else wakes it.
    assert_eq!([next(), next()], ["WATCHDOG=1", "WATCHDOG=1"]);
    assert!(since.elapsed() >= Duration::from_millis(390), "{:?}", since.elapsed());
    kill(child.id(), libc::SIGTERM);
    until("its farewell", || (next() == "STOPPING=1").then_some(()));
    assert!(child.wait().unwrap().success());
}
