//! Programs with several masters: their threads enter regions of their own, side by side.

use crate::support::{Setup, Start};

/// It takes tickets within regions, so its teams keep their size unless its user knows better.
fn resizable(setup: &Setup) -> Start<'_> {
    setup.program("masters").flag("--malleable")
}

#[test]
fn three_masters_share_one_budget() {
    let setup = Setup::new("equi");
    let program = resizable(&setup).args(["at-once", "3"]).option("--max", 2).start();
    let seen = program.until_inspected();
    program.until("several windows", |program| program.regions > seen.regions + 10_000);
    let done = program.finish().well();
    // Each master has itself at least, and the grant is of 2 at most.
    assert!(done.number("peak") <= 4, "{done:#?}");
}

#[test]
fn masters_with_a_grant_of_one_are_alone_in_their_teams() {
    let setup = Setup::new("equi");
    let program = resizable(&setup).args(["at-once", "3"]).option("--max", 1).start();
    // What is said of the team is the sum over all masters; here, the size of each counts.
    let seen = program.until("its code is known", |program| {
        program.dop == Some(1) && program.mechanism_reason != "its code is being inspected"
    });
    program.until("several windows", |program| program.regions > seen.regions + 10_000);
    let done = program.finish().well();
    assert!(done.number("peak") <= 3, "{done:#?}");
}

#[test]
fn a_hundred_masters_one_after_the_other_are_right() {
    let setup = Setup::new("equi");
    let program = resizable(&setup).args(["one-by-one"]).option("--max", 1).start();
    program.until_resized_to(1);
    let done = program.finish().well();
    assert!(done.number("rounds") >= 100);
}

#[test]
fn more_masters_than_can_be_measured_are_right() {
    let setup = Setup::new("equi");
    let program = resizable(&setup).args(["at-once", "40"]).option("--max", 1).start();
    program.until("many regions", |program| program.regions > 5_000);
    program.finish().well();
}
