//! Which of its arguments a function may return, or addresses near them: what its caller passes of its
//! thread's own is that, too, when it comes back.

use super::frames::Frames;
use super::graph::Graph;
use super::runtime::{Role, role};
use super::ssa::{Def, Id, Ssa, all_arguments};
use crate::decode::abi::{ARGUMENTS, RESULT};
use crate::decode::{Flow, Kind, RegisterSet};
use crate::functions::fills_memory;
use crate::size_use::Callee;
use std::collections::HashMap;

/// Most differences within differences that are looked into.
const MOST_DEPTH: usize = 4;

struct Search<'a, 'e> {
    graph: &'a Graph,
    frames: &'a Frames<'e>,
    ssa: &'a Ssa,
    /// What the functions that it calls give back.
    callees: &'a HashMap<u64, RegisterSet>,
}

/// The arguments' registers; `callees` has those of the functions that it calls.
pub(super) fn hands_back(
    graph: &Graph,
    frames: &Frames<'_>,
    ssa: &Ssa,
    callees: &HashMap<u64, RegisterSet>,
) -> RegisterSet {
    let search = Search { graph, frames, ssa, callees };
    let mut returned = Vec::new();
    for (at, step) in graph.steps.iter().enumerate() {
        match step.flow {
            Flow::Return => returned.extend(ssa.used(at, RESULT)),
            Flow::Jump if frames.steps[at].callee != Callee::Unknown => returned.extend(search.called(at)),
            _ => {}
        }
    }
    search.arguments_in(returned, 0)
}

impl Search<'_, '_> {
    /// The arguments in which these values may be addresses, or near them.
    fn arguments_in(&self, mut work: Vec<Id>, depth: usize) -> RegisterSet {
        let mut found = RegisterSet::default();
        let mut met = vec![false; self.ssa.defs.len()];
        while let Some(id) = work.pop() {
            let id = self.ssa.find(id);
            if std::mem::replace(&mut met[id], true) {
                continue;
            }
            match &self.ssa.defs[id] {
                Def::Entry(loc) if ARGUMENTS.contains(loc) => found.insert(*loc),
                Def::Entry(_) => {}
                Def::Phi { inputs, .. } => work.extend(inputs),
                Def::Result { step, .. } => work.extend(self.made_of(*step, depth)),
            }
        }
        found
    }

    /// What an address that a step makes may be made of.
    fn made_of(&self, at: usize, depth: usize) -> Vec<Id> {
        let step = &self.graph.steps[at];
        let operand = |number: usize| {
            step.operands.get(number).map_or_else(Vec::new, |spot| self.ssa.operand(at, *spot))
        };
        match step.kind {
            _ if step.flow != Flow::Next => self.called(at),
            Kind::Address => {
                let parts = step.memory.map_or([None; 2], |memory| [memory.base, memory.index]);
                parts.into_iter().flatten().filter_map(|part| self.ssa.used(at, part)).collect()
            }
            // How far one address is from another is none.
            Kind::Subtract if depth < MOST_DEPTH && self.has_argument(operand(1), depth) => Vec::new(),
            Kind::Subtract => operand(0),
            _ => (0..step.operands.len()).flat_map(operand).collect(),
        }
    }

    fn has_argument(&self, ids: Vec<Id>, depth: usize) -> bool {
        self.arguments_in(ids, depth + 1) != RegisterSet::default()
    }

    /// What a call may return of what it is passed.
    fn called(&self, at: usize) -> Vec<Id> {
        let registers = match &self.frames.steps[at].callee {
            Callee::Import(name) if fills_memory(name) || role(name) == Role::Unknown => all_arguments(),
            Callee::Import(_) => RegisterSet::default(),
            Callee::Local(callee) => self.callees.get(callee).copied().unwrap_or_else(all_arguments),
            Callee::Unknown => all_arguments(),
        };
        let passed = self.ssa.uses[at].iter().filter(|(loc, _)| ARGUMENTS.contains(loc));
        passed.filter(|(loc, _)| registers.contains(*loc)).map(|(_, id)| *id).collect()
    }
}
