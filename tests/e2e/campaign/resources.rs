//! A daemon to which the system gives no file descriptors, no memory, or no room on the disk. It does
//! without, or ends and says why; programs don't notice.

use super::Tally;
use super::daemon::{BRIEF, LEASE, ask, nothing_is_left, send, soon};
use super::programs::{BRIEF as KERNELS, ENDLESS};
use crate::support::{Setup, limit, root_user};
use std::ffi::CString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

/// Starts a daemon in that state, has programs come and leave, and ends it, if it hasn't ended by itself.
fn serve(what: &str, tally: &mut Tally, change: impl FnOnce(&Setup, &mut Command)) {
    let setup = Setup::prepared(&["equi"], BRIEF);
    let mut command = setup.daemon_command();
    change(&setup, &mut command);
    let mut daemon = command.spawn().expect("starting scafd");
    let mut ended = || daemon.try_wait().expect("waiting for the daemon");
    soon("an answer or an end", 4 * LEASE, || ended().is_some() || ask(&setup.socket()).is_some());
    let members = [ENDLESS[0].start(&setup, true), ENDLESS[2].start(&setup, true)];
    for kernel in &KERNELS {
        kernel.start(&setup, true).relieve();
    }
    let alive = ended().is_none();
    if !alive {
        soon("their own affinities", LEASE, || members.iter().all(super::programs::StartedProgram::is_wide));
    }
    for member in members {
        member.relieve();
    }
    if alive {
        soon("nobody is attached", LEASE, || {
            ended().is_some() || ask(&setup.socket()).is_none_or(|seen| seen.programs.is_empty())
        });
        send(daemon.id(), libc::SIGTERM);
    }
    let status = daemon.wait().expect("the daemon's end");
    let log = setup.log();
    assert!(!log.contains("panicked"), "{what}: {log}");
    match (alive, status.code(), status.signal()) {
        (true, Some(0), _) => tally.add(format!("{what}: it lives, and ends at SIGTERM")),
        (_, Some(1), _) => tally.add(format!("{what}: it ends, and says why")),
        // The loader's word, and that of Rust's runtime.
        (false, Some(127), _) => tally.add(format!("{what}: it can't be loaded")),
        // Its stack isn't there before it is loaded; later it aborts.
        (_, None, Some(libc::SIGSEGV)) if what.contains("memory") && log.is_empty() => {
            tally.add(format!("{what}: it can't be loaded"));
        }
        (_, None, Some(libc::SIGABRT)) if what.contains("memory") => {
            tally.add(format!("{what}: it aborts"));
        }
        _ => panic!("{what}: {status:?}\n{log}"),
    }
    nothing_is_left(&setup, &[]);
}

/// Each so many of them in an ordinary run of the tests.
fn some(all: impl Iterator<Item = u64>, each: usize) -> impl Iterator<Item = u64> {
    all.step_by(if super::faults(0) == 0 { each } else { 1 })
}

#[test]
fn without_descriptors() {
    let mut tally = Tally::default();
    for files in some((3..40).chain(125..135), 24) {
        serve("no descriptors", &mut tally, |_, command| limit(command, libc::RLIMIT_NOFILE, files));
    }
    tally.tell("no descriptors");
}

#[test]
fn without_memory() {
    let mut tally = Tally::default();
    for mib in some((4..100).step_by(4), 12) {
        serve("no memory", &mut tally, |_, command| limit(command, libc::RLIMIT_AS, mib << 20));
    }
    tally.tell("no memory");
}

#[test]
fn without_room_on_the_disk() {
    needs!(root_user(), "root, to mount a disk");
    let mut tally = Tally::default();
    for pages in some([1, 2, 3, 4, 6, 8, 12, 16, 24].into_iter(), 9) {
        serve("a full disk", &mut tally, |setup, command| {
            for folder in ["data", "cache"] {
                std::fs::create_dir(setup.folder().join(folder)).expect("a folder");
            }
            let text = |text: String| CString::new(text).expect("a path");
            let places = ["data", "cache"].map(|at| text(setup.folder().join(at).display().to_string()));
            let size = text(format!("size={}k", 4 * pages));
            // SAFETY: system calls between fork and exec, on text that was made before.
            unsafe {
                command.pre_exec(move || {
                    let (none, tmpfs) = (std::ptr::null(), c"tmpfs".as_ptr());
                    let private = libc::MS_REC | libc::MS_PRIVATE;
                    let mut wrong = libc::unshare(libc::CLONE_NEWNS)
                        | libc::mount(none, c"/".as_ptr(), none, private, none.cast());
                    for place in &places {
                        wrong |= libc::mount(tmpfs, place.as_ptr(), tmpfs, 0, size.as_ptr().cast());
                    }
                    if wrong == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
                });
            }
        });
    }
    serve("a log that can't be written", &mut tally, |_, command| {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        command.stderr(Stdio::from(full));
    });
    tally.tell("no room on the disk");
}
