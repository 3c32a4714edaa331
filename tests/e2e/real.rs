//! Real programs (bench/real), which fix their team sizes: folded onto one PU beside another program, they compute
//! what they compute alone and unmanaged, bit for bit.

use crate::support::{House, root};
use scafd::control::Mechanism;
use std::path::PathBuf;

/// The Python that has the programs' packages: `SCAF_TEST_PYTHON`, else the one that scripts/setup.sh makes.
pub fn python() -> PathBuf {
    let named = std::env::var_os("SCAF_TEST_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| root().join(".venv/bin/python"));
    assert!(
        python.is_file(),
        "{} is missing: run scripts/setup.sh, or set SCAF_TEST_PYTHON to a Python with bench/real/requirements.txt",
        python.display()
    );
    python
}

/// Runs `bench/real/SCRIPT` unmanaged, then managed beside a program that takes one of the PUs.
fn computes_the_same(interpreter: PathBuf, script: &str) {
    let house = House::open("equi");
    let script = root().join("bench/real").join(script);
    let start = || house.at(&interpreter).args([&script]).threads(2);
    let expected = start().unmanaged().run();
    assert_eq!(expected.code(), Some(0), "{expected:#?}");
    let neighbour = house.program("loops").start();
    neighbour.until("it is attached", |program| program.dop.is_some());
    let program = start().start();
    let regions = house.until("it runs regions on one PU, with its own teams", |snapshot| {
        let neighbour = neighbour.pid();
        let other = snapshot.programs.iter().find(|program| program.pid != neighbour)?;
        assert!(other.mechanism != Mechanism::Resize || other.team <= 2, "{other:?}");
        let kept = matches!(other.mechanism, Mechanism::Fold | Mechanism::Park | Mechanism::Virtualise);
        (other.dop == Some(1) && other.regions > 0 && kept).then_some(other.regions)
    });
    assert!(regions > 0);
    let done = program.finish();
    assert_eq!(done.code(), Some(0), "{done:#?}");
    assert_eq!(done.json()["value"], expected.json()["value"], "{done:#?}");
    assert_eq!(done.json()["verified"], true);
    assert_eq!(neighbour.finish().well().number("wrong"), 0);
}

#[test]
fn scikit_learns_kmeans_computes_the_same() {
    computes_the_same(python(), "sklearn_kmeans.py");
}

#[test]
fn scikit_learns_gradient_boosting_computes_the_same() {
    computes_the_same(python(), "sklearn_hgb.py");
}

#[test]
fn lightgbm_computes_the_same() {
    computes_the_same(python(), "lightgbm_fit.py");
}

#[test]
fn xgboost_computes_the_same() {
    computes_the_same(python(), "xgboost_fit.py");
}

#[test]
fn imagemagick_computes_the_same() {
    computes_the_same("sh".into(), "magick_blur.sh");
}
