//! Contexts that a program can't use in a serial phase are lent, and are back as soon as it enters a region.

use crate::support::{Running, Setup, wait_for};

fn regions(program: &Running) -> Vec<(u64, u64)> {
    let times = |line: &str| {
        let (begin, end) = line.strip_prefix("region=")?.split_once(' ')?;
        Some((begin.parse().ok()?, end.parse().ok()?))
    };
    program.printed().lines().filter_map(times).collect()
}

/// A daemon that looks by itself only once a second, for four contexts: with two, nobody has one to lend.
fn slow_house() -> Setup {
    Setup::on_topology("core:4 pu:1", "curve", "rate_hz = 1\n")
}

#[derive(Debug)]
struct Decided {
    at_ns: u64,
    serial: bool,
    contexts: u64,
}

fn decision(setup: &Setup, number: u64) -> Option<Decided> {
    let output = setup.says(&["why", "lender", "--json", "--at", &number.to_string()]);
    let output: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    let decision = &output["decision"];
    let names = decision["names"].as_object()?;
    let id: u64 = names.iter().find(|(_, name)| **name == "lender")?.0.parse().ok()?;
    let its = |all: &serde_json::Value| all.as_array()?.iter().find(|one| one["id"] == id).cloned();
    Some(Decided {
        at_ns: (decision["machine"]["now_s"].as_f64()? * 1e9) as u64,
        serial: its(&decision["programs"])?["serial"].as_bool()?,
        contexts: its(&decision["allocation"]["shares"])?["dop"]["contexts"].as_u64()?,
    })
}

#[test]
fn contexts_lent_in_a_serial_phase_are_back_in_the_middle_of_the_region_that_ends_it() {
    let setup = slow_house();
    let program = setup.program("serial_phases").args(["2600", "800"]).threads(4);
    let program = program.option("--name", "lender").start();
    let first = program.until("the first decision about it", |program| program.dop.is_some());
    let other = setup.program("loops").threads(4).start();
    // Nobody asks the daemon anything meanwhile: that would wake it.
    wait_for("five serial phases", || (regions(&program).len() >= 6).then_some(()));
    let (all, latest) = (regions(&program), setup.snapshot().decisions);
    assert_eq!(first.natural, 4);
    let decisions: Vec<Decided> = (1..=latest).filter_map(|number| decision(&setup, number)).collect();
    let changes =
        |from: bool| decisions.windows(2).filter(move |two| two[0].serial == from && two[1].serial != from);
    // A tick comes once in a second; a program that returns is decided about when its region has just begun.
    // What it has then depends on how well its threads were seen to run.
    let returned = |begin: u64, end: u64| {
        changes(true).any(|two| two[0].contexts == 1 && (begin..end).contains(&two[1].at_ns))
    };
    let back = all[1..].iter().filter(|(begin, end)| returned(*begin, *end)).count();
    assert!(back >= 4, "{back}: {all:?} {decisions:?}");
    let lent = changes(false).filter(|two| two[0].contexts > 1 && two[1].contexts == 1).count();
    assert!(lent >= 1, "{all:?} {decisions:?}");
    program.finish().well();
    other.finish().well();
}

#[test]
fn a_program_that_does_nothing_has_no_part_until_its_next_region() {
    // Each has a half, by a policy that lends nothing.
    let setup = Setup::on_topology("core:4 pu:1", "equi", "");
    let program = setup.program("serial_phases").args(["4000", "1500", "asleep"]).threads(4).start();
    let other = setup.program("loops").threads(4).start();
    let both = |what: &str, own: u32, others: u32| {
        wait_for(what, || {
            let dop = |program: &Running| program.seen().and_then(|seen| seen.dop);
            (dop(&program) == Some(own) && dop(&other) == Some(others)).then_some(())
        });
    };
    for _ in 0..2 {
        both("its region", 2, 2);
        both("its sleep", 1, 4);
    }
    both("its next region", 2, 2);
    program.finish().well();
    other.finish().well();
}

#[test]
fn a_program_that_computes_by_other_means_than_regions_keeps_its_contexts() {
    let setup = slow_house();
    let program = setup.program("threads_of_its_own").threads(2).start();
    let other = setup.program("loops").threads(4).start();
    let before = program.until("its region", |program| program.regions > 0);
    let decisions = setup.snapshot().decisions;
    setup.until("some decisions more", |snapshot| (snapshot.decisions > decisions + 5).then_some(()));
    let reason = program.seen().expect("it runs").reason;
    assert!(!reason.contains("serial phase"), "{reason}");
    assert_eq!(before.natural, 2);
    program.finish().well();
    other.finish().well();
}
