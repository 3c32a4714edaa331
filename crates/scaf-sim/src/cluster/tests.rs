use super::*;
use crate::mixes::Curve;
use proptest::prelude::*;

fn straight() -> Vec<Curve> {
    vec![Curve::of("straight", 4, |p| p), Curve::of("flat", 4, |p| p.min(2.0))]
}

fn small(nodes: u32) -> Setting {
    Setting { nodes, contexts: 4, partner_loss: 0.0, ..Setting::default() }
}

fn job(arrives_s: f64, asks: u32, run_s: f64, program: usize) -> Job {
    Job { arrives_s, asks, run_s, program }
}

fn times(setting: &Setting, jobs: &[Job], sharing: Sharing) -> Vec<(f64, f64)> {
    let round = |s: f64| (s * 1_000.0).round() / 1_000.0;
    let ended = simulate(setting, &straight(), jobs, sharing);
    ended.iter().map(|end| (round(end.started_s), round(end.ended_s))).collect()
}

/// Worked out by hand: a node of four contexts; three jobs of a straight program and one of a flat one.
#[test]
fn four_jobs_on_one_node_take_what_a_pencil_says() {
    let jobs = [job(0.0, 2, 10.0, 0), job(1.0, 2, 10.0, 0), job(2.0, 4, 6.0, 1), job(3.0, 1, 4.0, 0)];
    let one = small(1);
    // One after the other.
    let expected = vec![(0.0, 10.0), (10.0, 20.0), (20.0, 26.0), (26.0, 30.0)];
    assert_eq!(times(&one, &jobs, Sharing::Exclusive), expected);
    // On four contexts the first two take 5 s, the last one 1 s.
    let expected = vec![(0.0, 5.0), (5.0, 10.0), (10.0, 16.0), (16.0, 17.0)];
    assert_eq!(times(&one, &jobs, Sharing::Whole), expected);
    // The third needs the whole node, which is kept for it, so the fourth comes last.
    let expected = vec![(0.0, 10.0), (1.0, 11.0), (11.0, 17.0), (17.0, 21.0)];
    assert_eq!(times(&one, &jobs, Sharing::Packed), expected);
    // The third's knee is 2: it starts when the first ends. The fourth then finds room beside it at 11 s.
    let expected = vec![(0.0, 10.0), (1.0, 11.0), (10.0, 16.0), (11.0, 15.0)];
    assert_eq!(times(&one, &jobs, Sharing::Knee), expected);
}

/// Two programs ask for the whole node: equal parts of two for either; 3 s and 6 s at half speed and full.
#[test]
fn two_jobs_that_want_all_are_given_parts_by_the_policy() {
    let jobs = [job(0.0, 4, 3.0, 0), job(0.0, 4, 6.0, 1)];
    let expected = vec![(0.0, 6.0), (0.0, 6.0)];
    assert_eq!(times(&small(1), &jobs, Sharing::Policy("equi")), expected);
    let lossy = Setting { partner_loss: 0.5, ..small(1) };
    // Each has a partner on half of the contexts, and takes 1.25 times as long.
    let expected = vec![(0.0, 7.5), (0.0, 7.5)];
    assert_eq!(times(&lossy, &jobs, Sharing::Policy("equi")), expected);
}

#[test]
fn a_job_is_not_overtaken_for_ever() {
    // Jobs of one context come all the time; the one that needs four has its turn when those before it end.
    let mut jobs: Vec<Job> = (0..100).map(|i| job(f64::from(i), 1, 3.5, 0)).collect();
    jobs.insert(10, job(9.5, 4, 4.0, 0));
    let ended = times(&small(1), &jobs, Sharing::Packed);
    assert!(ended[10].0 <= 13.0, "{:?}", ended[10]);
}

#[test]
fn names_are_known_or_the_ones_that_are_known_are_told() {
    for name in ["exclusive", "whole", "packed", "knee", "equi", "scaf", "curve"] {
        assert_eq!(Sharing::named(name).unwrap().to_string(), name);
    }
    assert!(Sharing::named("chaos").unwrap_err().contains("packed"));
}

const ALL: [Sharing; 7] = [
    Sharing::Exclusive,
    Sharing::Whole,
    Sharing::Packed,
    Sharing::Knee,
    Sharing::Policy("equi"),
    Sharing::Policy("scaf"),
    Sharing::Policy("curve"),
];

/// The most contexts that a node's jobs had at once, if each had `of` its mean all the time.
fn most_at_once(ended: &[Ended], of: impl Fn(usize) -> f64) -> f64 {
    let mut changes: Vec<(u32, f64, f64)> = Vec::new();
    for (i, end) in ended.iter().enumerate() {
        changes.push((end.node, end.started_s, of(i)));
        changes.push((end.node, end.ended_s, -of(i)));
    }
    // At one moment those that end go before those that start.
    changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2)));
    let mut now = 0.0;
    let sums = changes.iter().map(|(_, _, change)| {
        now += change;
        now
    });
    sums.fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_job_is_lost_work_is_conserved_and_the_same_seed_gives_the_same(
        seed in 0u64..1_000, nodes in 1u32..6, load in 0.1f64..3.0, loss in 0.0f64..0.5, kind in 0usize..7,
    ) {
        let sharing = ALL[kind];
        let setting =
            Setting { nodes, contexts: 8, jobs: 150, load, partner_loss: loss, seed, ..Setting::default() };
        let curves = programs(8).unwrap();
        let list = jobs(&setting, curves.len());
        let ended = simulate(&setting, &curves, &list, sharing);
        prop_assert_eq!(ended.len(), list.len());
        for (job, end) in list.iter().zip(&ended) {
            prop_assert!((end.done_s - job.run_s).abs() < 1e-3, "{job:?} {end:?}");
            prop_assert!(end.started_s >= job.arrives_s && end.node < nodes);
            let run_s = end.ended_s - end.started_s;
            match sharing {
                Sharing::Exclusive => {
                    prop_assert!((run_s - job.run_s).abs() < 1e-3, "{job:?} {end:?}");
                    prop_assert!((end.had - run_s * f64::from(job.asks)).abs() < 1e-3 * end.had.max(1.0));
                }
                Sharing::Whole => {
                    prop_assert!((end.had - run_s * 8.0).abs() < 1e-3 * end.had.max(1.0));
                }
                _ => prop_assert!(end.had <= run_s * f64::from(job.asks) * 1.000_001 + 1e-3),
            }
        }
        // Nowhere more than there is: whole contexts where parts never change.
        let takes = |i: usize| match sharing {
            Sharing::Exclusive | Sharing::Whole => 8.0,
            Sharing::Packed => f64::from(list[i].asks),
            _ => 0.0,
        };
        prop_assert!(most_at_once(&ended, takes) <= 8.0);
        let had: f64 = ended.iter().map(|end| end.had).sum();
        let end_s = ended.iter().map(|end| end.ended_s).fold(0.0, f64::max);
        prop_assert!(had <= f64::from(nodes) * 8.0 * end_s * 1.000_001);
        prop_assert_eq!(&ended, &simulate(&setting, &curves, &jobs(&setting, curves.len()), sharing));
    }

    #[test]
    fn no_node_stands_empty_while_a_job_waits(seed in 0u64..1_000, kind in 0usize..7) {
        let setting = Setting { nodes: 3, contexts: 8, jobs: 120, load: 1.5, seed, ..Setting::default() };
        let curves = programs(8).unwrap();
        let list = jobs(&setting, curves.len());
        let ended = simulate(&setting, &curves, &list, ALL[kind]);
        for (job, end) in list.iter().zip(&ended).filter(|(job, end)| end.started_s > job.arrives_s) {
            // Shortly after it came every node had a job: there is room in an empty one for anybody.
            let when_s = job.arrives_s + 1e-6 * (end.started_s - job.arrives_s);
            for node in 0..3 {
                let there = |end: &&Ended| {
                    end.node == node && end.started_s <= when_s && when_s < end.ended_s
                };
                prop_assert!(ended.iter().any(|end| there(&end)), "{job:?} {end:?} {node}");
            }
        }
    }
}
