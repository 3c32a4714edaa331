//! A decision in words: what the policy knew about each program, and what it answered.

use crate::output::printable;
use scaf_policy::fusion::{Measured, Source};
use scaf_policy::{Dop, Objective, Program, Share};
use scafd::journal::Entry;
use std::fmt::Write;

/// Numbers of the programs with that name or number.
pub fn ids(entry: &Entry, program: &str) -> Vec<u64> {
    let number = program.parse().ok();
    let programs = entry.decision.programs.iter().map(|program| program.id.0);
    let is = |id: &u64| Some(*id) == number || entry.names.get(id).is_some_and(|name| name == program);
    programs.filter(is).collect()
}

/// A number of contexts, in words.
pub fn dop(dop: Dop) -> String {
    match dop {
        Dop::Unmanaged => "as without scaf".into(),
        Dop::Contexts(1) => "1 context".into(),
        Dop::Contexts(contexts) => format!("{contexts} contexts"),
    }
}

/// The decision in words; with `program`, only this program's facts, and just the answer about the others.
pub fn text(entry: &Entry, program: Option<&str>) -> String {
    let decision = &entry.decision;
    let all = decision.programs.len();
    let objective = match entry.objective {
        Objective::Throughput => "throughput",
        Objective::Fair => "fair",
    };
    let programs = if all == 1 { "1 program".to_owned() } else { format!("{all} programs") };
    let mut text = format!(
        "decision {} at {:.3} s: {} contexts among {programs}, by policy {} (where it applies: \
         {objective}, floor {})\n",
        decision.number, decision.machine.now_s, decision.machine.capacity, decision.policy, entry.floor
    );
    if entry.hidden > 0 {
        let _ =
            writeln!(text, "and among {} programs of other users, which are hidden from you", entry.hidden);
    }
    let chosen = program.map(|program| ids(entry, program));
    let mut others = Vec::new();
    for it in &decision.programs {
        let share = decision.allocation.shares.iter().find(|share| share.id == it.id);
        if chosen.as_ref().is_none_or(|chosen| chosen.contains(&it.id.0)) {
            text.push_str(&about(entry, it, share));
        } else if let Some(share) = share {
            others.push(format!("{} {}", name(entry, it), dop(share.dop)));
        }
    }
    if !others.is_empty() {
        let _ = writeln!(text, "\nthe others: {}", others.join(", "));
    }
    text
}

fn name(entry: &Entry, program: &Program) -> String {
    let name = entry.names.get(&program.id.0).map_or("program", String::as_str);
    format!("{} ({})", printable(name), program.id.0)
}

fn about(entry: &Entry, program: &Program, share: Option<&Share>) -> String {
    let mut text = format!("\n{}", name(entry, program));
    if let Some(share) = share {
        let _ = write!(text, ": {}", dop(share.dop));
    }
    text.push('\n');
    let mut line = |what: &str, said: &str| {
        let _ = writeln!(text, "  {what:<10} {}", printable(said));
    };
    if let Some(share) = share {
        line("why", &share.reason);
    }
    if let Some(step) = entry.steps.get(&program.id.0) {
        line("for now", &format!("{}, to learn its speedup there", dop(Dop::Contexts(*step))));
    }
    line("limits", &limits(program));
    if let Some(efficiency) = program.efficiency {
        line("efficiency", &format!("{efficiency:.2} on {}", program.dop));
    }
    let nothing = Vec::new();
    let sources = entry.sources.get(&program.id.0).unwrap_or(&nothing);
    if program.curve.is_empty() {
        line("speedup", "nothing known");
    } else {
        line("speedup", &curve(&program.curve, sources));
    }
    if !program.profile.is_empty() {
        line("profile", &curve(&program.profile, &[]));
    }
    if program.serial {
        line("phase", "serial: it needs one context until it enters a parallel region");
    }
    if let Some(known) = entry.mechanisms.get(&program.id.0) {
        line("mechanism", known.name());
    }
    text
}

fn limits(program: &Program) -> String {
    let most = if program.max < program.natural { "its user's maximum" } else { "as it would have alone" };
    format!("{} to {} ({most}), weight {}", program.floor(), program.cap(), program.weight)
}

/// Such as `4: 3.21 ±5% (curve), 8: ...`.
fn curve(points: &[Measured], sources: &[Vec<Source>]) -> String {
    let point = |(at, point): (usize, &Measured)| {
        let mut text = format!("{}: {:.2}", point.dop, point.speedup.value);
        if point.speedup.error > 0.0 {
            let _ = write!(text, " ±{:.0}%", point.speedup.error * 100.0);
        }
        match sources.get(at) {
            Some(known) if !known.is_empty() => {
                let known: Vec<&str> = known.iter().map(|it| source(*it)).collect();
                let _ = write!(text, " ({})", known.join(", "));
            }
            _ => {}
        }
        text
    };
    points.iter().enumerate().map(point).collect::<Vec<_>>().join("; ")
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Useful => "useful over wall",
        Source::Curve => "curve",
        Source::Counters => "counters",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_policy::estimate::Estimate;
    use scaf_policy::{Decision, Machine, ProgramId};
    use scafd::control::Mechanism;

    fn entry() -> Entry {
        let share = |id, contexts| Share {
            id: ProgramId(id),
            dop: Dop::Contexts(contexts),
            reason: "half of it".into(),
        };
        let point = |dop, value, error| Measured { dop, speedup: Estimate { value, error } };
        let cg = Program {
            max: 6,
            dop: 4,
            efficiency: Some(0.8),
            curve: vec![point(1, 1.0, 0.0), point(4, 3.2, 0.051)],
            profile: vec![point(8, 5.0, 0.05)],
            ..Program::new(ProgramId(3), 8)
        };
        let ep = Program { serial: true, ..Program::new(ProgramId(12), 8) };
        Entry {
            names: [(3, "cg\u{1b}".to_owned()), (12, "ep".to_owned())].into(),
            since: 1,
            mechanisms: [(3, Mechanism::Fold)].into(),
            sources: [(3, vec![vec![], vec![Source::Useful, Source::Curve]])].into(),
            steps: [(3, 2)].into(),
            ..Entry::of(Decision {
                number: 9,
                policy: "scaf".into(),
                machine: Machine::new(8, 2.5),
                programs: vec![cg, ep],
                allocation: vec![share(3, 6), share(12, 1)].into(),
            })
        }
    }

    #[test]
    fn a_decision_is_shown_with_all_that_it_was_made_from() {
        let text = text(&entry(), None);
        for line in [
            "decision 9 at 2.500 s: 8 contexts among 2 programs, by policy scaf (where it applies: \
             throughput, floor 0.5)",
            "cg? (3): 6 contexts",
            "  why        half of it",
            "  for now    2 contexts, to learn its speedup there",
            "  limits     1 to 6 (its user's maximum), weight 1",
            "  efficiency 0.80 on 4",
            "  speedup    1: 1.00; 4: 3.20 ±5% (useful over wall, curve)",
            "  profile    8: 5.00 ±5%",
            "  mechanism  fold",
            "ep (12): 1 context",
            "  speedup    nothing known",
            "  phase      serial: it needs one context until it enters a parallel region",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn of_a_program_that_is_named_or_numbered_everything_is_told_and_of_the_others_what_they_got() {
        for program in ["ep", "12"] {
            let text = text(&entry(), Some(program));
            assert!(text.contains("\nep (12): 1 context\n") && !text.contains("efficiency"), "{text}");
            assert!(text.ends_with("the others: cg? (3) 6 contexts\n"), "{text}");
        }
        assert!(ids(&entry(), "cg").is_empty() && ids(&entry(), "4").is_empty());
    }
}
