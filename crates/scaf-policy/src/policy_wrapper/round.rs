//! The turns of a round: who runs in which slice. Each slice has those that are behind, the earliest due
//! first, then whoever fits beside. The round's length is the one at which everyone is nearest to its due. A
//! thousand units take about a millisecond: each choice costs the logarithm of their number.

use crate::{ProgramId, Turn};
use std::collections::BTreeMap;

/// Slices in a round, if enough for everyone: at 50 ms a second, the longest that anyone should be stopped.
pub(super) const MOST_SLICES: u32 = 20;
/// Else so many times the slices in which everyone can have one; what is due is right to that part.
const MOST_ROUNDS: u64 = 8;

pub(super) struct Unit {
    pub members: Vec<ProgramId>,
    /// Contexts, 1 to the capacity.
    pub need: u32,
    pub weight: f64,
    /// The weight if all programs weighed alike.
    pub heads: f64,
}

/// The share of time in which each unit is due to run, 0 to 1: the same context-time for each `weight`.
pub(super) fn rates(capacity: u32, units: &[Unit], weight: impl Fn(&Unit) -> f64) -> Vec<f64> {
    // Units that run all the time at the lowest level of context-time first; the level only rises by that.
    let mut order: Vec<usize> = (0..units.len()).collect();
    let filled = |i: usize| f64::from(units[i].need) / weight(&units[i]);
    order.sort_by(|&a, &b| filled(a).total_cmp(&filled(b)));
    let mut rest = vec![0.0; units.len() + 1];
    for (at, &i) in order.iter().enumerate().rev() {
        rest[at] = rest[at + 1] + weight(&units[i]);
    }
    let mut free = f64::from(capacity);
    let mut rates = vec![1.0; units.len()];
    for (at, &i) in order.iter().enumerate() {
        let level = free.max(0.0) / rest[at];
        if level * weight(&units[i]) / f64::from(units[i].need) < 1.0 {
            for &i in &order[at..] {
                rates[i] = level * weight(&units[i]) / f64::from(units[i].need);
            }
            break;
        }
        free -= f64::from(units[i].need);
    }
    rates
}

/// The longest round considered: a slice for each unit, or the time due to each user, within bounds.
fn longest(capacity: u32, units: &[Unit]) -> u32 {
    let needs: u64 = units.iter().map(|unit| u64::from(unit.need)).sum();
    let once = needs.div_ceil(u64::from(capacity.max(1)));
    let least = rates(capacity, units, |unit| unit.heads).into_iter().fold(1.0, f64::min);
    let wanted = ((1.0 / least.max(1e-9)).ceil() as u64).max(units.len() as u64);
    u32::try_from(wanted.min(MOST_ROUNDS * once)).unwrap_or(u32::MAX).max(MOST_SLICES)
}

/// The turns of a round; none where all units run at once.
pub(super) fn round(capacity: u32, units: &[Unit]) -> Vec<Turn> {
    let most = longest(capacity, units) as usize;
    // Each unit is due at least a slice of the longest round.
    let rates: Vec<f64> =
        rates(capacity, units, |unit| unit.weight).iter().map(|rate| rate.max(1.0 / most as f64)).collect();
    let mut queue = Queue::new(units, &rates);
    let mut had = vec![0u32; units.len()];
    let mut without = units.len();
    let mut slices: Vec<Vec<usize>> = Vec::new();
    let (mut best, mut furthest) = ((f64::INFINITY, 0), 0);
    while slices.len() < most || without > 0 {
        if slices.len() == 2 * most {
            // Extreme weights and needs that don't fit together: a slice for each that has had none.
            (0..units.len()).filter(|&i| had[i] > 0).for_each(|i| queue.leave(i));
        }
        let mut slice = queue.next(capacity);
        for &i in &slice {
            without -= usize::from(had[i] == 0);
            had[i] += 1;
        }
        if slices.len() < 2 * most {
            slice.iter().for_each(|&i| queue.come(i, had[i], slices.len() + 1));
        }
        slice.sort_unstable();
        slices.push(slice);
        if without > 0 {
            continue;
        }
        // How far anyone would be from its due if the round ended here; first the last length's furthest.
        let length = slices.len() as f64;
        let off = |i: usize| (f64::from(had[i]) / length - rates[i]).abs();
        let too_far = |i: &usize| off(*i) >= best.0 - 1e-9;
        match Some(furthest).filter(too_far).or_else(|| (0..units.len()).find(too_far)) {
            Some(i) => furthest = i,
            None => best = ((0..units.len()).map(off).fold(0.0, f64::max), slices.len()),
        }
        if best.0 < 1e-9 {
            break;
        }
    }
    slices.truncate(best.1);
    turns(units, &slices)
}

/// Slices as turns: equal successive slices are one turn, and units in all slices are in no turn.
fn turns(units: &[Unit], slices: &[Vec<usize>]) -> Vec<Turn> {
    let mut had = vec![0; units.len()];
    slices.iter().flatten().for_each(|&i| had[i] += 1);
    let mut turns: Vec<Turn> = Vec::new();
    for slice in slices {
        let now = slice.iter().filter(|&&i| had[i] < slices.len());
        let mut members: Vec<ProgramId> = now.flat_map(|&i| units[i].members.iter().copied()).collect();
        members.sort_unstable();
        match turns.last_mut() {
            Some(last) if last.members == members => last.slices += 1,
            _ => turns.push(Turn { slices: 1, members }),
        }
    }
    if turns.len() > 1 { turns } else { Vec::new() }
}

/// Who is next among those who fit: a tournament over the units in order of their needs.
struct Queue<'a> {
    rates: &'a [f64],
    /// Needs, smallest first, and each unit's place there.
    needs: Vec<u32>,
    place: Vec<usize>,
    /// By unit: whether it has had all that was due by now, and the slice by which its next one is due.
    keys: Vec<(bool, f64)>,
    /// The slice from which on each unit is behind.
    due_from: Vec<usize>,
    /// Winners; the second half are the leaves, one for each place. `None` where nobody waits.
    tree: Vec<Option<usize>>,
    /// Units by `due_from`; outdated entries stay.
    later: BTreeMap<usize, Vec<usize>>,
    now: usize,
}

impl<'a> Queue<'a> {
    fn new(units: &[Unit], rates: &'a [f64]) -> Queue<'a> {
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|&i| units[i].need);
        let mut place = vec![0; units.len()];
        order.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        let leaves = units.len().next_power_of_two();
        let mut queue = Queue {
            rates,
            needs: order.iter().map(|&i| units[i].need).collect(),
            place,
            keys: vec![(false, 0.0); units.len()],
            due_from: vec![0; units.len()],
            tree: vec![None; 2 * leaves],
            later: BTreeMap::new(),
            now: 0,
        };
        (0..units.len()).for_each(|i| queue.come(i, 0, 0));
        queue
    }

    /// A unit that has had `had` slices waits for its next one at `now`.
    fn come(&mut self, i: usize, had: u32, now: usize) {
        let due_from = ((f64::from(had) - 1e-9) / self.rates[i]).ceil().max(0.0) as usize;
        self.due_from[i] = due_from;
        self.keys[i] = (due_from > now, f64::from(had + 1) / self.rates[i]);
        if due_from > now {
            self.later.entry(due_from).or_default().push(i);
        }
        self.set(i, Some(i));
    }

    fn leave(&mut self, i: usize) {
        self.set(i, None);
    }

    /// Who runs in the next slice; all of them leave the queue.
    fn next(&mut self, capacity: u32) -> Vec<usize> {
        while let Some(entry) = self.later.first_entry().filter(|entry| *entry.key() <= self.now) {
            for i in entry.remove() {
                if self.due_from[i] <= self.now && self.waits(i) {
                    self.keys[i].0 = false;
                    self.set(i, Some(i));
                }
            }
        }
        self.now += 1;
        let (mut left, mut slice) = (capacity, Vec::new());
        while let Some(i) = self.first(left) {
            left -= self.needs[self.place[i]];
            slice.push(i);
            self.leave(i);
        }
        slice
    }

    fn waits(&self, i: usize) -> bool {
        self.tree[self.tree.len() / 2 + self.place[i]].is_some()
    }

    /// The first unit that needs at most `left`.
    fn first(&self, left: u32) -> Option<usize> {
        let (mut from, mut to) = (self.tree.len() / 2, self.tree.len() / 2);
        to += self.needs.partition_point(|need| *need <= left);
        let mut best = None;
        while from < to {
            if from % 2 == 1 {
                best = self.better(best, self.tree[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                best = self.better(best, self.tree[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        best
    }

    fn set(&mut self, i: usize, unit: Option<usize>) {
        let mut at = self.tree.len() / 2 + self.place[i];
        self.tree[at] = unit;
        while at > 1 {
            at /= 2;
            self.tree[at] = self.better(self.tree[2 * at], self.tree[2 * at + 1]);
        }
    }

    /// Who is behind, then whose slice is due earlier, then who arrived earlier.
    fn better(&self, a: Option<usize>, b: Option<usize>) -> Option<usize> {
        let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
        let (one, other) = (self.keys[a], self.keys[b]);
        let order = one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(a.cmp(&b));
        Some(if order.is_le() { a } else { b })
    }
}
