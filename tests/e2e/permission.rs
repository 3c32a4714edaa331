//! The user's word: teams that would be kept are resized, the program can't tell from what it asks, and it
//! can take its word back.

use crate::support::{By, Running, Setup, compiled_by};
use scafd::control::Mechanism;

const BOTH: [By; 3] = [By::Itself, By::Clang, By::GccForLlvms];

/// A program of teams of three with a grant of one PU, which is resized: by whose word, and itself.
fn resized<'h>(setup: &'h Setup, by: By, way: Way) -> Running<'h> {
    let start = setup.at(&compiled_by(by, "dynamic")).threads(3).option("--max", 1);
    let start = match way {
        Way::Run => start.flag("--malleable"),
        Way::Environment => start.env("OMP_DYNAMIC", "true"),
        Way::Call => start.args(["call"]),
    };
    let program = start.start();
    let seen = program.until_resized_to(1);
    let who = match way {
        Way::Run => "scaf run --malleable",
        Way::Environment => "OMP_DYNAMIC",
        Way::Call => "omp_set_dynamic",
    };
    assert!(seen.permission.contains(who), "{seen:#?}");
    program
}

#[derive(Clone, Copy)]
enum Way {
    Run,
    Environment,
    Call,
}

#[test]
fn teams_that_would_be_kept_are_resized_by_the_users_word() {
    for by in BOTH {
        for way in [Way::Run, Way::Environment, Way::Call] {
            let setup = Setup::new("equi");
            let program = resized(&setup, by, way);
            let seen = program.seen().expect("it runs");
            program.until("a hundred rounds", |program| program.regions > seen.regions + 300);
            let done = program.finish().well();
            assert_eq!((done.number("clause"), done.number("code"), done.number("kept")), (1, 1, 1));
            assert_eq!(done.number("permits"), i64::from(!matches!(way, Way::Run)));
        }
    }
}

#[test]
fn a_program_can_take_its_word_back() {
    for by in BOTH {
        for way in [Way::Environment, Way::Call] {
            let setup = Setup::new("equi");
            let program = resized(&setup, by, way);
            program.signal(libc::SIGUSR1);
            let seen = program.until("its teams are kept", |program| {
                let kept = matches!(program.mechanism, Mechanism::Fold | Mechanism::Gather);
                kept && program.permission.is_empty()
            });
            program.until("a hundred rounds", |program| program.regions > seen.regions + 300);
            let done = program.finish().well();
            assert_eq!((done.number("clause"), done.number("code")), (3, 3));
        }
    }
}

/// The runtimes themselves would make teams smaller the busier the machine is.
#[test]
fn teams_have_the_size_that_is_granted() {
    for by in BOTH {
        let setup = Setup::new("equi");
        // Somebody keeps the machine busy, as the runtimes see it.
        let busy: Vec<Running> = (0..2).map(|_| setup.program("loops").unmanaged().start()).collect();
        let program = setup.at(&compiled_by(by, "dynamic")).threads(3).env("OMP_DYNAMIC", "true").start();
        let seen = program.until("teams of two", |program| program.dop == Some(2) && program.team == 2);
        for _ in 0..20 {
            let now = program.seen().expect("it runs");
            assert!(now.dop != Some(2) || now.team >= 2, "{now:#?}");
        }
        program.until("more rounds", |program| program.regions > seen.regions + 300);
        let done = program.finish().well();
        assert_eq!((done.number("clause"), done.number("code")), (2, 2));
        busy.into_iter().for_each(|program| drop(program.finish().well()));
    }
}

#[test]
fn exact_results_count_for_more_than_a_permission() {
    let setup = Setup::new("equi");
    let exact = |start: crate::support::Start<'_>| {
        let program = start.threads(3).option("--max", 1).flag("--exact").env("OMP_DYNAMIC", "true").start();
        let seen = program.until_inspected();
        assert!(seen.permission.is_empty() && seen.mechanism != Mechanism::Resize, "{seen:#?}");
        program.finish().well();
    };
    exact(setup.program("dynamic"));
    let refused = setup.refuses(&["run", "--exact", "--malleable", "true"]);
    assert!(refused.contains("cannot be used with"), "{refused}");
}

#[test]
fn sections_that_are_a_region_keep_their_team() {
    let setup = Setup::new("equi");
    let program = setup.program("sections").args(["combined"]).flag("--malleable").option("--max", 1).start();
    program.until("a hundred rounds", |program| program.regions > 100 && program.dop == Some(1));
    program.finish().well();
}
