//! Which iterations of a `doacross` loop are posted (`ordered(n)` with `depend(source)` and `depend(sink)`).
//!
//! The state is in words that the members share. They are zero when the loop begins, and the first member
//! writes their header. The runtimes keep different things, and so differ in which programs don't hang: see
//! [`Posts`] and [`Flags`]. A second word or bit says what is waited for, so that a chunk, which posts every
//! iteration, wakes nobody in vain.

use super::worksharing::Rule;
use crate::sync::{AtomicU64, Ordering, in_order};

/// For gcc's code: how far each chunk of the outermost loop has come. An iteration that isn't posted counts
/// once a later one of its chunk is. Each loop's iterations are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub struct Posts<'a>(&'a [AtomicU64]);

/// Words before the loops' counts: number of loops, outer iterations of a chunk (0 for an even part of each
/// member), and members.
const POSTS_HEAD: usize = 3;

impl<'a> Posts<'a> {
    /// Words for nested loops of so many iterations, the outermost first.
    pub fn words(counts: &[u64], rule: Rule, size: u32) -> usize {
        let outer = counts.first().copied().unwrap_or(0);
        let chunks = match grain(rule) {
            0 => u64::from(size),
            grain => outer.div_ceil(grain),
        };
        let words = usize::try_from(chunks).unwrap_or(usize::MAX).saturating_mul(2);
        POSTS_HEAD.saturating_add(counts.len()).saturating_add(words)
    }

    /// Begins the loops in zeroed words.
    pub fn begin(words: &[AtomicU64], counts: &[u64], rule: Rule, size: u32) {
        let head = [counts.len() as u64, grain(rule), u64::from(size)];
        words.iter().zip(head.iter().chain(counts)).for_each(|(word, value)| {
            word.store(*value, Ordering::Relaxed);
        });
    }

    /// The loops in these words.
    pub fn of(words: &'a [AtomicU64]) -> Posts<'a> {
        Posts(words)
    }

    fn head(&self, at: usize) -> u64 {
        self.0.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// The words of an iteration's chunk, and what the first holds from that iteration on. `None` outside the
    /// loops: code for unsigned numbers may ask for such iterations.
    fn find(&self, mut at: impl Iterator<Item = u64>) -> Option<([&'a AtomicU64; 2], u64)> {
        let loops = self.head(0) as usize;
        let count = |number: usize| self.head(POSTS_HEAD.wrapping_add(number));
        let inside = |number, at: u64| (at < count(number)).then_some(at);
        let first = inside(0, at.next()?)?;
        let number = (1..loops).zip(at).try_fold(first, |all, (number, at)| {
            Some(all.wrapping_mul(count(number)).wrapping_add(inside(number, at)?))
        })?;
        let chunk = match self.head(1) {
            0 => owner(first, count(0), self.head(2))?,
            grain => first.checked_div(grain)?,
        };
        let behind =
            usize::try_from(chunk).ok()?.checked_mul(2)?.checked_add(POSTS_HEAD)?.checked_add(loops)?;
        Some(([self.0.get(behind)?, self.0.get(behind.checked_add(1)?)?], number.wrapping_add(1)))
    }

    /// Posts an iteration; only one member posts those of a chunk. Returns whether it, or one before it, was
    /// waited for.
    pub fn post(&self, at: impl Iterator<Item = u64>) -> bool {
        let Some(([posted, wanted], number)) = self.find(at) else { return false };
        if posted.load(Ordering::Relaxed) < number {
            posted.store(number, Ordering::SeqCst);
        }
        // Either a waiting member sees the post, or this sees that it waits.
        in_order();
        // 0 means that nothing is waited for, so the least number is kept inverted.
        let is_wanted = |wanted: u64| wanted != 0 && !wanted <= number;
        is_wanted(wanted.load(Ordering::SeqCst)) && wanted.swap(0, Ordering::SeqCst) != 0
    }

    /// Whether an iteration is posted, or none of the loop's. Its effects are visible then. If not,
    /// [`Self::post`] will return that it was waited for.
    pub fn is_posted(&self, at: impl Iterator<Item = u64>) -> bool {
        self.find(at).is_none_or(|([posted, wanted], number)| {
            let is_posted = || posted.load(Ordering::SeqCst) >= number;
            is_posted() || {
                wanted.fetch_max(!number, Ordering::SeqCst);
                in_order();
                is_posted()
            }
        })
    }
}

fn grain(rule: Rule) -> u64 {
    match rule {
        Rule::Static(chunk) => chunk,
        Rule::Dynamic(chunk) => chunk.max(1),
        // Chunks have all sizes.
        Rule::Guided(_) => 1,
    }
}

/// The member with this iteration, if each has an even part; the first have one more if there is a rest.
fn owner(iteration: u64, count: u64, size: u64) -> Option<u64> {
    let (even, more) = (count.checked_div(size)?, count.checked_rem(size)?);
    let larger = even.wrapping_add(1);
    let of_larger = more.wrapping_mul(larger);
    if iteration < of_larger {
        iteration.checked_div(larger)
    } else {
        Some(more.wrapping_add(iteration.wrapping_sub(of_larger).checked_div(even)?))
    }
}

/// One of several nested loops, as LLVM's runtime has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Dimension {
    /// Its first number.
    pub first: i64,
    /// The last number that it may reach.
    pub last: i64,
    /// Difference of two numbers.
    pub step: i64,
}

impl Dimension {
    /// Iterations before that number; `None` if it is outside.
    fn before(&self, number: i64) -> Option<u64> {
        let (low, high) = if self.step > 0 { (self.first, self.last) } else { (self.last, self.first) };
        let away = if self.step > 0 { number.wrapping_sub(low) } else { high.wrapping_sub(number) };
        if (low..=high).contains(&number) {
            (away as u64).checked_div(self.step.unsigned_abs())
        } else {
            None
        }
    }

    fn count(&self) -> u64 {
        let turned = if self.step > 0 { self.last >= self.first } else { self.last <= self.first };
        let span = if self.step > 0 {
            self.last.wrapping_sub(self.first)
        } else {
            self.first.wrapping_sub(self.last)
        };
        if !turned {
            return 0;
        }
        (span as u64).checked_div(self.step.unsigned_abs()).unwrap_or(0).saturating_add(1)
    }
}

/// For code of LLVM's compilers: one bit for each iteration of all loops. Only that iteration itself counts;
/// one outside the loops isn't waited for.
#[derive(Clone, Copy, Debug)]
pub struct Flags<'a>(&'a [AtomicU64]);

const FLAGS_HEAD: usize = 1;
const PER_LOOP: usize = 3;

impl<'a> Flags<'a> {
    /// Words for these nested loops, the outermost first.
    pub fn words(loops: &[Dimension]) -> usize {
        let all = loops.iter().fold(1u64, |all, one| all.saturating_mul(one.count()));
        let head = loops.len().saturating_mul(PER_LOOP).saturating_add(FLAGS_HEAD);
        head.saturating_add(usize::try_from(all.div_ceil(64)).unwrap_or(usize::MAX).saturating_mul(2))
    }

    /// Begins the loops in zeroed words.
    pub fn begin(words: &[AtomicU64], loops: &[Dimension]) {
        let bounds = loops.iter().flat_map(|one| [one.first, one.last, one.step]);
        let head = core::iter::once(loops.len() as u64).chain(bounds.map(|bound| bound as u64));
        words.iter().zip(head).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
    }

    /// The loops in these words.
    pub fn of(words: &'a [AtomicU64]) -> Flags<'a> {
        Flags(words)
    }

    /// Number of nested loops.
    pub fn loops(&self) -> usize {
        self.head(0) as usize
    }

    fn head(&self, at: usize) -> u64 {
        self.0.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// The iteration's words and bit.
    fn find(&self, at: &[i64]) -> Option<([&'a AtomicU64; 2], u64)> {
        let mut all = 0u64;
        for (number, at) in (0..self.loops()).zip(at) {
            let from = number.wrapping_mul(PER_LOOP).wrapping_add(FLAGS_HEAD);
            let [first, last, step] = [0, 1, 2].map(|bound| self.head(from.wrapping_add(bound)) as i64);
            let one = Dimension { first, last, step };
            all = all.wrapping_mul(one.count()).wrapping_add(one.before(*at)?);
        }
        let head = self.loops().wrapping_mul(PER_LOOP).wrapping_add(FLAGS_HEAD);
        let behind = head.checked_add(usize::try_from(all / 64).ok()?.checked_mul(2)?)?;
        Some(([self.0.get(behind)?, self.0.get(behind.checked_add(1)?)?], 1 << (all % 64)))
    }

    /// Posts an iteration. Returns whether it was waited for.
    pub fn post(&self, at: &[i64]) -> bool {
        let Some(([posted, wanted], bit)) = self.find(at) else { return false };
        posted.fetch_or(bit, Ordering::SeqCst);
        in_order();
        wanted.load(Ordering::SeqCst) & bit != 0
    }

    /// Whether an iteration is posted, or none of the loops'. Its effects are visible then. If not,
    /// [`Self::post`] will return that it was waited for.
    pub fn is_posted(&self, at: &[i64]) -> bool {
        self.find(at).is_none_or(|([posted, wanted], bit)| {
            let is_posted = || posted.load(Ordering::SeqCst) & bit != 0;
            is_posted() || {
                wanted.fetch_or(bit, Ordering::SeqCst);
                in_order();
                is_posted()
            }
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::gather::worksharing::{Assigned, Came, Loop, Shares};
    use proptest::prelude::*;

    fn zeros(words: usize) -> Vec<AtomicU64> {
        (0..words).map(|_| AtomicU64::new(0)).collect()
    }

    /// All vectors of loops of so many iterations, in order.
    fn vectors(counts: &[u64]) -> Vec<Vec<u64>> {
        counts.iter().fold(vec![vec![]], |all, count| {
            let more = |before: Vec<u64>| (0..*count).map(move |at| [&before[..], &[at]].concat());
            all.into_iter().flat_map(more).collect()
        })
    }

    fn rule() -> impl Strategy<Value = Rule> {
        prop_oneof![
            (1u64..5).prop_map(Rule::Dynamic),
            (1u64..5).prop_map(Rule::Guided),
            (0u64..5).prop_map(Rule::Static)
        ]
    }

    proptest! {
        /// Members that do what they are dealt out, by turns: who has posted has, and nobody else but those
        /// before it in its chunk.
        #[test]
        fn posts_of_a_chunk_count_from_then_on(
            counts in prop::collection::vec(1u64..7, 1..4), rule in rule(), size in 1u32..5,
        ) {
            let words = zeros(Posts::words(&counts, rule, size));
            Posts::begin(&words, &counts, rule, size);
            let posts = Posts::of(&words);
            let shares = Shares::<1>::new();
            let whole = Loop::signed(0, counts[0] as i64, 1, rule);
            let _: Came = shares.come(1, &whole);
            let all = vectors(&counts);
            let mut done = Vec::new();
            for member in 0..size {
                let mut hand = Assigned::default();
                while let Some((from, behind)) = shares.deal(1, (member, size), &mut hand) {
                    for at in all.iter().filter(|at| (from..behind).contains(&at[0])) {
                        // Asked for by the one below, too, but for the first time round.
                        let asked = !done.is_empty() || at[0] % 2 == 0;
                        if asked {
                            prop_assert!(!posts.is_posted(at.iter().copied()), "{at:?}");
                        }
                        prop_assert_eq!(posts.post(at.iter().copied()), asked);
                        done.push(at.clone());
                        let mut outside = at.clone();
                        *outside.last_mut().unwrap() = counts[counts.len() - 1];
                        prop_assert!(posts.is_posted(outside.into_iter()));
                        for other in &all {
                            let posted = posts.is_posted(other.iter().copied());
                            prop_assert_eq!(posted, done.contains(other), "{:?} after {:?}", other, at);
                        }
                    }
                }
            }
            prop_assert_eq!(done.len(), all.len());
        }

        #[test]
        fn each_iteration_has_a_flag_of_its_own(
            loops in prop::collection::vec((-9i64..9, 0u64..6, prop_oneof![-3i64..0, 1i64..4]), 1..4),
            picked in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        ) {
            let of = |(first, count, step): &(i64, u64, i64)| {
                Dimension { first: *first, last: first + (*count as i64 - 1) * step, step: *step }
            };
            let loops: Vec<_> = loops.iter().map(of).collect();
            let counts: Vec<u64> = loops.iter().map(Dimension::count).collect();
            let all: Vec<Vec<i64>> = vectors(&counts)
                .into_iter()
                .map(|at| at.iter().zip(&loops).map(|(at, one)| one.first + *at as i64 * one.step).collect())
                .collect();
            let words = zeros(Flags::words(&loops));
            Flags::begin(&words, &loops);
            let flags = Flags::of(&words);
            let picked: Vec<_> =
                if all.is_empty() { vec![] } else { picked.iter().map(|index| index.get(&all)).collect() };
            for (number, at) in picked.iter().enumerate() {
                let asked = number % 2 == 0 && !flags.is_posted(at);
                let again = picked[..number].contains(at);
                prop_assert!(again || flags.post(at) == asked);
            }
            for at in &all {
                prop_assert_eq!(flags.is_posted(at), picked.contains(&at));
            }
            let mut outside: Vec<i64> = loops.iter().map(|one| one.first).collect();
            outside[0] -= loops[0].step;
            prop_assert!(flags.is_posted(&outside));
        }

        #[test]
        fn each_iteration_has_one_owner(count in 0u64..60, size in 1u32..9) {
            let shares = Shares::<1>::new();
            let _: Came = shares.come(1, &Loop::signed(0, count as i64, 1, Rule::Static(0)));
            for member in 0..size {
                let dealt = shares.deal(1, (member, size), &mut Assigned::default());
                for iteration in dealt.map_or(0..0, |(from, behind)| from..behind) {
                    prop_assert_eq!(owner(iteration, count, size.into()), Some(member.into()));
                }
            }
        }
    }
}
