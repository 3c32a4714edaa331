//! Code that prints and does nothing else, which a comparison of the team's size may decide about.

use super::code::{Callee, Code};
use super::frame::Frame;
use crate::decode::abi::{RESULT, SCRATCH};
use crate::decode::{Action, Flow, Operand, Operation, Target};
use crate::functions::prints;

/// Most blocks that are looked at behind one that prints.
const MAX_BLOCKS: usize = 4;

impl Frame {
    /// Whether a block only sets up calls of functions that print. After the last one it changes nothing, so
    /// that no register that is used behind it tells whether the block was come by.
    pub fn merely_prints(&self, block: u64, code: &Code<'_>) -> bool {
        let calls = |i: &Operation| matches!(code.callee(i.target), Callee::Import(name) if prints(name));
        let mut printed = false;
        for i in self.instructions(block) {
            match i.flow {
                Flow::Call if calls(i) => printed = true,
                Flow::Jump if printed => {}
                Flow::Next if sets_scratch(i) => printed = false,
                _ => return false,
            }
        }
        printed
    }

    /// Whether the code from a block on doesn't look at what the functions before it returned.
    pub fn drops_result(&self, block: u64) -> bool {
        let next = |block: &u64| match self.edges.get(block).map(Vec::as_slice) {
            Some([next]) => Some(*next),
            _ => None,
        };
        let mut blocks = std::iter::successors(Some(block), next).take(MAX_BLOCKS);
        blocks.find_map(|block| self.block_drops_result(block)).unwrap_or(false)
    }

    /// `None` if the block has nothing to do with it.
    fn block_drops_result(&self, block: u64) -> Option<bool> {
        for i in self.instructions(block) {
            let result = |operand: &Operand| matches!(operand, Operand::General(RESULT, _));
            let address = i.memory.is_some_and(|memory| [memory.base, memory.index].contains(&Some(RESULT)));
            if address || i.operands.iter().skip(1).any(result) {
                return Some(false);
            }
            // A jump out of the function calls another one.
            let leaves = i.flow == Flow::Jump
                && !matches!(i.target, Target::Code(target) if self.states.contains_key(&target));
            let writes = i.operands.first().is_some_and(result);
            match i.action {
                _ if i.flow == Flow::Call || leaves => return Some(true),
                _ if i.flow == Flow::Jump => return None,
                _ if i.flow != Flow::Next => return Some(false),
                Action::Copy | Action::CopyExtended | Action::Address | Action::Set(_) if writes => {
                    return Some(i.operands.first() != Some(&Operand::General(RESULT, 1)));
                }
                Action::Other(ref effects)
                    if !effects.reads.contains(&RESULT) && !effects.writes.contains(&Some(RESULT)) => {}
                Action::Nothing | Action::Copy | Action::CopyExtended | Action::Address | Action::Set(_) => {}
                Action::Add | Action::Subtract | Action::Push | Action::Pop if !writes => {}
                _ => return Some(false),
            }
        }
        None
    }
}

/// Whether it writes no more than one register, which the next call changes anyway.
fn sets_scratch(i: &Operation) -> bool {
    match i.action {
        Action::Nothing => true,
        Action::Copy | Action::CopyExtended | Action::Address | Action::Set(_) => {
            matches!(i.operands.first(), Some(Operand::General(register, _)) if SCRATCH.contains(register))
        }
        _ => false,
    }
}
