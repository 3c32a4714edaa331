//! Prints how long unusually large decisions take: `cargo test --release -p scaf-policy --test timing --
//! --ignored --nocapture`. Nothing is asserted, for the machine may be busy.

use scaf_policy::place::{Style, Want, place, place_turns};
use scaf_policy::{Gang, Machine, Program, ProgramId, Pu, PuSet, Settings, Topology, allocate, by_name};
use std::time::Instant;

/// Packages of 128 contexts: two nodes of four caches of eight cores of two contexts.
fn machine(pus: u32) -> Topology {
    let pu = |os| Pu { os, core: os / 2, l3: os / 16, numa: os / 64, package: os / 128, class: 0 };
    Topology { pus: (0..pus).map(pu).collect() }
}

fn timed<T>(mut run: impl FnMut() -> T) -> (T, String) {
    let mut took = |_| {
        let begun = Instant::now();
        let result = run();
        (begun.elapsed().as_secs_f64() * 1e3, result)
    };
    let mut all: Vec<(f64, T)> = (0..11).map(&mut took).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fastest = all[0].0;
    let (median, result) = all.swap_remove(5);
    (result, format!("{median:8.2} ms ({fastest:.2})"))
}

#[test]
#[ignore = "prints timings"]
fn turns_of_many_programs() {
    for (count, pus) in [(100, 2), (1000, 2), (1000, 64), (1000, 1024)] {
        for (kind, rigid, users) in
            [("rigid", true, 1), ("rigid, 3 users", true, 3), ("oversubscribed", false, 1)]
        {
            let topology = machine(pus);
            let program = |id: u64| Program {
                rigid,
                user: if id.is_multiple_of(50) { id as u32 % users } else { 0 },
                max: if id.is_multiple_of(2) { 1 + (id as u32 * 7) % pus } else { pus },
                ..Program::new(ProgramId(id), pus)
            };
            let programs: Vec<Program> = (0..count).map(program).collect();
            let machine = Machine { units: topology.units(), gang: Gang::Auto, ..Machine::new(pus, 0.0) };
            let mut policy = by_name("equi", &Settings::default()).unwrap();
            let (allocation, decided) = timed(|| allocate(policy.as_mut(), &machine, &programs));
            let want = |share: &scaf_policy::Share| {
                Want::new(share.id, allocation.contexts_of(share).unwrap_or(1), &topology)
            };
            let mut wants: Vec<Want> = allocation.shares.iter().map(want).collect();
            let place = |wants: &[Want]| place_turns(&topology, wants, &allocation.turns, Style::Compact);
            let (sets, placed) = timed(|| place(&wants));
            wants.iter_mut().zip(sets).for_each(|(want, set)| want.previous = set);
            let (_, again) = timed(|| place(&wants));
            let turns = allocation.turns.len();
            println!(
                "{count:5} {kind:15} on {pus:4}: {turns:5} turns, decided {decided}, placed {placed}, again \
                 {again}"
            );
        }
    }
}

#[test]
#[ignore = "prints timings"]
fn programs_that_may_not_run_everywhere() {
    for (count, pus) in [(64u64, 256u32), (256, 1024)] {
        for kind in ["none", "every other context", "three in five", "two thirds, odd"] {
            let topology = machine(pus);
            let share = pus / count as u32;
            let allowed = |id: u64| -> PuSet {
                let inside = |pu: &u32| match kind {
                    "every other context" => pu % 2 == (id / 2 % 2) as u32,
                    "three in five" => (pu * 7 + id as u32) % 5 < 3,
                    _ => (pu.wrapping_mul(2_654_435_761) >> 8).wrapping_add(id as u32 * 97) % 3 < 2,
                };
                if id.is_multiple_of(2) || kind == "none" {
                    topology.all()
                } else {
                    (0..pus).filter(inside).collect()
                }
            };
            let want = |id: u64| {
                let dop = if id.is_multiple_of(4) { share + 3 } else { share - 1 };
                Want { allowed: allowed(id), ..Want::new(ProgramId(id), dop, &topology) }
            };
            let mut wants: Vec<Want> = (0..count).map(want).collect();
            let (sets, fresh) = timed(|| place(&topology, &wants, Style::Compact));
            wants.iter_mut().zip(sets).for_each(|(want, set)| want.previous = set);
            let (_, stay) = timed(|| place(&topology, &wants, Style::Compact));
            for at in (0..wants.len()).step_by(8) {
                wants[at].dop -= 1;
                wants[at + 1].dop += 1;
            }
            let (_, change) = timed(|| place(&topology, &wants, Style::Compact));
            println!(
                "{count:4} on {pus:4}, restricted {kind:20}: fresh {fresh}, stay {stay}, change {change}"
            );
        }
    }
}
