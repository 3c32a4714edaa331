//! What holds for gcc's programs on libgomp holds for those of LLVM's and Intel's compilers on their runtime.

use crate::support::{By, Done, Setup, clang_kernel, compiled_by, kernel};
use scafd::control::Mechanism;

/// Runs a program with a grant of one PU and a team of 3 of its own; returns what it said in the end.
fn kept(name: &str, argument: &str) -> Done {
    let setup = Setup::new("equi");
    let program =
        setup.at(&compiled_by(By::Clang, name)).args([argument]).threads(3).option("--max", 1).start();
    let seen = program.until("one PU, its team kept", |program| {
        let kept = matches!(program.mechanism, Mechanism::Fold | Mechanism::Gather);
        kept && program.dop == Some(1) && program.regions > 0
    });
    program.until("a hundred rounds", |program| program.regions > seen.regions + 100);
    let done = program.finish();
    assert_eq!(done.number("smallest"), 3, "{done:#?}");
    done.well()
}

#[test]
fn a_team_of_the_programs_own_size_is_kept() {
    kept("promises", "clause");
    kept("set_only", "set");
    kept("set_only", "dynamic");
}

#[test]
fn a_team_that_code_depends_on_is_kept() {
    kept("promises", "private");
    kept("promises", "size");
}

#[test]
fn a_clause_binds_its_own_region_only() {
    let setup = Setup::new("equi");
    let program = setup.at(&compiled_by(By::Clang, "clause_only")).option("--max", 1).start();
    let seen = program.until_inspected();
    let seen = program.until("more rounds", |program| program.regions > seen.regions + 1000);
    assert!(seen.promised_regions > 0);
    let done = program.finish().well();
    assert_eq!((done.number("smallest"), done.number("free_last")), (3, 1));
}

#[test]
fn sections_that_wait_for_each_other_keep_their_team() {
    let setup = Setup::new("equi");
    let program = setup.at(&compiled_by(By::Clang, "sections")).threads(2).option("--max", 1).start();
    program.until("known to have sections", |program| program.mechanism_reason.contains("sections"));
    program.until("more rounds", |program| program.regions > 20);
    program.finish().well();
}

#[test]
fn what_llvms_compilers_make_of_regions_is_right() {
    let setup = Setup::new("equi");
    let micro = compiled_by(By::Clang, "micro");
    let program = setup.at(&micro).threads(3).option("--max", 1).start();
    let seen = program.until_resized_to(1);
    program.until("more rounds", |program| program.regions > seen.regions + 1000);
    program.finish().well();
    // Folded, and with all it can use. With more threads than PUs the runtime changes how long they spin.
    for (threads, most) in [(4, 1), (4, 2), (2, 1)] {
        let program = setup.at(&micro).threads(threads).option("--max", most).start();
        let seen = program.until("rounds", |program| program.regions > 1000);
        program.until("more rounds", |program| program.regions > seen.regions + 1000);
        let done = program.finish().well();
        assert!(threads > 2 || done.number("changed") == 0, "{done:#?}");
    }
    setup.at(&micro).threads(3).unmanaged().run().well();
}

#[test]
fn what_llvms_compilers_make_of_regions_is_right_under_chaos() {
    for seed in 1..3 {
        let setup = Setup::chaos(seed);
        let program = setup.at(&compiled_by(By::Clang, "micro")).threads(3).start();
        std::thread::sleep(std::time::Duration::from_secs(2));
        program.finish().well();
    }
}

#[test]
fn threads_of_dynamic_loops_are_parked_while_their_team_is_folded() {
    for by in [By::Clang, By::GccForLlvms] {
        let setup = Setup::new("equi");
        let waits = compiled_by(by, "waits");
        let program = setup.at(&waits).threads(2).env("SCAF_GATHER", "0").start();
        program.until("alone", |program| program.mechanism == Mechanism::Fold && program.regions > 10);
        let neighbour = setup.at(&waits).threads(2).start();
        let seen = program.until("parked", |program| program.mechanism == Mechanism::Park);
        program.until("rounds", |program| program.regions > seen.regions + 10);
        neighbour.finish().well();
        let done = program.finish().well();
        assert_eq!((done.number("wrong"), done.number("early")), (0, 0));
    }
}

#[test]
fn both_compilers_kernels_compute_the_same() {
    for policy in ["equi", "curve"] {
        let setup = Setup::new(policy);
        for (name, form, repeat) in [
            ("is", "loops", 20),
            ("sort", "tasks", 5),
            ("sparselu", "tasks", 50),
            ("fib", "tasks", 20),
            ("triad", "loops", 5),
        ] {
            let words = ["--class=S".to_owned(), format!("--form={form}"), format!("--repeat={repeat}")];
            let expected = setup.at(&kernel(name)).args(&words).threads(2).unmanaged().run().well().json();
            for threads in [2, 4] {
                let start = || setup.at(&clang_kernel(name)).args(&words).threads(threads).start();
                for one in [start(), start()] {
                    let got = one.finish().well().json();
                    assert_eq!(got["verified"], true, "{got}");
                    assert_eq!(got["value"], expected["value"], "{got}");
                }
            }
        }
    }
}
