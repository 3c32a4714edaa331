//! What if another policy had decided? The same decision, of what was known then, by each policy there is.
//!
//! Policies are asked once, without what they would remember of earlier decisions. What an answer is worth is
//! read from the programs' curves, as they were known then.

use super::poller::Poller;
use crate::worth;
use crate::{daemon, why};
use scaf_policy::{Dop, POLICIES, allocate};
use scafd::control::Request;
use scafd::journal::Entry;
use serde::Serialize;
use std::collections::BTreeMap;

/// All answers.
#[derive(Debug, PartialEq, Serialize)]
pub struct WhatIf {
    decision: u64,
    policy: String,
    capacity: u32,
    names: BTreeMap<u64, String>,
    /// What was given: steps to learn a speedup included.
    given: Answer,
    answers: Vec<Answer>,
}

/// One policy's answer.
#[derive(Debug, PartialEq, Serialize)]
struct Answer {
    policy: String,
    about: &'static str,
    /// Contexts by programs' numbers; `null`: left alone.
    contexts: BTreeMap<u64, Option<u32>>,
    /// Whether programs take turns.
    turns: bool,
    /// Sum of speedups of those whose curves are known.
    throughput: f64,
    /// How many these are.
    known: usize,
}

/// The answers about that decision, or the latest one, as JSON.
/// # Errors
/// No daemon, no such decision, or one that can't be made again.
pub fn asked(live: &Poller, decision: Option<u64>) -> Result<String, String> {
    let socket = live.socket().ok_or("There is no daemon.\n")?;
    let said = daemon::decisions(&socket, &Request::Decision(decision)).map_err(|it| format!("{it:#}\n"))?;
    let entry = said.entries.first().ok_or("That decision isn't kept.\n")?;
    let answers = of(entry)?;
    serde_json::to_string(&answers).map_err(|error| error.to_string())
}

/// The answers about a decision.
/// # Errors
/// It can't be made again.
pub fn of(entry: &Entry) -> Result<WhatIf, String> {
    if entry.hidden > 0 {
        let why = format!("{} programs of other users are hidden from you", entry.hidden);
        return Err(format!("{}.\n", why::replay::Replay::Impossible { why }.text().trim()));
    }
    let decision = &entry.decision;
    let given = shares(&decision.allocation, &entry.steps);
    let turns = !decision.allocation.turns.is_empty();
    let others = POLICIES.iter().filter(|policy| !["chaos", "unmanaged"].contains(&policy.name));
    let answers = others.filter_map(|policy| {
        let mut made = scaf_policy::by_name(policy.name, &entry.settings())?;
        let allocation = allocate(made.as_mut(), &decision.machine, &decision.programs);
        let turns = !allocation.turns.is_empty();
        Some(answer(entry, policy.name, policy.description, shares(&allocation, &BTreeMap::new()), turns))
    });
    Ok(WhatIf {
        decision: decision.number,
        policy: decision.policy.clone(),
        capacity: decision.machine.capacity,
        names: entry.names.clone(),
        given: answer(entry, &decision.policy, "as it was given", given, turns),
        answers: answers.collect(),
    })
}

fn shares(allocation: &scaf_policy::Allocation, steps: &BTreeMap<u64, u32>) -> BTreeMap<u64, Option<u32>> {
    let contexts = |share: &scaf_policy::Share| match share.dop {
        Dop::Contexts(contexts) => Some(steps.get(&share.id.0).copied().unwrap_or(contexts)),
        Dop::Unmanaged => None,
    };
    allocation.shares.iter().map(|share| (share.id.0, contexts(share))).collect()
}

fn answer(
    entry: &Entry,
    policy: &str,
    about: &'static str,
    contexts: BTreeMap<u64, Option<u32>>,
    turns: bool,
) -> Answer {
    let speedups: Vec<f64> = entry
        .decision
        .programs
        .iter()
        .filter_map(|program| {
            let dop = contexts.get(&program.id.0).copied().flatten()?;
            let points = program.curve.iter().map(|point| (point.dop, point.speedup.value));
            worth::along(points, dop).or_else(|| {
                let efficiency = program.efficiency?;
                worth::along([(program.dop, efficiency * f64::from(program.dop))].into_iter(), dop)
            })
        })
        .collect();
    let throughput = scaf_policy::metrics::stp(&speedups);
    Answer { policy: policy.to_owned(), about, contexts, turns, throughput, known: speedups.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_policy::fusion::Measured;
    use scaf_policy::{Decision, Machine, Program, ProgramId, Share};

    fn entry() -> Entry {
        let curve = |points: &[(u32, f64)]| -> Vec<Measured> {
            let point = |&(dop, value): &(u32, f64)| Measured {
                dop,
                speedup: scaf_policy::estimate::Estimate { value, error: 0.01 },
            };
            points.iter().map(point).collect()
        };
        let program = |id, points: &[(u32, f64)]| Program {
            dop: 4,
            curve: curve(points),
            ..Program::new(ProgramId(id), 8)
        };
        let programs = vec![
            program(1, &[(1, 1.0), (2, 2.0), (4, 4.0), (6, 6.0), (7, 7.0), (8, 8.0)]),
            program(2, &[(1, 1.0), (2, 1.1), (4, 1.1), (8, 1.1)]),
        ];
        let share = |id| Share { id: ProgramId(id), dop: Dop::Contexts(4), reason: "half".into() };
        let allocation = vec![share(1), share(2)].into();
        let machine = Machine::new(8, 1.0);
        let decision = Decision { number: 3, policy: "equi".into(), machine, programs, allocation };
        Entry { names: [(1, "ep".into()), (2, "cg".into())].into(), ..Entry::of(decision) }
    }

    #[test]
    fn each_policy_answers_and_the_best_division_is_worth_most() {
        let all = of(&entry()).unwrap();
        assert!((all.given.throughput - 5.1).abs() < 1e-9, "{:?}", all.given);
        let of = |name: &str| all.answers.iter().find(|answer| answer.policy == name).unwrap();
        assert_eq!(of("equi").contexts, all.given.contexts);
        assert!(of("curve").throughput > 7.0, "{:?}", of("curve"));
        assert!(all.answers.iter().all(|answer| answer.policy != "chaos" && answer.known == 2));
    }

    #[test]
    fn what_is_hidden_is_not_guessed() {
        let why = of(&Entry { hidden: 2, ..entry() }).unwrap_err();
        assert!(why.contains("2 programs of other users"), "{why}");
    }
}
