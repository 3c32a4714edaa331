//! What all tests use: a setup with a daemon, programs that are compiled, started and asked, and waiting.

/// Tests of one line each: `name: expression;`.
macro_rules! tests {
    ($($(#[$about:meta])* $name:ident: $body:expr;)*) => {
        $($(#[$about])* #[test] fn $name() { $body; })*
    };
}

#[macro_use]
#[path = "../../skip.rs"]
pub mod skip;

mod accounts;
mod build;
pub mod container;
mod program;
mod setup;
mod shown;
pub mod slurm;

pub use build::{By, clang_kernel, compiled, compiled_by, example, kernel, library_folder, released, root};
pub use program::{Done, Running, Start, is_resized_to, right};
pub use setup::{Setup, child_of, end, stay_on};

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longest wait for anything: generous, for machines that are busy with something else.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `look` finds something; panics after [`PATIENCE`].
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn root_user() -> bool {
    rustix::process::geteuid().is_root()
}

/// Sets a limit right before a command's program is loaded.
pub fn limit(command: &mut Command, which: libc::__rlimit_resource_t, to: u64) {
    let limit = libc::rlimit { rlim_cur: to, rlim_max: to };
    // SAFETY: one system call between fork and exec.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(which, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

/// Whether a line of a text is this row, however wide the column of its names is.
pub fn has_row(text: &str, name: &str, value: &str) -> bool {
    let rows = text.lines().filter_map(|line| line.trim_start().strip_prefix(name));
    rows.filter(|rest| rest.starts_with("  ")).any(|rest| rest.trim().starts_with(value))
}

pub fn kill(pid: u32) {
    setup::send(pid, libc::SIGKILL);
}

pub fn stop(pid: u32) {
    setup::send(pid, libc::SIGSTOP);
}

/// The CPUs that a thread or process may use, as `Cpus_allowed_list` has them, in single numbers.
pub fn cpus_of(pid: u32) -> Option<Vec<u32>> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(cpu_list(list.trim()))
}

/// The threads of a process, by their numbers.
pub fn threads_of(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

pub fn cpu_list(list: &str) -> Vec<u32> {
    let number = |text: &str| text.parse::<u32>().unwrap_or_else(|e| panic!("{list}: {e}"));
    list.split(',')
        .filter(|part| !part.is_empty())
        .flat_map(|part| match part.split_once('-') {
            Some((first, last)) => number(first)..=number(last),
            None => number(part)..=number(part),
        })
        .collect()
}
