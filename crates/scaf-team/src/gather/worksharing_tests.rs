use super::*;
use proptest::prelude::*;

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        (1u64..9).prop_map(Rule::Dynamic),
        (1u64..9).prop_map(Rule::Guided),
        (0u64..9).prop_map(Rule::Static)
    ]
}

/// All numbers of a loop, dealt out to members of a team of `size` by turns.
fn dealt(whole: &Loop, size: u32) -> Vec<u64> {
    let shares = Shares::<4>::new();
    for member in 0..size {
        let came = if member == 0 { Came::First } else { Came::Later };
        assert_eq!(shares.come(1, whole), came);
    }
    let mut numbers = Vec::new();
    let mut hands = vec![Assigned::default(); size as usize];
    for member in (0..size).cycle().take(2_000) {
        let assigned = &mut hands[member as usize];
        let Some((mut from, to)) = shares.deal(1, (member, size), assigned) else { continue };
        // As compiled code does: up to the chunk's end, not reaching it.
        let up = (whole.step as i64) > 0;
        while if up { from < to } else { from > to } {
            numbers.push(from);
            from = from.wrapping_add(whole.step);
        }
    }
    numbers
}

proptest! {
    #[test]
    fn every_number_is_dealt_out_once(
        start in 500i64..1_500, length in -5i64..300, step in 1i64..7, up in any::<bool>(),
        rule in rule(), size in 1u32..9,
    ) {
        let (end, step) = if up { (start + length, step) } else { (start - length, -step) };
        let mut wanted = Vec::new();
        let mut at = start;
        while if up { at < end } else { at > end } {
            wanted.push(at as u64);
            at += step;
        }
        let signed = Loop::signed(start, end, step, rule);
        let unsigned = Loop::unsigned(up, start as u64, end as u64, step as u64, rule);
        prop_assert_eq!(signed, unsigned);
        prop_assert_eq!(signed.count as usize, wanted.len());
        let mut numbers = dealt(&signed, size);
        if !matches!(rule, Rule::Static(0)) {
            prop_assert_eq!(&numbers, &wanted);
        }
        numbers.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(numbers, wanted);
    }

    #[test]
    fn loops_at_the_ends_of_the_numbers(near in 0u64..20, chunk in 1u64..9, size in 1u32..5) {
        let rule = Rule::Dynamic(chunk);
        let last = Loop::unsigned(true, u64::MAX - near, u64::MAX, 1, rule);
        prop_assert_eq!(dealt(&last, size).len() as u64, near);
        let first = Loop::unsigned(false, near, 0, 1u64.wrapping_neg(), rule);
        prop_assert_eq!(dealt(&first, size).len() as u64, near);
        prop_assert_eq!(Loop::signed(i64::MIN, i64::MAX, 1, rule).count, u64::MAX);
    }
}

#[test]
fn a_place_is_used_again_when_all_have_left() {
    let shares = Shares::<2>::new();
    let whole = Loop::sections(3);
    assert_eq!(shares.come(1, &whole), Came::First);
    assert_eq!(shares.come(2, &whole), Came::First);
    shares.leave(1, 2);
    assert_eq!(shares.come(3, &whole), Came::TooEarly);
    assert_eq!(shares.come(1, &whole), Came::Later);
    shares.leave(1, 2);
    assert_eq!(shares.come(3, &whole), Came::First);
    let deal = |share| shares.deal(share, (0, 2), &mut Assigned::default());
    assert_eq!((deal(3), deal(2)), (Some((1, 2)), Some((1, 2))));
}

#[test]
fn ordered_parts_come_in_the_order_of_iterations() {
    let shares = Shares::<2>::new();
    let whole = Loop::sections(3);
    assert_eq!(shares.come(1, &whole), Came::First);
    assert_eq!(shares.take(1, 2), Some((0, 1)));
    assert!(shares.is_turn(1, 0) && !shares.is_turn(1, 1));
    shares.pass_turn(1, 1);
    assert!(shares.is_turn(1, 1) && !shares.is_turn(1, 2));
    shares.leave(1, 1);
    assert_eq!(shares.come(3, &whole), Came::First);
    assert!(!shares.is_turn(3, 1));
}

#[test]
fn a_guided_loop_has_smaller_and_smaller_chunks() {
    let shares = Shares::<2>::new();
    let _: Came = shares.come(1, &Loop::signed(0, 1_000, 1, Rule::Guided(5)));
    let mut assigned = Assigned::default();
    let deal = || shares.deal(1, (0, 4), &mut assigned);
    let chunks: Vec<u64> = std::iter::from_fn(deal).map(|(from, to)| to - from).collect();
    assert!(chunks.is_sorted_by(|a, b| a >= b) && chunks[0] == 250, "{chunks:?}");
    assert!(chunks.iter().rev().skip(1).all(|chunk| *chunk >= 5), "{chunks:?}");
}

#[test]
fn an_ordered_loop_goes_on_in_order() {
    let shares = Shares::<2>::new();
    let _: Came = shares.come(1, &Loop::signed(0, 10, 1, Rule::Static(4)));
    let mut hands = [Assigned::default(); 2];
    for (member, assigned) in hands.iter_mut().enumerate() {
        assert!(shares.is_next(1, assigned), "who holds nothing has nobody to wait for");
        assert!(shares.deal(1, (member as u32, 2), assigned).is_some());
    }
    assert!(shares.is_next(1, &hands[0]) && !shares.is_next(1, &hands[1]));
    shares.are_over(1, &mut hands[0]);
    assert!(shares.is_next(1, &hands[1]));
    assert_eq!(shares.deal(1, (0, 2), &mut hands[0]), Some((8, 10)));
    assert!(!shares.is_next(1, &hands[0]));
    shares.are_over(1, &mut hands[1]);
    assert!(shares.is_next(1, &hands[0]));
    assert_eq!(shares.deal(1, (1, 2), &mut hands[1]), None);
}
