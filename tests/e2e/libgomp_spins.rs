//! libgomp's own waits follow the fold: the number of rounds for which its threads spin is changed.

use crate::real_programs::python;
use crate::support::{Running, Setup, Start, kernel, library_folder, wait_for};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const DEFAULT: u64 = 300_000;
const CROWDED: u64 = 100;
const OF_RANKS: u64 = 2_000;

/// What libgomp has in its data in a process: numbers, and how far each of them is from its start.
fn numbers(pid: u32) -> Vec<(u64, u64)> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let memory = File::open(format!("/proc/{pid}/mem")).expect("a process of ours");
    let (mut found, mut start, mut before) = (Vec::new(), None, None);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, access, file) = (words.next(), words.next(), words.nth(3));
        let (first, end) = range.and_then(|range| range.split_once('-')).expect("a range");
        let [first, end] = [first, end].map(|text| u64::from_str_radix(text, 16).expect("an address"));
        // What needs no file follows without a name.
        let is_part =
            file.map_or(before == Some(first), |file| file.contains("libgomp") && file.contains(".so"));
        if !is_part {
            before = None;
            continue;
        }
        before = Some(end);
        let start = *start.get_or_insert(first);
        let mut bytes = vec![0; (end - first) as usize];
        if access.is_some_and(|access| access.starts_with("rw"))
            && memory.read_exact_at(&mut bytes, first).is_ok()
        {
            let numbers =
                bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight")));
            found.extend((first - start..).step_by(8).zip(numbers));
        }
    }
    found
}

/// Where it lies, in a program that nobody manages.
fn place(setup: &Setup, runtime: Option<&Path>) -> u64 {
    let program = with_runtime(setup.program("waits"), runtime).threads(2).unmanaged().start();
    let place = wait_for("libgomp to begin", || {
        let numbers = numbers(program.pid());
        let mut all = numbers.iter().filter(|(_, number)| *number == DEFAULT);
        let first = all.next()?.0;
        assert!(all.next().is_none(), "two numbers may be it");
        Some(first)
    });
    program.finish().well();
    place
}

fn with_runtime<'h>(start: Start<'h>, folder: Option<&Path>) -> Start<'h> {
    match folder {
        Some(folder) => start.env("LD_LIBRARY_PATH", folder),
        None => start,
    }
}

/// A folder with a copy of a libgomp that a Python package brings, built by another gcc than the system's.
fn of_a_package() -> PathBuf {
    let find = "import importlib.util as util; print(util.find_spec('sklearn').origin)";
    let printed = Command::new(python()).args(["-c", find]).output().expect("Python");
    let package = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    let packages = Path::new(&package).ancestors().nth(2).expect("scikit-learn");
    let files = std::fs::read_dir(packages.join("scikit_learn.libs")).expect("its libraries");
    let files = files.flatten().map(|file| file.path());
    let is_libgomp = |file: &PathBuf| file.to_string_lossy().contains("/libgomp-");
    let file = files.into_iter().find(is_libgomp).expect("scikit-learn's libgomp");
    let folder = library_folder().join("of_a_package");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(file, folder.join("libgomp.so.1")).expect("a copy");
    folder
}

fn until(program: &Running, place: u64, wanted: u64) {
    wait_for(&format!("{wanted} rounds"), || numbers(program.pid()).contains(&(place, wanted)).then_some(()));
}

#[test]
fn a_program_spins_as_libgomp_would_but_for_its_start_and_while_it_is_folded() {
    let setup = Setup::new("equi");
    let another = of_a_package();
    for runtime in [None, Some(another.as_path())] {
        let place = place(&setup, runtime);
        let program = with_runtime(setup.program("waits"), runtime).threads(2).start();
        program.until("alone", |program| program.dop == Some(2) && program.regions > 10);
        until(&program, place, DEFAULT);
        let neighbour = setup.program("waits").threads(2).start();
        program.until_folded();
        until(&program, place, CROWDED);
        neighbour.finish().well();
        program.until("alone again", |program| program.dop == Some(2));
        until(&program, place, DEFAULT);
        let done = program.finish().well();
        assert_eq!((done.number("wrong"), done.number("early")), (0, 0));
    }
}

#[test]
fn so_it_does_in_the_middle_of_a_region_whose_threads_wait_for_tasks() {
    let setup = Setup::new("equi");
    let place = place(&setup, None);
    let program = setup.program("long_tasks").threads(2).start();
    program.until("its only region", |program| program.in_region && program.dop == Some(2));
    until(&program, place, DEFAULT);
    for _ in 0..2 {
        let neighbour = setup.program("waits").threads(2).start();
        program.until("folded", |program| program.in_region && program.dop == Some(1));
        until(&program, place, CROWDED);
        neighbour.finish().well();
        until(&program, place, DEFAULT);
    }
    let done = program.finish().well();
    assert!(done.number("wrong") == 0 && done.number("rounds") > 0, "{done:#?}");
}

#[test]
fn a_region_within_a_folded_one_says_nothing_of_that() {
    let setup = Setup::new("equi");
    let place = place(&setup, None);
    let start = setup.program("nested").threads(2).env("SCAF_GATHER", "0").option("--max", 1).flag("--exact");
    let program = start.start();
    program.until("one PU", |program| program.dop == Some(1) && program.regions > 10);
    until(&program, place, CROWDED);
    for _ in 0..300 {
        let seen = numbers(program.pid());
        assert!(seen.contains(&(place, CROWDED)), "{:?}", seen.iter().find(|(at, _)| *at == place));
    }
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn whoever_chose_how_to_wait_waits_so() {
    let setup = Setup::new("equi");
    let place = place(&setup, None);
    let is_folded = |name: &str, value: &str, wanted| {
        let program = setup.program("waits").threads(2).env(name, value).option("--max", 1).start();
        let seen = program.until("one PU", |program| program.dop == Some(1) && program.regions > 1);
        until(&program, place, wanted);
        program.until("another round", |program| program.regions > seen.regions + 1);
        until(&program, place, wanted);
        program.finish().well();
    };
    is_folded("OMP_WAIT_POLICY", "passive", 0);
    is_folded("GOMP_SPINCOUNT", "7000", 7000);
    // Neither these nor a rank's launcher say anything about waiting.
    is_folded("OMP_THREAD_LIMIT", "2", CROWDED);
    is_folded("OMP_PROC_BIND", "false", CROWDED);
    let rank = setup.program("waits").threads(2).env("PMIX_RANK", "0").start();
    until(&rank, place, OF_RANKS);
    rank.finish().well();
}

#[test]
fn where_the_system_has_no_more_threads_the_program_goes_on_without() {
    let setup = Setup::new("equi");
    let limited = ["sh", "-c", "ulimit -s 262144; ulimit -v 1000000; exec \"$@\"", "sh"];
    let program = setup.at(&kernel("cg")).args(["--class=W", "--form=region", "--repeat=3"]);
    let done = program.threads(2).option("--max", 1).under(&limited).run().well();
    assert_eq!(done.json()["verified"], true);
}
