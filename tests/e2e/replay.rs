//! `scaf sim replay`: what the real daemon decided about real programs, under other policies.

use crate::support::{Setup, kernel, wait_for};

#[test]
fn what_was_recorded_of_real_programs_is_replayed_under_any_policy() {
    let setup = Setup::configured("equi", "rate_hz = 20\n");
    let file = setup.folder().join("trace.jsonl");
    let record = setup.recording(&file);
    let start = |name: &str| {
        setup.at(&kernel(name)).args(["--class=W", "--repeat=1000"]).threads(2).option("--name", name).start()
    };
    let first = start("ep");
    first.until("something known of it", |program| !program.curve.is_empty());
    let second = start("cg");
    second.until("something known of it", |program| program.curve.iter().any(|point| point.dop == 1));
    let latest = || setup.snapshot().decisions;
    let before = latest();
    wait_for("decisions about both", || (latest() > before + 20).then_some(()));
    second.signal(libc::SIGTERM);
    let before = latest();
    wait_for("decisions about one", || (latest() > before + 5).then_some(()));
    record.end();
    first.signal(libc::SIGTERM);

    let trace = file.display().to_string();
    let output = setup.says(&["sim", "replay", &trace, "--policy", "curve,equi,scaf", "--json"]);
    let output: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    let happened = output["recorded"]["programs"].as_array().expect("programs");
    assert_eq!((&output["recorded"]["policy"], happened.len()), (&"equi".into(), 2), "{output}");
    assert!(happened[0]["cut"] == true && happened[1]["cut"] == false, "{output}");
    for policy in output["policies"].as_array().expect("policies") {
        for (now, then) in policy["programs"].as_array().expect("programs").iter().zip(happened) {
            let number = |it: &serde_json::Value, key: &str| it[key].as_f64().expect("a number");
            assert_eq!(now["name"], then["name"], "{output}");
            let (now_s, then_s) = (number(now, "work_s"), number(then, "work_s"));
            assert!((now_s / then_s - 1.0).abs() < 0.01 && number(now, "speedup") > 0.0, "{output}");
        }
    }
    assert_eq!(output["policies"].as_array().map(Vec::len), Some(3), "{output}");
    let table = setup.says(&["sim", "replay", &trace, "--policy", "equi"]);
    assert!(table.contains("equi, as it was") && table.contains("Assumed"), "{table}");
}
