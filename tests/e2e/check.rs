//! `scaf check`: programs are tried out with teams of other sizes, and what that shows is remembered.

use crate::support::{By, Setup, compiled, compiled_by, released};
use scafd::control::Mechanism;
use std::path::Path;

/// What `scaf check` with these words comes to: its exit status and what it says.
fn check(setup: &Setup, options: &[&str], program: &Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = setup.command(&released("scaf"));
    command.arg("check").args(options).arg(program).args(words);
    let came = command.env("SCAF_SOCKET", setup.socket()).output().expect("scaf check");
    let said = [came.stdout, came.stderr].concat();
    (came.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// Whether a daemon resizes the program to one thread, and by whose word.
fn is_resized(setup: &Setup, program: &Path) -> Option<String> {
    let program = setup.at(program).args(["rounds"]).option("--max", 1).start();
    let seen = program.until("it is resized, or folded", |program| {
        let kept = matches!(program.mechanism, Mechanism::Fold | Mechanism::Gather);
        let inspected = program.mechanism_reason != "its code is being inspected";
        let resized = program.mechanism == Mechanism::Resize && program.team == 1;
        program.dop == Some(1) && program.regions > 100 && inspected && (resized || kept)
    });
    let done = program.finish().well();
    let resized = seen.mechanism == Mechanism::Resize;
    assert_eq!(done.number("stored"), if resized { 1 } else { 2 }, "{seen:#?}");
    resized.then_some(seen.permission)
}

#[test]
fn a_program_that_computes_the_same_with_any_team_is_resized_from_then_on() {
    for by in [By::Itself, By::Clang] {
        let setup = Setup::new("equi");
        let program = compiled_by(by, "malleable");
        assert_eq!(is_resized(&setup, &program), None, "the inspection finds nothing: no use of this test");
        let (code, said) = check(&setup, &["--runs", "5"], &program, &[]);
        assert!(code == Some(0) && said.contains("may be resized\n"), "{said}");
        assert!(said.contains("3 plain runs and 5") && said.contains("bit by bit"), "{said}");
        assert!(said.contains("had 2 sizes") && said.contains("Remembered"), "{said}");
        let word = is_resized(&setup, &program).expect("it is resized");
        assert!(word.contains("scaf check: 5 runs on 20"), "{word}");
        let listed = setup.says(&["profile", "list"]);
        assert!(listed.contains("may be resized") && listed.contains("malleable"), "{listed}");
        let doctor = setup.says(&["doctor", &program.to_string_lossy()]);
        assert!(doctor.contains("by 5 runs, that the teams of its own code may be resized"), "{doctor}");
        let name = program.file_name().expect("a name").to_string_lossy();
        setup.says(&["profile", "forget", &name]);
        assert_eq!(is_resized(&setup, &program), None);
    }
}

#[test]
fn an_admins_verdicts_hold_for_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("verdicts.toml");
    let program = compiled("malleable");
    let exported = {
        let setup = Setup::new("equi");
        assert_eq!(check(&setup, &["--runs", "4"], &program, &[]).0, Some(0));
        setup.says(&["check", "--export"])
    };
    let text = format!("count_load = false\nmemory = false\nverdicts = '{}'\n", file.display());
    std::fs::write(&file, &exported).expect("verdicts");
    let word = is_resized(&Setup::configured("equi", &text), &program).expect("it is resized");
    assert!(word.contains("scaf check: 4 runs"), "{word}");
    std::fs::write(&file, exported.replace("true", "false")).expect("verdicts");
    assert_eq!(is_resized(&Setup::configured("equi", &text), &program), None);
}

#[test]
fn a_program_that_divides_work_by_a_stored_size_is_refused_with_the_first_difference() {
    for by in [By::Itself, By::Clang] {
        let setup = Setup::new("equi");
        let program = compiled_by(by, "stored_size");
        let (code, said) = check(&setup, &[], &program, &[]);
        assert!(code == Some(1) && said.contains("may not be resized\n"), "{said}");
        assert!(said.contains("standard output, line 2:"), "{said}");
        assert!(said.contains("plain    wrong sums: none"), "{said}");
        assert!(said.contains("resized  wrong sums: some"), "{said}");
        assert!(setup.says(&["profile", "list"]).contains("nothing is remembered"));
    }
}

#[test]
fn files_are_compared_and_left_as_a_plain_run_writes_them() {
    let setup = Setup::new("equi");
    let file = setup.folder().join("result");
    let name = file.to_str().expect("a name");
    std::fs::write(&file, "before").expect("a file");
    let program = compiled("stored_size");
    let (code, said) = check(&setup, &["--output", name], &program, &["file", name]);
    assert!(code == Some(1) && said.contains(&format!("{name}, line 2:")), "{said}");
    assert_eq!(std::fs::read_to_string(&file).expect("it"), "threads\nwrong sums: none\n");
    let (code, said) = check(&setup, &["--output", "/nowhere/at/all"], &program, &["file", name]);
    assert!(code == Some(1) && said.contains("name with --output what it does write"), "{said}");
}

#[test]
fn sums_that_drift_from_run_to_run_are_compared_by_how_much_they_do() {
    let setup = Setup::new("equi");
    let (code, said) = check(&setup, &["--runs", "5"], &compiled("malleable"), &["drifts"]);
    assert!(code == Some(0) && said.contains("numbers that differ no more than plain runs"), "{said}");
    assert!(said.contains("10 plain runs"), "{said}");
}

#[test]
fn a_program_that_crashes_or_hangs_is_refused() {
    let setup = Setup::new("equi");
    let program = compiled("stored_size");
    let (code, said) = check(&setup, &[], &program, &["crashes"]);
    assert!(code == Some(1) && said.contains("this one was killed by signal 6"), "{said}");
    let (code, said) = check(&setup, &[], &program, &["hangs"]);
    assert!(code == Some(1) && said.contains("didn't end within"), "{said}");
    assert!(said.contains("wait for threads"), "{said}");
}

#[test]
fn nothing_is_remembered_where_nothing_was_checked() {
    let setup = Setup::new("equi");
    let nothing = |program: &Path, words: &[&str]| {
        let (code, said) = check(&setup, &["--runs", "2"], program, words);
        assert!(code == Some(2) && said.contains("nothing was checked"), "{said}");
        assert!(setup.says(&["profile", "list"]).contains("nothing is remembered"), "{said}");
    };
    nothing(&compiled("stored_size"), &["clause"]);
    nothing(Path::new("/bin/echo"), &["a"]);
    nothing(Path::new("/bin/false"), &[]);
    let (code, said) = check(&setup, &["--runs", "2"], Path::new("/bin/date"), &["+%N %A%N"]);
    assert!(code == Some(2) && said.contains("--ignore"), "{said}");
}
