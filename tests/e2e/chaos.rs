//! Chaos: grants of any size on any PUs, a thousand decisions a second. Every program computes what it
//! computes alone, and ends. Each round has another seed; `SCAF_SOAK_S` (`make soak`): for so many seconds.

use crate::real_programs::{has_a_blas, python};
use crate::support::{By, Done, Setup, clang_kernel, compiled_by, kernel, root};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Seeds 1 to `rounds`, or for as long as the soak test wants.
fn seeds(rounds: u64) -> impl Iterator<Item = u64> {
    let soak =
        std::env::var("SCAF_SOAK_S").ok().map(|seconds| seconds.parse().expect("SCAF_SOAK_S: seconds"));
    let until = soak.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    (1..).take_while(move |seed| until.map_or(*seed <= rounds, |until| Instant::now() < until))
}

/// Name, form, repeats that take 0.1 to 0.3 s alone, and whether the value is the same whatever the team.
const KERNELS: [(&str, &str, u32, bool); 16] = [
    ("ep", "loops", 1, false),
    ("ep", "region", 1, false),
    ("cg", "loops", 10, false),
    ("cg", "region", 10, false),
    ("mg", "loops", 60, false),
    ("mg", "region", 60, false),
    ("ft", "loops", 3, false),
    ("ft", "region", 3, false),
    ("is", "loops", 30, true),
    ("lu", "loops", 2, true),
    ("lu_rigid", "rigid", 2, true),
    ("sort", "tasks", 10, true),
    ("sparselu", "tasks", 100, true),
    ("fib", "tasks", 50, true),
    ("triad", "loops", 15, true),
    ("phases", "loops", 5, true),
];

tests! {
    kernels_compute_the_same: kernels(kernel, 4);
    kernels_of_clang_compute_the_same: kernels(clang_kernel, 2);
}

fn kernels(find: fn(&str) -> PathBuf, rounds: u64) {
    let mut runs = 0;
    for seed in seeds(rounds) {
        let setup = Setup::chaos(seed);
        for (number, (name, form, repeat, deterministic)) in KERNELS.into_iter().enumerate() {
            let words = ["--class=S".to_owned(), format!("--form={form}"), format!("--repeat={repeat}")];
            let start = |threads| setup.at(&find(name)).args(&words).threads(threads);
            let spins = name.starts_with("lu");
            // Two at once, of 2 to 4 threads. Those that spin on flags wait for time slices: one of 2.
            let threads =
                |which: u64| if spins { 2 } else { 2 + ((seed + number as u64 + which) % 3) as u32 };
            let expected = start(2).unmanaged().run().well().json();
            let check = |done: Done| {
                let got = done.well().json();
                assert_eq!(got["verified"], true, "seed {seed}: {got}");
                if deterministic {
                    assert_eq!(got["value"], expected["value"], "seed {seed}: {got}");
                }
            };
            let one = start(threads(0)).start();
            let other = (!spins).then(|| start(threads(1)).start());
            check(one.finish());
            runs += repeat;
            if let Some(other) = other {
                check(other.finish());
                runs += repeat;
            }
        }
    }
    println!("{runs} verified runs of kernels under chaos");
}

#[test]
fn nobody_passes_a_barrier_early() {
    for (by, rounds) in [(By::Itself, 4), (By::Clang, 2), (By::GccForLlvms, 2)] {
        barriers(by, rounds);
    }
}

fn barriers(by: By, rounds: u64) {
    for seed in seeds(rounds) {
        let setup = Setup::chaos(seed);
        let waits = compiled_by(by, "waits");
        let start = |threads| setup.at(&waits).threads(threads).env("OMP_MAX_ACTIVE_LEVELS", "2").start();
        let programs = [start(2), start(3 + (seed % 2) as u32)];
        std::thread::sleep(Duration::from_secs(3));
        for program in programs {
            let done = program.finish().well();
            assert_eq!((done.number("wrong"), done.number("early")), (0, 0), "seed {seed}: {done:#?}");
            assert!(done.number("meetings") > 1_000, "seed {seed}: {done:#?}");
        }
    }
}

#[test]
fn every_construct_is_right() {
    for (by, rounds) in [(By::Itself, 2), (By::Clang, 1), (By::GccForLlvms, 1)] {
        constructs(by, rounds);
    }
}

fn constructs(by: By, rounds: u64) {
    for seed in seeds(rounds) {
        for (name, variable) in [
            ("constructs", ("OMP_DYNAMIC", "false")),
            ("loops", ("OMP_DYNAMIC", "false")),
            ("starts", ("OMP_DYNAMIC", "false")),
            ("cancel", ("OMP_CANCELLATION", "true")),
            ("task_reductions", ("OMP_DYNAMIC", "false")),
            ("nested", ("OMP_MAX_ACTIVE_LEVELS", "2")),
            ("teams", ("OMP_DYNAMIC", "false")),
            ("masters", ("OMP_DYNAMIC", "false")),
            ("fixed", ("OMP_DYNAMIC", "false")),
        ] {
            // LLVM's runtime, version 14, hangs in this one without scaf.
            if by != By::Itself && name == "cancel" {
                continue;
            }
            let setup = Setup::chaos(seed);
            let program = setup.at(&compiled_by(by, name)).threads(3).env(variable.0, variable.1).start();
            std::thread::sleep(Duration::from_secs(1));
            let done = program.finish().well();
            assert!(
                done.out.lines().any(|line| line.starts_with("wrong=") || line.starts_with("construct=")),
                "{name}: {done:#?}"
            );
            for line in done.out.lines().filter_map(|line| line.strip_prefix("wrong=")) {
                assert_eq!(line, "0", "{name} by {by:?}, seed {seed}: {done:#?}");
            }
            for line in done.out.lines().filter_map(|line| line.strip_prefix("construct=")) {
                assert_eq!(line.split(' ').nth(1), Some("0"), "{name} by {by:?}, seed {seed}: {line}");
            }
        }
    }
}

#[test]
fn real_programs_compute_the_same() {
    let scripts =
        ["sklearn_kmeans.py", "sklearn_hgb.py", "lightgbm_fit.py", "xgboost_fit.py", "magick_blur.sh"];
    for seed in seeds(1) {
        for script in scripts {
            let setup = Setup::chaos(seed);
            let interpreter = if script.ends_with(".sh") { "sh".into() } else { python() };
            let path = root().join("bench/real").join(script);
            let start = || {
                let start = setup.at(&interpreter).args([&path]).threads(2);
                if has_a_blas(&path) { start.flag("--exact") } else { start }
            };
            let expected = start().unmanaged().run();
            let done = start().run();
            assert_eq!(
                (expected.code(), done.code()),
                (Some(0), Some(0)),
                "{script}, seed {seed}: {done:#?}"
            );
            assert_eq!(done.json()["value"], expected.json()["value"], "{script}, seed {seed}");
        }
    }
}
