//! Loops as LLVM's runtime is told of them and tells of them: by first and last number. It also deals loops
//! with a static schedule out chunk by chunk, where the schedule isn't known when the code is compiled.

use super::worksharing::{Loop, Rule};
use crate::static_schedule::StaticSchedule;

/// A chunk of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// Its first number.
    pub first: u64,
    /// Its last number.
    pub last: u64,
    /// From one number to the next.
    pub step: u64,
    /// Whether the loop's last iteration is in it.
    pub is_last: bool,
}

/// The loop of `count` numbers from `first` on.
pub fn whole(first: u64, step: u64, count: u64, rule: Rule) -> Loop {
    Loop { start: first, end: first.wrapping_add(count.wrapping_mul(step)), step, count, rule }
}

/// The chunk with `from` iterations before it, up to that with `behind` before it.
pub fn chunk(whole: &Loop, (from, behind): (u64, u64)) -> Chunk {
    let at = |iteration: u64| whole.start.wrapping_add(iteration.wrapping_mul(whole.step));
    Chunk {
        first: at(from),
        last: at(behind.wrapping_sub(1)),
        step: whole.step,
        is_last: behind == whole.count,
    }
}

/// The chunk that thread `number` of a team of `team` does in its turn, 0 for the first; in iterations, as
/// [`chunk`] is told of it. `None` if it has no further one.
pub fn in_turn(deal: StaticSchedule, count: u64, number: u32, team: u32, turn: u64) -> Option<(u64, u64)> {
    let share = deal.share(count, number, team)?;
    let StaticSchedule::Chunks(chunk) = deal else {
        return (turn == 0).then_some((share.from, share.from.wrapping_add(share.count)));
    };
    let chunk = chunk.clamp(1, count.max(1));
    let from = chunk.checked_mul(u64::from(team))?.checked_mul(turn)?.checked_add(share.from)?;
    (from < count).then(|| (from, from.saturating_add(chunk).min(count)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chunk_has_a_first_and_a_last_number() {
        let down = whole(20, 3u64.wrapping_neg(), 6, Rule::Dynamic(4));
        let step = down.step;
        assert_eq!(chunk(&down, (0, 4)), Chunk { first: 20, last: 11, step, is_last: false });
        assert_eq!(chunk(&down, (4, 6)), Chunk { first: 8, last: 5, step, is_last: true });
        assert_eq!(down.end, 2);
    }

    proptest! {
        #[test]
        fn turns_together_are_the_whole_loop(
            count in 0u64..200, team in 1u32..9, size in 0u64..250,
        ) {
            let deal = if size == 0 { StaticSchedule::Balanced } else { StaticSchedule::Chunks(size) };
            let mut done = vec![0; count as usize];
            for number in 0..team {
                let mut turn = 0;
                while let Some((from, behind)) = in_turn(deal, count, number, team, turn) {
                    done[from as usize..behind as usize].iter_mut().for_each(|times| *times += 1);
                    turn += 1;
                }
            }
            prop_assert!(done.iter().all(|times| *times == 1), "{done:?}");
        }
    }
}
