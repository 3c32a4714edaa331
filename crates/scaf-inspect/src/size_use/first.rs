//! Branches on whether a thread is the first of its team: which of them are safe for any team size.
//!
//! Every team has a first thread, so code for it alone (`omp master`) always runs; code for all others does
//! not run in a team of one. A branch is harmless if it merely skips code for the others: all of the first
//! thread's paths then reach the others' target.

use super::frame::{First, Frame};
use crate::decode::{Flow, Target};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const SPLITS: &str = "has code that the first thread of a team does not come to";
/// Most such branches in one function; each is followed over the whole function.
const MAX_FIRSTS: usize = 64;
const MAX_HOPS: usize = 4;

impl Frame {
    /// The branches that do more than skip code; call this when all edges are known.
    pub fn splits(&self) -> Vec<u64> {
        let strange = |(count, branch): &(usize, &First)| *count >= MAX_FIRSTS || !self.merely_skips(branch);
        self.firsts.iter().enumerate().filter(strange).map(|(_, branch)| branch.at).collect()
    }

    /// Whether all paths of the first thread lead to the others' target, or end the program.
    fn merely_skips(&self, branch: &First) -> bool {
        if self.merely_returns(branch.other) {
            return !branch.answers;
        }
        let mut before: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut seen = BTreeSet::from([branch.first]);
        let mut work = vec![branch.first];
        let mut ends = vec![branch.other];
        while let Some(block) = work.pop() {
            if block == branch.other {
                continue;
            }
            if block == branch.block || self.leaving.contains(&block) {
                return false;
            }
            let Some(next) = self.edges.get(&block) else { return false };
            if next.is_empty() {
                ends.push(block);
            }
            for target in next {
                before.entry(*target).or_default().push(block);
                if seen.insert(*target) {
                    work.push(*target);
                }
            }
        }
        // A loop without an exit holds the first thread forever.
        let mut arriving: BTreeSet<u64> = ends.iter().copied().collect();
        while let Some(block) = ends.pop() {
            for earlier in before.get(&block).into_iter().flatten() {
                if arriving.insert(*earlier) {
                    ends.push(*earlier);
                }
            }
        }
        seen.is_subset(&arriving)
    }

    /// Whether `block` only returns: gcc gives such a path a return of its own.
    fn merely_returns(&self, block: u64) -> bool {
        let mut block = block;
        for _ in 0..MAX_HOPS {
            let Some(instructions) = self.blocks.get(&block) else { return false };
            let Some((last, rest)) = instructions.split_last() else { return false };
            if !rest.iter().all(|instruction| instruction.takes_down_frame) {
                return false;
            }
            match (last.flow, last.target) {
                (Flow::Return, _) => return true,
                (Flow::Jump, Target::Code(target)) => block = target,
                _ => return false,
            }
        }
        false
    }
}
