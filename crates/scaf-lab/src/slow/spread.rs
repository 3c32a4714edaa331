//! Which context each thread runs on; pure.

use std::collections::BTreeMap;

/// Spreads `threads` evenly over `contexts`, of which there is at least one: none has two threads more than
/// another. Threads stay where they were `before` as far as that permits, the first ones first.
pub fn spread(threads: &[u32], before: &BTreeMap<u32, u32>, contexts: &[u32]) -> BTreeMap<u32, u32> {
    let Some(share) = threads.len().checked_div(contexts.len()) else { return BTreeMap::new() };
    let mut larger = threads.len() % contexts.len();
    let mut loads: BTreeMap<u32, usize> = contexts.iter().map(|context| (*context, 0)).collect();
    let mut at = BTreeMap::new();
    for tid in threads {
        let Some((context, load)) = before.get(tid).and_then(|context| loads.get_key_value(context)) else {
            continue;
        };
        let (context, load) = (*context, *load);
        if load < share || (load == share && larger > 0) {
            larger -= usize::from(load == share);
            loads.insert(context, load + 1);
            at.insert(*tid, context);
        }
    }
    for tid in threads {
        if at.contains_key(tid) {
            continue;
        }
        let fewest = contexts.iter().min_by_key(|context| loads.get(context).copied().unwrap_or(0));
        if let Some(context) = fewest {
            *loads.entry(*context).or_default() += 1;
            at.insert(*tid, *context);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(pairs: &[(u32, u32)]) -> BTreeMap<u32, u32> {
        pairs.iter().copied().collect()
    }

    #[test]
    fn a_folded_team_goes_round_its_contexts() {
        let at = spread(&[10, 11, 12, 13, 14], &map(&[]), &[2, 5]);
        assert_eq!(at, map(&[(10, 2), (11, 5), (12, 2), (13, 5), (14, 2)]));
    }

    #[test]
    fn new_threads_go_where_there_is_room_and_the_others_stay() {
        let at = spread(&[10, 11, 12], &map(&[(10, 1), (11, 0)]), &[0, 1, 2]);
        assert_eq!(at, map(&[(10, 1), (11, 0), (12, 2)]));
    }

    #[test]
    fn a_context_that_fell_idle_gets_a_thread_of_one_that_has_two() {
        let before = map(&[(10, 2), (11, 2), (12, 0), (13, 0)]);
        assert_eq!(
            spread(&[10, 11, 12, 13], &before, &[0, 1, 2]),
            map(&[(10, 2), (11, 2), (12, 0), (13, 1)])
        );
    }

    #[test]
    fn without_contexts_nothing_is_placed() {
        assert!(spread(&[1, 2], &map(&[]), &[]).is_empty());
    }

    proptest! {
        #[test]
        fn loads_differ_by_one_at_most_and_doing_it_again_moves_nobody(
            threads in proptest::collection::btree_set(1u32..50, 0..20),
            before in proptest::collection::btree_map(1u32..50, 0u32..12, 0..30),
            contexts in proptest::collection::btree_set(0u32..10, 1..10),
        ) {
            let threads: Vec<u32> = threads.into_iter().collect();
            let contexts: Vec<u32> = contexts.into_iter().collect();
            let at = spread(&threads, &before, &contexts);
            prop_assert!(at.keys().eq(threads.iter()));
            prop_assert!(at.values().all(|context| contexts.contains(context)));
            let loads = contexts.iter().map(|c| at.values().filter(|at| *at == c).count());
            let (least, most) = loads.fold((usize::MAX, 0), |(a, b), load| (a.min(load), b.max(load)));
            prop_assert!(most - least <= 1);
            prop_assert_eq!(spread(&threads, &at, &contexts), at);
        }
    }
}
