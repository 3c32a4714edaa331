//! What each block is within.
//!
//! A block is within iterations (or sections, a `single`, code for the first thread) if all ways to it lead
//! through a branch that says so. Where other ways come along, it is repeated by each thread.

use super::forks::{Context, Fork};
use super::runtime::{Role, role};
use super::values::Grant;
use super::{Function, Mode};
use crate::decode::Flow;
use crate::size_use::Callee;

/// Most passes over a function's blocks until their contexts stay as they are.
const MAX_PASSES: usize = 40;

impl Function<'_, '_> {
    /// What a block is within where ways meet: what all of them are, or nothing.
    fn met(&self, block: usize, contexts: &[Option<Context>], forks: &[Fork]) -> Option<Context> {
        let mut met = None;
        for before in &self.graph.blocks[block].before {
            let Some(context) = contexts[*before] else { continue };
            for (way, next) in self.graph.blocks[*before].next.iter().enumerate() {
                if *next == block {
                    let then = self.behind(*before, context, forks[*before], way);
                    met = Some(if met.is_none_or(|met| met == then) { then } else { Context::Repeated });
                }
            }
        }
        met
    }

    /// What each block is within at its beginning.
    pub fn find_contexts(&mut self) {
        let forks: Vec<Fork> = (0..self.graph.blocks.len()).map(|block| self.fork(block)).collect();
        let begins = match self.mode {
            Mode::Once => Context::Once,
            // Each task has iterations.
            Mode::TaskLoop => Context::Share,
            Mode::Repeated => Context::Repeated,
        };
        let mut contexts: Vec<Option<Context>> = vec![None; self.graph.blocks.len()];
        contexts[0] = Some(begins);
        let mut settled = false;
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for block in self.loops.order.iter().skip(1) {
                let met = self.met(*block, &contexts, &forks);
                changed |= contexts[*block] != met;
                contexts[*block] = met;
            }
            settled = !changed;
            if settled {
                break;
            }
        }
        if !settled {
            contexts.fill(Some(if self.mode == Mode::Once { Context::Once } else { Context::Split }));
        }
        self.forks = forks;
        self.contexts = contexts.into_iter().map(|context| context.unwrap_or(Context::Repeated)).collect();
    }

    /// The context on a way out of a block.
    pub fn behind(&self, block: usize, context: Context, fork: Fork, way: usize) -> Context {
        if self.mode == Mode::Once {
            return Context::Once;
        }
        if let Some(at) = self.last_step(block)
            && let Callee::Import(name) = self.frames.steps[at].callee
            && self.graph.steps[at].flow == Flow::Call
            && matches!(role(name), Role::Ends | Role::Chunk | Role::Section)
        {
            // gcc asks only once whether a thread has iterations of two loops with the same number.
            return match context {
                Context::Share if name == "GOMP_barrier" => context,
                Context::Once if role(name) != Role::Section => Context::Split,
                Context::Split => context,
                _ => Context::Repeated,
            };
        }
        match (fork, context) {
            (Fork::Guard(with), Context::Repeated | Context::Share) => {
                if way == with {
                    Context::Share
                } else {
                    Context::Repeated
                }
            }
            (_, Context::Split) => context,
            (Fork::Granted(Grant::Chunk, with), Context::Repeated | Context::Share) => {
                if way == with {
                    Context::Share
                } else {
                    Context::Repeated
                }
            }
            (Fork::Granted(Grant::Single | Grant::SingleCopy, with), Context::Repeated | Context::Share) => {
                if way == with {
                    Context::Once
                } else {
                    Context::Split
                }
            }
            (Fork::Section(with), _) => {
                if with.get(way) == Some(&true) {
                    Context::Once
                } else {
                    context
                }
            }
            (Fork::Sections, _) => match self.graph.blocks[block].zero {
                Some(zero) if self.graph.blocks[block].next.get(way) != Some(&zero) => Context::Once,
                _ => context,
            },
            (Fork::Last(with), Context::Share) if way == with => Context::Once,
            (Fork::First(with), Context::Repeated | Context::Share) => {
                if way == with {
                    Context::Once
                } else {
                    Context::Split
                }
            }
            _ => context,
        }
    }

    /// The last step of a block.
    pub fn last_step(&self, block: usize) -> Option<usize> {
        let block = &self.graph.blocks[block];
        block.end.checked_sub(1).filter(|at| *at >= block.first)
    }
}
