//! Makes a decision again: a new policy makes the kept decisions before it, and then this one.

use scaf_policy::{Allocation, Dop, ProgramId, allocate};
use scafd::journal::Entry;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The result.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Replay {
    /// Each program gets the same again.
    Same {
        /// Number of earlier decisions that were made again.
        given: u64,
        /// Number of earlier decisions that aren't kept.
        missing: u64,
    },
    /// Some programs get something else.
    Differs {
        /// As in `Same`.
        given: u64,
        /// As in `Same`.
        missing: u64,
        /// What these programs got, and what they get now.
        shares: Vec<(ProgramId, Dop, Option<Dop>)>,
        /// Whether the turns differ.
        turns: bool,
    },
    /// The decision can't be made again.
    Impossible {
        /// Why.
        why: String,
    },
}

/// Makes `entry`'s decision again. `kept` has the kept decisions before it, in order; others are ignored.
pub fn of(entry: &Entry, kept: &[Entry]) -> Replay {
    let decision = &entry.decision;
    if entry.hidden > 0 {
        let why = format!("{} programs of other users are hidden from you", entry.hidden);
        return Replay::Impossible { why };
    }
    let Some(mut policy) = scaf_policy::by_name(&decision.policy, &entry.settings()) else {
        let why = format!("this version of scaf has no policy '{}'", decision.policy);
        return Replay::Impossible { why };
    };
    let before = kept.iter().filter(|it| it.since == entry.since && it.decision.number < decision.number);
    let mut given = 0;
    for earlier in before {
        allocate(policy.as_mut(), &earlier.decision.machine, &earlier.decision.programs);
        given += 1;
    }
    let missing = decision.number.saturating_sub(entry.since.max(1)).saturating_sub(given);
    let again = allocate(policy.as_mut(), &decision.machine, &decision.programs);
    let dops = |allocation: &Allocation| -> BTreeMap<ProgramId, Dop> {
        allocation.shares.iter().map(|share| (share.id, share.dop)).collect()
    };
    let (was, is) = (dops(&decision.allocation), dops(&again));
    let other = was.into_iter().map(|(id, was)| (id, was, is.get(&id).copied()));
    let shares: Vec<_> = other.filter(|(_, was, is)| Some(*was) != *is).collect();
    let turns = decision.allocation.turns != again.turns;
    if shares.is_empty() && !turns {
        Replay::Same { given, missing }
    } else {
        Replay::Differs { given, missing, shares, turns }
    }
}

impl Replay {
    /// The result in words, in a line or two.
    pub fn text(&self) -> String {
        let mut text = String::from("\nmade again: ");
        let (given, missing) = match self {
            Replay::Same { given, missing } => {
                text.push_str("the same");
                (given, missing)
            }
            Replay::Differs { given, missing, shares, turns } => {
                for (at, (id, was, is)) in shares.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    let is = is.map_or_else(|| "nothing".to_owned(), super::text::dop);
                    let _ =
                        write!(text, "{comma}program {} {is} instead of {}", id.0, super::text::dop(*was));
                }
                if *turns {
                    text.push_str(if shares.is_empty() { "other turns" } else { ", and other turns" });
                }
                (given, missing)
            }
            Replay::Impossible { why } => {
                let _ = writeln!(text, "not possible: {why}");
                return text;
            }
        };
        let _ = write!(text, ", by a policy that was given {given} earlier decisions");
        if *missing > 0 {
            let _ = write!(text, "; {missing} more aren't kept, which may matter to what it remembers");
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_policy::{Decision, Gang, Machine, Program, Settings, by_name};

    fn decided(policy: &str, count: u64) -> Vec<Entry> {
        let mut made = by_name(policy, &Settings::default()).unwrap();
        let mut dop = [4, 4];
        let decide = |number| {
            let efficiency = |id: u32| Some(0.2 + f64::from((number as u32 * 37 * id) % 70) / 100.0);
            let programs: Vec<Program> = [1u32, 2]
                .map(|id| Program {
                    dop: dop[id as usize - 1],
                    efficiency: efficiency(id),
                    ..Program::new(ProgramId(id.into()), 8)
                })
                .to_vec();
            let machine = Machine::new(8, number as f64 / 4.0);
            let allocation = made.allocate(&machine, &programs);
            for (dop, share) in dop.iter_mut().zip(&allocation.shares) {
                *dop = if let Dop::Contexts(contexts) = share.dop { contexts } else { 8 };
            }
            let policy = policy.to_owned();
            Entry { since: 1, ..Entry::of(Decision { number, policy, machine, programs, allocation }) }
        };
        (1..=count).map(decide).collect()
    }

    #[test]
    fn every_policy_but_chaos_decides_the_same_again() {
        for entry in scaf_policy::POLICIES.iter().filter(|entry| entry.name != "chaos") {
            let all = decided(entry.name, 40);
            for last in [1, 20, 40] {
                let replay = of(&all[last - 1], &all);
                assert_eq!(replay, Replay::Same { given: last as u64 - 1, missing: 0 }, "{}", entry.name);
                assert!(replay.text().contains("made again: the same"));
            }
        }
    }

    #[test]
    fn what_is_missing_other_policies_decisions_and_another_answer_are_told() {
        let mut all = decided("equi", 10);
        all.remove(3);
        for earlier in &mut all[..3] {
            earlier.since = 0;
        }
        let last = all.last_mut().unwrap();
        last.decision.allocation.shares[0].dop = Dop::Contexts(7);
        let replay = of(&all[8], &all);
        let shares = vec![(ProgramId(1), Dop::Contexts(7), Some(Dop::Contexts(4)))];
        assert_eq!(replay, Replay::Differs { given: 5, missing: 4, shares, turns: false });
        assert!(replay.text().contains("program 1 4 contexts instead of 7 contexts"), "{}", replay.text());
        assert!(replay.text().contains("4 more aren't kept"));
    }

    #[test]
    fn turns_are_made_again_as_the_daemon_made_them() {
        for gang in [Gang::Off, Gang::Asked, Gang::Spinning, Gang::Auto] {
            for name in ["equi", "taco"] {
                let mut made = by_name(name, &Settings::default()).unwrap();
                let rigid =
                    |id| Program { rigid: true, user: id as u32 % 2, ..Program::new(ProgramId(id), 2) };
                let programs: Vec<Program> = (1..=3).map(rigid).collect();
                let machine = Machine { gang, ..Machine::new(2, 0.0) };
                let allocation = allocate(made.as_mut(), &machine, &programs);
                assert_eq!(allocation.turns.is_empty(), gang == Gang::Off);
                let mut entry = Entry {
                    since: 1,
                    ..Entry::of(Decision { number: 1, policy: name.into(), machine, programs, allocation })
                };
                assert_eq!(of(&entry, &[]), Replay::Same { given: 0, missing: 0 }, "{name}, {gang:?}");
                if let Some(turn) = entry.decision.allocation.turns.first_mut() {
                    turn.slices += 1;
                    assert!(of(&entry, &[]).text().contains("made again: other turns"));
                }
            }
        }
    }

    #[test]
    fn what_is_hidden_or_unknown_is_not_guessed() {
        let mut entry = decided("equi", 1).remove(0);
        entry.hidden = 2;
        assert!(of(&entry, &[]).text().contains("2 programs of other users"));
        entry.hidden = 0;
        entry.decision.policy = "best".into();
        assert!(of(&entry, &[]).text().contains("no policy 'best'"));
    }
}
