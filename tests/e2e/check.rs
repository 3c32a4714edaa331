//! `scaf check`: programs are tried out with teams of other sizes, and what that shows is remembered.

use crate::support::{By, Setup, compiled, compiled_by, released, wait_for};
use scafd::control::Mechanism;
use std::path::{Path, PathBuf};
use std::process::Stdio;

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

/// A setup with a scaf as it is installed, with that file of verdicts, and its folder.
fn installed(verdicts: &str, configuration: &str) -> (Setup, PathBuf) {
    let setup = Setup::prepared(&["equi", "--verbose"], configuration);
    let folder = setup.folder().join("installed");
    std::fs::create_dir(&folder).expect("a folder");
    for file in ["scaf", "scafd", "libscaf.so"] {
        std::fs::copy(released(file), folder.join(file)).expect("a copy");
    }
    std::fs::write(folder.join("verdicts.toml"), verdicts).expect("verdicts");
    (setup, folder)
}

/// What `scaf doctor` says of the program, and whether that scaf's daemon resizes it, by whose word.
fn shown(verdicts: &str, program: &Path) -> (String, Option<String>) {
    let (setup, folder) = installed(verdicts, "memory = false\n");
    let doctor = setup.command(&folder.join("scaf")).arg("doctor").arg(program).output().expect("scaf");
    let like = setup.daemon_command();
    let mut command = setup.command(&folder.join("scafd"));
    let mut daemon = command.args(like.get_args()).stderr(Stdio::null()).spawn().expect("scafd");
    wait_for("the daemon", || setup.socket().exists().then_some(()));
    let word = is_resized(&setup, program);
    daemon.kill().expect("the daemon's end");
    daemon.wait().expect("the daemon's end");
    (String::from_utf8_lossy(&doctor.stdout).into_owned(), word)
}

#[test]
fn what_comes_with_scaf_holds_for_that_build_only() {
    let program = compiled("malleable");
    let exported = {
        let setup = Setup::new("equi");
        assert_eq!(check(&setup, &["--runs", "4"], &program, &[]).0, Some(0));
        setup.says(&["check", "--export"])
    };
    let verdicts = format!("{exported}version = 'Debian 12, m 1.2'\nevidence = 'its tests'\n");
    let (doctor, word) = shown(&verdicts, &program);
    assert!(
        doctor.contains("Shown: the teams of its own code may be resized, by its tests; 4 runs"),
        "{doctor}"
    );
    assert!(doctor.contains("this build of Debian 12, m 1.2"), "{doctor}");
    let word = word.expect("it is resized");
    assert!(word.contains("by its tests: 4 runs"), "{word}");
    // Another build has another build-id.
    let id = exported.split("executable = \"").nth(1).and_then(|it| it.split('"').next()).expect("its id");
    let (doctor, word) = shown(&verdicts.replace(id, "0123456789abcdef"), &program);
    assert!(doctor.contains("It isn't shown") && doctor.contains("another build, Debian 12"), "{doctor}");
    assert_eq!(word, None);
    // A file that can't be read counts for nothing, and the daemon runs all the same.
    assert_eq!(shown("verdict = 7\n", &program).1, None);
}

#[test]
fn ones_own_check_counts_for_more_than_what_comes_with_scaf() {
    let program = compiled("stored_size");
    let file = scaf_inspect::fingerprint(&program).expect("its build-id");
    let name = program.file_name().expect("a name").to_string_lossy();
    let verdicts = format!(
        "[[verdict]]\nexecutable = '{file}'\nname = '{name}'\nresizable = true\ndate = '2026-11-25'\n\
         runs = 40\nversion = 'x 1'\nevidence = 'nothing'\n"
    );
    let (setup, folder) = installed(&verdicts, "");
    let scaf = |words: &[&str]| {
        let mut command = setup.command(&folder.join("scaf"));
        let came = command.args(words).env("SCAF_SOCKET", setup.socket()).output().expect("scaf");
        String::from_utf8_lossy(&[came.stdout, came.stderr].concat()).into_owned()
    };
    let path = program.to_string_lossy();
    assert!(scaf(&["doctor", &path]).contains("Shown: the teams of its own code may be resized"));
    let said = scaf(&["check", &path]);
    assert!(said.contains("may not be resized") && said.contains("counts for more"), "{said}");
    let doctor = scaf(&["doctor", &path]);
    assert!(doctor.contains("that the teams of its own code may not be resized"), "{doctor}");
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
