//! Findings that need all of a function's instructions.

use super::compare::COMPARES;
use super::first::SPLITS;
use super::frame::{Finding, Frame, InData};
use super::state::FIRST_ARGUMENT;
use super::walk::STORED;

const KEEPS: &str = "keeps the team size or thread number where other code may read it";
const UNLIKE_GCC: &str = "computes with thread number and team size what no loop of gcc's does";
const BOUNDED: &str = "compares its thread number with something else than zero";

impl Frame {
    pub fn conclude(&mut self) {
        for (address, base, offset) in std::mem::take(&mut self.kept) {
            // Above the function's own frame are its arguments, whose place gcc keeps when it realigns it.
            let is_argument = |(r, from): &(u8, i64)| *r == 0 && *from >= FIRST_ARGUMENT && base != 0;
            let reachable =
                |taken: &(u8, i64)| if taken.0 == base { taken.1 <= offset } else { !is_argument(taken) };
            if self.taken.iter().chain(&self.indexed).any(reachable) {
                self.find(Finding::depends(address, KEEPS));
            }
        }
        // An argument on the stack may be part of a structure that begins with an argument before it.
        for place in std::mem::take(&mut self.handed_stack) {
            let reachable = |(r, from): &(u8, i64)| {
                *r == 0 && (*from == i64::MIN || (FIRST_ARGUMENT..place + 8).contains(from))
            };
            if self.taken.iter().chain(&self.indexed).any(reachable) {
                self.find(Finding::depends(self.entry, KEEPS));
            }
        }
        // Another thread may read, at any time, what one has stored in the data of the region.
        let reads = |kept: &&InData| {
            let (from, to) = (kept.offset, kept.offset.saturating_add(kept.bytes as i64));
            self.read_of_data.iter().any(|read| read.0 < to && from < read.1)
        };
        if let Some(at) = self.kept_in_data.iter().find(reads).map(|kept| kept.at) {
            self.find(Finding::depends(at, STORED));
        }
        // Pointers that run along with the index are stepped as it is, but not compared themselves.
        let bounded = |block: &u64| {
            let next = self.edges.get(block).into_iter().flatten();
            self.bounds.contains(block) || next.into_iter().any(|block| self.bounds.contains(block))
        };
        let is_loop = |at: &u64, block: &Option<u64>| {
            self.bounded_steps.contains(at) || block.as_ref().is_some_and(bounded)
        };
        let strange: Vec<u64> =
            self.steps.iter().filter(|(at, block)| !is_loop(at, block)).map(|(at, _)| *at).collect();
        for address in strange {
            self.find(Finding::depends(address, UNLIKE_GCC));
        }
        for (at, next, target) in std::mem::take(&mut self.sizes) {
            let prints = |from, to| self.prints.get(&from) == Some(&to) && self.drops_result(to);
            if !target.is_some_and(|target| prints(next, target) || prints(target, next)) {
                self.find(Finding::depends(at, COMPARES));
            }
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
