//! `scaf why`, `scaf record`, `scaf ps --why`: decisions of the real daemon about real programs.

use crate::support::{Setup, has_row, kernel, wait_for};
use scaf_policy::{Decision, Dop};
use scafd::journal::Entry;

fn lines(text: &str) -> Vec<Entry> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn a_decision_is_shown_with_what_it_was_made_from_and_made_again() {
    let setup = Setup::exploring("scaf");
    let cg = || setup.at(&kernel("cg")).args(["--class=W", "--repeat=1000"]).threads(2);
    let first = cg().option("--name", "first").start();
    first.until("a decision about it alone", |program| program.dop == Some(2));
    let second = cg().option("--name", "second").start();
    setup.until("something known of both", |snapshot| {
        let known =
            snapshot.programs.iter().filter(|program| program.curve.iter().any(|point| point.dop > 1));
        (known.count() == 2).then_some(())
    });
    let why = setup.says(&["why", "second"]);
    assert!(why.starts_with("decision ") && why.contains(" by policy scaf"), "{why}");
    assert!(why.contains("\nsecond (") && why.contains("\nthe others: first ("), "{why}");
    assert!(why.contains("\nmade again: the same, by a policy that was given "), "{why}");
    let began = setup.says(&["why", "--at", "1"]);
    assert!(
        began.contains("first (") && began.contains(": 2 contexts") && !began.contains("second ("),
        "{began}"
    );
    let json: serde_json::Value = serde_json::from_str(&setup.says(&["why", "--json"])).expect("JSON");
    assert_eq!(json["replay"]["outcome"], "same", "{json}");
    assert!(json["decision"]["programs"][0]["curve"].is_array(), "{json}");
    let ps = setup.says(&["ps", "--why"]);
    assert!(ps.contains("NAME") && has_row(&ps, "why", "") && has_row(&ps, "speedup", "1: 1.00"), "{ps}");
    first.signal(libc::SIGTERM);
    second.signal(libc::SIGTERM);
}

#[test]
fn a_decision_and_a_program_that_there_are_not_are_named_with_what_there_is() {
    let setup = Setup::new("equi");
    assert!(setup.refuses(&["why"]).contains("nothing was decided yet"));
    let program = setup.program("loops").start();
    program.until("a decision", |program| program.dop.is_some());
    assert!(
        setup
            .refuses(&["why", "--at", "1000000"])
            .contains("decision 1000000 isn't kept: there are some from 1 to ")
    );
    assert!(
        setup.refuses(&["why", "nobody"]).contains("no decision that is kept was about a program 'nobody'")
    );
    assert!(
        setup.refuses(&["why", "nobody", "--at", "1"]).contains("decision 1 wasn't about a program 'nobody'")
    );
    program.finish().well();
}

#[test]
fn every_decision_is_recorded_once_until_the_user_has_enough() {
    let setup = Setup::configured("equi", "rate_hz = 50\n");
    let file = setup.folder().join("trace.jsonl");
    let record = setup.recording(&file);
    let latest = || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        lines(whole).last().map_or(0, |it| it.decision.number)
    };
    for _ in 0..4 {
        let (a, b) = (setup.program("loops").start(), setup.program("loops").start());
        let before = latest();
        wait_for("decisions about both", || (latest() > before + 20).then_some(()));
        a.finish().well();
        b.finish().well();
    }
    let decisions =
        setup.until("nobody there", |snapshot| snapshot.programs.is_empty().then_some(snapshot.decisions));
    record.end();
    let trace = lines(&std::fs::read_to_string(&file).expect("the trace"));
    let numbers: Vec<u64> = trace.iter().map(|entry| entry.decision.number).collect();
    assert!(numbers.iter().copied().eq(1..=decisions), "{numbers:?}, and there were {decisions}");
    assert!(
        trace
            .iter()
            .all(|entry| entry.names.values().all(|name| ["loops", "loops#2"].contains(&name.as_str())))
    );
    let shared = trace.iter().filter(|entry| entry.decision.programs.len() == 2);
    assert!(shared.clone().count() > 40);
    for share in shared.flat_map(|entry| &entry.decision.allocation.shares) {
        assert_eq!(share.dop, Dop::Contexts(1));
    }
    let text = std::fs::read_to_string(&file).expect("the trace");
    assert!(text.lines().all(|line| serde_json::from_str::<Decision>(line).is_ok()));
    let seconds = setup.says(&["record", "--seconds", "0.2"]);
    assert!(lines(&seconds).is_empty(), "{seconds}");
}
