use super::*;
use crate::mixes::curves;
use proptest::prelude::*;
use scaf_policy::{Settings, by_name};

const TABLE: &str = include_str!("../../../../../fixtures/papers/taco_table1_speedups.csv");

fn mixes(setting: &TeamSetting) -> Vec<TeamMix> {
    let table = curves::from_csv(TABLE, "traditional", MEASURED).unwrap();
    let families = curves::families(MEASURED);
    (0..setting.mixes).map(|number| draw(number, &table, &families, setting)).collect()
}

fn under(policy: &str, mix: &TeamMix, setting: &TeamSetting) -> f64 {
    run(by_name(policy, &Settings::default()).unwrap().as_mut(), mix, setting).iter().sum()
}

fn visit(curve: &Curve, team: u32, to_s: f64) -> Visit {
    Visit { curve: draw::of_team(curve, team, 16), team, from_s: 0.0, to_s, region_s: 0.01 }
}

#[test]
fn a_team_of_sixteen_does_no_better_on_five_contexts_than_on_four() {
    let linear = Curve::of("linear", MEASURED, |p| p);
    let (kept, free) = (draw::of_team(&linear, 16, 16), draw::of_team(&linear, 0, 16));
    for (p, s) in [(1, 1.0), (4, 4.0), (5, 4.0), (6, 16.0 / 3.0), (7, 16.0 / 3.0), (8, 8.0), (15, 8.0)] {
        assert!((kept.at(p) - s).abs() < 1e-9 && (free.at(p) - f64::from(p)).abs() < 1e-9, "{p}");
    }
    assert_eq!(draw::of_team(&linear, 4, 16).at(16), 4.0);
}

#[test]
fn curves_keep_their_form_on_larger_and_smaller_machines() {
    let table = curves::from_csv(TABLE, "traditional", MEASURED).unwrap();
    for curve in &table {
        for contexts in [16, 48, 1024] {
            let stretched = draw::of_team(curve, 0, contexts);
            let efficiency = stretched.at(contexts) / f64::from(contexts);
            assert!((stretched.at(1) - 1.0).abs() < 1e-9, "{stretched:?}");
            if contexts >= MEASURED {
                assert!((efficiency - curve.at(MEASURED) / f64::from(MEASURED)).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn half_of_the_mixes_have_programs_of_0_3_to_3_seconds_and_one_that_stays() {
    let setting = TeamSetting { mixes: 40, ..TeamSetting::default() };
    let mixes = mixes(&setting);
    assert_eq!(mixes.iter().filter(|mix| mix.short).count(), 20);
    let kept = |mix: &TeamMix| mix.visits.iter().filter(|visit| visit.team > 0).count();
    let all: usize = mixes.iter().map(|mix| mix.visits.len()).sum();
    assert!(mixes.iter().map(kept).sum::<usize>() * 3 > all);
    for mix in &mixes {
        let (long, short): (Vec<&Visit>, Vec<&Visit>) =
            mix.visits.iter().partition(|visit| visit.to_s - visit.from_s > 3.0);
        assert!(!long.is_empty() && short.is_empty() != mix.short, "{mix:?}");
        assert!(long.iter().all(|visit| (visit.from_s, visit.to_s) == (0.0, 60.0)));
        let whole = |visit: &&&Visit| visit.to_s < 60.0;
        assert!(short.iter().filter(whole).all(|visit| visit.to_s - visit.from_s >= 0.3));
    }
}

#[test]
fn work_is_the_speedup_times_the_time_and_the_best_is_the_best_division() {
    let (linear, none) = (Curve::of("linear", MEASURED, |p| p), Curve::of("serial", MEASURED, |_| 1.0));
    let visits = vec![visit(&linear, 16, 10.0), visit(&none, 0, 4.0)];
    let mix = TeamMix { contexts: 16, short: false, visits };
    let setting = TeamSetting { run_s: 10.0, noise: 0.0, floor: 0.5, ..TeamSetting::default() };
    // Beside anyone the team has eight at most that are of use; afterwards all sixteen.
    let best = best(&mix, &setting);
    assert!((best.free - (4.0 * 9.0 + 6.0 * 16.0)).abs() < 1e-6, "{best:?}");
    assert_eq!(best.floored, best.free);
    let done = run(by_name("equi", &Settings::default()).unwrap().as_mut(), &mix, &setting);
    assert!((done[1] - 4.0).abs() < 0.01 && (done[0] - (32.0 + 96.0)).abs() < 0.1, "{done:?}");
    // A knee: contexts that do harm may be idle.
    let knee = Curve::of("knee", MEASURED, |p| if p < 8.0 { p } else { 1.0 });
    assert!(growing(&knee).at(24) == 7.0 && growing(&knee).at(3) == 3.0);
}

/// The bar of `scaf` in small; `scaf-lab sim mixes --teams` has it for 1,000 mixes.
#[test]
fn scaf_is_never_behind_equal_parts_by_more_than_a_hundredth() {
    let setting = TeamSetting { mixes: 60, run_s: 30.0, seed: 7, ..TeamSetting::default() };
    let mut gains = Vec::new();
    for (i, mix) in mixes(&setting).iter().enumerate() {
        let ratio = under("scaf", mix, &setting) / under("equi", mix, &setting);
        assert!(ratio >= 0.99, "mix {i}: {ratio}");
        gains.push(ratio);
    }
    assert!(gains.iter().sum::<f64>() / gains.len() as f64 > 1.05);
}

#[test]
fn told_of_kept_teams_policies_do_better() {
    let told = TeamSetting { mixes: 20, run_s: 20.0, ..TeamSetting::default() };
    let untold = TeamSetting { steps: false, ..told.clone() };
    let mixes = mixes(&told);
    for policy in ["equi", "scaf", "curve"] {
        let sum = |setting: &TeamSetting| -> f64 {
            mixes.iter().map(|mix| under(policy, mix, setting) / best(mix, setting).free).sum()
        };
        assert!(sum(&told) > sum(&untold) * 1.005, "{policy}: {} {}", sum(&told), sum(&untold));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nobody_does_more_than_the_best(number in 0u64..1_000, policy in 0usize..3) {
        let setting = TeamSetting { run_s: 6.0, seed: 5, ..TeamSetting::default() };
        let table = curves::from_csv(TABLE, "traditional", MEASURED).unwrap();
        let mix = draw(number, &table, &curves::families(MEASURED), &setting);
        let best = best(&mix, &setting);
        prop_assert!(best.floored <= best.free * (1.0 + 1e-9));
        let done = under(["equi", "scaf", "curve"][policy], &mix, &setting);
        prop_assert!(done > 0.0 && done <= best.free * (1.0 + 1e-9), "{done} {best:?}");
    }
}
