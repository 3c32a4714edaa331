use super::*;
use crate::{Options, simulate};
use proptest::prelude::*;
use scaf_policy::{Settings, by_name};

const TWO: &str = r#"
name = "two"
machine = "core:8 pu:1"
[[programs]]
name = "a"
[[programs.phases]]
[[programs.phases.regions]]
seconds = 0.05
times = 800
speedup = { amdahl = 0.05 }
mechanism = "resize"
[[programs]]
name = "b"
arrives_s = 3.0
[[programs.phases]]
[[programs.phases.regions]]
seconds = 0.05
times = 400
speedup = { amdahl = 0.3 }
mechanism = "resize"
"#;

fn recorded(policy: &str) -> (Vec<Line>, crate::Outcome) {
    let scenario = Scenario::parse(TWO).unwrap();
    let mut policy = by_name(policy, &Settings::default()).unwrap();
    let outcome =
        simulate(&scenario, &scenario.topology().unwrap(), &mut *policy, Options { seed: 1, record: true });
    let names: BTreeMap<u64, String> = [(1, "a".into()), (2, "b".into())].into();
    let line = |decision: &Decision| Line { names: names.clone(), ..Line::of(decision.clone()) };
    let lines = outcome.recorded.iter().map(line);
    (lines.collect(), outcome)
}

#[test]
fn a_trace_replayed_under_its_own_policy_takes_as_long_as_it_took() {
    for name in ["equi", "taco"] {
        let (lines, outcome) = recorded(name);
        let text: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        let read = read(&text.join("\n")).unwrap();
        assert!(read.len() == lines.len() && read[0] == lines[0]);
        let rebuilt = rebuild(&read).unwrap();
        assert_eq!((rebuilt.recorded[0].name.as_str(), rebuilt.policy.as_str()), ("a", name));
        let mut policy = by_name(name, &Settings::default()).unwrap();
        let topology = rebuilt.scenario.topology().unwrap();
        let replayed = simulate(&rebuilt.scenario, &topology, &mut *policy, Options::default());
        // The last decision is of the moment before a leaves, so that much is cut off.
        for (now, then) in replayed.programs.iter().zip(&outcome.programs) {
            assert!((now.time_s() / then.time_s() - 1.0).abs() < 0.05, "{name}: {now:?} {then:?}");
        }
    }
}

#[test]
fn a_program_s_work_is_its_speedup_over_its_presence() {
    let (lines, _) = recorded("equi");
    let rebuilt = rebuild(&lines).unwrap();
    // Up to the last decision, at 11.75 s, b ran on 4 contexts and, since a was gone, on 8.
    let [a, b] = &rebuilt.recorded[..] else { panic!("{:?}", rebuilt.recorded) };
    let amdahl = |p: f64| 1.0 / (0.3 + 0.7 / p);
    let done_s = (a.ended_s - b.arrived_s) * amdahl(4.0) + (b.ended_s - a.ended_s) * amdahl(8.0);
    assert!((b.work_s - done_s).abs() < 1.0, "{:?}", rebuilt.recorded);
    assert!(!rebuilt.recorded[0].cut && rebuilt.recorded[1].cut);
}

#[test]
fn a_program_that_is_away_for_a_while_is_as_fast_as_it_was_while_it_was_there() {
    let (mut lines, _) = recorded("equi");
    let whole = rebuild(&lines).unwrap().recorded[0].speedup;
    for line in lines.iter_mut().filter(|line| (1.0..2.0).contains(&line.decision.machine.now_s)) {
        line.decision.programs.retain(|program| program.id != ProgramId(1));
        line.decision.allocation.shares.retain(|share| share.id != ProgramId(1));
    }
    let recorded = &rebuild(&lines).unwrap().recorded[0];
    assert!((recorded.speedup / whole - 1.0).abs() < 0.05 && !recorded.cut, "{recorded:?}, {whole}");
}

#[test]
fn a_step_is_what_it_had_and_a_machine_that_was_smaller_for_a_while_is_so_again() {
    let line = |now_s: f64, capacity: u32, step: u32| {
        let mut decision = recorded_once();
        decision.machine = Machine::new(capacity, now_s);
        decision.allocation.shares[0].dop = Dop::Contexts(capacity);
        decision.programs[0].curve = [2, 4, 8].map(|dop| Measured::useful(dop, f64::from(dop))).into();
        Line { steps: (step > 0).then_some((1, step)).into_iter().collect(), ..Line::of(decision) }
    };
    let lines = [line(5.0, 8, 0), line(6.0, 8, 2), line(7.0, 4, 0), line(9.0, 8, 0), line(11.0, 8, 0)];
    let rebuilt = rebuild(&lines).unwrap();
    assert_eq!(rebuilt.scenario.capacity, [(0.0, 8), (2.0, 4), (4.0, 8)]);
    assert!((rebuilt.recorded[0].work_s - (8.0 + 2.0 + 2.0 * 4.0 + 2.0 * 8.0)).abs() < 1e-9);
    let mut policy = by_name("equi", &Settings::default()).unwrap();
    let topology = rebuilt.scenario.topology().unwrap();
    let replayed = simulate(&rebuilt.scenario, &topology, &mut *policy, Options::default());
    // Without the step it is faster by three quarters of a second.
    let time_s = replayed.programs[0].time_s();
    assert!((time_s - 5.25).abs() < 0.1, "{time_s}");
}

#[test]
fn a_trace_with_hidden_programs_is_refused_with_what_to_do() {
    let text = serde_json::to_string(&Line { hidden: 2, ..Line::of(recorded_once()) }).unwrap();
    assert!(read(&text).unwrap_err().to_string().contains("record as root"));
}

#[test]
fn what_is_no_trace_is_told_with_its_line() {
    let (lines, _) = recorded("equi");
    let line = serde_json::to_string(&lines[3]).unwrap();
    assert!(read(&format!("{line}\nx")).unwrap_err().to_string().starts_with("line 2"));
    let earlier = serde_json::to_string(&lines[0]).unwrap();
    assert!(matches!(read(&format!("{line}\n\n{earlier}")), Err(Error::Order(3))));
    assert!(matches!(rebuild(&[]), Err(Error::Empty)));
}

proptest! {
    #[test]
    fn any_text_is_a_trace_or_an_error(text in "\\PC{0,300}") {
        if let Ok(lines) = read(&text) {
            let _ = rebuild(&lines);
        }
    }

    #[test]
    fn any_numbers_in_a_trace_give_a_scenario_or_an_error(
        times in proptest::collection::vec(-1e6f64..1e12, 1..5), capacity in any::<u32>(),
        dop in any::<u32>(),
        speedup in proptest::num::f64::ANY, natural in 0u32..5000, weight in proptest::num::f64::ANY,
    ) {
        let mut lines = Vec::new();
        let mut times = times;
        times.sort_by(f64::total_cmp);
        for (number, now_s) in times.into_iter().enumerate() {
            let mut decision = recorded_once();
            decision.number = number as u64;
            decision.machine = Machine::new(capacity % 100_000, now_s);
            for program in &mut decision.programs {
                (program.natural, program.weight, program.dop) = (natural, weight, dop);
                program.efficiency = Some(speedup);
            }
            decision.allocation.shares.iter_mut().for_each(|share| share.dop = Dop::Contexts(dop));
            lines.push(Line::of(decision));
        }
        let text: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        // What isn't finite is null in JSON, and refused where a number has to be.
        if let Ok(lines) = read(&text.join("\n")) && let Ok(rebuilt) = rebuild(&lines) {
            prop_assert!(rebuilt.scenario.check().is_ok());
        }
    }
}

fn recorded_once() -> Decision {
    let program = scaf_policy::Program::new(ProgramId(1), 8);
    let mut policy = by_name("equi", &Settings::default()).unwrap();
    let machine = Machine::new(8, 0.0);
    let programs = vec![program];
    let allocation = policy.allocate(&machine, &programs);
    Decision { number: 1, policy: "equi".into(), machine, programs, allocation }
}
