//! What users keep of what the daemon gives them: it costs the daemon no more than all their programs at once
//! would, and others nothing. Played by root.

use crate::attacks::{ATTACKER, OTHER};
use crate::support::{Running, Setup, Start, limit, wait_for};
use scaf_proto::hello::{ATTACH, Hello};
use std::time::Duration;

/// How many times that user's process attaches, and what it does with what it is sent.
pub fn hoards<'h>(setup: &'h Setup, user: u32, times: u32, word: &str) -> Start<'h> {
    let hello: String = Hello::new(ATTACH, 2).as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    says(setup, user, &hello, times, word)
}

fn says<'h>(setup: &'h Setup, user: u32, what: &str, times: u32, word: &str) -> Start<'h> {
    let words = [setup.socket().display().to_string(), what.to_owned(), times.to_string(), word.to_owned()];
    setup.program("hoards").args(words).of(user).unmanaged()
}

/// Once it has attached as often as it was to.
fn done(program: &Running) {
    wait_for("all its connections", || program.printed().contains("file=").then_some(()));
}

/// The kernel counts descriptors in flight for their sender, the daemon: as many as it may have files open.
#[test]
fn welcomes_that_nobody_takes_leave_others_theirs() {
    let Some(setup) = Setup::for_all(&["equi"], "max_clients_per_uid = 8\n") else { return };
    setup.start_changed_daemon(|command| limit(command, libc::RLIMIT_NOFILE, 400));
    let attacker = hoards(&setup, ATTACKER, 200, "leaves").start();
    let second = hoards(&setup, ATTACKER - 5, 200, "shuts").start();
    [&attacker, &second].into_iter().for_each(done);
    let other = setup.program("loops").of(OTHER).threads(2).start();
    other.until("its part", |program| program.dop.is_some());
    assert_eq!(other.finish().well().number("wrong"), 0);
    assert!(attacker.finish().well().number("attached") + second.finish().well().number("attached") > 300);
    // What was on its way has come back: the attacker's user may attach again.
    let later = setup.program("loops").of(ATTACKER).threads(2).start();
    later.until("its part", |program| program.dop.is_some());
    assert_eq!(later.finish().well().number("wrong"), 0);
}

#[test]
fn pages_that_were_kept_are_the_same_users_next_ones() {
    let Some(setup) = Setup::for_all(&["equi"], "") else { return };
    setup.start_daemon();
    let program = hoards(&setup, ATTACKER, 1, "takes").start();
    done(&program);
    let kept = program.finish().well().number("file");
    assert_ne!(kept, 0);
    let at_once = hoards(&setup, ATTACKER, 1, "takes").run().well().number("file");
    std::thread::sleep(Duration::from_millis(5_500));
    let others = hoards(&setup, OTHER, 1, "takes").run().well().number("file");
    let later = hoards(&setup, ATTACKER, 1, "takes").run().well().number("file");
    assert!(at_once != kept && others != kept && others != at_once && others != 0);
    assert_eq!(later, kept);
}

#[test]
fn root_is_answered_where_others_have_all_connections() {
    let Some(setup) = Setup::for_all(&["equi"], "") else { return };
    // Room for 63 connections, of which 31 are root's.
    setup.start_changed_daemon(|command| limit(command, libc::RLIMIT_NOFILE, 64 + 5 * 63));
    let silent = [ATTACKER, ATTACKER - 5].map(|user| says(&setup, user, "", 32, "leaves").start());
    silent.iter().for_each(done);
    assert_eq!(hoards(&setup, OTHER, 1, "takes").run().well().number("file"), 0, "there is room left");
    assert!(setup.ask().is_some(), "{}", setup.log());
    silent.into_iter().for_each(|program| drop(program.finish().well()));
    let other = setup.program("loops").of(OTHER).threads(2).start();
    other.until("its part", |program| program.dop.is_some());
    assert_eq!(other.finish().well().number("wrong"), 0);
}
