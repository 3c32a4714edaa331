//! Follows a function along all its paths to a fixed point, then checks every instruction (*final pass*).
//!
//! Blocks are decoded when a path first reaches them. What is known at a block's entry only grows, so this
//! ends; a budget bounds the time.

use super::class::Classes;
use super::code::{Callee, Code};
use super::frame::{Finding, Frame, Summary};
use super::state::{PassedClasses, State, Value};
use super::walk::{Callees, Walk};
use crate::decode::abi::MAX_INSTRUCTION;
use crate::decode::{Flow, Operation, decode};
use crate::functions::leaves;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Most instructions stepped over in one module, about 100 ns each: at most a second.
const MAX_STEPS: u64 = 8_000_000;
/// Most instructions in a block before it is cut; unrolled loop bodies have hundreds.
const MAX_BLOCK: usize = 2048;
const MAX_DEPTH: usize = 6;
/// What handlers of C++ call first.
const CATCHES: &str = "__cxa_begin_catch";
/// Most data addresses mentioned by a function; any may be a jump table.
const MAX_TABLES: usize = 1000;
/// Most blocks of a function; the largest in scikit-learn has 3,000.
const MAX_BLOCKS: usize = 20_000;

pub(super) struct Analysis<'c, 'e> {
    code: &'c Code<'e>,
    /// Functions that call a query themselves.
    pub querying: BTreeSet<u64>,
    /// Functions that return a query's result.
    pub returning: BTreeSet<u64>,
    /// Instructions that the final pass has checked.
    pub visited: HashSet<u64>,
    summaries: HashMap<(u64, PassedClasses), Summary>,
    steps: u64,
    depth: usize,
}

impl<'c, 'e> Analysis<'c, 'e> {
    pub fn new(code: &'c Code<'e>, querying: BTreeSet<u64>) -> Self {
        Self {
            code,
            querying,
            returning: BTreeSet::new(),
            visited: HashSet::new(),
            summaries: HashMap::new(),
            steps: 0,
            depth: 0,
        }
    }

    pub fn summary(&mut self, function: u64, passed: &PassedClasses) -> Summary {
        if let Some(known) = self.summaries.get(&(function, *passed)) {
            return known.clone();
        }
        if self.depth >= MAX_DEPTH {
            return Err(Finding::unknown(function, "is called too deep with the team size or thread number"));
        }
        let recursive = Err(Finding::unknown(function, "calls itself with the team size or thread number"));
        self.summaries.insert((function, *passed), recursive);
        self.depth += 1;
        let summary = self.follow(function, passed);
        self.depth -= 1;
        self.summaries.insert((function, *passed), summary.clone());
        summary
    }

    /// Adds a function that returns a query's result, which invalidates all summaries.
    pub fn add_returning(&mut self, function: u64) -> bool {
        self.summaries.clear();
        self.returning.insert(function)
    }

    fn follow(&mut self, function: u64, passed: &PassedClasses) -> Summary {
        let mut frame = Frame { entry: function, ..Frame::default() };
        self.settle(&mut frame, passed, &BTreeMap::new())?;
        self.sharpen(&mut frame, passed)?;
        frame.returned = None;
        for (block, state) in frame.states.clone() {
            let (_, next) = self.walk(&mut frame, block, state, true)?;
            if next.iter().any(|next| !frame.states.contains_key(next)) {
                // A switch whose cases were not known while the paths were followed.
                return Err(Finding::unknown(block, "goes on where no path was followed"));
            }
            frame.edges.insert(block, next);
        }
        frame.conclude();
        match frame.finding {
            Some(finding) => Err(finding),
            None => Ok(frame.returned),
        }
    }

    /// Walks to a fixed point. `hints` tell which values will turn out to be stepped.
    fn settle(
        &mut self,
        frame: &mut Frame,
        passed: &PassedClasses,
        hints: &BTreeMap<u64, State>,
    ) -> Result<(), Finding> {
        frame.states = BTreeMap::from([(frame.entry, State::at_entry(passed))]);
        frame.cuts.insert(frame.entry);
        let mut work = BTreeSet::from([frame.entry]);
        let (start, end) = self.code.function_around(frame.entry).unwrap_or_default();
        while let Some(block) = work.pop_first() {
            let Some(state) = frame.states.get(&block).cloned() else { continue };
            let tables = frame.tables.len();
            let (after, next) = self.walk(frame, block, state, false)?;
            if frame.tables.len() != tables {
                // A jump through a table may precede the mention of the table.
                work.extend(frame.states.keys());
            }
            for target in next {
                let mut after = after.clone();
                if let Some(hint) = hints.get(&target) {
                    after.expect(hint);
                }
                let grown = match frame.states.get_mut(&target) {
                    Some(known) => known.absorb(&after),
                    None => {
                        frame.cuts.insert(target);
                        // Known blocks that ran through this place are walked again, to end here.
                        let near = target.saturating_sub(MAX_BLOCK as u64 * MAX_INSTRUCTION)..target;
                        let through = |(_, block): &(&u64, &Rc<[Operation]>)| {
                            block.last().is_some_and(|last| last.address >= target)
                        };
                        work.extend(frame.blocks.range(near).filter(through).map(|(start, _)| *start));
                        if !(start..end).contains(&target) {
                            // What is moved away may be among a switch's cases.
                            work.extend(frame.states.keys());
                        }
                        frame.states.insert(target, after).is_none()
                    }
                };
                if grown {
                    work.insert(target);
                }
            }
            if frame.states.len() > MAX_BLOCKS || after.is_too_large() {
                return Err(Finding::unknown(frame.entry, "is too large to be followed"));
            }
        }
        Ok(())
    }

    /// Removes assumptions of the first walk: before a loop's index was seen to be stepped, it counted as the
    /// thread's own, as did all that was computed from it. The result is kept if it holds without hints.
    fn sharpen(&mut self, frame: &mut Frame, passed: &PassedClasses) -> Result<(), Finding> {
        let settled = frame.states.clone();
        let is_stepped = |value: &Value| value.classes.has(Classes::STEPPED);
        if !settled.values().any(|state| state.registers.iter().any(is_stepped)) {
            return Ok(());
        }
        self.settle(frame, passed, &settled)?;
        let mut confirmed = BTreeMap::from([(frame.entry, State::at_entry(passed))]);
        for (block, state) in frame.states.clone() {
            let (after, next) = self.walk(frame, block, state, false)?;
            for target in next {
                match confirmed.get_mut(&target) {
                    Some(known) => drop(known.absorb(&after)),
                    None => drop(confirmed.insert(target, after.clone())),
                }
            }
        }
        if confirmed != frame.states {
            frame.states = settled;
        }
        Ok(())
    }

    /// Walks through one block; returns the state after it, and the blocks that may follow.
    fn walk(
        &mut self,
        frame: &mut Frame,
        block: u64,
        state: State,
        final_pass: bool,
    ) -> Result<(State, Vec<u64>), Finding> {
        let instructions = match frame.blocks.get(&block) {
            Some(known) => Rc::clone(known),
            None => {
                let decoded = self.decode(block)?;
                frame.blocks.insert(block, Rc::clone(&decoded));
                decoded
            }
        };
        self.steps += 1 + state.weight();
        if frame.tables.len() > MAX_TABLES {
            return Err(Finding::unknown(frame.entry, "has more switches than are followed"));
        }
        let mut walk = Walk { code: self.code, callees: self, frame, state, block, final_pass };
        for (at, instruction) in instructions.iter().enumerate() {
            if at > 0 && walk.frame.cuts.contains(&instruction.address) {
                return Ok((walk.state, vec![instruction.address]));
            }
            walk.callees.steps += 1;
            if walk.callees.steps > MAX_STEPS {
                return Err(Finding::unknown(block, "asks about the team in more code than is followed"));
            }
            if final_pass {
                walk.callees.visited.insert(instruction.address);
            }
            if let Some(next) = walk.step(instruction) {
                if final_pass && next.is_empty() && !ends_the_thread(walk.code, instruction) {
                    walk.frame.leaving.insert(block);
                }
                return Ok((walk.state, next));
            }
        }
        let after = instructions.last().map_or(block, |last| last.next);
        if walk.code.is_start(after) {
            walk.frame.leaving.insert(block);
            return Ok((walk.state, Vec::new()));
        }
        Ok((walk.state, vec![after]))
    }

    fn decode(&self, block: u64) -> Result<Rc<[Operation]>, Finding> {
        let bytes =
            self.code.code_from(block).ok_or_else(|| Finding::unknown(block, "jumps out of the code"))?;
        let mut instructions = Vec::new();
        for instruction in decode(bytes, block) {
            if instruction.is_invalid() {
                return Err(Finding::unknown(instruction.address(), "cannot be decoded"));
            }
            if !instructions.is_empty() && self.code.is_start(instruction.address()) {
                break;
            }
            instructions.push(instruction.operation());
            let ends = !matches!(instruction.flow(), Flow::Next | Flow::Call);
            if ends || instructions.len() >= MAX_BLOCK {
                break;
            }
        }
        Ok(instructions.into())
    }
}

impl Callees for Analysis<'_, '_> {
    fn follow_call(&mut self, function: u64, passed: &PassedClasses) -> Option<Summary> {
        let matters = self.querying.contains(&function)
            || self.returning.contains(&function)
            || passed.iter().any(|classes| classes.is_confined());
        matters.then(|| self.summary(function, passed))
    }

    fn count(&mut self, steps: u64) {
        self.steps += steps;
    }
}

/// Whether a path's last instruction is a call that never returns, or a trap. Exceptions count as returning
/// where they may be caught.
fn ends_the_thread(code: &Code<'_>, last: &Operation) -> bool {
    let caught = code.elf.imports.contains_key(CATCHES);
    match (last.flow, code.callee(last.target)) {
        (Flow::Call, Callee::Import(name)) => !leaves(name, caught),
        // It may end by throwing.
        (Flow::Call, Callee::Local(_)) => !caught,
        (flow, _) => matches!(flow, Flow::Call | Flow::Stop | Flow::Interrupt),
    }
}
