//! Threads of dynamic loops sleep between chunks while the DoP is below the team's size.

use crate::support::Setup;
use scafd::control::Mechanism;

#[test]
fn threads_of_dynamic_loops_are_parked_while_their_team_is_folded() {
    let setup = Setup::new("equi");
    let program = setup.program("waits").threads(2).env("SCAF_GATHER", "0").start();
    program.until("alone", |program| program.mechanism == Mechanism::Fold && program.regions > 10);
    let neighbour = setup.program("waits").threads(2).start();
    let seen = program.until("parked", |program| program.mechanism == Mechanism::Park);
    program.until("rounds", |program| program.regions > seen.regions + 10);
    neighbour.finish().well();
    program.until("alone again", |program| program.mechanism == Mechanism::Fold);
    let done = program.finish().well();
    assert_eq!((done.number("wrong"), done.number("early")), (0, 0));
}
