use super::*;
use crate::generated::{between, same};
use crate::ps::tests::{program, snapshot};
use scafd::control::{CurvePoint, Frame, Others, Program};

fn cg(id: u64, dop: u32) -> Program {
    let point =
        |(dop, speedup)| CurvePoint { dop, speedup, error_ratio: 0.1, observed: None, sources: vec![] };
    let curve = [(1, 1.0), (2, 2.0), (4, 4.0)].map(point).to_vec();
    Program { id, name: "c\"g\\".into(), dop: Some(dop), natural: 4, curve, ..program() }
}

fn now() -> Snapshot {
    let programs = vec![cg(1, 1), cg(2, 2)];
    let others = Others { programs: 1, contexts: 1 };
    Snapshot { capacity: 4, now_ns: 2_000_000_000, warnings: 3, others, ..snapshot(programs) }
}

fn told(format: Format) -> String {
    let mut ledger = Ledger::new(10);
    ledger.book(&now(), &Frame { now_ns: 4_000_000_000, left: vec![9], ..Frame::default() });
    text(&Known { now: Some(&now()), ledger: &ledger, clock_ns: 2_500_000_000 }, format).unwrap()
}

#[test]
fn numbers_are_those_of_the_moment_and_the_ledger() {
    let text = told(Format::Open);
    for line in [
        "scaf_daemon_up 1.0",
        "scaf_daemon_info{version=\"1.2.3\",scope=\"session\",policy=\"scaf\"} 1.0",
        "scaf_capacity_contexts 4.0",
        "scaf_granted_contexts 4.0",
        "scaf_moment_age_seconds 0.5",
        "scaf_decision_seconds 0.0004",
        "scaf_warnings_total 3.0",
        "scaf_departures_total 1.0",
        "scaf_throughput 3.0",
        "scaf_program_processes{program=\"c\\\"g\\\\\"} 2.0",
        "scaf_program_contexts{program=\"c\\\"g\\\\\"} 3.0",
        "scaf_program_speedup_ratio{program=\"c\\\"g\\\\\"} 0.5",
        "scaf_program_context_seconds_total{program=\"c\\\"g\\\\\"} 6.0",
        "# TYPE scaf_program_context_seconds counter",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\nin\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn the_older_format_has_the_same_samples_and_names_them_as_they_are() {
    let samples = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(samples(told(Format::Open)), samples(told(Format::Classic)));
    let text = told(Format::Classic);
    assert!(text.contains("# TYPE scaf_program_context_seconds_total counter\n") && !text.contains("EOF"));
    assert!(text.contains("# HELP scaf_decisions_total "));
}

#[test]
fn without_a_daemon_that_is_what_is_told() {
    let ledger = Ledger::new(10);
    let text = text(&Known { now: None, ledger: &ledger, clock_ns: 0 }, Format::Classic).unwrap();
    assert!(text.contains("scaf_daemon_up 0.0\n") && text.contains("scaf_arrivals_total 0.0\n"));
    assert!(!text.contains("scaf_capacity_contexts"));
}

#[test]
fn who_asks_for_openmetrics_gets_it() {
    let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    assert_eq!(Format::accepted(prometheus), Format::Open);
    assert_eq!(Format::accepted("*/*"), Format::Classic);
}

#[test]
fn the_table_in_the_manual_has_each_metric() {
    let text = told(Format::Classic);
    let lines = |start: &str| -> Vec<&str> { text.lines().filter_map(|it| it.strip_prefix(start)).collect() };
    let mut table = String::new();
    for (help, kind) in lines("# HELP ").into_iter().zip(lines("# TYPE ")) {
        let ((name, help), (_, kind)) = (help.split_once(' ').unwrap(), kind.split_once(' ').unwrap());
        let sample = lines(&format!("{name}{{"));
        let labels =
            sample.first().map(|it| it.split(',').filter_map(|it| it.split_once('=')).map(|it| it.0));
        let labels =
            labels.map_or_else(String::new, |it| format!("{{{}}}", it.collect::<Vec<_>>().join(", ")));
        table += &format!("| `{name}{labels}` | {kind} | {} |\n", help.trim_end_matches('.'));
    }
    same("guide/metrics.md", |page| between(page, "|---|---|---|\n", "\n\n", table.trim_end()));
}
