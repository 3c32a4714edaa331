//! A function's blocks: all instructions that its paths come to, and where they go on. A block ends with a
//! call as well, since that may change what the next one is within.

use super::finding::Finding;
use crate::decode::abi::{FRAME_POINTER, STACK_POINTER};
use crate::decode::{Flow, Kind, Spot, Step, Target, decode};
use crate::functions::{leaves, never_returns};
use crate::size_use::{Callee, Code};
use std::collections::{BTreeMap, BTreeSet};

/// Most instructions of one function.
const MAX_STEPS: usize = 40_000;
/// Most data addresses mentioned by a function; any may be a jump table.
const MAX_TABLES: usize = 1000;
/// What handlers of C++ call first.
const CATCHES: &str = "__cxa_begin_catch";

pub(super) struct Graph {
    pub steps: Vec<Step>,
    /// The first one is empty, and leads to where the function begins.
    pub blocks: Vec<Block>,
}

#[derive(Default)]
pub(super) struct Block {
    pub first: usize,
    /// Behind the last step.
    pub end: usize,
    /// Where it goes on; of a branch first the next block, then its target; of a switch all cases.
    pub next: Vec<usize>,
    pub before: Vec<usize>,
    /// Its end returns to the caller, itself or by another function's.
    pub returns: bool,
    /// Of a switch, where it goes on for the number zero, if that is known.
    pub zero: Option<usize>,
}

impl Block {
    pub fn steps(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }
}

struct Search<'c, 'e> {
    code: &'c Code<'e>,
    steps: BTreeMap<u64, Step>,
    /// Where blocks begin, and how far the stack pointer is from where it was at the beginning, if known.
    leaders: BTreeMap<u64, Option<i64>>,
    work: Vec<u64>,
    /// Where each block's last step goes on.
    next: BTreeMap<u64, Vec<u64>>,
    leaving: BTreeSet<u64>,
    switches: BTreeSet<u64>,
    /// Their first cases.
    zeros: BTreeMap<u64, u64>,
    tables: BTreeSet<u64>,
}

pub(super) fn graph(code: &Code<'_>, entry: u64) -> Result<Graph, Finding> {
    let mut search = Search {
        code,
        steps: BTreeMap::new(),
        leaders: BTreeMap::from([(entry, Some(0))]),
        work: vec![entry],
        next: BTreeMap::new(),
        leaving: BTreeSet::new(),
        switches: BTreeSet::new(),
        zeros: BTreeMap::new(),
        tables: BTreeSet::new(),
    };
    loop {
        while let Some(leader) = search.work.pop() {
            search.follow(leader)?;
        }
        if !search.follow_switches(entry)? {
            return Ok(search.finish(entry));
        }
    }
}

impl Search<'_, '_> {
    fn lead(&mut self, address: u64, depth: Option<i64>) {
        if self.leaders.insert(address, depth).is_none() {
            self.work.push(address);
        } else if self.leaders.get(&address) != Some(&depth) {
            self.leaders.insert(address, None);
        }
    }

    fn follow(&mut self, leader: u64) -> Result<(), Finding> {
        // Another way has come by here; a block begins where this one joins it.
        if self.steps.contains_key(&leader) {
            return Ok(());
        }
        let bytes =
            self.code.code_from(leader).ok_or_else(|| Finding::at(leader, "jumps out of the code"))?;
        let mut depth = self.leaders.get(&leader).copied().flatten();
        for instruction in decode(bytes, leader) {
            let address = instruction.address();
            if instruction.is_invalid() {
                return Err(Finding::at(address, "cannot be decoded"));
            }
            if address != leader && (self.steps.contains_key(&address) || self.leaders.contains_key(&address))
            {
                self.lead(address, depth);
                return Ok(());
            }
            if address != leader && self.code.is_start(address) {
                // Behind a call that never returns.
                return Ok(());
            }
            if self.steps.len() >= MAX_STEPS {
                return Err(Finding::at(leader, "is in too large a function"));
            }
            let step = instruction.step();
            if let Some(table) = step.memory.and_then(|memory| memory.fixed)
                && step.kind == Kind::Address
                && self.code.elf.data.iter().any(|piece| piece.covers(table))
            {
                self.tables.insert(table);
            }
            depth = moved(&step, depth);
            let flow = step.flow;
            let ends = if flow == Flow::Next { false } else { self.end(&step, depth)? };
            self.steps.insert(address, step);
            if ends {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Records where a block goes on behind its last step.
    fn end(&mut self, step: &Step, depth: Option<i64>) -> Result<bool, Finding> {
        let mut next = Vec::new();
        match step.flow {
            Flow::Next => return Ok(false),
            Flow::Stop => {}
            Flow::Return => drop(self.leaving.insert(step.address)),
            Flow::Interrupt => return Err(Finding::at(step.address, "calls the kernel by itself")),
            Flow::Transaction => return Err(Finding::at(step.address, "runs in a memory transaction")),
            Flow::Call => {
                let caught = self.code.elf.imports.contains_key(CATCHES);
                let callee = self.code.callee(step.target);
                let ends =
                    matches!(callee, Callee::Import(name) if never_returns(name) || leaves(name, caught));
                if !ends && !self.code.is_start(step.next) {
                    next.push(step.next);
                }
            }
            Flow::Branch => {
                next.push(step.next);
                match self.code.callee(step.target) {
                    Callee::Local(target) => next.push(target),
                    _ => return Err(Finding::at(step.address, "calls a function on a condition")),
                }
            }
            Flow::Jump => match self.code.callee(step.target) {
                Callee::Local(target) if !self.is_call(target, depth) => next.push(target),
                Callee::Unknown if !matches!(step.target, Target::Slot(_)) => {
                    self.switches.insert(step.address);
                }
                _ => drop(self.leaving.insert(step.address)),
            },
        }
        for target in &next {
            self.lead(*target, depth);
        }
        self.next.insert(step.address, next);
        Ok(true)
    }

    /// Whether a jump there calls a function, whose return is this one's.
    fn is_call(&self, target: u64, depth: Option<i64>) -> bool {
        let is_cold = || self.code.elf.functions.get(&target).is_some_and(|name| name.contains(".cold"));
        self.code.is_start(target) && !is_cold() && matches!(depth, Some(0) | None)
    }

    /// Follows the cases of all switches; `false` if all were known.
    fn follow_switches(&mut self, entry: u64) -> Result<bool, Finding> {
        if self.tables.len() > MAX_TABLES {
            return Err(Finding::at(entry, "has more switches than are followed"));
        }
        let around = |address: u64| self.code.function_around(address);
        let parts: BTreeSet<(u64, u64)> = self.leaders.keys().filter_map(|leader| around(*leader)).collect();
        let inside = |target: u64| parts.iter().any(|(start, end)| (*start..*end).contains(&target));
        let mut found = Vec::new();
        for at in &self.switches {
            let Some(step) = self.steps.get(at) else { continue };
            let cases = self.cases(step, &inside);
            let Some(cases) = cases.filter(|(cases, _)| !cases.is_empty()) else {
                return Err(Finding::at(*at, "jumps to where could not be made out"));
            };
            found.push((*at, cases));
        }
        for (at, (cases, zero)) in found {
            self.zeros.extend(zero.map(|zero| (at, zero)));
            for case in &cases {
                self.lead(*case, None);
            }
            self.next.insert(at, cases);
        }
        Ok(!self.work.is_empty())
    }

    /// All cases, and the first one if there is one table.
    fn cases(&self, step: &Step, inside: &dyn Fn(u64) -> bool) -> Option<(Vec<u64>, Option<u64>)> {
        let memory = step.memory.filter(|memory| memory.base.is_none() && memory.has_index);
        if let Some(memory) = memory {
            let table = (memory.displacement, None);
            let first = self.code.first_case(memory.displacement, true);
            return self.code.jump_table(table, true, inside).ok().map(|cases| (cases, first));
        }
        let Target::Register(register) = step.target else { return None };
        // A switch adds a distance to the table's address; anything else is a pointer to a function.
        let before = self.steps.range(..step.address).rev().take(8).map(|(_, step)| step);
        let last = before.filter(|it| it.writes.contains(register)).map(|it| it.kind).next();
        if !matches!(last, Some(Kind::Add | Kind::Address)) {
            return None;
        }
        let (mut cases, mut used) = (Vec::new(), Vec::new());
        for table in &self.tables {
            let next = self.tables.range(table + 1..).next().copied();
            let its = self.code.jump_table((*table, next), false, inside).ok()?;
            used.extend((!its.is_empty()).then_some(*table));
            cases.extend(its);
        }
        cases.sort_unstable();
        cases.dedup();
        let first = match used.as_slice() {
            [only] => self.code.first_case(*only, false),
            _ => None,
        };
        Some((cases, first))
    }

    fn finish(self, entry: u64) -> Graph {
        let numbers: BTreeMap<u64, usize> = self.leaders.keys().copied().zip(1..).collect();
        let mut graph = Graph { steps: Vec::new(), blocks: vec![Block::default()] };
        for leader in self.leaders.keys() {
            let mut block = Block { first: graph.steps.len(), ..Block::default() };
            let mut at = *leader;
            while let Some(step) = self.steps.get(&at) {
                graph.steps.push(step.clone());
                if step.flow != Flow::Next {
                    block.returns = self.leaving.contains(&at);
                    let next = self.next.get(&at).into_iter().flatten();
                    block.next = next.filter_map(|target| numbers.get(target).copied()).collect();
                    block.zero = self.zeros.get(&at).and_then(|zero| numbers.get(zero)).copied();
                    break;
                }
                at = step.next;
                if let Some(next) = numbers.get(&at) {
                    block.next.push(*next);
                    break;
                }
            }
            block.end = graph.steps.len();
            graph.blocks.push(block);
        }
        graph.blocks[0].next = numbers.get(&entry).copied().into_iter().collect();
        for at in 0..graph.blocks.len() {
            for next in graph.blocks[at].next.clone() {
                graph.blocks[next].before.push(at);
            }
        }
        graph
    }
}

/// How far the stack pointer is from its first place behind a step.
fn moved(step: &Step, depth: Option<i64>) -> Option<i64> {
    let depth = depth?;
    let moves = step.writes.contains(STACK_POINTER) && step.flow == Flow::Next;
    match (step.kind, step.operands.as_slice()) {
        _ if !moves => Some(depth),
        (Kind::Push, _) => Some(depth - 8),
        (Kind::Pop, [Spot::Register(FRAME_POINTER), ..]) | (Kind::Pop, _) => Some(depth + 8),
        (Kind::Leave, _) => Some(0),
        (Kind::Add, [_, Spot::Constant(by), ..]) => Some(depth + by),
        (Kind::Subtract, [_, Spot::Constant(by), ..]) => Some(depth - by),
        _ => None,
    }
}
