//! Machines as folders of files below `tests/hosts`: what the daemon may give away there (their file
//! `expected`).

use proptest::prelude::*;
use scaf_policy::PuSet;
use scafd::observe::cgroup::cpu_group;
use scafd::observe::{Limits, Observer};
use std::path::{Path, PathBuf};

fn hosts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn limits(observer: &Observer, affinity: &PuSet) -> Limits {
    observer.limits(affinity, &mut observer.groups())
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn every_saved_machine_gives_what_it_should() {
    let hosts = hosts();
    assert!(hosts.len() >= 9);
    for host in hosts {
        let text = std::fs::read_to_string(host.join("expected")).unwrap();
        let expected = |key: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(key))
                .unwrap_or_else(|| panic!("{host:?}: {key}"))
                .trim()
        };
        let affinity: PuSet = expected("affinity").parse().unwrap();
        let limits = limits(&Observer::new(&host), &affinity);
        assert_eq!(limits.pus.to_string(), expected("pus"), "{host:?}");
        assert_eq!(limits.quota.map_or("none".into(), |q| q.to_string()), expected("quota"), "{host:?}");
        assert_eq!(limits.contexts().to_string(), expected("contexts"), "{host:?}");
    }
}

#[test]
fn where_there_is_nothing_to_read_the_affinity_is_all_there_is() {
    let empty = tempfile::tempdir().unwrap();
    let observer = Observer::new(empty.path());
    let limits = limits(&observer, &"0-3".parse().unwrap());
    assert_eq!((limits.pus.to_string().as_str(), limits.quota, limits.contexts()), ("0-3", None, 4));
    assert!(observer.busy_s(&limits.pus).is_err());
}

/// Of groups within groups that a user made without end only the outermost ones are looked at.
#[test]
fn a_chain_of_groups_without_end_costs_no_more_than_a_long_one() {
    let host = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(host.path(), path, text);
    let chain = |levels: usize| "/a".repeat(levels);
    write("proc/self/mountinfo", "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("proc/self/cgroup", &format!("0::{}\n", chain(500)));
    for (levels, quota) in [(100, "50000 100000"), (60, "150000 100000"), (3, "300000 100000")] {
        write(&format!("sys/fs/cgroup{}/cpu.max", chain(levels)), quota);
    }
    let limits = limits(&Observer::new(host.path()), &"0-7".parse().unwrap());
    assert_eq!(limits.quota, Some(1.5));
}

/// They count for their user.
#[test]
fn levels_beyond_usual_ones_are_counted_once_for_all_programs_of_a_group() {
    let host = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(host.path(), path, text);
    write("proc/self/mountinfo", "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write(&format!("sys/fs/cgroup{}/cpu.max", "/a".repeat(100)), "max 100000\n");
    for (pid, levels) in [(7, 10), (8, 30), (9, 30), (10, 90)] {
        write(&format!("proc/{pid}/cgroup"), &format!("0::{}\n", "/a".repeat(levels)));
    }
    let observer = Observer::new(host.path());
    let mut groups = observer.groups();
    let mut counted = |pid: &str| {
        let before = groups.unusual();
        groups.of(pid);
        groups.unusual() - before
    };
    assert_eq!(["7", "8", "9", "10"].map(&mut counted), [0, 31 - 16, 0, 64 - 16]);
}

#[test]
fn a_group_with_the_cpu_controller_is_our_own_in_version_1_and_the_top_one_in_version_2() {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let v1 = hosts.join("v1-quota");
    assert_eq!(cpu_group(&v1), Some((v1.join("sys/fs/cgroup/cpu,cpuacct"), false)));
    assert_eq!(cpu_group(&hosts.join("plain")), None);
    let v2 = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(v2.path(), path, text);
    write("proc/self/cgroup", "0::/a/b\n");
    write("proc/self/mountinfo", "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("sys/fs/cgroup/cgroup.controllers", "cpuset memory\n");
    assert_eq!(cpu_group(v2.path()), None);
    write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n");
    assert_eq!(cpu_group(v2.path()), Some((v2.path().join("sys/fs/cgroup"), true)));
}

#[test]
fn a_programs_groups_are_looked_up_in_our_own_mounts_whatever_it_sees_itself() {
    let host = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(host.path(), path, text);
    let mounts = "35 24 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n36 24 0:31 / /cg/set rw - cgroup cgroup \
                  rw,cpuset\n37 24 0:32 / /cg/two rw - cgroup2 cgroup2 rw\n";
    write("proc/self/mountinfo", mounts);
    for (pid, groups) in [
        ("self", "3:cpuset:/\n1:cpu:/\n0::/\n"),
        ("7", "3:cpuset:/box\n1:cpu:/box/in\n0::/box\n"),
        ("8", "3:cpuset:/box\n1:cpu:/../box\n0::/\n"),
        ("9", "0::/two\n"),
    ] {
        write(&format!("proc/{pid}/cgroup"), groups);
    }
    write("cg/cpu/box/cpu.cfs_quota_us", "150000\n");
    write("cg/cpu/box/cpu.cfs_period_us", "100000\n");
    write("cg/cpu/box/in/cpu.cfs_quota_us", "-1\n");
    write("cg/cpu/box/in/cpu.cfs_period_us", "100000\n");
    write("cg/set/box/cpuset.cpus", "2-3\n");
    write("cg/two/two/cpu.max", "50000 100000\n");
    let observer = Observer::new(host.path());
    let mut groups = observer.groups();
    let all: PuSet = "0-3".parse().unwrap();
    let mut seen = |pid: &str| {
        let found = groups.of(pid);
        (found.quota, found.contexts(), found.within(&all).to_string())
    };
    assert_eq!(seen("self"), (None, None, "0-3".into()));
    assert_eq!(seen("7"), (Some(1.5), Some(1), "2-3".into()));
    assert_eq!(seen("8"), (None, None, "2-3".into()), "out of our sight");
    assert_eq!(seen("9"), (Some(0.5), Some(1), "0-3".into()));
    assert_eq!(seen("10"), (None, None, "0-3".into()), "it has ended");
}

#[test]
fn groups_weights_multiply_in_both_versions_and_an_idle_group_has_none() {
    let host = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(host.path(), path, text);
    let mounts =
        "35 24 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n37 24 0:32 / /cg/two rw - cgroup2 cgroup2 rw\n";
    write("proc/self/mountinfo", mounts);
    for (pid, groups) in [
        ("7", "0::/slice/unit\n"),
        ("8", "1:cpu:/box\n"),
        ("9", "0::/slice/idle\n"),
        ("10", "0::/slice/strange\n"),
        ("11", "0::/\n"),
    ] {
        write(&format!("proc/{pid}/cgroup"), groups);
    }
    write("cg/two/slice/cpu.weight", "50\n");
    write("cg/two/slice/unit/cpu.weight", "300\n");
    write("cg/two/slice/idle/cpu.weight", "0\n");
    write("cg/two/slice/idle/cpu.idle", "1\n");
    write("cg/two/slice/strange/cpu.weight", "-7 or so\n");
    write("cg/cpu/cpu.shares", "1024\n");
    write("cg/cpu/box/cpu.shares", "512\n");
    let observer = Observer::new(host.path());
    let mut groups = observer.groups();
    let mut weight = |pid: &str, is_trusted| groups.of(pid).capped(is_trusted).weight;
    assert_eq!(weight("7", true), Some(1.5));
    assert_eq!(weight("7", false), Some(1.0), "not before others");
    assert_eq!(weight("8", false), Some(0.5));
    assert_eq!(weight("9", true), Some(0.0));
    assert_eq!(weight("10", true), Some(0.5));
    assert_eq!(weight("11", true), None);
}

#[test]
fn this_machine_gives_us_at_least_one_context() {
    let affinity = scafd::observe::affinity(0).unwrap();
    let limits = limits(&Observer::new(Path::new("/")), &affinity);
    assert!(limits.pus.is_subset(&affinity) && limits.contexts() >= 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_the_files_say_there_is_at_least_one_context(
        cgroup in "([0-9]:[a-z,]{0,9}:/[a-z/.]{0,9}\n){0,3}",
        mountinfo in "([0-9a-z/: ]{0,30} - cgroup2? [a-z, ]{0,12}\n){0,3}",
        cpu_max in "[-0-9maxe. ]{0,12}",
    ) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        std::fs::write(root.path().join("proc/self/cgroup"), cgroup + "0::/\n").unwrap();
        let mounted = mountinfo + "35 24 0:30 / /cg rw - cgroup2 cgroup2 rw\n";
        std::fs::write(root.path().join("proc/self/mountinfo"), mounted).unwrap();
        std::fs::create_dir_all(root.path().join("cg")).unwrap();
        std::fs::write(root.path().join("cg/cpu.max"), cpu_max).unwrap();
        let limits = limits(&Observer::new(root.path()), &"0-3".parse().unwrap());
        prop_assert!((1..=4).contains(&limits.contexts()));
        prop_assert!(!limits.pus.is_empty());
    }
}
