//! The kernels compute what they compute without scaf: every form, teams of 2 and 4, alone and beside a copy.

use crate::support::{Done, Setup, kernel};
use scafd::control::Mechanism;

/// Has each form verify under both policies, alone and two at once; with `repeat` grants change within a run.
fn computes_the_same(name: &str, forms: &[&str], repeat: u32, deterministic: bool) {
    for policy in ["equi", "scaf"] {
        let setup = Setup::new(policy);
        for form in forms {
            let words = ["--class=S".to_owned(), format!("--form={form}"), format!("--repeat={repeat}")];
            let start = |threads| setup.at(&kernel(name)).args(&words).threads(threads);
            let expected = start(2).unmanaged().run().well().json();
            let check = |done: Done, threads: u64| {
                let got = done.well().json();
                assert_eq!(got["verified"], true, "{got}");
                assert!(got["threads_seen"].as_u64() <= Some(threads), "{got}");
                if deterministic {
                    assert_eq!(got["value"], expected["value"], "{got}");
                }
            };
            for threads in [2, 4] {
                check(start(threads).run(), u64::from(threads));
                let (a, b) = (start(threads).start(), start(threads).start());
                check(a.finish(), u64::from(threads));
                check(b.finish(), u64::from(threads));
            }
        }
    }
}

tests! {
    ep_computes_the_same: computes_the_same("ep", &["loops", "region"], 1, false);
    cg_computes_the_same: computes_the_same("cg", &["loops", "region"], 10, false);
    mg_computes_the_same: computes_the_same("mg", &["loops", "region"], 100, false);
    ft_computes_the_same: computes_the_same("ft", &["loops", "region"], 5, false);
    is_computes_the_same: computes_the_same("is", &["loops"], 40, true);
    lu_computes_the_same: computes_the_same("lu", &["loops", "serial"], 1, true);
    lu_rigid_computes_the_same: computes_the_same("lu_rigid", &["rigid"], 1, true);
    sort_computes_the_same: computes_the_same("sort", &["tasks"], 15, true);
    sparselu_computes_the_same: computes_the_same("sparselu", &["tasks"], 200, true);
    fib_computes_the_same: computes_the_same("fib", &["tasks"], 100, true);
    triad_computes_the_same: computes_the_same("triad", &["loops"], 20, true);
    phases_computes_the_same: computes_the_same("phases", &["loops"], 8, true);
}

#[test]
fn the_kernels_are_resized_or_start_wide() {
    let setup = Setup::new("equi");
    let start = |name: &str, class: &str, form: &str| {
        let words = [format!("--class={class}"), format!("--form={form}"), "--repeat=100000".to_owned()];
        setup.at(&kernel(name)).args(words).option("--max", 1).start()
    };
    for (name, form) in [("cg", "loops"), ("is", "loops"), ("phases", "loops")] {
        start(name, "W", form).until_resized_to(1);
    }
    // Short in this class only: long regions keep a whole team, so that they can grow before their end. Those
    // with tasks are gathered meanwhile, and those with barriers from some barrier on.
    let long: [(_, _, &[Mechanism], _); 2] = [
        ("cg", "region", &[Mechanism::Fold, Mechanism::Gather], 2),
        ("sort", "tasks", &[Mechanism::Gather], 1),
    ];
    for (name, form, mechanisms, threads) in long {
        start(name, "S", form).until_resized_to(1);
        start(name, "A", form).until("a whole team", |program| {
            mechanisms.contains(&program.mechanism) && (program.team, program.dop) == (threads, Some(1))
        });
    }
}

/// Its threads wait for each other on flags of their own, so that on one PU they wait for whole time slices.
#[test]
fn a_team_that_would_wait_for_itself_is_let_go() {
    let setup = Setup::new("equi");
    let rigid = setup.at(&kernel("lu_rigid")).args(["--class=W", "--repeat=2"]).option("--max", 1);
    // Where it may not be gathered its loops don't yield.
    let rigid = rigid.env("SCAF_GATHER", "0").start();
    let seen = rigid.until("it is left alone", |program| program.mechanism_reason.contains("spin"));
    assert_eq!(seen.mechanism, Mechanism::Unmanaged, "{seen:?}");
    assert!(seen.mechanism_reason.contains("solve_rigid"), "{seen:?}");
    assert_eq!(rigid.finish().well().json()["verified"], true);
    // One that spins, too, but whose teams can be resized, stays managed.
    let lu = setup.at(&kernel("lu")).args(["--class=W", "--repeat=100000"]).option("--max", 1).start();
    lu.until_resized_to(1);
}
