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

#[test]
#[ignore]
fn timing() {
    use scaf_policy::fusion::Measured;
    use scaf_policy::observed::Estimate;
    for (n, cap) in
        [(1000u64, 1024u32), (10_000, 4096), (512, 1024), (100, 1024), (30, 1024), (2000, 4096), (4, 24)]
    {
        for shape in ["power", "stairs"] {
            for name in ["scaf", "curve", "offline", "logm", "spdp"] {
                let programs: Vec<Program> = (0..n)
                    .map(|id| {
                        let speedup = |p: f64| {
                            if shape == "power" {
                                p.powf(0.2 + 0.8 * ((id * 7919) % 997) as f64 / 997.0)
                            } else {
                                let w = (4 + id * 7919 % 61) as f64;
                                w / (w / p).ceil()
                            }
                        };
                        let curve: Vec<Measured> = [2u32, 3, 4, 6, 8, 12, 16, 24, 48, 96, 256]
                            .iter()
                            .map(|&dop| Measured {
                                dop,
                                speedup: Estimate { value: speedup(dop as f64), error: 0.02 },
                            })
                            .collect();
                        Program {
                            dop: 2,
                            efficiency: Some(0.7),
                            profile: curve.clone(),
                            curve,
                            ..Program::new(ProgramId(id), cap)
                        }
                    })
                    .collect();
                let mut policy = by_name(name, &Settings::default()).unwrap();
                let mut times = vec![];
                for i in 0..40 {
                    let t = std::time::Instant::now();
                    let a = policy.allocate(&Machine { capacity: cap, now_s: i as f64 * 0.25 }, &programs);
                    times.push(t.elapsed().as_secs_f64() * 1e3);
                    assert_eq!(a.shares.len(), n as usize);
                }
                let early = times[3];
                let worst = times.iter().cloned().fold(0.0, f64::max);
                times.sort_by(f64::total_cmp);
                println!(
                    "Q {n} on {cap} {shape} {name}: median {:.3} ms, early {early:.3}, worst {worst:.3}",
                    times[20]
                );
            }
        }
    }
}
