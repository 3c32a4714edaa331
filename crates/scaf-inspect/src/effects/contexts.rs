//! What each block is within.
//!
//! A block is within iterations (or sections, a `single`, code for the first thread) if all ways to it lead
//! through a branch that says so. Where other ways come along, it is repeated by each thread.

use super::function::{Function, Mode};
use super::runtime::{Role, role};
use super::terms::{Context, Fork, Grant};
use crate::decode::Flow;
use crate::size_use::Callee;

/// Most passes over a function's blocks until their contexts stay as they are.
const MAX_PASSES: usize = 40;

/// What a block is within, and whether only threads come to it that have a share of a loop.
type Within = (Context, bool);

impl Function<'_, '_> {
    /// What a block is within where ways meet: what all of them are, or nothing.
    fn met(&self, block: usize, contexts: &[Option<Within>], forks: &[Fork]) -> Option<Within> {
        let mut met: Option<Within> = None;
        for before in &self.graph.blocks[block].before {
            let Some((context, has_share)) = contexts[*before] else { continue };
            for (way, next) in self.graph.blocks[*before].next.iter().enumerate() {
                if *next == block {
                    let mut then = self.behind(*before, context, forks[*before], way);
                    if has_share && matches!(forks[*before], Fork::Guard(_)) && context == Context::Share {
                        // Still those that have iterations of another loop.
                        then = Context::Share;
                    }
                    let has = self.has_share_behind(*before, has_share, forks[*before], way);
                    met = Some(match met {
                        None => (then, has),
                        Some((met, had)) if met == then => (then, had && has),
                        Some((_, had)) if had && has => (Context::Share, true),
                        Some(_) => (Context::Repeated, false),
                    });
                }
            }
        }
        match met {
            Some((Context::Split, true)) if self.meetings.contains(&block) => Some((Context::Share, true)),
            met => met,
        }
    }

    /// What each block is within at its beginning.
    pub fn find_contexts(&mut self) {
        let forks: Vec<Fork> = (0..self.graph.blocks.len()).map(|block| self.fork(block)).collect();
        self.meetings = self.meetings(&forks);
        let begins = match self.mode {
            Mode::Once => Context::Once,
            // Each task has iterations.
            Mode::TaskLoop => Context::Share,
            Mode::Repeated => Context::Repeated,
        };
        let mut contexts: Vec<Option<Within>> = vec![None; self.graph.blocks.len()];
        contexts[0] = Some((begins, false));
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
            let all = if self.mode == Mode::Once { Context::Once } else { Context::Split };
            contexts.fill(Some((all, false)));
        }
        self.forks = forks;
        let context = |within: Option<Within>| within.map_or(Context::Repeated, |(context, _)| context);
        self.contexts = contexts.into_iter().map(context).collect();
    }

    /// Whether all threads that go that way out of a block have iterations of a loop that is shared out by
    /// their number: gcc asks that once for two loops with the same number of iterations.
    fn has_share_behind(&self, block: usize, has_share: bool, fork: Fork, way: usize) -> bool {
        if let Some(at) = self.last_step(block)
            && let Callee::Import(name) = self.frames.steps[at].callee
            && self.graph.steps[at].flow == Flow::Call
            && matches!(role(name), Role::Ends | Role::Chunk | Role::Section)
            && name != "GOMP_barrier"
        {
            return false;
        }
        match fork {
            Fork::Guard(with) => has_share || way == with,
            Fork::Rest(Some(with)) if way == with => true,
            _ => has_share,
        }
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
            (Fork::Rest(Some(with)), Context::Repeated) if way == with => Context::Share,
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
