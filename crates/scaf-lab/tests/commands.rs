//! `scaf-lab`, as it is typed.

use std::process::{Command, Output};

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scaf-lab")).args(arguments).output().expect("scaf-lab starts")
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = lab(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON alone on standard output")
}

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios/scaf-sp-lu.toml");
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/papers/taco_table1_speedups.csv");

#[test]
fn a_scenario_is_run_drawn_recorded_and_replayed_under_another_policy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let run = json(&[
        "sim",
        "run",
        SCENARIO,
        "--policy",
        "equi,scaf",
        "--json",
        "--record",
        &at("t"),
        "--svg",
        &at("pictures"),
    ]);
    let stp = |value: &serde_json::Value| value["stp"].as_f64().unwrap();
    assert!(stp(&run["policies"][1]) > 1.2 * stp(&run["policies"][0]), "{run}");
    assert!(std::fs::read_to_string(at("pictures/scaf-sp-lu-scaf.svg")).unwrap().contains("LU"));
    let replay = json(&["sim", "replay", &at("t"), "--policy", "equi", "--json"]);
    assert_eq!(replay["recorded"]["programs"][0]["name"], "SP");
    assert!(stp(&replay["recorded"]) > 1.2 * stp(&replay["policies"][0]), "{replay}");
    assert!(!replay["assumptions"].as_array().unwrap().is_empty());
}

#[test]
fn the_same_seed_gives_the_same_output_but_for_the_date() {
    let outcome =
        || json(&["sim", "run", SCENARIO, "--policy", "scaf", "--seed", "7", "--json"])["policies"].clone();
    assert_eq!(outcome(), outcome());
}

#[test]
fn an_experiment_of_a_paper_stands_beside_the_paper() {
    let paper = json(&["sim", "paper", "effective-speedup", "--json"]);
    let row = &paper["rows"][0];
    for key in ["configuration", "process", "ours", "paper"] {
        assert!(!row[key].is_null(), "{key}: {row}");
    }
    assert!(!paper["assumptions"].as_array().unwrap().is_empty());
}

#[test]
fn mixes_are_compared_with_the_best_possible() {
    let mixes = json(&["sim", "mixes", "--curves", TABLE, "--pus", "12", "--policies", "equi", "--json"]);
    assert_eq!(mixes["mixes"], 154);
    let mean = mixes["policies"][0]["mean_pct_of_oracle"].as_f64().unwrap();
    assert!((50.0..100.0).contains(&mean), "{mixes}");
}

#[test]
fn a_cluster_is_simulated_drawn_and_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("c.svg").display().to_string();
    let size = ["--nodes", "20", "--jobs", "2000", "--load", "0.3,1.5", "--json", "--plot", &plot];
    let run = || json(&[&["sim", "cluster"], &size[..]].concat());
    let cluster = run();
    let rows = cluster["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 7);
    assert!(rows.iter().all(|row| row["ended"] == 2000), "{cluster}");
    let slow = |load: f64, sharing: &str| {
        let mut found = rows.iter().filter(|row| row["load"] == load && row["sharing"] == sharing);
        found.next().unwrap()["slowdown_worst_tenth"].as_f64().unwrap()
    };
    // Twenty nodes of their own for jobs that ask for a fifth of one are too few; side by side there is room.
    assert!(slow(1.5, "exclusive") > 5.0 * slow(1.5, "packed"), "{cluster}");
    assert!(slow(0.3, "curve") < slow(1.5, "curve"), "{cluster}");
    assert!(std::fs::read_to_string(&plot).unwrap().contains("curve"));
    assert_eq!(run()["rows"], cluster["rows"]);
}

#[test]
fn decisions_are_timed() {
    let decide = json(&["bench", "decide", "--policies", "equi", "--repetitions", "1", "--json"]);
    assert_eq!(decide["cases"][0]["policy"], "equi");
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    let says = |arguments: &[&str], words: &str| {
        let output = lab(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(words), "{error}");
    };
    says(&["sim", "cluster", "--sharing", "taco"], "packed, knee");
    says(&["sim", "cluster", "--load", "0"], "0.01 to 10");
    says(&["sim", "run", "nowhere.toml"], "nowhere.toml");
    says(&["sim", "run", SCENARIO, "--policy", "none"], "there is no policy 'none'");
    says(&["sim", "replay", SCENARIO, "--policy", "equi"], "line 1 is no decision");
    says(&["sim", "paper", "none"], "possible values");
    says(&["sim", "mixes"], "--curves");
    says(&["bench", "effective", "--sizes", "0", "true"], "can't be filled");
}

#[test]
fn an_effective_speedup_is_measured_and_written_down_for_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.toml").display().to_string();
    let arguments = ["--repetitions", "1", "--json", "--name", "idler", "--profile", &file, "sleep", "0.1"];
    let bench = json(&[&["bench", "effective"][..], &arguments].concat());
    let points = bench["points"].as_array().unwrap();
    assert!(points.len() >= 2 && points[0]["p"] == 1 && bench["filled_with"] == "copies", "{bench}");
    for point in points {
        assert!(
            point["effective_speedup"].as_f64().unwrap() > 0.0 && point["filled_s"].as_f64().unwrap() > 0.1
        );
    }
    assert!(std::fs::read_to_string(&file).unwrap().contains("[profiles]\n\"idler\" = { "));
}
