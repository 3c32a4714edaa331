use super::*;
use proptest::prelude::*;

fn curve(values: &[f64]) -> Worth {
    Worth::new(values.iter().zip(1..).map(|(value, p)| (p, *value)).collect())
}

fn value(worths: &[Worth], dops: &[u32]) -> f64 {
    worths.iter().zip(dops).map(|(worth, p)| worth.at(*p)).sum()
}

fn by_force(capacity: u32, worths: &[Worth]) -> f64 {
    let [first, rest @ ..] = worths else { return 0.0 };
    let others: u32 = rest.iter().map(Worth::least).sum();
    let ps = first.least()..=(capacity - others).min(first.knots.last().unwrap().0);
    ps.map(|p| first.at(p) + by_force(capacity - p, rest)).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn concave_curves_share_where_the_next_context_is_worth_most() {
    let log = |c: f64| curve(&(1..=16).map(|p| 1.0 + c * f64::from(p).ln()).collect::<Vec<_>>());
    // SCAF, section 3.3: 14.18 and 1.82 of 16.
    assert_eq!(best(16, &[log(2.82), log(0.36)]), [14, 2]);
    assert_eq!(best(16, &[log(1.0), log(1.0), log(1.0)]), [6, 5, 5]);
}

#[test]
fn steps_are_reached_in_full_or_not_at_all() {
    let step = curve(&[1.0, 1.0, 1.0, 4.0]);
    assert_eq!(best(8, &[step.clone(), step.clone()]), [4, 4]);
    let slow = curve(&[1.0, 1.1, 1.2, 1.3]);
    assert_eq!(best(7, &[step.clone(), step.clone(), slow.clone()]), [4, 1, 2]);
    assert_eq!(best(5, &[slow, step]), [1, 4]);
}

#[test]
fn nobody_gets_contexts_beyond_its_knee() {
    assert_eq!(best(12, &[curve(&[1.0, 1.8, 2.4, 2.0, 1.5, 1.0]), curve(&[1.0, 1.0, 1.0])]), [3, 1]);
    assert_eq!(best(4, &[Worth::new(vec![(2, 5.0), (4, 1.0)])]), [2]);
}

#[test]
fn what_a_straight_line_makes_equal_is_shared_equally() {
    let line = || Worth::new(vec![(1, 1.0), (64, 64.0)]);
    assert_eq!(best(96, &[line(), line(), line()]), [32, 32, 32]);
    assert_eq!(best(12, &[line(), line(), line(), line(), line()]), [3, 3, 2, 2, 2]);
}

#[test]
fn leasts_that_do_not_fit_are_given_back() {
    assert_eq!(
        best(3, &[Worth::new(vec![(2, 0.0), (9, 1.0)]), Worth::new(vec![(u32::MAX, 1.0)])]),
        [2, u32::MAX]
    );
    assert_eq!(best(0, &[]), []);
    assert_eq!(best(5, &[Worth::new(Vec::new())]), [1]);
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.0..20.0f64,
        4 => (0u8..6).prop_map(f64::from),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e-300, f64::MAX]),
    ]
}

fn any_worth(most: u32) -> impl Strategy<Value = Worth> {
    prop::collection::vec((1..=most, any_value()), 1..8).prop_map(Worth::new)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_is_better_whatever_the_curves(worths in prop::collection::vec(any_worth(12), 1..5),
        spare in 0u32..20) {
        let capacity = worths.iter().map(Worth::least).sum::<u32>() + spare;
        let dops = best(capacity, &worths);
        prop_assert!(dops.iter().sum::<u32>() <= capacity);
        prop_assert!(dops.iter().zip(&worths).all(|(p, worth)| *p >= worth.least()));
        let (found, most) = (value(&worths, &dops), by_force(capacity, &worths));
        // Sums of hostile values are as exact as their largest part.
        let largest = worths.iter().flat_map(|worth| &worth.knots).map(|knot| knot.1.abs()).fold(1.0,
            f64::max);
        prop_assert!((found - most).abs() <= 1e-10 * largest, "{found} of {most}: {dops:?}");
    }

    #[test]
    fn nobody_could_do_as_well_with_less(worths in prop::collection::vec(any_worth(12), 1..5),
        spare in 0u32..20) {
        let capacity = worths.iter().map(Worth::least).sum::<u32>() + spare;
        for (p, worth) in best(capacity, &worths).into_iter().zip(&worths) {
            prop_assert!((worth.least()..p).all(|less| worth.at(less) < worth.at(p)), "{p} of {worth:?}");
        }
    }
}

proptest! {
    #[test]
    fn large_ones_end_and_keep_to_the_capacity(
        worths in prop::collection::vec(any_worth(u32::MAX), 1..20), capacity in 1u32..3_000,
    ) {
        let dops = best(capacity, &worths);
        let least: u64 = worths.iter().map(|worth| u64::from(worth.least())).sum();
        let sum: u64 = dops.iter().map(|p| u64::from(*p)).sum();
        prop_assert!(sum <= least.max(u64::from(capacity)));
    }
}
