//! Cuts a machine into partitions that are whole units of its topology, or fractions without remainder: four
//! nodes of six contexts make 1, 2, 4, 8, 12 or 24 equal ones (TACO, sections 2.1 and 4.2), never three.

use std::collections::BTreeSet;

const MOST: u32 = 1 << 20;

/// Sizes of units from the whole machine to one context, each a multiple of the next; others are left out.
fn chain(units: &[u32], capacity: u32) -> Vec<u32> {
    let whole = units.iter().copied().max().unwrap_or(0);
    let whole = if whole == 0 { capacity } else { whole }.clamp(1, MOST);
    let sizes: BTreeSet<u32> = units.iter().copied().filter(|size| *size > 0).collect();
    let mut chain = vec![whole];
    for size in sizes.into_iter().rev().chain([1]) {
        let above = chain.last().copied().unwrap_or(whole);
        if size < above && above.is_multiple_of(size) {
            chain.push(size);
        }
    }
    chain
}

fn ratios(chain: &[u32]) -> Vec<u32> {
    chain.windows(2).map(|pair| pair[0] / pair[1]).collect()
}

/// Numbers of equal partitions, fewest first, from 1. Without units, `capacity` contexts are one.
pub(super) fn counts(units: &[u32], capacity: u32) -> Vec<u32> {
    let chain = chain(units, capacity);
    let mut counts = BTreeSet::from([1]);
    for (above, ratio) in chain.iter().zip(ratios(&chain)) {
        counts.extend(divisors(ratio).map(|groups| chain[0] / above * groups));
    }
    counts.into_iter().collect()
}

/// `count` sizes as nearly equal as units and fractions permit, largest first; 1 beyond the contexts.
pub(super) fn nearly_equal(units: &[u32], capacity: u32, count: u32) -> Vec<u32> {
    let mut sizes = Vec::new();
    cut(1, &ratios(&chain(units, capacity)), count, &mut sizes);
    sizes.sort_by(|a, b| b.cmp(a));
    sizes
}

/// Cuts so many units, each divided as `below` says, into `count` parts.
fn cut(units: u32, below: &[u32], count: u32, sizes: &mut Vec<u32>) {
    let size: u32 = below.iter().product();
    // The first ones are larger where it doesn't come out even.
    let even = |all: u32, among: u32| (0..among).map(move |i| all / among + u32::from(i < all % among));
    match (units, count) {
        (_, 0) => {}
        (_, 1) => sizes.push(units * size),
        (1, _) => match below.split_first() {
            Some((inside, below)) => cut(*inside, below, count, sizes),
            None => sizes.extend((0..count).map(|_| 1)),
        },
        _ if count >= units => even(count, units).for_each(|count| cut(1, below, count, sizes)),
        _ => match divisors(units).filter(|groups| *groups <= count).max().unwrap_or(1) {
            // Seven units among two: no fraction will do.
            1 => sizes.extend(even(units, count).map(|units| units * size)),
            groups => even(count, groups).for_each(|count| cut(units / groups, below, count, sizes)),
        },
    }
}

fn divisors(n: u32) -> impl Iterator<Item = u32> {
    let small = (1..).take_while(move |d| d * d <= n).filter(move |d| n.is_multiple_of(*d));
    small.flat_map(move |d| [d, n / d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_nodes_of_six_are_cut_into_units_and_fractions_without_remainder() {
        assert_eq!(counts(&[24, 6], 24), [1, 2, 4, 8, 12, 24]);
        assert_eq!(counts(&[6, 12, 48, 2], 48), [1, 2, 4, 8, 24, 48]);
        assert_eq!(counts(&[], 6), [1, 2, 3, 6]);
        assert_eq!(counts(&[0, 7, 16], 16), [1, 2, 4, 8, 16]);
    }

    #[test]
    fn nearly_equal_partitions_are_units_and_fractions_too() {
        let cut = |count| nearly_equal(&[6, 24], 24, count);
        assert_eq!(cut(3), [12, 6, 6]);
        assert_eq!(cut(5), [6, 6, 6, 3, 3]);
        assert_eq!(cut(9), [3, 3, 3, 3, 3, 3, 2, 2, 2]);
        assert_eq!(cut(10), [3, 3, 3, 3, 2, 2, 2, 2, 2, 2]);
        assert_eq!(cut(16), [[2; 8], [1; 8]].concat());
        assert_eq!(cut(26).iter().sum::<u32>(), 26);
        for count in 1..=24 {
            let sizes = cut(count);
            assert_eq!((sizes.len() as u32, sizes.iter().sum::<u32>()), (count, 24), "{sizes:?}");
            assert!(sizes.iter().all(|size| [1, 2, 3, 6, 12, 24].contains(size)), "{sizes:?}");
        }
        assert_eq!(nearly_equal(&[8, 32, 256], 256, 3), [128, 64, 64]);
        assert_eq!(nearly_equal(&[], 7, 2), [4, 3]);
    }
}
