//! A running `scaf web`.

use crate::http::{self, Reply};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub struct Served {
    child: Child,
    pub address: String,
    pub port: u16,
    pub token: String,
}

pub fn command(socket: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaf"));
    command.arg("web").args(arguments).env("SCAF_SOCKET", socket).stdin(Stdio::null());
    // SAFETY: one system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    command
}

impl Served {
    /// On a free port; or as the arguments say.
    pub fn start(socket: &Path, arguments: &[&str]) -> Served {
        let arguments =
            if arguments.contains(&"--socket") { arguments } else { &[&["--port=0"], arguments].concat() };
        let mut child = command(socket, arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let after = |mark: &str, end: char| {
            address.split_once(mark).and_then(|(_, it)| it.split(end).next()).unwrap_or_default().to_owned()
        };
        let (port, token) = (after("127.0.0.1:", '/').parse().unwrap_or(0), after("token=", ' '));
        Served { child, address, port, token }
    }

    /// GET with the token.
    pub fn get(&self, path: &str, lines: &[&str]) -> Reply {
        let bearer = format!("Authorization: Bearer {}", self.token);
        http::get(self.port, path, &[&[bearer.as_str()], lines].concat())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Memory that it has now, in KB.
    pub fn rss_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().count()
    }

    /// Asks it to end, and waits for that.
    pub fn end(mut self) {
        // SAFETY: a plain system call.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
