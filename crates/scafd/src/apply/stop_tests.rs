use super::*;
use crate::observe::clock::cpu_ns;
use std::process::{Child, Command};
use std::time::Duration;

/// A root folder with a process in a group of one hierarchy, and the group for its turns in place.
fn root(
    mount: &str,
    options: &str,
    controller: &str,
    pid: u32,
    files: &[&str],
) -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let group = root.path().join(format!("sys/cg/user/{NAME}{}-{pid}", std::process::id()));
    fs::create_dir_all(&group).unwrap();
    files.iter().for_each(|file| fs::write(group.join(file), "").unwrap());
    for (name, user) in [("self".to_owned(), ""), (pid.to_string(), "user")] {
        let folder = root.path().join("proc").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("cgroup"), format!("5:{controller}:/{user}\n")).unwrap();
        fs::write(folder.join("mountinfo"), format!("1 2 0:3 / /sys/cg rw - {mount} {mount} {options}\n"))
            .unwrap();
        let numbers = "0 ".repeat(50);
        fs::write(folder.join("stat"), format!("{pid} (x) S {numbers}")).unwrap();
    }
    (root, group)
}

#[test]
fn both_versions_files_are_written_for_stop_and_go() {
    for (way, mount, options, controller, file, [stop, go]) in [
        (Way::FreezeV2, "cgroup2", "rw", "", "cgroup.freeze", ["1", "0"]),
        (Way::FreezeV1, "cgroup", "rw,freezer", "freezer", "freezer.state", ["FROZEN", "THAWED"]),
        (Way::IdleV1, "cgroup", "rw,cpu", "cpu", "cpu.idle", ["1", "0"]),
    ] {
        let (root, group) = root(mount, options, controller, 77, &[file, "cgroup.procs"]);
        let read = |file: &str| fs::read_to_string(group.join(file)).unwrap();
        let mut held = Stoppable::take(root.path(), way, 77, 0).unwrap();
        assert_eq!((read("cgroup.procs"), read(file)), ("77".into(), go.into()), "{way:?}");
        held.set(true).unwrap();
        assert!(held.stopped && read(file) == stop, "{way:?}");
        fs::write(group.join("cgroup.procs"), "77\n78\n").unwrap();
        let home = group.parent().unwrap().join("cgroup.procs");
        held.evict();
        assert_eq!(fs::read_to_string(&home).unwrap(), "78");
        assert_eq!(held.release().as_deref(), Some(group.as_path()));
        assert_eq!(read(file), go);
    }
}

#[test]
fn a_later_process_of_the_same_number_is_left_alone() {
    let (root, group) = root("cgroup2", "rw", "", 77, &["cgroup.freeze", "cgroup.procs"]);
    assert!(Stoppable::take(root.path(), Way::FreezeV2, 77, 1).is_err());
    assert_eq!(fs::read_to_string(group.join("cgroup.freeze")).unwrap(), "0");
}

#[test]
fn whoever_a_daemon_left_behind_is_let_go_and_those_of_living_ones_are_not_touched() {
    let (root, own) = root("cgroup2", "rw", "", 77, &[]);
    let living = root.path().join("sys/cg/a/b");
    let groups = ["sys/cg/a/scaf-gang-99-1", "sys/cg/a/b/c/d/scaf-gang-99-2", "sys/cg/a/b/scaf-gang-77-3"];
    let groups = groups.map(|group| root.path().join(group));
    groups.iter().for_each(|group| fs::create_dir_all(group).unwrap());
    assert!(sweep(root.path(), Way::FreezeV2));
    let freed = |group: &Path| fs::read_to_string(group.join("cgroup.freeze")).is_ok_and(|text| text == "0");
    assert!(freed(&groups[0]) && freed(&groups[1]), "of a daemon that has ended");
    assert!(!freed(&groups[2]) && living.is_dir(), "of another one that runs");
    assert!(freed(&own), "of one that had our number");
}

#[test]
fn what_a_machine_has_not_is_said_for_each_way() {
    let root = tempfile::tempdir().unwrap();
    let why = Way::choose(root.path(), GangBy::Auto).unwrap_err();
    assert!(
        why.contains("version 2") && why.contains("version 1") && why.contains("no such hierarchy"),
        "{why}"
    );
    assert_eq!(Way::choose(root.path(), GangBy::Signal), Ok(Way::Signal));
}

#[test]
fn ways_have_numbers_and_zero_is_none() {
    for way in Way::ALL {
        assert_eq!(Way::of_code(way.code()), Some(way));
    }
    assert_eq!(Way::of_code(0), None);
}

struct Spinner(Child);

impl Spinner {
    fn start() -> Spinner {
        Spinner(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn ran_ns(&self) -> u64 {
        let before = cpu_ns(self.pid()).unwrap();
        std::thread::sleep(Duration::from_millis(30));
        cpu_ns(self.pid()).unwrap() - before
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// By whatever this machine has; without permission for groups, that is signals.
#[test]
fn a_real_program_stops_goes_on_and_is_where_it_was() {
    for way in [Way::FreezeV2, Way::FreezeV1, Way::Signal] {
        if way.try_out(Path::new("/")).is_err() {
            continue;
        }
        let program = Spinner::start();
        let before = fs::read_to_string(format!("/proc/{}/cgroup", program.pid())).unwrap();
        let starttime = Observer::new(Path::new("/")).process(program.pid()).stat().unwrap().starttime;
        let mut held = Stoppable::take(Path::new("/"), way, program.pid(), starttime).unwrap();
        held.set(true).unwrap();
        while program.ran_ns() != 0 {}
        assert_eq!(program.ran_ns(), 0, "{way:?}");
        held.set(false).unwrap();
        while program.ran_ns() == 0 {}
        held.set(true).unwrap();
        let group = held.group().map(Path::to_owned);
        assert_eq!(held.release(), None);
        while program.ran_ns() == 0 {}
        assert!(group.is_none_or(|group| !group.exists()));
        assert_eq!(fs::read_to_string(format!("/proc/{}/cgroup", program.pid())).unwrap(), before, "{way:?}");
    }
}

#[test]
fn a_stop_by_its_user_outlives_ours_by_signals() {
    let program = Spinner::start();
    let starttime = Observer::new(Path::new("/")).process(program.pid()).stat().unwrap().starttime;
    let mut held = Stoppable::take(Path::new("/"), Way::Signal, program.pid(), starttime).unwrap();
    // SAFETY: a signal to our own child.
    unsafe { libc::kill(program.pid() as i32, libc::SIGSTOP) };
    while !Observer::new(Path::new("/")).process(program.pid()).is_stopped() {}
    held.set(true).unwrap();
    held.set(false).unwrap();
    assert!(program.ran_ns() == 0);
}
