use super::*;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;

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
    let then = of.figure(|mix| mix.then / mix.best_floored);
    assert!(then.mean > 0.98 && then.worst > 0.92, "{then:?}");
    assert!(of.figure(|mix| mix.least).worst >= 0.5);
}

fn follow<'a>(mix: &[&'a Curve], setting: &Setting, past: &[Vec<Measured>]) -> (Vec<f64>, Vec<Running<'a>>) {
    let mut policy = by_name("curve", &Settings::default()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(setting.seed);
    let mut programs: Vec<Running> =
        mix.iter().zip(0..).map(|(curve, id)| Running::new(id, curve, setting)).collect();
    programs.iter_mut().zip(past).for_each(|(program, past)| program.seen.curve = past.clone());
    let decide = |i: usize| {
        let machine = Machine::new(setting.contexts, i as f64 / setting.rate_hz);
        let seen: Vec<Program> = programs.iter().map(|program| program.seen.clone()).collect();
        let shares = policy.allocate(&machine, &seen).shares;
        let each = programs.iter_mut().zip(&shares).map(|(program, share)| {
            let dop = dop_of(share.dop, setting.contexts);
            program.run(dop, 1.0 / setting.rate_hz, setting.noise, &mut rng);
            program.curve.at(dop)
        });
        each.sum()
    };
    ((0..(setting.run_s * setting.rate_hz) as usize).map(decide).collect(), programs)
}

#[test]
fn the_first_decision_of_a_second_run_is_near_the_last_of_the_first() {
    let (curves, setting) = (taco("traditional", 24), Setting::default());
    let ratios = choices(&curves, &setting.sizes).into_iter().map(|mix| {
        let (first, programs) = follow(&mix, &setting, &[]);
        let converged = first[first.len() / 2..].iter().sum::<f64>() / (first.len() - first.len() / 2) as f64;
        let remembered = |point: &Measured| {
            let Measured { dop, speedup: Estimate { value, error } } = *point;
            Measured { dop, speedup: Estimate { value, error: error + 0.05 } }
        };
        let past: Vec<Vec<Measured>> =
            programs.iter().map(|program| program.seen.curve.iter().map(remembered).collect()).collect();
        let once = Setting { run_s: 1.0 / setting.rate_hz, ..setting.clone() };
        follow(&mix, &once, &past).0[0] / converged
    });
    let ratios: Vec<f64> = ratios.collect();
    let (mean, worst) =
        (ratios.iter().sum::<f64>() / ratios.len() as f64, ratios.iter().copied().fold(9.0, f64::min));
    println!("first decision of the second run over the first run's last: mean {mean:.3}, worst {worst:.3}");
    assert!(mean > 0.97 && worst > 0.9, "{mean} {worst}");
}

/// Prints docs/internals/policies.md's table: `cargo test --release -p scaf-sim table -- --ignored
/// --nocapture`.
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
                    "{contexts} {name:12} {:6} best: after {} | floored: at 5 s {} after {} whole {} | \
                     least {:.2} changes {:.1} late {:.1}",
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
