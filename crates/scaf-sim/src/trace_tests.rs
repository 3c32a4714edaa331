//! Traces of simulations, replayed; and what is no trace.

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
    let names: BTreeMap<String, String> = [("1".into(), "a".into()), ("2".into(), "b".into())].into();
    let lines =
        outcome.recorded.iter().map(|decision| Line { decision: decision.clone(), names: names.clone() });
    (lines.collect(), outcome)
}

#[test]
fn a_trace_replayed_under_its_own_policy_takes_as_long_as_it_took() {
    let (lines, outcome) = recorded("equi");
    let text: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    let read = read(&text.join("\n")).unwrap();
    assert!(read.len() == lines.len() && read[0] == lines[0]);
    let rebuilt = rebuild(&read).unwrap();
    assert_eq!((rebuilt.recorded[0].name.as_str(), rebuilt.policy.as_str()), ("a", "equi"));
    let mut policy = by_name("equi", &Settings::default()).unwrap();
    let topology = rebuilt.scenario.topology().unwrap();
    let replayed = simulate(&rebuilt.scenario, &topology, &mut *policy, Options::default());
    // The last decision is of the moment before a leaves; so much of it is cut off.
    for (now, then) in replayed.programs.iter().zip(&outcome.programs) {
        assert!((now.time_s() / then.time_s() - 1.0).abs() < 0.05, "{now:?} {then:?}");
    }
}

#[test]
fn a_program_s_work_is_its_speedup_over_its_presence() {
    let (lines, _) = recorded("equi");
    let rebuilt = rebuild(&lines).unwrap();
    assert!((rebuilt.recorded[1].work_s - 20.0).abs() < 1.0, "{:?}", rebuilt.recorded);
    assert!(!rebuilt.recorded[0].cut && rebuilt.recorded[1].cut);
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
        times in proptest::collection::vec(-1e6f64..1e12, 1..5), capacity in any::<u32>(), dop in any::<u32>(),
        speedup in proptest::num::f64::ANY, natural in 0u32..5000, weight in proptest::num::f64::ANY,
    ) {
        let mut lines = Vec::new();
        let mut times = times;
        times.sort_by(f64::total_cmp);
        for (number, now_s) in times.into_iter().enumerate() {
            let mut decision = recorded_once();
            decision.number = number as u64;
            decision.machine = scaf_policy::Machine { capacity: capacity % 100_000, now_s };
            for program in &mut decision.programs {
                (program.natural, program.weight, program.dop) = (natural, weight, dop);
                program.efficiency = Some(speedup);
            }
            decision.allocation.shares.iter_mut().for_each(|share| share.dop = Dop::Contexts(dop));
            lines.push(Line { decision, names: BTreeMap::new() });
        }
        let text: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        // What isn't finite is null in JSON, and refused where a number has to be.
        if let Ok(lines) = read(&text.join("\n")) && let Ok(rebuilt) = rebuild(&lines) {
            prop_assert!(rebuilt.scenario.check().is_ok());
        }
    }
}

/// A decision with one program.
fn recorded_once() -> Decision {
    let program = scaf_policy::Program::new(ProgramId(1), 8);
    let mut policy = by_name("equi", &Settings::default()).unwrap();
    let machine = scaf_policy::Machine { capacity: 8, now_s: 0.0 };
    let programs = vec![program];
    let allocation = policy.allocate(&machine, &programs);
    Decision { number: 1, policy: "equi".into(), machine, programs, allocation }
}
