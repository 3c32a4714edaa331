//! Branches on whether a thread is the first of its team: which of them are safe for any team size.
//!
//! Every team has a first thread, so code for it alone (`omp master`) always runs. Code for all others does
//! not: if the first thread only communicates while the others work, a team of one never does the work. A
//! branch is harmless if it merely skips code: all of the first thread's paths then reach the others' target.

use super::code::{Callee, Code};
use super::frame::{First, Frame};
use crate::decode::abi::{SCRATCH, STACK_POINTER};
use crate::decode::{Action, Flow, Operand, Operation, Target};
use crate::functions::is_idle;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const SPLITS: &str = "has code that the first thread of a team does not come to";
/// Most such branches in one function; each is followed over the whole function.
const MAX_FIRSTS: usize = 64;
const MAX_HOPS: usize = 4;
/// Most blocks in which others do nothing.
const MAX_IDLE: usize = 16;

impl Frame {
    /// The branches that do more than skip code; call this when all edges are known.
    pub fn splits(&self) -> Vec<u64> {
        let merely_skips = |branch: &First| self.merely_skips(branch, branch.other);
        let harmless = |branch: &First| merely_skips(branch) || self.others_do_nothing(branch);
        let strange = |(count, branch): &(usize, &First)| *count >= MAX_FIRSTS || !harmless(branch);
        self.firsts.iter().enumerate().filter(strange).map(|(_, branch)| branch.at).collect()
    }

    /// Whether all that others do before the first thread comes to them, or they return, changes nothing but
    /// registers and the own stack. Compilers make copies of code behind such a branch, in which they know
    /// who comes there, or what else it asked for.
    fn others_do_nothing(&self, branch: &First) -> bool {
        let others = |block: &u64| {
            self.firsts.iter().find(|first| first.block == *block && first.alone).map(|first| first.other)
        };
        let mut seen = BTreeSet::from([branch.other]);
        let mut work = vec![branch.other];
        while let Some(block) = work.pop() {
            if self.merely_skips(branch, block) {
                continue;
            }
            if seen.len() > MAX_IDLE || !self.idle.contains(&block) {
                return false;
            }
            let Some(next) = self.edges.get(&block) else { return false };
            let next = match others(&block) {
                Some(other) => vec![other],
                None => next.clone(),
            };
            work.extend(next.into_iter().filter(|block| seen.insert(*block)));
        }
        true
    }

    /// The instructions of a block, which ends where another begins.
    pub fn instructions(&self, block: u64) -> impl Iterator<Item = &Operation> {
        let all = self.blocks.get(&block).into_iter().flat_map(|instructions| instructions.iter());
        all.take_while(move |i| i.address == block || !self.cuts.contains(&i.address))
    }

    /// Whether a block changes nothing but registers and the own stack, and doesn't leave the function but by
    /// returning. Others may also wait for each other at a barrier, and ask about the team.
    pub fn is_idle(&self, block: u64, code: &Code<'_>) -> bool {
        let idle = |target| matches!(code.callee(target), Callee::Import(name) if is_idle(name));
        self.instructions(block).all(|i| {
            let on_stack =
                i.memory.is_some_and(|memory| memory.base == Some(STACK_POINTER) && !memory.has_index);
            // A variable that says later who came by here.
            let told = matches!(i.action, Action::Set(_)) || i.operands.get(1).is_some_and(is_constant);
            let kept = i.destination().is_none_or(|to| !SCRATCH.contains(&to) && to != STACK_POINTER);
            let tells = told && kept && matches!(i.action, Action::Set(_) | Action::Copy | Action::Or);
            let reads = matches!(i.action, Action::Compare | Action::Test | Action::Push);
            let writes = match &i.action {
                Action::Fill(_) => true,
                Action::Other(effects) => effects.writes_memory,
                _ => i.operands.first() == Some(&Operand::Memory) && !reads,
            };
            match i.flow {
                Flow::Next => !tells && (!writes || on_stack),
                Flow::Return => true,
                Flow::Jump | Flow::Branch => {
                    matches!(i.target, Target::Code(target) if self.states.contains_key(&target))
                        || idle(i.target)
                }
                Flow::Call => idle(i.target),
                Flow::Stop | Flow::Interrupt | Flow::Transaction => false,
            }
        })
    }

    /// Whether all paths of the first thread lead to a place of the others, or end the program.
    fn merely_skips(&self, branch: &First, other: u64) -> bool {
        if self.merely_returns(other) {
            return true;
        }
        let mut before: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut seen = BTreeSet::from([branch.first]);
        let mut work = vec![branch.first];
        let mut ends = vec![other];
        while let Some(block) = work.pop() {
            if block == other {
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

fn is_constant(operand: &Operand) -> bool {
    matches!(operand, Operand::Constant(_))
}
