//! The loops in which threads go through the iterations that they have been given.

use super::function::{Function, Mode};
use super::loops::Loop;
use super::runtime::{Role, role};
use super::terms::{Context, Fork};
use crate::size_use::Callee;
use std::collections::BTreeSet;

impl Function<'_, '_> {
    /// The loops over iterations, by their headers.
    pub fn find_share_loops(&mut self) {
        let mut found = BTreeSet::new();
        if self.mode != Mode::Once {
            let is_in_share =
                |its: &Loop| its.entries.iter().any(|block| self.contexts[*block] == Context::Share);
            for its in &self.loops.all {
                let is_around = |other: &&Loop| {
                    other.blocks.len() > its.blocks.len() && other.has(its.entries[0]) && is_in_share(other)
                };
                let is_outermost = !self.loops.all.iter().any(|other| is_around(&other));
                if self.deals_out(its) || (is_in_share(its) && is_outermost) {
                    found.extend(&its.entries);
                }
            }
        }
        self.share_loops = found;
    }

    /// Whether a loop goes through a thread's iterations: by a comparison with where they end, or by asking
    /// the runtime for more.
    pub fn deals_out(&self, its: &Loop) -> bool {
        let asks = |fork: Fork| {
            matches!(
                fork,
                Fork::Share | Fork::Guard(_) | Fork::Granted(..) | Fork::Section(_) | Fork::Sections
            )
        };
        let leaves = its.exits(&self.graph).any(|(block, _)| asks(self.forks[block]));
        let is_innermost = |block: usize| {
            let within = |other: &&Loop| other.has(block) && other.blocks.len() < its.blocks.len();
            !self.loops.all.iter().any(|other| within(&other))
        };
        leaves || its.blocks.iter().any(|block| self.asks_for_more(*block) && is_innermost(*block))
    }

    pub fn asks_for_more(&self, block: usize) -> bool {
        let Some(at) = self.last_step(block) else { return false };
        match self.frames.steps[at].callee {
            Callee::Import(name) => {
                matches!(role(name), Role::Chunk | Role::Section) && name.contains("_next")
            }
            _ => false,
        }
    }
}
