//! What the kernel is told of a program counts: nice levels, scheduling policies, and what changes later.

use crate::support::{Setup, root_user};
use std::process::Command;

/// A program of which the daemon says what it says of those in the background.
fn is_left_alone(program: &scafd::control::Program) -> bool {
    program.dop.is_none() && program.reason.contains("in the background")
}

#[test]
fn who_is_nice_takes_no_context_from_others_until_they_are_gone() {
    let setup = Setup::new("equi");
    let behind = setup.program("loops").under(&["nice", "-n", "19"]).start();
    behind.until("contexts of its own", |program| program.dop.is_some());
    let front = setup.program("loops").start();
    let all = setup.snapshot().capacity;
    behind.until("being left alone", is_left_alone);
    front.until("all contexts", |program| program.dop == Some(all));
    front.finish().well();
    behind.until("contexts again", |program| program.dop == Some(all));
    behind.finish().well();
}

#[test]
fn a_program_can_ask_to_be_in_the_background() {
    let setup = Setup::new("equi");
    let front = setup.program("loops").start();
    let behind = setup.program("loops").flag("--background").start();
    let seen = behind.until("being left alone", is_left_alone);
    let said = setup.says(&["why", &seen.name]);
    assert!(said.contains("in the background"), "{said}");
    front.until("all contexts", |program| program.dop == Some(setup.snapshot().capacity));
    behind.finish().well();
    front.finish().well();
}

#[test]
fn who_becomes_nice_later_is_followed() {
    let setup = Setup::new("equi");
    let (front, polite) = (setup.program("loops").start(), setup.program("loops").start());
    for program in [&front, &polite] {
        program.until("contexts", |program| program.dop.is_some());
    }
    let renice = |level: &str| {
        let pid = polite.pid().to_string();
        let words = ["-n", level, "-p", &pid];
        assert!(Command::new("renice").args(words).output().expect("renice").status.success());
    };
    renice("5");
    polite.until("its weight", |program| (program.weight - 335.0 / 1024.0).abs() < 1e-9);
    renice("19");
    polite.until("being left alone", is_left_alone);
    if root_user() {
        renice("0");
        polite.until("contexts again", |program| program.dop.is_some());
    }
    polite.finish().well();
    front.finish().well();
}

#[test]
fn weights_by_nice_levels_divide_a_larger_machine() {
    let setup = Setup::on_topology("core:16 pu:1", "equi", "");
    let front = setup.program("loops").threads(16).start();
    let polite = setup.program("loops").threads(16).under(&["nice", "-n", "5"]).start();
    // 16 to 1 : 335 / 1024, rounded.
    front.until("its part", |program| program.dop == Some(12));
    polite.until("its part", |program| program.dop == Some(4));
    polite.finish().well();
    front.finish().well();
}
