//! Bin packing of programs into last-level caches. Largest first, each where it leaves least, finds most
//! packings; else a bounded search with backtracking may miss one: the problem is NP-hard.

use std::cmp::Reverse;

/// Choices of the search times the number of bins: some 0.3 ms.
const STEPS: usize = 30_000;

/// A bin for each item; `sizes` are in falling order, `room` is what is left in each bin, and `prefer` is
/// larger for a better bin of an item. `None` if no packing was found, with `room` unchanged.
pub(super) fn pack(
    sizes: &[usize],
    room: &mut [usize],
    prefer: &dyn Fn(usize, usize) -> usize,
) -> Option<Vec<usize>> {
    // The search recurses once an item.
    if sizes.len() > 2_000 {
        return None;
    }
    let mut left: usize = sizes.iter().sum();
    let after = |size: &usize| {
        left -= size;
        left
    };
    let after: Vec<usize> = sizes.iter().map(after).collect();
    let steps = STEPS / room.len().max(1) + 2 * sizes.len();
    let mut search = Search { sizes, after, room, prefer, bins: Vec::with_capacity(sizes.len()), steps };
    search.run().then_some(search.bins)
}

struct Search<'a> {
    sizes: &'a [usize],
    /// The sum of sizes after each item.
    after: Vec<usize>,
    room: &'a mut [usize],
    prefer: &'a dyn Fn(usize, usize) -> usize,
    bins: Vec<usize>,
    steps: usize,
}

impl Search<'_> {
    fn run(&mut self) -> bool {
        let item = self.bins.len();
        let (Some(&size), Some(&smallest)) = (self.sizes.get(item), self.sizes.last()) else { return true };
        self.steps = self.steps.saturating_sub(1);
        let useful: usize = self.room.iter().filter(|&&room| room >= smallest).sum();
        if self.steps == 0 || useful < size + self.after[item] {
            return false;
        }
        let mut last = None;
        loop {
            // Of bins equally preferred and with as much room only the first is tried.
            let key = |bin: usize| (Reverse((self.prefer)(item, bin)), self.room[bin]);
            let open = (0..self.room.len()).filter(|&bin| self.room[bin] >= size).map(|bin| (key(bin), bin));
            let next = open.filter(|(key, _)| last.is_none_or(|last| *key > last)).min();
            let Some((key, bin)) = next else { return false };
            last = Some(key);
            self.room[bin] -= size;
            self.bins.push(bin);
            if self.run() {
                return true;
            }
            self.bins.pop();
            self.room[bin] += size;
            // What would fill this room could change places with the item, so no other bin will do either.
            if self.room[bin] == size || self.steps == 0 {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_largest_first_fails_the_search_finds_a_packing() {
        // 6 + 4, 5 + 5 and 4 + 3 + 3 fill all.
        let mut room = [10, 10, 10];
        let bins = pack(&[6, 5, 5, 4, 4, 3, 3], &mut room, &|_, _| 0).unwrap();
        assert_eq!(room, [0, 0, 0]);
        assert_eq!(bins.len(), 7);
    }

    #[test]
    fn what_does_not_fit_is_given_up_and_leaves_everything_as_it_was() {
        let mut room = [8, 8];
        assert!(pack(&[6, 5, 5], &mut room, &|_, _| 0).is_none());
        assert_eq!(room, [8, 8]);
        assert!(pack(&[1], &mut [], &|_, _| 0).is_none());
        assert_eq!(pack(&[], &mut [], &|_, _| 0), Some(Vec::new()));
    }

    #[test]
    fn of_several_ways_the_preferred_one_is_taken() {
        assert_eq!(pack(&[3], &mut [4, 3, 5], &|_, bin| usize::from(bin == 2)), Some(vec![2]));
        assert_eq!(pack(&[3], &mut [4, 3, 5], &|_, _| 0), Some(vec![1]));
    }
}
