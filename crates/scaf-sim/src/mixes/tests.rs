use super::*;

const TABLE: &str = include_str!("../../../../fixtures/papers/taco_table1_speedups.csv");

fn taco(kind: &str, contexts: u32) -> Vec<Curve> {
    curves::from_csv(TABLE, kind, contexts).unwrap()
}

fn outcome(policy: &str, curves: &[Curve], setting: &Setting) -> Outcome {
    run(&|| by_name(policy, &Settings::default()).unwrap(), curves, setting)
}

#[test]
fn there_are_154_mixes() {
    let curves = taco("traditional", 24);
    assert_eq!(choices(&curves, &(2..=4)).len(), 154);
}

#[test]
fn the_same_seed_gives_the_same_and_another_one_something_else() {
    let curves = &taco("traditional", 24)[..4];
    let short = Setting { run_s: 10.0, ..Setting::default() };
    let of = |seed| outcome("scaf", curves, &Setting { seed, ..short.clone() });
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn no_policy_does_better_than_the_oracle_and_equipartition_stands_still() {
    let curves = taco("traditional", 24);
    let equi = outcome("equi", &curves, &Setting { run_s: 10.0, ..Setting::default() });
    for mix in &equi.mixes {
        assert!(mix.after <= mix.best + 1e-9 && mix.best_floored <= mix.best, "{mix:?}");
        assert!(mix.changes == 0 && (mix.least - 1.0).abs() < 1e-9, "{mix:?}");
    }
}

#[test]
fn given_true_profiles_the_offline_policy_does_what_the_oracle_does() {
    let setting = Setting { run_s: 1.0, settle_s: 0.5, profiled: true, ..Setting::default() };
    for kind in ["traditional", "effective"] {
        let offline = outcome("offline", &taco(kind, 24), &setting);
        for mix in &offline.mixes {
            assert!(
                (mix.after - mix.best_floored).abs() < 1e-9 && mix.least >= 0.5 && mix.changes == 0,
                "{mix:?}"
            );
        }
    }
}

#[test]
fn the_curve_policy_finds_nearly_the_best_and_holds_still_there() {
    let of = outcome("curve", &taco("traditional", 24), &Setting::default());
    let [after, whole] =
        [of.figure(|mix| mix.after / mix.best_floored), of.figure(|mix| mix.whole / mix.best_floored)];
    assert!(after.mean > 0.985 && whole.mean > 0.975, "{after:?} {whole:?}");
    assert!(of.figure(|mix| f64::from(mix.late_changes)).mean < 3.0);
    assert!(of.figure(|mix| mix.least).worst > 0.45);
}

/// Prints what docs/policies.md tells: `cargo test --release -p scaf-sim table -- --ignored --nocapture`.
#[test]
#[ignore = "a table for people, of a minute"]
fn table() {
    for contexts in [24, 12] {
        let setting = Setting { contexts, ..Setting::default() };
        let mut sets =
            vec![("traditional", taco("traditional", contexts)), ("effective", taco("effective", contexts))];
        sets.extend(curves::families(contexts).into_iter().map(|family| (family.name, family.curves)));
        for (name, curves) in &sets {
            for entry in
                scaf_policy::POLICIES.iter().filter(|entry| !["chaos", "unmanaged"].contains(&entry.name))
            {
                let of = outcome(entry.name, curves, &setting);
                let show = |of: Figure| format!("{:5.1} {:5.1}", 100.0 * of.mean, 100.0 * of.worst);
                println!(
                    "{contexts} {name:12} {:6} best: after {} | floored: at 5 s {} after {} whole {} | least {:.2} changes {:.1} late {:.1}",
                    entry.name,
                    show(of.figure(|mix| mix.after / mix.best)),
                    show(of.figure(|mix| mix.then / mix.best_floored)),
                    show(of.figure(|mix| mix.after / mix.best_floored)),
                    show(of.figure(|mix| mix.whole / mix.best_floored)),
                    of.figure(|mix| mix.least).worst,
                    of.figure(|mix| f64::from(mix.changes)).mean,
                    of.figure(|mix| f64::from(mix.late_changes)).mean,
                );
            }
        }
    }
}
