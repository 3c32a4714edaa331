//! Each sample in tests/samples is compiled at every level and analysed. `depends_*` must always be refused;
//! `harmless_*` must pass at the usual levels.

use scaf_inspect::{ModuleFacts, SizeUse, module};
use std::path::{Path, PathBuf};
use std::process::Command;

const LEVELS: [&[&str]; 10] = [
    &["-O0"],
    &["-Og"],
    &["-O1"],
    &["-O2"],
    &["-O3"],
    &["-Os"],
    &["-O2", "-fno-plt"],
    &["-O3", "-march=haswell", "-fstack-protector-strong"],
    &["-O2", "-fcf-protection=full", "-fno-omit-frame-pointer"],
    &["-Ofast", "-s"],
];

fn samples(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_stem().unwrap().to_str().unwrap().starts_with(kind))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "samples are missing");
    found
}

fn compiled(sample: &Path, flags: &[&str], folder: &Path) -> ModuleFacts {
    compiled_by("gcc", sample, flags, folder)
}

fn compiled_by(compiler: &str, sample: &Path, flags: &[&str], folder: &Path) -> ModuleFacts {
    let out = folder.join("sample.so");
    let openmp = if compiler == "clang" { "-fopenmp=libomp" } else { "-fopenmp" };
    let done = Command::new(compiler)
        .args([openmp, "-shared", "-fPIC", "-o"])
        .arg(&out)
        .args(flags)
        .arg(sample)
        .status()
        .expect("the compiler is there");
    assert!(done.success(), "{} {flags:?}", sample.display());
    module(&out).unwrap()
}

fn is_let_through(facts: &ModuleFacts) -> bool {
    facts.size_use.is_harmless() && !facts.thread_local
}

fn wrong<'l>(
    kind: &str,
    levels: impl Iterator<Item = &'l [&'l str]> + Clone,
    judge: impl Fn(&Path, &[&str], &ModuleFacts) -> Option<String>,
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = String::new();
    for sample in samples(kind) {
        for flags in levels.clone() {
            let facts = compiled(&sample, flags, folder.path());
            if let Some(what) = judge(&sample, flags, &facts) {
                wrong += &format!("{} {flags:?}: {what}\n", sample.display());
            }
        }
    }
    wrong
}

#[test]
fn programs_that_depend_on_the_team_size_are_refused_at_every_level() {
    let wrong = wrong("depends_", LEVELS.into_iter(), |_, _, facts| {
        is_let_through(facts).then(|| format!("{:?}", facts.size_use))
    });
    assert!(wrong.is_empty(), "let through:\n{wrong}");
}

#[test]
fn loops_that_only_look_at_memory_are_found_and_no_others() {
    let missed = wrong("spins_", LEVELS.into_iter(), |_, _, facts| {
        facts.spins.is_none().then(|| "not found".to_owned())
    });
    let found = ["harmless_", "depends_", "computes_"].map(|kind| {
        wrong(kind, LEVELS.into_iter(), |sample, _, facts| {
            let waits = std::fs::read_to_string(sample).unwrap().contains("while (!");
            facts.spins.clone().map(|spins| spins.place).filter(|_| !waits)
        })
    });
    assert!(missed.is_empty() && found.concat().is_empty(), "{missed}{}", found.concat());
}

#[test]
fn loops_that_only_look_at_memory_can_be_marked() {
    let unmarked = wrong("spins_", LEVELS.into_iter(), |_, _, facts| {
        facts.spins.as_ref().filter(|spins| spins.marks.is_none()).map(|spins| spins.place.clone())
    });
    assert!(unmarked.is_empty(), "{unmarked}");
}

#[test]
fn so_are_those_that_clang_compiled() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, spins) in [("spins_", true), ("computes_", false)] {
        for sample in samples(kind) {
            for level in ["-O1", "-O2", "-O3", "-Os"] {
                let facts = compiled_by("clang", &sample, &[level], folder.path());
                assert_eq!(facts.spins.is_some(), spins, "{} {level}: {:?}", sample.display(), facts.spins);
                let marked = facts.spins.as_ref().is_none_or(|spins| spins.marks.is_some());
                assert!(marked, "{} {level}: {:?}", sample.display(), facts.spins);
            }
        }
    }
}

#[test]
fn loops_of_gccs_own_are_let_through_where_it_optimises() {
    let wrong = wrong("harmless_", LEVELS.into_iter(), |sample, flags, facts| {
        let refused = (!is_let_through(facts)).then(|| format!("{:?}", facts.size_use))?;
        println!("{} {flags:?}: {refused}", sample.display());
        matches!(flags[0], "-O1" | "-O2").then_some(refused)
    });
    assert!(wrong.is_empty(), "refused:\n{wrong}");
}

/// Whoever proves one of these takes it to the others, and out of the documentation.
#[test]
fn what_is_right_at_any_size_and_not_proved_is_known() {
    let wrong = wrong("unproved_", [&["-O2"][..]].into_iter(), |_, _, facts| {
        is_let_through(facts).then(|| "is proved by now".to_owned())
    });
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_reason_names_the_function_and_what_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let sample = samples("depends_stored_size").into_iter().next();
    let sample = sample.unwrap_or_else(|| unreachable!("the sample is there"));
    let SizeUse::Depends { why } = compiled(&sample, &["-O2"], folder.path()).size_use else {
        panic!("the sample depends on its team's size");
    };
    assert!(why.starts_with("run._omp_fn.0+0x") && why.contains("stores the team size"), "{why}");
}

#[test]
fn each_loop_is_found_where_two_have_one_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let facts = compiled(&samples("loops_with_one_beginning")[0], &["-O2"], folder.path());
    let marks = facts.spins.and_then(|spins| spins.marks);
    assert_eq!(marks.map(|marks| marks.len()), Some(2));
}
