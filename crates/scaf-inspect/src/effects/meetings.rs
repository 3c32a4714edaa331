//! Where all threads that have iterations of a loop meet again behind a `single` or code for the first one: a
//! compiler asks each of them in its own place whether it has any, or not at all where it knows.

use super::function::Function;
use super::ssa::Id;
use super::terms::{Fork, Grant};
use crate::decode::Flow;
use std::collections::BTreeSet;

/// Most blocks of a function in which such places are looked for, and most of these.
const MAX_BLOCKS: usize = 4000;
const MAX_MEETINGS: usize = 16;

impl Function<'_, '_> {
    /// The blocks where they meet; none if there are several loops whose shares differ.
    pub fn meetings(&self, forks: &[Fork]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let guards: Vec<(usize, usize)> = forks
            .iter()
            .enumerate()
            .filter_map(|(block, fork)| match fork {
                Fork::Guard(with) => Some((block, *with)),
                _ => None,
            })
            .collect();
        let parts: Vec<usize> = (0..forks.len())
            .filter(|block| {
                matches!(
                    forks[*block],
                    Fork::First(_)
                        | Fork::Granted(Grant::Single | Grant::SingleCopy, _)
                        | Fork::Last(_)
                        | Fork::Section(_)
                        | Fork::Sections
                )
            })
            .collect();
        let bounds = |block: usize| -> Option<BTreeSet<Id>> {
            let by = self.last_step(block).and_then(|at| self.flags_of(at))?;
            let operands = self.graph.steps[by].operands.iter();
            let ids = operands.flat_map(|spot| self.ssa.operand(by, *spot));
            Some(ids.map(|id| self.root(id)).collect())
        };
        let one = guards.first().and_then(|(block, _)| bounds(*block)).filter(|one| one.len() == 2);
        let is_one_loop = one.is_some() && guards.iter().all(|(block, _)| bounds(*block) == one);
        if parts.is_empty() || !is_one_loop || forks.len() > MAX_BLOCKS {
            return found;
        }
        for (block, with) in &guards {
            if let Some(to) = self.graph.blocks[*block].next.get(*with)
                && self.graph.blocks[*to].before.len() > 1
                && found.len() < MAX_MEETINGS
                && self.all_meet_at(*to, &parts, forks)
            {
                found.insert(*to);
            }
        }
        found
    }

    /// Whether all ways from where threads part lead there, for those that have iterations.
    fn all_meet_at(&self, meeting: usize, parts: &[usize], forks: &[Fork]) -> bool {
        let ways = |block: usize| -> Vec<usize> {
            let next = &self.graph.blocks[block].next;
            match forks[block] {
                Fork::Guard(with) => next.get(with).copied().into_iter().collect(),
                _ => next.clone(),
            }
        };
        let from = |begin: Vec<usize>, end: Option<usize>| -> BTreeSet<usize> {
            let mut met: BTreeSet<usize> = begin.iter().copied().collect();
            let mut work = begin;
            while let Some(block) = work.pop() {
                if Some(block) != end {
                    work.extend(ways(block).into_iter().filter(|next| met.insert(*next)));
                }
            }
            met
        };
        let all = from(vec![0], None);
        let its: Vec<usize> = parts
            .iter()
            .filter(|part| all.contains(part) && from(vec![**part], None).contains(&meeting))
            .copied()
            .collect();
        !its.is_empty()
            && its.iter().all(|part| {
                let between = from(ways(*part), Some(meeting));
                between.iter().all(|block| {
                    let is_end = self.graph.blocks[*block].next.is_empty();
                    let shares = matches!(forks[*block], Fork::Share | Fork::Granted(..) | Fork::First(_));
                    *block == meeting || !(is_end || self.graph.blocks[*block].returns || shares)
                }) && between.contains(&meeting)
                    && between.iter().all(|block| {
                        let last = self.last_step(*block);
                        last.is_none_or(|at| self.graph.steps[at].flow != Flow::Return)
                    })
            })
    }
}
