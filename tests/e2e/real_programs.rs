//! Real programs (bench/real), which fix their team sizes, compute the same bits folded beside another one.

use crate::support::{Done, Setup, compiled, kernel, root};
use scafd::control::Mechanism;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The Python that has the programs' packages: `SCAF_TEST_PYTHON`, else the one that scripts/setup.sh makes.
pub fn python() -> PathBuf {
    let named = std::env::var_os("SCAF_TEST_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| root().join(".venv/bin/python"));
    assert!(
        python.is_file(),
        "{} is missing: run scripts/setup.sh, or set SCAF_TEST_PYTHON to a Python with \
         bench/real/requirements.txt",
        python.display()
    );
    python
}

/// Whether a script computes with a BLAS, whose order of adding up may depend on the number of threads.
pub fn has_a_blas(script: &Path) -> bool {
    script.ends_with("sklearn_kmeans.py")
}

/// Runs `bench/real/SCRIPT` unmanaged, then managed beside a program that takes one of the PUs.
fn computes_the_same(interpreter: PathBuf, script: &str) {
    let setup = Setup::new("equi");
    let script = root().join("bench/real").join(script);
    let start = || {
        let start = setup.at(&interpreter).args([&script]).threads(2);
        if has_a_blas(&script) { start.flag("--exact") } else { start }
    };
    let expected = start().unmanaged().run();
    assert_eq!(expected.code(), Some(0), "{expected:#?}");
    let neighbour = setup.program("loops").start();
    neighbour.until("it is attached", |program| program.dop.is_some());
    let program = start().start();
    let regions = setup.until("it runs regions on one PU, with its own teams", |snapshot| {
        let neighbour = neighbour.pid();
        let other = snapshot.programs.iter().find(|program| program.pid != neighbour)?;
        assert!(other.mechanism != Mechanism::Resize || other.team <= 2, "{other:?}");
        let kept = matches!(other.mechanism, Mechanism::Fold | Mechanism::Gather);
        (other.dop == Some(1) && other.regions > 0 && kept).then_some(other.regions)
    });
    assert!(regions > 0);
    let done = program.finish();
    assert_eq!(done.code(), Some(0), "{done:#?}");
    assert_eq!(done.json()["value"], expected.json()["value"], "{done:#?}");
    assert_eq!(done.json()["verified"], true);
    assert_eq!(neighbour.finish().well().number("wrong"), 0);
}

tests! {
    scikit_learns_kmeans_computes_the_same: computes_the_same(python(), "sklearn_kmeans.py");
    scikit_learns_gradient_boosting_computes_the_same: computes_the_same(python(), "sklearn_hgb.py");
    lightgbm_computes_the_same: computes_the_same(python(), "lightgbm_fit.py");
    xgboost_computes_the_same: computes_the_same(python(), "xgboost_fit.py");
    imagemagick_computes_the_same: computes_the_same("sh".into(), "magick_blur.sh");
}

/// What becomes of each test of these suites (bench/real/suite.py), unmanaged and managed beside another one.
fn passes_what_it_passes_alone(suite: &str) {
    let setup = Setup::new("equi");
    let script = root().join("bench/real/suite.py");
    let words = [script.as_os_str(), suite.as_ref()];
    let results = |done: &Done| -> BTreeSet<String> { done.out.lines().map(str::to_owned).collect() };
    let expected = setup.at(&python()).args(words).threads(2).unmanaged().run();
    assert!(results(&expected).len() > 20, "{expected:#?}");
    let neighbour = setup.program("loops").start();
    neighbour.until("it is attached", |program| program.dop.is_some());
    let program = setup.at(&python()).args(words).threads(2).start();
    program.until("it is managed", |program| program.dop == Some(1) && program.regions > 0);
    assert_eq!(results(&program.finish()), results(&expected));
    neighbour.finish().well();
}

tests! {
    scikit_learns_checks_of_its_own_estimators_pass_as_they_do_alone: passes_what_it_passes_alone("kmeans");
    scikit_learns_checks_of_lightgbms_estimators_pass_as_they_do_alone:
        passes_what_it_passes_alone("lightgbm");
}

fn running(pid: u32) -> usize {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let runs = |stat: String| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'));
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok())
        .filter(|stat| runs(stat.clone()))
        .count()
}

#[test]
fn a_process_with_many_runtimes_beside_another_program_seldom_has_more_threads_than_there_are_contexts() {
    let setup = Setup::new("equi");
    let script = root().join("bench/real/everything.py");
    let tbb = compiled("libtbb_work");
    let start = || setup.at(&python()).args([script.as_os_str(), "2".as_ref(), tbb.as_os_str()]).threads(2);
    let expected = start().unmanaged().run();
    assert_eq!(expected.code(), Some(0), "{expected:#?}");
    let neighbour = setup.at(&kernel("cg")).args(["--class=W", "--repeat=1000000"]).threads(2).start();
    neighbour.until("it is attached", |program| program.dop.is_some());
    let mut program = start().start();
    program.until("it is managed", |program| program.dop == Some(1) && program.effective_ns.is_some());
    let (mut looks, mut crowded) = (0, 0);
    while !program.has_ended() {
        looks += 1;
        crowded += u32::from(running(program.pid()) + running(neighbour.pid()) > 2 + 1);
        std::thread::sleep(Duration::from_millis(2));
    }
    let done = program.finish();
    assert_eq!(done.json()["value"], expected.json()["value"], "{done:#?}");
    // Unmanaged it is four looks in five. While a change is under way, there may be more for a moment.
    assert!(crowded * 4 < looks, "{crowded} of {looks} looks");
}
