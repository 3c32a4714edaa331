//! Time in which a thread waits is no useful time, whatever it waits for.

use crate::support::Setup;

/// The useful share of a region's time on two contexts, once it is known and `least` or more.
fn efficiency(setup: &Setup, what: &str, least: f64) -> f64 {
    let program = setup.program("turns").args([what]).threads(2).before_others().start();
    let seen = program.until("measured for a while", |program| {
        program.efficiency.is_some_and(|useful| useful >= least) && program.regions > 5_000
    });
    let done = program.finish().well();
    assert_eq!((done.number("done"), done.number("stray")), (done.number("asked"), 0), "{what}");
    seen.efficiency.unwrap_or_default()
}

#[test]
fn threads_that_take_turns_at_one_piece_of_work_are_half_useful() {
    let setup = Setup::new("equi");
    let even = efficiency(&setup, "even", 0.8);
    let turns = "chain late_chain taskwaits taskloop critical named locked group ordered copied";
    for what in turns.split(' ') {
        // One of two threads works at any time.
        let useful = efficiency(&setup, what, 0.0) / even;
        assert!(useful < 0.7, "{what}: {useful} of {even}");
    }
    // Against one that is half useful because it is: work in tasks is useful wherever it is done.
    for what in ["even_tasks", "even_tree"] {
        efficiency(&setup, what, 0.75 * even);
    }
}
