//! Static schedules as LLVM's runtime distributes them (`__kmpc_for_static_init_*`). Chunks by turns are as
//! OpenMP specifies. Without a chunk size, [`StaticSchedule::Balanced`] is what LLVM's (14) and Intel's
//! (2026) do unless `KMP_SCHEDULE` says otherwise. Some compilers use the stride without chunks, or ask for
//! an empty loop's.

/// How a loop's iterations are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticSchedule {
    /// Equal blocks, multiples of so many iterations (at least 1); the last threads may get less or nothing.
    Blocks(u64),
    /// Shares that differ by one iteration at most.
    Balanced,
    /// Chunks of so many iterations, at least 1, by turns.
    Chunks(u64),
}

/// A thread's share, in iterations; the first chunk if there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Iterations before its first one.
    pub from: u64,
    /// How many it does, at least 1.
    pub count: u64,
    /// Whether it contains the loop's last iteration.
    pub has_last: bool,
}

impl StaticSchedule {
    /// The share of thread `number` in a team of `team`; `None` if it has nothing to do.
    pub fn share(self, iterations: u64, number: u32, team: u32) -> Option<Share> {
        let all = iterations.max(1);
        if number >= team {
            return None;
        }
        let (number, team) = (u64::from(number), u64::from(team));
        let (from, count) = match self {
            StaticSchedule::Blocks(multiple) => {
                let block = all.div_ceil(team).checked_next_multiple_of(multiple.max(1)).unwrap_or(u64::MAX);
                (number.saturating_mul(block), block)
            }
            StaticSchedule::Balanced => {
                let (small, more) = (all / team, all % team);
                (number * small + number.min(more), small + u64::from(number < more))
            }
            StaticSchedule::Chunks(chunk) => {
                let chunk = chunk.clamp(1, all);
                (number.saturating_mul(chunk), chunk)
            }
        };
        if from >= iterations {
            return None;
        }
        let has_last = match self {
            StaticSchedule::Chunks(_) => (iterations - 1 - from) % count.saturating_mul(team).max(1) < count,
            _ => count >= iterations - from,
        };
        Some(Share { from, count: count.min(iterations - from), has_last })
    }

    fn stride(self, iterations: u64, team: u32) -> u64 {
        match self {
            StaticSchedule::Chunks(chunk) => {
                let chunk = chunk.clamp(1, iterations.max(1));
                chunk.saturating_mul(iterations.div_ceil(chunk).min(u64::from(team)))
            }
            _ => iterations,
        }
    }
}

/// A type of loop variables.
pub trait Number: Copy + PartialOrd {
    /// The difference of two numbers.
    type Difference: Copy;

    /// Iterations from `first` to `last`, wrapping in the type's bits as in the runtime.
    fn trips(first: Self, last: Self, step: Self::Difference) -> u64;

    /// The number so many iterations further on.
    fn after(self, iterations: u64, step: Self::Difference) -> Self;

    /// Whether nothing lies from `first` to `last` in the direction of the step.
    fn is_nothing(first: Self, last: Self, step: Self::Difference) -> bool;

    /// So many iterations as a difference, and that times the step.
    fn strides(iterations: u64, step: Self::Difference) -> (Self::Difference, Self::Difference);
}

macro_rules! numbers {
    ($($number:ty, $unsigned:ty, $difference:ty;)*) => {
        $(
            impl Number for $number {
                type Difference = $difference;

                fn trips(first: $number, last: $number, step: $difference) -> u64 {
                    let span = if step > 0 { last.wrapping_sub(first) } else { first.wrapping_sub(last) };
                    u64::from((span as $unsigned / step.unsigned_abs().max(1)).wrapping_add(1))
                }

                fn after(self, iterations: u64, step: $difference) -> $number {
                    self.wrapping_add((iterations as $difference).wrapping_mul(step) as $number)
                }

                fn is_nothing(first: $number, last: $number, step: $difference) -> bool {
                    if step > 0 { last < first } else { first < last }
                }

                fn strides(iterations: u64, step: $difference) -> ($difference, $difference) {
                    (iterations as $difference, (iterations as $difference).wrapping_mul(step))
                }
            }
        )*
    };
}

numbers! {
    i32, u32, i32;
    u32, u32, i32;
    i64, u64, i64;
    u64, u64, i64;
}

/// What the runtime returns to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<N, D> {
    /// Its first number; beyond the loop's last one if it has nothing to do.
    pub first: N,
    /// Its last number; of the first chunk if there are several.
    pub last: N,
    /// The difference from chunk to chunk.
    pub stride: D,
    /// Whether it has the loop's last iteration.
    pub has_last: bool,
}

/// What thread `number` of a team of `team` gets of the loop from `first` to `last`.
pub fn answer<N: Number>(
    deal: StaticSchedule,
    (first, last, step): (N, N, N::Difference),
    number: u32,
    team: u32,
) -> Answer<N, N::Difference> {
    if N::is_nothing(first, last, step) {
        return Answer { first, last, stride: step, has_last: false };
    }
    let all = N::trips(first, last, step);
    let (plain, stepped) = N::strides(deal.stride(all, team), step);
    let stride = if matches!(deal, StaticSchedule::Chunks(_)) { stepped } else { plain };
    match deal.share(all, number, team) {
        Some(Share { from, count, has_last }) => Answer {
            first: first.after(from, step),
            last: first.after(from + (count - 1), step),
            stride,
            has_last,
        },
        None => Answer { first: last.after(1, step), last, stride, has_last: false },
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::StaticSchedule::{Balanced, Blocks, Chunks};
    use super::*;
    use proptest::prelude::*;

    fn shares(all: u64, deal: StaticSchedule, team: u32) -> Vec<Option<(u64, u64)>> {
        (0..team).map(|me| deal.share(all, me, team).map(|share| (share.from, share.count))).collect()
    }

    #[test]
    fn loops_are_cut_as_llvms_runtime_cuts_them() {
        assert_eq!(shares(10, Blocks(1), 4), [Some((0, 3)), Some((3, 3)), Some((6, 3)), Some((9, 1))]);
        assert_eq!(shares(10, Balanced, 4), [Some((0, 3)), Some((3, 3)), Some((6, 2)), Some((8, 2))]);
        assert_eq!(shares(10, Chunks(4), 2), [Some((0, 4)), Some((4, 4))]);
        assert_eq!(shares(10, Blocks(4), 4), [Some((0, 4)), Some((4, 4)), Some((8, 2)), None]);
        assert_eq!(shares(2, Blocks(1), 3), [Some((0, 1)), Some((1, 1)), None]);
        assert_eq!(shares(0, Balanced, 2), [None; 2]);
    }

    fn answered<N, D>(first: N, last: N, stride: D, has_last: bool) -> Answer<N, D> {
        Answer { first, last, stride, has_last }
    }

    #[test]
    fn what_llvms_runtime_was_seen_to_tell() {
        // For a loop known to be empty, code asks from 0 to the largest number, and goes by their difference.
        assert_eq!(answer(Balanced, (0u32, u32::MAX, 1), 2, 4), answered(0, u32::MAX, 0, false));
        assert_eq!(answer(Balanced, (0u64, u64::MAX, 1), 2, 4), answered(0, u64::MAX, 0, false));
        let (n, chunk) = (1_023_733_064i32, 801_722_143);
        assert_eq!(answer(Chunks(chunk), (0, n, 1), 0, 6), answered(0, 801_722_142, 1_603_444_286, false));
        assert_eq!(answer(Chunks(chunk), (0, n, 1), 3, 6), answered(n + 1, n, 1_603_444_286, false));
        assert_eq!(answer(Chunks(1 << 29), (0, (1 << 30) - 1, 1), 7, 8).stride, 1 << 30);
        assert_eq!(answer(Balanced, (5i64, 4, 1), 0, 2), answered(5, 4, 1, false));
    }

    fn any_deal() -> impl Strategy<Value = StaticSchedule> {
        prop_oneof![
            prop_oneof![1u64..9, any::<u64>()].prop_map(Blocks),
            Just(Balanced),
            prop_oneof![1u64..9, any::<u64>()].prop_map(Chunks)
        ]
    }

    fn run<N, D: Copy + Into<i128>>(deal: StaticSchedule, answer: Answer<N, D>, last: N, step: D) -> Vec<i128>
    where
        N: Number<Difference = D> + Into<i128>,
    {
        let (step, stride, end): (i128, i128, i128) = (step.into(), answer.stride.into(), last.into());
        let (mut from, mut to): (i128, i128) = (answer.first.into(), answer.last.into());
        let within = |at: i128, to: i128| if step > 0 { at <= to } else { at >= to };
        let mut done = Vec::new();
        loop {
            let to_here = if within(to, end) { to } else { end };
            let mut at = from;
            while within(at, to_here) {
                done.push(at);
                at += step;
            }
            if !matches!(deal, Chunks(_)) || !within(from + stride, end) || stride == 0 {
                return done;
            }
            (from, to) = (from + stride, to + stride);
        }
    }

    fn all_once<N, D: Copy + Into<i128>>(
        deal: StaticSchedule,
        (first, last, step): (N, N, D),
        team: u32,
    ) -> bool
    where
        N: Number<Difference = D> + Into<i128>,
    {
        let answers: Vec<Answer<N, D>> =
            (0..team).map(|me| answer(deal, (first, last, step), me, team)).collect();
        let runs: Vec<Vec<i128>> = answers.iter().map(|answer| run(deal, *answer, last, step)).collect();
        let mut done: Vec<i128> = runs.iter().flatten().copied().collect();
        done.sort_unstable();
        let by: i128 = step.into();
        let within = |at: &i128| if by > 0 { *at <= last.into() } else { *at >= last.into() };
        let mut expected: Vec<i128> =
            std::iter::successors(Some(first.into()), |at| Some(at + by)).take_while(within).collect();
        let ends = expected.last().copied();
        expected.sort_unstable();
        done == expected
            && answers
                .iter()
                .zip(&runs)
                .all(|(answer, run)| answer.has_last == (ends.is_some() && run.contains(&ends.unwrap_or(0))))
    }

    proptest! {
        #[test]
        fn each_iteration_is_one_threads(
            base in prop_oneof![
                Just(0i64), Just(i64::from(i32::MAX) - 400), Just(i64::from(i32::MIN) + 400), -50i64..50
            ],
            span in -3i64..200, step in prop_oneof![-7i32..0, 1i32..8], deal in any_deal(), team in 1u32..12,
        ) {
            let (first, last) = if step > 0 { (base, base + span) } else { (base + 200, base + 200 - span) };
            prop_assert!(all_once(deal, (first as i32, last as i32, step), team));
            prop_assert!(all_once(deal, (first, last, i64::from(step)), team));
            let up = 1u64 << 40;
            let both = (up.wrapping_add_signed(first), up.wrapping_add_signed(last));
            prop_assert!(all_once(deal, (both.0, both.1, i64::from(step)), team));
            let first = (1u32 << 31).wrapping_add_signed(first as i32 / 2);
            let last = first.wrapping_add_signed(span.max(0) as i32);
            prop_assert!(all_once(deal, (first, last, step.abs()), team));
        }

        #[test]
        fn the_longest_loops_do_not_overflow(
            all in any::<u64>(), deal in any_deal(), number in any::<u32>(), team in any::<u32>(),
            ends in any::<(i64, i64, i64)>(),
        ) {
            if let Some(share) = deal.share(all, number, team) {
                prop_assert!(share.from < all && share.count <= all - share.from);
            }
            answer(deal, ends, number, team);
            answer(deal, (ends.0 as u32, ends.1 as u32, ends.2 as i32), number, team);
        }
    }
}
