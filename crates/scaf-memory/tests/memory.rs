//! Memories in real files, and what can happen to files.

use proptest::prelude::*;
use rusqlite::Connection;
use scaf_memory::{Checked, Error, Key, Point, Profile, ProfiledRegion, Profiles, RegionKey};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn key(arguments: u64) -> Key {
    Key { machine: "8 PUs".into(), executable: "ab12".into(), arguments }
}

fn profile(arguments: u64, seen_s: u64) -> Profile {
    let region = |address, module: &str| ProfiledRegion {
        key: RegionKey { module: module.into(), address, marks: address % 2 == 1 },
        runs_per_s: 100.0,
        points: (0..3)
            .map(|i| Point { dop: 1 << i, seconds: 0.01 / f64::from(1 << i), error_ratio: 0.05 })
            .collect(),
    };
    Profile {
        key: key(arguments),
        name: "cg".into(),
        runs: 1,
        seen_s,
        serial: 0.25,
        other: BTreeMap::from([(2, 0.125)]),
        regions: vec![region(4096, "ab12"), region(4097, "ab12"), region(8192, "cd34")],
    }
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("deep/er/memory.sqlite")
    }

    fn memory(&self) -> Profiles {
        Profiles::renewing(&self.path())
    }

    fn tamper(&self, sql: &str) {
        Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

fn read_all(memory: &mut Profiles) -> Result<usize, Error> {
    let list = memory.programs()?;
    for line in &list {
        memory.program(line.id)?;
    }
    memory.recall(&key(1))?;
    memory.spinners()?;
    Ok(list.len())
}

#[test]
fn a_program_is_recalled_as_it_was_kept() {
    let place = Place::new();
    place.memory().keep(&profile(7, 50), true).unwrap();
    let recalled = place.memory().recall(&key(7)).unwrap().unwrap();
    assert!(recalled.same);
    assert_eq!(recalled.profile, profile(7, 50));
}

#[test]
fn a_run_is_counted_once_and_points_of_other_runs_stay() {
    let place = Place::new();
    let mut memory = place.memory();
    memory.keep(&profile(7, 50), true).unwrap();
    let mut next = profile(7, 60);
    next.regions.truncate(1);
    next.regions[0].points = vec![Point { dop: 3, seconds: 0.5, error_ratio: 0.1 }];
    memory.keep(&next, true).unwrap();
    memory.keep(&next, false).unwrap();
    let now = memory.recall(&key(7)).unwrap().unwrap().profile;
    assert_eq!((now.runs, now.seen_s, now.regions.len()), (2, 60, 3));
    assert_eq!(now.regions[0].points.iter().map(|point| point.dop).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn with_other_arguments_the_executables_own_regions_are_recalled_and_on_other_machines_nothing() {
    let place = Place::new();
    let mut memory = place.memory();
    memory.keep(&profile(7, 50), true).unwrap();
    let recalled = memory.recall(&key(8)).unwrap().unwrap();
    assert!(!recalled.same);
    assert!(recalled.profile.regions.iter().all(|region| region.key.module == "ab12"));
    assert_eq!(recalled.profile.regions.len(), 2);
    assert_eq!(memory.recall(&Key { machine: "9 PUs".into(), ..key(7) }).unwrap(), None);
    assert_eq!(memory.recall(&Key { executable: "ef".into(), ..key(7) }).unwrap(), None);
}

#[test]
fn nothing_is_made_before_there_is_something_to_keep_and_then_for_its_user_only() {
    let place = Place::new();
    let mut memory = place.memory();
    assert_eq!(read_all(&mut memory).unwrap(), 0);
    assert_eq!(memory.forget_all().unwrap(), 0);
    assert_eq!(std::fs::read_dir(place.folder.path()).unwrap().count(), 0);
    memory.keep(&profile(1, 1), true).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place.path()), mode(place.path().parent().unwrap())), (0o600, 0o700));
}

#[test]
fn what_is_forgotten_is_gone_from_the_file_too() {
    let place = Place::new();
    let mut memory = place.memory();
    for arguments in 0..3 {
        memory.keep(&Profile { name: format!("secret{arguments}"), ..profile(arguments, 1) }, true).unwrap();
    }
    memory.keep_spinner("there+5", 1).unwrap();
    let list = memory.programs().unwrap();
    assert!(memory.forget(list[0].id).unwrap() && !memory.forget(list[0].id).unwrap());
    assert_eq!(memory.programs().unwrap(), list[1..]);
    assert_eq!(memory.forget_all().unwrap(), 2);
    assert_eq!((read_all(&mut memory).unwrap(), memory.spinners().unwrap().len()), (0, 0));
    let found =
        |path: PathBuf| std::fs::read(path).unwrap_or_default().windows(6).any(|six| six == b"secret");
    let wal = place.path().with_extension("sqlite-wal");
    assert!(!found(place.path()) && !found(wal));
}

#[test]
fn spinners_come_back_the_latest_last_and_the_oldest_make_room() {
    let place = Place::new();
    let mut memory = place.memory();
    for at in 0..300 {
        memory.keep_spinner(&format!("f+{at}"), at).unwrap();
    }
    let list = place.memory().spinners().unwrap();
    assert_eq!(
        (list.len(), list.first().unwrap().as_str(), list.last().unwrap().as_str()),
        (256, "f+44", "f+299")
    );
}

#[test]
fn a_file_that_is_no_database_is_set_aside_or_left_as_it_is() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    std::fs::write(place.path(), "a letter to my mother, of more than a hundred bytes, ".repeat(100))
        .unwrap();
    let error = Profiles::at(&place.path()).programs().unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }) && error.to_string().contains("remove it"), "{error}");
    let mut memory = place.memory();
    assert_eq!(read_all(&mut memory).unwrap(), 0);
    let aside = memory.set_aside().unwrap();
    assert!(std::fs::read_to_string(aside).unwrap().starts_with("a letter"));
    assert_eq!(memory.set_aside(), None);
    memory.keep(&profile(1, 1), true).unwrap();
    assert_eq!(read_all(&mut place.memory()).unwrap(), 1);
}

#[test]
fn a_file_damaged_in_the_middle_is_begun_anew_while_it_is_open() {
    let place = Place::new();
    let mut memory = place.memory();
    for arguments in 0..50 {
        memory.keep(&profile(arguments, 1), true).unwrap();
    }
    drop(memory);
    let mut bytes = std::fs::read(place.path()).unwrap();
    assert!(bytes.len() > 20_000);
    bytes[4096..].fill(0x5a);
    let mut memory = place.memory();
    std::fs::write(place.path(), bytes).unwrap();
    assert!(read_all(&mut memory).is_ok());
    assert!(memory.set_aside().is_some());
    memory.keep(&profile(1, 1), true).unwrap();
    assert_eq!(read_all(&mut memory).unwrap(), 1);
}

#[test]
fn older_and_newer_versions_are_set_aside_or_named() {
    for version in [-1, 2, 99] {
        let place = Place::new();
        place.memory().keep(&profile(1, 1), true).unwrap();
        place.tamper(&format!("PRAGMA user_version = {version}"));
        let error = Profiles::at(&place.path()).programs().unwrap_err();
        assert!(error.to_string().contains(&format!("version {version}")), "{error}");
        let mut memory = place.memory();
        assert_eq!(read_all(&mut memory).unwrap(), 0);
        assert!(memory.set_aside().is_some());
        memory.keep(&profile(1, 1), true).unwrap();
    }
    // Another program's tables, and scaf's with a column less.
    for sql in ["PRAGMA user_version = 0", "ALTER TABLE points DROP COLUMN error"] {
        let place = Place::new();
        place.memory().keep(&profile(1, 1), true).unwrap();
        place.tamper(sql);
        assert!(Profiles::at(&place.path()).recall(&key(1)).is_err(), "{sql}");
        assert_eq!(place.memory().recall(&key(1)).unwrap(), None, "{sql}");
    }
}

#[test]
fn a_file_that_is_removed_meanwhile_is_begun_anew() {
    let place = Place::new();
    let mut memory = place.memory();
    memory.keep(&profile(1, 1), true).unwrap();
    std::fs::remove_dir_all(place.path().parent().unwrap()).unwrap();
    assert_eq!(memory.recall(&key(1)).unwrap(), None);
    memory.keep(&profile(1, 1), true).unwrap();
    assert!(place.memory().recall(&key(1)).unwrap().is_some());
}

#[test]
fn where_no_file_can_be_made_the_error_names_it() {
    let place = Place::new();
    std::fs::write(place.folder.path().join("deep"), "no folder").unwrap();
    let error = place.memory().keep(&profile(1, 1), true).unwrap_err();
    assert!(error.to_string().contains("memory.sqlite"), "{error}");
    assert_eq!(read_all(&mut place.memory()).unwrap(), 0);
    let place = Place::new();
    std::fs::create_dir_all(place.path()).unwrap();
    let error = place.memory().keep(&profile(1, 1), true).unwrap_err();
    assert!(
        error.to_string().contains("not a regular file") || error.to_string().contains("irectory"),
        "{error}"
    );
}

#[test]
fn the_oldest_programs_make_room() {
    let place = Place::new();
    let mut memory = place.memory();
    let small = |arguments, seen_s| {
        let mut small = profile(arguments, seen_s);
        small.regions.truncate(1);
        small.regions[0].points.truncate(1);
        small
    };
    for arguments in 0..1_010 {
        memory.keep(&small(arguments, 1_000 + arguments), true).unwrap();
    }
    let list = memory.programs().unwrap();
    assert_eq!((list.len(), list[999].seen_s), (1_000, 1_010));
    memory.keep(&small(5_000, 1_500 + 100 * 86_400), true).unwrap();
    assert_eq!(memory.programs().unwrap().last().unwrap().seen_s, 1_500);
}

#[test]
fn a_file_at_its_limit_forgets_what_it_saw_first_and_goes_on() {
    let place = Place::new();
    let mut memory = place.memory();
    let large = |arguments: u64| {
        let mut large = profile(arguments, arguments);
        let point = |dop| Point { dop, seconds: 0.1, error_ratio: 0.1 };
        large.regions = (0..256)
            .map(|at| ProfiledRegion {
                key: RegionKey { module: "m".repeat(200), address: at, marks: false },
                runs_per_s: 1.0,
                points: (1..=16).map(point).collect(),
            })
            .collect();
        large
    };
    let mut last = 0;
    for arguments in 1..100 {
        memory.keep(&large(arguments), true).unwrap();
        last = arguments;
        if memory.programs().unwrap().len() < arguments as usize {
            break;
        }
    }
    assert!(last < 99, "it never came to its limit");
    let size = std::fs::metadata(place.path()).unwrap().len();
    assert!(size <= 16 << 20, "{size}");
    let list = memory.programs().unwrap();
    assert!(list.len() >= last as usize / 3 && list[0].seen_s == last, "{list:?}");
}

/// What the child processes of the tests below run; an environment variable says which part.
#[test]
fn another_process() {
    let Ok(path) = std::env::var("SCAF_MEMORY_TEST") else { return };
    let number: u64 = std::env::var("SCAF_MEMORY_NUMBER").unwrap().parse().unwrap();
    let mut memory = Profiles::renewing(Path::new(&path));
    if std::env::var_os("SCAF_MEMORY_FULL").is_some() {
        let mut failed = false;
        for arguments in 0..800 {
            match memory.keep(&profile(arguments, 1), true) {
                Ok(()) => {}
                Err(Error::Damaged { .. } | Error::Version { .. }) => panic!("a full disk is no damage"),
                Err(_) => failed = true,
            }
        }
        assert!(failed, "the disk was never full");
        assert!(memory.set_aside().is_none() && read_all(&mut memory).is_ok());
        return;
    }
    for arguments in 0..40 {
        memory.keep(&profile(number * 1_000 + arguments, 1), true).unwrap();
        memory.keep(&profile(99_999, 1), true).unwrap();
        assert!(memory.recall(&key(99_999)).unwrap().is_some());
    }
    assert_eq!(memory.set_aside(), None);
}

fn other_process(path: &Path, number: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "another_process"]);
    command.env("SCAF_MEMORY_TEST", path).env("SCAF_MEMORY_NUMBER", number.to_string());
    command
}

#[test]
fn many_write_at_a_time_and_nothing_is_lost() {
    let place = Place::new();
    let processes: Vec<_> =
        (1..=3).map(|number| other_process(&place.path(), number).spawn().unwrap()).collect();
    std::thread::scope(|scope| {
        for number in 10..13 {
            let mut memory = place.memory();
            scope.spawn(move || {
                for arguments in 0..40 {
                    memory.keep(&profile(number * 1_000 + arguments, 1), true).unwrap();
                    memory.keep(&profile(99_999, 1), true).unwrap();
                }
            });
        }
    });
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let mut memory = place.memory();
    assert_eq!(read_all(&mut memory).unwrap(), 6 * 40 + 1);
    assert_eq!(memory.recall(&key(99_999)).unwrap().unwrap().profile.runs, 6 * 40);
    assert_eq!(memory.set_aside(), None);
}

fn survives(place: &Place) {
    let mut memory = place.memory();
    assert!(memory.recall(&key(1_000_000)).unwrap().is_some());
    assert_eq!(memory.set_aside(), None);
    memory.keep(&profile(1_000_001, 1), true).unwrap();
    let check: String = Connection::open(place.path())
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn where_files_may_grow_no_further_what_was_kept_stays() {
    let place = Place::new();
    place.memory().keep(&profile(1_000_000, 1), true).unwrap();
    // At most 400 KB; SIGXFSZ is ignored, for it would end the process.
    let limited = "trap '' XFSZ; ulimit -f 400; exec \"$@\"";
    let process = other_process(&place.path(), 0);
    let mut shell = Command::new("bash");
    shell.args(["-c", limited, "bash"]).arg(process.get_program()).args(process.get_args());
    shell.envs(process.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(shell.env("SCAF_MEMORY_FULL", "1").status().unwrap().success());
    survives(&place);
}

#[test]
fn on_a_full_disk_what_was_kept_stays() {
    let place = Place::new();
    let folder = place.path().parent().unwrap().to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    let mount = |args: &[&str]| Command::new("mount").args(args).arg(&folder).output();
    if !mount(&["-t", "tmpfs", "-o", "size=400k", "tmpfs"]).is_ok_and(|done| done.status.success()) {
        return; // only root can make the situation
    }
    let outcome = std::panic::catch_unwind(|| {
        place.memory().keep(&profile(1_000_000, 1), true).unwrap();
        let full = other_process(&place.path(), 0).env("SCAF_MEMORY_FULL", "1").status().unwrap();
        assert!(full.success());
        assert!(mount(&["-o", "remount,size=4m"]).unwrap().status.success());
        survives(&place);
    });
    let _ = Command::new("umount").arg(&folder).status();
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_stands_in_the_tables_numbers_are_numbers(
        rows in proptest::collection::vec(
            (any::<i64>(), any::<f64>(), any::<f64>(), any::<i64>(), any::<f64>()), 1..20),
    ) {
        let place = Place::new();
        place.memory().keep(&profile(1, 1), true).unwrap();
        let connection = Connection::open(place.path()).unwrap();
        for (at, (number, a, b, other, c)) in rows.iter().enumerate() {
            // A NaN is NULL to SQLite, which the tables refuse.
            let _ = connection.execute("UPDATE regions SET address = ?1, marks = ?2, runs_per_s = ?3, seen \
                = ?4 WHERE id = ?5",
                (number, other, a, number, at as i64 % 3 + 1));
            let _ = connection.execute("INSERT OR REPLACE INTO points VALUES (?1, ?2, ?3, ?4, ?5)",
                (at as i64 % 3 + 1, other, a, b, number));
            let _ = connection.execute("INSERT OR REPLACE INTO points VALUES (?1, ?2, ?3, ?4, ?5)",
                (at as i64 % 3 + 1, other & 0xff, a, b, number));
            let _ = connection.execute("INSERT OR REPLACE INTO other VALUES (1, ?1, \
                ?2)", (other & 0xffff, c));
            let _ = connection.execute("UPDATE programs SET serial = ?1, seen = ?2, runs = \
                ?3", (c, other, number));
        }
        drop(connection);
        let mut memory = Profiles::at(&place.path());
        memory.programs().unwrap();
        memory.program(1).unwrap();
        if let Some(recalled) = memory.recall(&key(1)).unwrap() {
            let mut observed = scaf_policy::observed::Observed::default();
            observed.remember(recalled.past(|at, _| at as u64));
            for p in [1, 2, 64, 1_000_000] {
                let found = observed.speedup(p, 1.0);
                prop_assert!(found.is_none_or(|it| it.value.is_finite() && it.error.is_finite()),
                    "{found:?}");
            }
            memory.keep(&recalled.profile, true).unwrap();
        }
    }

    #[test]
    fn what_is_kept_comes_back(
        times in proptest::collection::btree_map(1u32..=65_535, (1e-9f64..1e6, 0.0f64..1e6), 1..=16),
        arguments: u64, address in 0u64..1 << 47, marks: bool, serial in 0.0f64..=1.0, name in "\\PC{0,60}",
    ) {
        let place = Place::new();
        let points = times.iter().map(|(dop, (seconds, error_ratio))| Point { dop: *dop, seconds: *seconds,
            error_ratio: *error_ratio });
        let region = ProfiledRegion {
            key: RegionKey { module: "m".into(), address, marks },
            runs_per_s: serial * 100.0,
            points: points.collect(),
        };
        let kept = Profile { name, serial, regions: vec![region], ..profile(arguments, 5) };
        place.memory().keep(&kept, true).unwrap();
        prop_assert_eq!(place.memory().recall(&key(arguments)).unwrap().unwrap().profile, kept);
    }
}

fn checked(executable: &str, runs: u32) -> Checked {
    let [executable, name, date] = [executable, "cg", "2026-11-25"].map(str::to_owned);
    Checked { executable, name, resizable: true, date, runs, ..Checked::default() }
}

#[test]
fn what_was_checked_is_kept_replaced_and_forgotten() {
    let place = Place::new();
    assert_eq!(place.memory().checked("ab12").unwrap(), None);
    assert!(!place.path().exists());
    place.memory().keep_checked(&checked("ab12", 10)).unwrap();
    place.memory().keep_checked(&checked("ab12", 20)).unwrap();
    place.memory().keep_checked(&checked("cd34", 10)).unwrap();
    assert_eq!(place.memory().checked("ab12").unwrap(), Some(checked("ab12", 20)));
    assert_eq!(place.memory().all_checked().unwrap().len(), 2);
    assert!(
        place.memory().forget_checked("ab12").unwrap() && !place.memory().forget_checked("ab12").unwrap()
    );
    place.memory().forget_all().unwrap();
    assert_eq!(place.memory().all_checked().unwrap(), []);
}

#[test]
fn a_file_of_an_earlier_build_has_room_for_what_was_checked() {
    let place = Place::new();
    place.memory().keep(&profile(1, 100), true).unwrap();
    place.tamper("DROP TABLE checked");
    let mut memory = place.memory();
    assert_eq!(memory.checked("ab12").unwrap(), None);
    memory.keep_checked(&checked("ab12", 10)).unwrap();
    assert_eq!((memory.programs().unwrap().len(), memory.set_aside()), (1, None));
}
