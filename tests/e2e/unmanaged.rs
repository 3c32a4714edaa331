//! Processes without parallel regions are left alone.

use crate::support::{Setup, released};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn a_program_without_openmp_never_attaches() {
    let setup = Setup::new("equi");
    for (program, words) in [("true", vec![]), ("sh", vec!["-c", "true | cat"]), ("sleep", vec!["0.1"])] {
        setup.at(Path::new(program)).args(words).run().well();
    }
    assert_eq!(
        setup.at(&crate::real_programs::python()).args(["-c", "print(sum(range(10)))"]).run().well().out,
        "45\n"
    );
    // The numbers of programs count connections, so ours are among them; decisions count programs.
    let snapshot = setup.snapshot();
    assert!(snapshot.programs.is_empty() && snapshot.decisions == 0, "{snapshot:?}");
}

#[test]
fn a_program_without_openmp_has_no_file_and_no_mapping_of_ours_but_the_library() {
    let setup = Setup::new("equi");
    let files = |managed: bool| {
        let start = setup.at(Path::new("ls")).args(["/proc/self/fd"]);
        if managed { start.run() } else { start.unmanaged().run() }.well().out
    };
    assert_eq!(files(true), files(false));
    let mapped = |managed: bool| -> BTreeSet<String> {
        let start = setup.at(Path::new("cat")).args(["/proc/self/maps"]);
        let done = if managed { start.run() } else { start.unmanaged().run() }.well();
        done.out.lines().filter_map(|line| line.split_whitespace().nth(5)).map(str::to_owned).collect()
    };
    let library = released("libscaf.so").canonicalize().expect("libscaf.so");
    let (ours, theirs) = (mapped(true), mapped(false));
    let news: Vec<_> = ours.difference(&theirs).collect();
    assert_eq!(news, [library.to_str().expect("a plain path")]);
}
