//! Programs in containers, under the host's daemon: bubblewrap's, and as root runc's and podman's. What else
//! is on the host isn't theirs to see, and they have numbers and paths of their own.

use crate::support::container::{Bundle, Gift, Podman, can_wrap, contained, glibcs_of_the_library, wrapped};
use crate::support::{Setup, compiled, cpus_of, is_resized_to, wait_for};
use scafd::control::Mechanism;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const OTHER: u32 = 65_532;

fn affinities(pid: u32) -> Vec<Vec<u32>> {
    let threads = scafd::observe::Observer::new(Path::new("/")).process(pid).threads().unwrap_or_default();
    threads.into_iter().filter_map(cpus_of).collect()
}

#[test]
fn a_program_in_a_container_shares_with_one_on_the_host() {
    if !can_wrap() {
        return;
    }
    let setup = Setup::new("equi");
    let inner = wrapped(&setup, &compiled("loops"), &[]).threads(2).start();
    // Resized: its code was read, at a path that only the container has.
    let seen = contained(&setup, "both contexts", |program| is_resized_to(program, 2));
    assert_eq!(seen.name, "loops");
    let outer = setup.program("loops").threads(2).start();
    let before = outer.until_resized_to(1);
    let seen = contained(&setup, "one of two", |program| is_resized_to(program, 1));
    outer.until("it goes on", |program| program.regions > before.regions && is_resized_to(program, 1));
    contained(&setup, "it goes on", |program| program.regions > seen.regions && is_resized_to(program, 1));
    assert_eq!(outer.finish().well().number("wrong"), 0);
    contained(&setup, "both again", |program| is_resized_to(program, 2));
    assert_eq!(inner.finish().well().number("wrong"), 0);
    setup.until("it has left", |snapshot| snapshot.programs.is_empty().then_some(()));
}

/// The daemon is root's, whom the container doesn't know.
#[test]
fn a_users_container_is_served_by_the_daemon_for_all() {
    let Some(setup) = Setup::for_all(&["equi"], "") else { return };
    if !can_wrap() {
        return;
    }
    setup.start_daemon();
    for options in [&[][..], &["--uid", "0", "--gid", "0"]] {
        let inner = wrapped(&setup, &compiled("loops"), options).threads(2).start();
        let outer = setup.program("loops").of(OTHER).threads(2).start();
        outer.until_resized_to(1);
        let seen = contained(&setup, "one of two", |program| is_resized_to(program, 1));
        assert_eq!(seen.name, "loops");
        assert_eq!(inner.finish().well().number("wrong"), 0);
        assert_eq!(outer.finish().well().number("wrong"), 0);
    }
}

#[test]
fn threads_in_a_container_are_moved_and_freed() {
    if !can_wrap() {
        return;
    }
    let setup = Setup::new("equi");
    let inner =
        wrapped(&setup, &compiled("waits"), &["--setenv", "SCAF_MAX", "1", "--setenv", "SCAF_GATHER", "0"]);
    let inner = inner.threads(2).start();
    let seen = contained(&setup, "one PU by folding", |program| {
        matches!(program.mechanism, Mechanism::Fold | Mechanism::Park) && program.effective_ns.is_some()
    });
    wait_for("all its threads are on one PU", || {
        let all = affinities(seen.pid);
        (all.len() > 1 && all.iter().all(|pus| pus.len() == 1)).then_some(())
    });
    setup.end_daemon(libc::SIGKILL);
    wait_for("they have both again", || affinities(seen.pid).iter().all(|pus| pus.len() == 2).then_some(()));
    // The socket is another one, in the same folder.
    setup.start_daemon();
    contained(&setup, "it is back", |program| program.pid == seen.pid);
    assert_eq!(inner.finish().well().number("wrong"), 0);
}

#[test]
fn a_containers_quota_and_cpuset_bound_its_program() {
    let setup = Setup::new("equi");
    let loops = compiled("loops");
    let Some(bundle) = Bundle::new(&setup, &loops, &[]) else { return };
    let bundle = bundle.with("resources", json!({"cpu": {"quota": 100_000, "period": 100_000}}));
    let inner = bundle.start();
    let seen = contained(&setup, "one context by its quota", |program| is_resized_to(program, 1));
    assert_eq!((seen.quota, seen.natural), (Some(1.0), 2));
    bundle.update(&["--cpu-quota", "-1"]);
    contained(&setup, "both contexts", |program| is_resized_to(program, 2) && program.quota.is_none());
    bundle.update(&["--cpu-quota", "150000"]);
    contained(&setup, "one, and a half that is no context", |program| {
        is_resized_to(program, 1) && program.quota == Some(1.5)
    });
    bundle.update(&["--cpu-quota", "-1"]);
    let both = contained(&setup, "both contexts", |program| is_resized_to(program, 2)).pus;
    let last = both.iter().last().expect("a PU").to_string();
    bundle.update(&["--cpuset-cpus", &last]);
    contained(&setup, "one by its cpuset", |program| {
        program.dop == Some(1) && program.pus.to_string() == last
    });
    assert_eq!(inner.finish().well().number("wrong"), 0);
}

/// As podman and Docker do it: a filter that refuses some calls with an error.
#[test]
fn a_program_under_its_containers_filter_is_managed() {
    let setup = Setup::new("equi");
    let Some(bundle) = Bundle::new(&setup, &compiled("loops"), &[]) else { return };
    let refused = json!({"names": ["keyctl", "perf_event_open", "userfaultfd"], "action": "SCMP_ACT_ERRNO"});
    let filter = json!({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [refused]});
    let bundle = bundle.with("seccomp", filter);
    let inner = bundle.start();
    let seen = contained(&setup, "both contexts", |program| is_resized_to(program, 2));
    let status = std::fs::read_to_string(format!("/proc/{}/status", seen.pid)).expect("its status");
    assert!(status.contains("Seccomp:\t2"), "{status}");
    assert_eq!(inner.finish().well().number("wrong"), 0);
}

/// With podman's own filter of system calls, which is in force.
#[test]
fn podman_gives_the_device_that_scaf_describes() {
    let setup = Setup::new("equi");
    let Some(podman) = Podman::new(&setup) else { return };
    let inner = podman.start(&compiled("loops"), "1");
    let seen = contained(&setup, "one context by its quota", |program| is_resized_to(program, 1));
    assert_eq!((seen.quota, seen.natural, seen.name.as_str()), (Some(1.0), 2, "loops"));
    let status = std::fs::read_to_string(format!("/proc/{}/status", seen.pid)).expect("its status");
    assert!(status.contains("Seccomp:\t2"), "{status}");
    assert_eq!(inner.finish().well().number("wrong"), 0);
}

#[test]
fn a_hostile_container_starves_nobody() {
    let Some(setup) = Setup::for_all(&["equi"], "") else { return };
    if !can_wrap() {
        return;
    }
    setup.start_daemon();
    let other = setup.program("loops").of(OTHER).threads(2).start();
    let before = other.until_resized_to(2);
    let socket =
        Gift::of(&setup).env.into_iter().find(|(name, _)| name == "SCAF_SOCKET").expect("a socket").1;
    let hostile = wrapped(&setup, &compiled("floods"), &["--unsetenv", "LD_PRELOAD"]);
    let mut hostile = hostile.args([&socket, "10000"]).start();
    while !hostile.has_ended() {
        let seen = other.seen().expect("root is answered, and the program is there");
        assert_eq!((seen.dop, &seen.pus), (Some(2), &before.pus), "its part");
        std::thread::sleep(Duration::from_millis(20));
    }
    let done = hostile.finish().well();
    assert_eq!(done.number("refused") + done.number("said"), 10_000);
    // Whoever comes then is served, in a container of the same user's, too.
    let inner = wrapped(&setup, &compiled("loops"), &[]).threads(2).start();
    contained(&setup, "one of two", |program| is_resized_to(program, 1));
    other.until("it goes on", |program| program.regions > before.regions && program.dop == Some(1));
    assert_eq!(inner.finish().well().number("wrong"), 0);
    assert_eq!(other.finish().well().number("wrong"), 0);
}

#[test]
fn the_library_loads_with_a_glibc_as_old_as_2_17() {
    let versions = glibcs_of_the_library();
    assert!(versions.len() > 3, "{versions:?}");
    assert!(versions.iter().all(|version| *version <= (2, 17)), "{versions:?}");
}
