//! Which iterations of a loop with a static schedule each thread of a team does, as LLVM's runtime deals them out
//! (`__kmp_for_static_init`). Its compilers leave that to the runtime; where a thread does the parts of others it has to be told theirs.
//!
//! That chunks go round is OpenMP's own rule. How a loop without chunks is cut is each runtime's: [`Deal::Balanced`] is what LLVM's (14) and
//! Intel's (2026) do unless `KMP_SCHEDULE` says otherwise. Every way of dealing gives each iteration to one thread.

/// How a loop's iterations are dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deal {
    /// Equal blocks, as many iterations as the largest share has; the last threads may get fewer or none. Blocks are a multiple of
    /// so many iterations, at least 1.
    Blocks(u64),
    /// Shares that differ by one iteration at most.
    Balanced,
    /// Chunks of so many iterations, at least 1, by turns.
    Chunks(u64),
}

/// What one thread does, in iterations: `count` of them, and with chunks again as many `stride` further on, for as long as there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Iterations before its first one.
    pub from: u64,
    /// How many it does, in its first chunk if there are more; at least 1.
    pub count: u64,
    /// From chunk to chunk.
    pub stride: u64,
    /// Whether the loop's last iteration is among them.
    pub has_last: bool,
}

/// How many iterations a loop has whose last number is at most `span` away from its first one, with so much from one to the next.
pub fn iterations(span: u64, step: u64) -> u64 {
    (span / step.max(1)).saturating_add(1)
}

impl Deal {
    /// What thread `number` of a team of `team` does of so many iterations; `None` if nothing.
    pub fn share(self, iterations: u64, number: u32, team: u32) -> Option<Share> {
        let all = iterations.max(1);
        if number >= team {
            return None;
        }
        let (number, team) = (u64::from(number), u64::from(team));
        let (from, count, stride) = match self {
            Deal::Blocks(multiple) => {
                let block = all.div_ceil(team).checked_next_multiple_of(multiple.max(1)).unwrap_or(u64::MAX);
                (number.saturating_mul(block), block, all)
            }
            Deal::Balanced => {
                let (small, more) = (all / team, all % team);
                (number * small + number.min(more), small + u64::from(number < more), all)
            }
            Deal::Chunks(chunk) => {
                let chunk = chunk.clamp(1, all);
                (number.saturating_mul(chunk), chunk, team.saturating_mul(chunk))
            }
        };
        if from >= iterations {
            return None;
        }
        let has_last = match self {
            Deal::Chunks(_) => (iterations - 1 - from) % stride.max(1) < count,
            _ => count >= iterations - from,
        };
        Some(Share { from, count: count.min(iterations - from), stride, has_last })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(all: u64, deal: Deal, team: u32) -> Vec<Option<(u64, u64)>> {
        (0..team).map(|me| deal.share(all, me, team).map(|share| (share.from, share.count))).collect()
    }

    #[test]
    fn loops_are_cut_as_llvms_runtime_cuts_them() {
        assert_eq!(shares(10, Deal::Blocks(1), 4), [Some((0, 3)), Some((3, 3)), Some((6, 3)), Some((9, 1))]);
        assert_eq!(shares(10, Deal::Balanced, 4), [Some((0, 3)), Some((3, 3)), Some((6, 2)), Some((8, 2))]);
        assert_eq!(shares(10, Deal::Chunks(4), 2), [Some((0, 4)), Some((4, 4))]);
        let first = Deal::Chunks(4).share(10, 0, 2);
        assert_eq!(first, Some(Share { from: 0, count: 4, stride: 8, has_last: true }));
        assert_eq!(shares(10, Deal::Blocks(4), 4), [Some((0, 4)), Some((4, 4)), Some((8, 2)), None]);
        assert_eq!(shares(2, Deal::Blocks(1), 3), [Some((0, 1)), Some((1, 1)), None]);
        assert_eq!(shares(0, Deal::Balanced, 2), [None; 2]);
        assert_eq!((iterations(9, 3), iterations(8, 3), iterations(0, 7)), (4, 3, 1));
    }

    fn any_deal() -> impl Strategy<Value = Deal> {
        prop_oneof![
            prop_oneof![1u64..9, any::<u64>()].prop_map(Deal::Blocks),
            Just(Deal::Balanced),
            prop_oneof![1u64..9, any::<u64>()].prop_map(Deal::Chunks)
        ]
    }

    proptest! {
        #[test]
        fn each_iteration_is_one_threads(all in 0u64..200, deal in any_deal(), team in 1u32..12) {
            let mut done = Vec::new();
            for me in 0..team {
                let Some(share) = deal.share(all, me, team) else { continue };
                let mut mine = Vec::new();
                let mut from = share.from;
                while from < all {
                    mine.extend(from..from.saturating_add(share.count).min(all));
                    if !matches!(deal, Deal::Chunks(_)) {
                        break;
                    }
                    from = from.saturating_add(share.stride);
                }
                prop_assert!(share.count > 0 && !mine.is_empty());
                prop_assert_eq!(share.has_last, mine.contains(&(all - 1)));
                done.extend(mine);
            }
            done.sort_unstable();
            prop_assert_eq!(done, (0..all).collect::<Vec<_>>());
        }

        #[test]
        fn the_longest_loops_do_not_overflow(all in any::<u64>(), deal in any_deal(), number in any::<u32>(), team in any::<u32>()) {
            if let Some(share) = deal.share(all, number, team) {
                prop_assert!(share.from < all && share.count <= all - share.from);
            }
        }
    }
}
