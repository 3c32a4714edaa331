//! Findings that need all of a function's instructions.

use super::first::SPLITS;
use super::frame::{Finding, Frame};

const KEEPS: &str = "keeps the team size or thread number where other code may read it";
const UNLIKE_GCC: &str = "computes with thread number and team size what no loop of gcc's does";
const BOUNDED: &str = "compares its thread number with something else than zero";

impl Frame {
    pub fn conclude(&mut self) {
        // Also from above: a list's link, a second base class and an array's end lie behind what is read.
        let kept = if self.taken { std::mem::take(&mut self.kept) } else { Vec::new() };
        for address in kept {
            self.find(Finding::depends(address, KEEPS));
        }
        // Pointers that run along with the index are stepped as it is, but not compared themselves.
        let bounded = |block: &u64| {
            let next = self.edges.get(block).into_iter().flatten();
            self.bounds.contains(block) || next.into_iter().any(|block| self.bounds.contains(block))
        };
        // Whether a loop carries it from one round to the next is seen where the effects are looked at.
        let is_loop = |at: &u64, block: &Option<u64>| {
            self.bounded_steps.contains(at) || block.as_ref().is_some_and(bounded)
        };
        let strange: Vec<u64> =
            self.steps.iter().filter(|(at, block)| !is_loop(at, block)).map(|(at, _)| *at).collect();
        for address in strange {
            self.find(Finding::depends(address, UNLIKE_GCC));
        }
        for address in self.splits() {
            self.find(Finding::depends(address, SPLITS));
        }
        if self.steps.is_empty() {
            for address in std::mem::take(&mut self.bounded) {
                self.find(Finding::depends(address, BOUNDED));
            }
        }
    }
}
