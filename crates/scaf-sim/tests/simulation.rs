//! What holds in every simulation, and some that can be computed by hand.

use proptest::prelude::*;
use scaf_policy::{POLICIES, Settings, by_name};
use scaf_sim::scenario::{Permits, PhaseSpec, ProgramSpec, RegionSpec};
use scaf_sim::{Options, Outcome, Scenario, Shape, simulate};
use std::collections::BTreeSet;

fn region(seconds: f64, times: u32, speedup: Shape) -> RegionSpec {
    RegionSpec { seconds, times, speedup, bandwidth: 0.0, waits: 1.0, marks: 1, mechanism: Permits::Auto }
}

fn scenario(machine: &str, programs: Vec<ProgramSpec>) -> Scenario {
    let mut scenario = Scenario::parse(&format!(
        "name = 't'\nmachine = '{machine}'\nprograms = [{{ name = 'x', phases = [{{ serial_s = 1.0 }}] }}]"
    ))
    .unwrap();
    scenario.programs = programs;
    scenario
}

fn under(policy: &str, scenario: &Scenario, seed: u64) -> Outcome {
    let mut policy = by_name(policy, &Settings::default()).unwrap();
    simulate(scenario, &scenario.topology().unwrap(), &mut *policy, Options { seed, record: false })
}

fn is(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs().max(1.0)
}

fn policies() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|entry| entry.name).filter(|name| *name != "chaos")
}

#[test]
fn a_lone_program_takes_its_work_over_its_speedup() {
    let phases =
        vec![PhaseSpec { times: 4, serial_s: 0.5, regions: vec![region(0.8, 10, Shape::Amdahl(0.1))] }];
    let mut alone = scenario("core:8 pu:1", vec![ProgramSpec::of_phases("a", 3.0, phases)]);
    (alone.mechanisms.cold_ms, alone.mechanisms.fold_ms, alone.mechanisms.unfold_ms) = (0.0, 0.0, 0.0);
    let expected = alone.programs[0].time_s(8);
    for policy in ["equi", "unmanaged"] {
        let outcome = under(policy, &alone, 1);
        assert!(is(outcome.programs[0].time_s(), expected), "{policy}: {outcome:?}");
    }
}

#[test]
fn two_equal_programs_share_equally() {
    let program = |name: &str| ProgramSpec::of_region(name, 0.0, region(0.01, 1000, Shape::Amdahl(0.0)));
    let both = scenario("core:4 pu:1", vec![program("a"), program("b")]);
    let outcome = under("equi", &both, 1);
    // The first run of each starts wide: 4 threads take turns on 2 contexts, at a loss of 5%.
    assert!(outcome.programs.iter().all(|p| (p.time_s() - 5.0).abs() < 0.01), "{outcome:?}");
}

#[test]
fn taking_turns_costs_and_costs_those_who_spin_more() {
    let program = |name: &str| ProgramSpec::of_region(name, 0.0, region(0.01, 1000, Shape::Amdahl(0.0)));
    let mut both = scenario("core:4 pu:1", vec![program("a"), program("b")]);
    let time_s = under("unmanaged", &both, 1).programs[0].time_s();
    assert!(is(time_s, 5.0 * 1.05), "{time_s}");
    both.programs.iter_mut().for_each(|program| program.spins = true);
    let time_s = under("unmanaged", &both, 1).programs[0].time_s();
    assert!(is(time_s, 5.0 * 2.05), "{time_s}");
}

#[test]
fn programs_that_want_more_memory_bandwidth_than_a_node_has_slow_each_other() {
    let program = |name: &str, bandwidth: f64| {
        let region = RegionSpec { bandwidth, ..region(0.01, 1000, Shape::Amdahl(0.0)) };
        ProgramSpec { natural: Some(2), ..ProgramSpec::of_region(name, 0.0, region) }
    };
    let mut one = scenario(
        "pack:1 numa:1 core:4 pu:1",
        vec![program("a", 0.75), program("b", 0.75), program("c", 0.0)],
    );
    one.programs[2].natural = Some(1);
    one.programs.remove(2);
    one.contention.node_bandwidth = Some(2.0);
    let time_s = under("equi", &one, 1).programs[0].time_s();
    assert!(is(time_s, 5.0 * 1.5), "{time_s}");
    let two = Scenario { machine: "numa:2 core:2 pu:1".into(), ..one };
    assert!(is(under("equi", &two, 1).programs[0].time_s(), 5.0));
}

#[test]
fn a_region_in_flight_shrinks_at_once_and_grows_only_where_its_team_allows() {
    let long = |mechanism| RegionSpec { mechanism, ..region(8.0, 1, Shape::Amdahl(0.0)) };
    let short = ProgramSpec::of_region("b", 0.5, region(0.01, 100, Shape::Amdahl(0.0)));
    let time_s = |mechanism| {
        let first = ProgramSpec::of_region("a", 0.0, long(mechanism));
        let mut both = scenario("core:4 pu:1", vec![first, short.clone()]);
        both.mechanisms.cold_ms = 0.0;
        under("equi", &both, 1).programs[0].time_s()
    };
    // b's second of work takes half a second on two contexts; a loses as much as it lends.
    assert!((time_s(Permits::Park) - 2.25).abs() < 0.02, "{}", time_s(Permits::Park));
    assert!(time_s(Permits::Fold) > time_s(Permits::Park));
    // A program that comes second with a resized team stays small until its region ends.
    let second = |mechanism| {
        let later = ProgramSpec::of_region("c", 0.1, long(mechanism));
        let both = scenario("core:4 pu:1", vec![ProgramSpec { arrives_s: 0.0, ..short.clone() }, later]);
        under("equi", &both, 1).programs[1].time_s()
    };
    assert!((second(Permits::Resize) - 4.0).abs() < 0.02, "{}", second(Permits::Resize));
    assert!(second(Permits::Park) < 2.3, "{}", second(Permits::Park));
}

#[test]
fn a_long_region_is_observed_by_its_barriers_before_it_ends() {
    let marked = |marks| {
        let long = RegionSpec { marks, mechanism: Permits::Park, ..region(40.0, 1, Shape::Amdahl(0.3)) };
        let programs =
            [("a", 0.0), ("b", 5.0)].map(|(name, at)| ProgramSpec::of_region(name, at, long.clone()));
        let both = scenario("core:8 pu:1", programs.to_vec());
        let mut policy = by_name("scaf", &Settings::default()).unwrap();
        let topology = both.topology().unwrap();
        let outcome = simulate(&both, &topology, &mut *policy, Options { seed: 1, record: true });
        // The DoP before the other program came: where nothing is observed, there is useful over wall alone.
        let first = outcome.recorded.iter().filter(|d| (8.0..10.0).contains(&d.machine.now_s));
        let mut errors =
            first.filter_map(|d| d.programs[0].curve.last()).map(|point| (point.dop, point.speedup.error));
        errors.next_back().unwrap()
    };
    let ((with, sure), (without, unsure)) = (marked(1000), marked(1));
    assert!(with == 8 && without == 8 && sure < unsure, "{sure} {unsure}");
}

#[test]
fn contexts_of_a_serial_program_are_reported_free_and_where_they_were_lent_its_return_is_decided_at_once() {
    let phase = |times, serial_s, runs| PhaseSpec {
        times,
        serial_s,
        regions: vec![region(0.01, runs, Shape::Amdahl(0.0))],
    };
    let phases = vec![phase(1, 0.3, 20), phase(2, 2.1, 200)];
    let busy = ProgramSpec::of_region("b", 0.0, region(0.01, 2000, Shape::Amdahl(0.0)));
    let both = scenario("core:4 pu:1", vec![ProgramSpec::of_phases("a", 0.0, phases), busy]);
    let topology = both.topology().unwrap();
    let reported = |policy: &str| -> Vec<(f64, bool)> {
        let mut policy = by_name(policy, &Settings::default()).unwrap();
        let outcome = simulate(&both, &topology, &mut *policy, Options { seed: 1, record: true });
        outcome.recorded.iter().map(|d| (d.machine.now_s, d.programs[0].serial)).collect()
    };
    let back =
        |reported: &[(f64, bool)]| reported.iter().find(|(at, serial)| *at > 0.75 && !serial).unwrap().0;
    // 20 runs on two of four contexts take a little over 0.1 s; the next tick is at 2.75 s.
    let curve = reported("curve");
    assert!(curve.contains(&(0.25, false)) && curve.contains(&(0.75, true)), "{curve:?}");
    assert!((2.501..2.502).contains(&back(&curve)), "{curve:?}");
    let equi = reported("equi");
    assert!(equi.contains(&(0.75, true)) && back(&equi) == 2.75, "{equi:?}");
}

#[test]
fn a_program_that_begins_with_a_serial_phase_has_its_contexts_when_that_ends() {
    let reads_first = |name, serial_s, regions| {
        ProgramSpec::of_phases(name, 0.0, vec![PhaseSpec { times: 1, serial_s, regions }])
    };
    let first = reads_first("a", 10.0, vec![region(0.2, 1000, Shape::Amdahl(0.0))]);
    let both = scenario("core:8 pu:1", vec![first, reads_first("b", 50.0, vec![])]);
    let took_s = under("curve", &both, 1).programs[0].ended_s;
    // Seven of eight contexts, but for 2 s in which it is measured and curves are learned.
    assert!(took_s < 10.0 + 200.0 / 7.0 + 2.0, "{took_s}");
}

#[test]
fn many_programs_on_many_contexts_are_simulated() {
    let program = |i: u32| {
        let region = region(0.05, 100, Shape::Amdahl(0.01 * f64::from(i % 7)));
        ProgramSpec::of_region(&format!("p{i}"), f64::from(i) * 0.01, region)
    };
    let many = scenario("pack:4 core:32 pu:2", (0..20).map(program).collect());
    let outcome = under("scaf", &many, 1);
    assert!(outcome.programs.len() == 20 && outcome.most_busy <= 256.0 + 1e-6);
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0.0f64..0.6).prop_map(Shape::Amdahl),
        (0.0f64..1.0).prop_map(Shape::Power),
        (0.0f64..0.2, 0.0f64..0.02).prop_map(|(a, b)| Shape::Usl(a, b)),
    ]
}

fn any_region() -> impl Strategy<Value = RegionSpec> {
    let mechanism = prop_oneof![
        Just(Permits::Auto),
        Just(Permits::Resize),
        Just(Permits::Fold),
        Just(Permits::Park),
        Just(Permits::Gather)
    ];
    (0.01f64..0.5, 1u32..20, shape(), 0.0f64..2.0, 0.0f64..1.0, 1u32..20, mechanism).prop_map(
        |(seconds, times, speedup, bandwidth, waits, marks, mechanism)| RegionSpec {
            seconds,
            times,
            speedup,
            bandwidth,
            waits,
            marks,
            mechanism,
        },
    )
}

fn any_program() -> impl Strategy<Value = ProgramSpec> {
    let phase = (1u32..3, 0.0f64..1.0, proptest::collection::vec(any_region(), 0..3))
        .prop_map(|(times, serial_s, regions)| PhaseSpec { times, serial_s, regions });
    let phases = proptest::collection::vec(phase, 1..3);
    (phases, 0.0f64..5.0, proptest::option::of(1u32..12), any::<bool>(), any::<bool>()).prop_map(
        |(phases, arrives_s, natural, spins, rigid)| ProgramSpec {
            natural,
            spins,
            rigid,
            ..ProgramSpec::of_phases("p", arrives_s, phases)
        },
    )
}

fn any_scenario() -> impl Strategy<Value = Scenario> {
    let machine = prop_oneof![Just("core:2 pu:1"), Just("numa:2 core:4 pu:1"), Just("pack:2 core:2 pu:2")];
    let programs = proptest::collection::vec(any_program(), 1..4);
    (machine, programs, 0.0f64..10.0, proptest::option::of(1.0f64..4.0)).prop_map(
        |(machine, programs, noise_pct, node_bandwidth)| {
            let mut scenario = scenario(machine, programs);
            scenario.noise_pct = noise_pct;
            scenario.contention.node_bandwidth = node_bandwidth;
            scenario
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn work_is_conserved_and_no_more_contexts_are_busy_than_there_are(scenario in any_scenario(),
        seed in any::<u64>()) {
        prop_assume!(scenario.check().is_ok());
        let contexts = scenario.topology().unwrap().pus.len() as f64;
        for policy in policies() {
            let outcome = under(policy, &scenario, seed);
            prop_assert_eq!(outcome.programs.len(), scenario.programs.len());
            for program in &outcome.programs {
                prop_assert!(is(program.done_s, program.work_s), "{policy}: {program:?}");
                prop_assert!(program.time_s() > 0.0 && program.speedup.is_finite());
            }
            prop_assert!(outcome.most_busy <= contexts * (1.0 + 1e-9), "{policy}: {outcome:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_outcome(scenario in any_scenario(), seed in any::<u64>()) {
        prop_assume!(scenario.check().is_ok());
        for policy in policies() {
            prop_assert_eq!(under(policy, &scenario, seed), under(policy, &scenario, seed));
        }
    }

    #[test]
    fn nobody_is_faster_than_the_best_that_its_regions_can_do(mut scenario in any_scenario(),
        seed in any::<u64>()) {
        prop_assume!(scenario.check().is_ok());
        scenario.noise_pct = 0.0;
        let pus = scenario.topology().unwrap().pus;
        let nodes = pus.iter().map(|pu| pu.numa).collect::<BTreeSet<_>>().len() as f64;
        for policy in policies() {
            for (program, spec) in under(policy, &scenario, seed).programs.iter().zip(&scenario.programs) {
                let best = |r: &RegionSpec| {
                    let most = (1..=16).map(|p| r.speedup.at(p)).fold(1.0, f64::max);
                    // Spread over nodes, who waits for memory has the memory of each.
                    let nodes = if r.waits < 1.0 { nodes } else { 1.0 };
                    f64::from(r.times) * r.seconds / (most * nodes)
                };
                let least: f64 = spec.phases.iter().map(|ph| {
                    f64::from(ph.times) * (ph.serial_s + ph.regions.iter().map(best).sum::<f64>())
                }).sum();
                prop_assert!(program.time_s() >= least * (1.0 - 1e-6), "{policy}: {program:?} least {least}");
            }
        }
    }
}

#[test]
fn scenario_files_are_sound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let scenario = Scenario::parse(&std::fs::read_to_string(&path).unwrap());
        let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!scenario.topology().unwrap().pus.is_empty());
    }
}

/// SCALO's table 2 has for each program seconds alone on 20 cores and the speedup there.
#[test]
fn scalo_s_programs_take_alone_what_the_paper_s_table_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let read = |file: &str| std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
    let scenario = Scenario::parse(&read("scenarios/scalo.toml")).unwrap();
    let table = read("papers/scalo_table2_programs.csv");
    for program in &scenario.programs {
        let row = table.lines().find(|row| row.split(',').nth(1) == Some(&program.name)).unwrap();
        let cell = |at: usize| row.split(',').nth(at).unwrap().parse::<f64>().unwrap();
        let (alone_s, speedup) = (cell(4) + cell(5), cell(10));
        assert!((program.time_s(20) / alone_s - 1.0).abs() < 1e-3, "{}", program.name);
        assert!((program.speedup(20) / speedup - 1.0).abs() < 1e-3, "{}", program.name);
    }
}

fn by_turns(machine: &str, programs: Vec<ProgramSpec>) -> Scenario {
    let mut scenario = scenario(machine, programs);
    (scenario.mechanisms.cold_ms, scenario.mechanisms.switch_ms) = (0.0, 0.0);
    scenario
}

#[test]
fn programs_that_take_turns_make_progress_only_in_theirs() {
    let rigid = |name: &str| {
        let program = ProgramSpec::of_region(name, 0.0, region(0.01, 200, Shape::Amdahl(0.0)));
        ProgramSpec { rigid: true, spins: true, ..program }
    };
    let mut both = by_turns("core:2 pu:1", vec![rigid("a"), rigid("b")]);
    let times =
        |both: &Scenario| under("taco", both, 1).programs.iter().map(|p| p.time_s()).collect::<Vec<_>>();
    assert!(is(times(&both)[0], 1.95) && is(times(&both)[1], 2.0), "{:?}", times(&both));
    both.mechanisms.switch_ms = 2.5;
    assert!((times(&both)[1] - 2.0 * 1.05).abs() < 0.06, "{:?}", times(&both));
    both.daemon.all_at_once = true;
    assert!(times(&both)[1] > 1.8 * 2.0, "{:?}", times(&both));
}

#[test]
fn under_any_policy_rigid_programs_take_turns_as_the_daemon_has_them_do_it() {
    let program = |name: &str, user: u32| {
        let program = ProgramSpec::of_region(name, 0.0, region(0.01, 200, Shape::Amdahl(0.0)));
        ProgramSpec { rigid: true, spins: true, user, ..program }
    };
    let all = vec![program("a", 1), program("b", 1), program("c", 2)];
    let mut three = by_turns("core:2 pu:1", all);
    let times =
        |three: &Scenario| under("equi", three, 1).programs.iter().map(|p| p.time_s()).collect::<Vec<_>>();
    // A second of work each; the second user has half of the time, and is done after two.
    let by_user = times(&three);
    assert!((by_user[2] - 2.0).abs() < 0.11 && by_user[0] > 2.7 && by_user[1] > 2.7, "{by_user:?}");
    three.daemon.gang = scaf_policy::Gang::Off;
    assert!(times(&three)[2] > 3.0, "all at once they wait for each other");
}

#[test]
fn five_programs_on_four_nodes_get_on_alike_if_they_scale() {
    let program =
        |i: u32| ProgramSpec::of_region(&format!("p{i}"), 0.0, region(0.01, 24_000, Shape::Amdahl(0.0)));
    let five = by_turns("numa:4 core:6 pu:1", (0..5).map(program).collect());
    let outcome = under("taco", &five, 1);
    let times: Vec<f64> = outcome.programs.iter().map(|program| program.time_s()).collect();
    // 240 s of work each on 24 contexts: 50 s for all, whoever is odd. A round takes 0.25 s.
    assert!(times.iter().all(|time_s| (time_s - 50.0).abs() < 0.3), "{times:?}");
    assert!(outcome.changes <= 5, "{}", outcome.changes);
}

#[test]
fn teams_that_spin_are_waited_for_when_their_partition_shrinks() {
    let mechanism = Permits::Resize;
    let spinning = |at_s| {
        let region = RegionSpec { mechanism, ..region(4.0, 4, Shape::Amdahl(0.0)) };
        ProgramSpec { spins: true, ..ProgramSpec::of_region("s", at_s, region) }
    };
    let both = by_turns("core:4 pu:1", vec![spinning(0.0), spinning(0.5)]);
    // Folded, a team of four on two contexts would be half as fast as two.
    let [equi, taco] = ["equi", "taco"].map(|policy| under(policy, &both, 1).programs[0].time_s());
    assert!(taco < equi - 0.2, "{taco} {equi}");
}

#[test]
fn unmanaged_teams_shrink_with_the_load_where_they_are_dynamic() {
    let program = |name: &str| ProgramSpec::of_region(name, 0.0, region(0.01, 200_000, Shape::Amdahl(0.0)));
    let mut both = scenario("core:4 pu:1", vec![program("a"), program("b")]);
    both.contention.slice_loss = 1.0;
    let fixed = under("unmanaged", &both, 1).programs[1].time_s();
    both.daemon.load_adaptive = true;
    let dynamic = under("unmanaged", &both, 1).programs[1].time_s();
    assert!(dynamic < 0.8 * fixed, "{dynamic} {fixed}");
}
