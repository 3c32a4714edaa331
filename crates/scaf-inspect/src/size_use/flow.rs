//! Follows a function along all its paths until nothing new is learnt, then judges every instruction once.
//!
//! Blocks are decoded when a path first reaches them. What a block knows on entry only grows, so that this ends;
//! a budget bounds it all the same.

use super::class::Classes;
use super::code::Code;
use super::first::{First, SPLITS};
use super::state::{Handed, State, Value};
use super::step::Walk;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Instructions stepped over in one module, some 100 ns each: at most a second.
const MAX_STEPS: u64 = 8_000_000;
/// Instructions in one block before it is cut; vectorised and unrolled loop bodies reach hundreds.
const MAX_BLOCK: usize = 2048;
/// Calls within calls that are followed.
const MAX_DEPTH: usize = 6;
/// Data mentioned by one function, any of which may be a switch's table.
const MAX_TABLES: usize = 1000;
/// Blocks of one function; the largest that gcc made of scikit-learn has 3,000.
const MAX_BLOCKS: usize = 20_000;

/// Something that stands against changing the team size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub address: u64,
    pub what: &'static str,
    /// Not seen to depend on the size, but not understood either.
    pub unknown: bool,
}

impl Finding {
    pub fn depends(address: u64, what: &'static str) -> Self {
        Self { address, what, unknown: false }
    }

    pub fn unknown(address: u64, what: &'static str) -> Self {
        Self { address, what, unknown: true }
    }
}

/// What is left in the scratch registers when a function returns; `None` if it never does.
pub(super) type Summary = Result<Option<Handed>, Finding>;

/// The analysis of one module, over its functions.
pub(super) struct Analysis<'c, 'e> {
    pub code: &'c Code<'e>,
    /// Functions that ask about the team themselves.
    pub askers: BTreeSet<u64>,
    /// Functions that return the answer.
    pub tellers: BTreeSet<u64>,
    /// Addresses of instructions that were judged.
    pub judged: HashSet<u64>,
    summaries: HashMap<(u64, Handed), Summary>,
    pub steps: u64,
    depth: usize,
}

/// What is learnt about one function.
#[derive(Default)]
pub(super) struct Frame {
    pub entry: u64,
    pub states: BTreeMap<u64, State>,
    pub blocks: BTreeMap<u64, Rc<[Instruction]>>,
    /// Where blocks are known to begin.
    cuts: BTreeSet<u64>,
    /// Possible jump tables of switches: address, and whether their entries are absolute.
    pub tables: BTreeSet<(u64, bool)>,
    pub regions: HashMap<u64, u8>,
    pub returned: Option<Handed>,
    // From here on: learnt in the final pass.
    pub edges: BTreeMap<u64, Vec<u64>>,
    /// Blocks that may leave the function other than by a call that never returns.
    pub leaving: BTreeSet<u64>,
    /// Branches that ask whether this is the first thread.
    pub firsts: Vec<First>,
    pub finding: Option<Finding>,
    /// Places of the own frame whose address is taken: anything from there up may be reached from elsewhere.
    pub taken: Vec<(u8, i64)>,
    /// Confined values stored in the own frame: instruction, region, offset.
    pub kept: Vec<(u64, u8, i64)>,
    /// Comparisons of the thread number that only a chunked loop justifies.
    pub bounded: Vec<u64>,
    /// Instructions that step a thread's multiple by the team's, and their block where a loop carries the sum on.
    pub steps: Vec<(u64, Option<u64>)>,
    /// Those of them whose sum is compared with a bound.
    pub bounded_steps: BTreeSet<u64>,
    /// Blocks that compare such a sum with a bound.
    pub bounds: BTreeSet<u64>,
}

impl Frame {
    pub fn find(&mut self, finding: Finding) {
        if self.finding.as_ref().is_none_or(|first| finding.address < first.address) {
            self.finding = Some(finding);
        }
    }

    /// What can be said only when all instructions have been seen.
    fn conclude(&mut self) {
        for (address, region, offset) in std::mem::take(&mut self.kept) {
            let reachable = |(r, from): &(u8, i64)| *r != region || *from <= offset;
            if self.taken.iter().any(reachable) {
                self.find(Finding::depends(
                    address,
                    "keeps the team size or thread number where other code may read it",
                ));
            }
        }
        // Pointers that run along with the index are stepped as it is, and not compared themselves.
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
            self.find(Finding::depends(
                address,
                "computes with thread number and team size what no loop of gcc's does",
            ));
        }
        for address in self.splits() {
            self.find(Finding::depends(address, SPLITS));
        }
        if self.steps.is_empty() {
            for address in std::mem::take(&mut self.bounded) {
                self.find(Finding::depends(
                    address,
                    "compares its thread number with something else than zero",
                ));
            }
        }
    }
}

impl<'c, 'e> Analysis<'c, 'e> {
    pub fn new(code: &'c Code<'e>, askers: BTreeSet<u64>) -> Self {
        Self {
            code,
            askers,
            tellers: BTreeSet::new(),
            judged: HashSet::new(),
            summaries: HashMap::new(),
            steps: 0,
            depth: 0,
        }
    }

    /// Follows `function` with `handed` in its scratch registers.
    pub fn summary(&mut self, function: u64, handed: &Handed) -> Summary {
        if let Some(known) = self.summaries.get(&(function, *handed)) {
            return known.clone();
        }
        if self.depth >= MAX_DEPTH {
            return Err(Finding::unknown(function, "is called too deep with the team size or thread number"));
        }
        let recursive = Err(Finding::unknown(function, "calls itself with the team size or thread number"));
        self.summaries.insert((function, *handed), recursive);
        self.depth += 1;
        let summary = self.follow(function, handed);
        self.depth -= 1;
        self.summaries.insert((function, *handed), summary.clone());
        summary
    }

    /// Forgets what was concluded, because a further function turned out to return the answer.
    pub fn add_teller(&mut self, function: u64) -> bool {
        self.summaries.clear();
        self.tellers.insert(function)
    }

    fn follow(&mut self, function: u64, handed: &Handed) -> Summary {
        let mut frame = Frame { entry: function, ..Frame::default() };
        self.settle(&mut frame, handed, &BTreeMap::new())?;
        self.sharpen(&mut frame, handed)?;
        frame.returned = None;
        for (block, state) in frame.states.clone() {
            let (_, next) = self.walk(&mut frame, block, state, true)?;
            frame.edges.insert(block, next);
        }
        frame.conclude();
        match frame.finding {
            Some(finding) => Err(finding),
            None => Ok(frame.returned),
        }
    }

    /// Walks until nothing new is learnt. `hints` tell which values will turn out to be stepped.
    fn settle(
        &mut self,
        frame: &mut Frame,
        handed: &Handed,
        hints: &BTreeMap<u64, State>,
    ) -> Result<(), Finding> {
        frame.states = BTreeMap::from([(frame.entry, State::at_entry(handed))]);
        frame.cuts.insert(frame.entry);
        let mut work = BTreeSet::from([frame.entry]);
        while let Some(block) = work.pop_first() {
            let Some(state) = frame.states.get(&block).cloned() else { continue };
            let tables = frame.tables.len();
            let (after, next) = self.walk(frame, block, state, false)?;
            if frame.tables.len() != tables {
                // A jump through a table may have been met before the table itself.
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
                        // Blocks that ran through this place end here from now on, and bring what they know.
                        let near = target.saturating_sub(MAX_BLOCK as u64 * 15)..target;
                        let through = |(_, block): &(&u64, &Rc<[Instruction]>)| {
                            block.last().is_some_and(|last| last.ip() >= target)
                        };
                        work.extend(frame.blocks.range(near).filter(through).map(|(start, _)| *start));
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

    /// Drops what was believed only on the way: before a loop's index was seen to be stepped, it passed for the thread's
    /// own, and so did what was computed from it. What is left is kept only if it confirms itself without hints.
    fn sharpen(&mut self, frame: &mut Frame, handed: &Handed) -> Result<(), Finding> {
        let settled = frame.states.clone();
        let is_stepped = |value: &Value| value.classes.has(Classes::STEPPED);
        if !settled.values().any(|state| state.registers.iter().any(is_stepped)) {
            return Ok(());
        }
        self.settle(frame, handed, &settled)?;
        let mut confirmed = BTreeMap::from([(frame.entry, State::at_entry(handed))]);
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

    /// Steps through one block; returns what holds after it, and the blocks that may follow.
    fn walk(
        &mut self,
        frame: &mut Frame,
        block: u64,
        state: State,
        judging: bool,
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
        let mut walk = Walk { analysis: self, frame, state, block, judging };
        for (at, instruction) in instructions.iter().enumerate() {
            if at > 0 && walk.frame.cuts.contains(&instruction.ip()) {
                return Ok((walk.state, vec![instruction.ip()]));
            }
            walk.analysis.steps += 1;
            if walk.analysis.steps > MAX_STEPS {
                return Err(Finding::unknown(block, "asks about the team in more code than is followed"));
            }
            if judging {
                walk.analysis.judged.insert(instruction.ip());
            }
            if let Some(next) = walk.step(instruction) {
                if judging && next.is_empty() && !ends_the_thread(instruction) {
                    walk.frame.leaving.insert(block);
                }
                return Ok((walk.state, next));
            }
        }
        let after = instructions.last().map_or(block, Instruction::next_ip);
        if walk.analysis.code.is_start(after) {
            walk.frame.leaving.insert(block);
            return Ok((walk.state, Vec::new()));
        }
        Ok((walk.state, vec![after]))
    }

    fn decode(&self, block: u64) -> Result<Rc<[Instruction]>, Finding> {
        let bytes =
            self.code.code_from(block).ok_or_else(|| Finding::unknown(block, "jumps out of the code"))?;
        let mut instructions = Vec::new();
        for instruction in Decoder::with_ip(64, bytes, block, DecoderOptions::NONE) {
            if instruction.is_invalid() {
                return Err(Finding::unknown(instruction.ip(), "cannot be decoded"));
            }
            if !instructions.is_empty() && self.code.is_start(instruction.ip()) {
                break;
            }
            instructions.push(instruction);
            let ends = !matches!(
                instruction.flow_control(),
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall
            );
            if ends || instructions.len() >= MAX_BLOCK {
                break;
            }
        }
        Ok(instructions.into())
    }

    /// Whether a call of `function` has to be followed, given what it is handed.
    pub fn is_followed(&self, function: u64, handed: &Handed) -> bool {
        self.askers.contains(&function)
            || self.tellers.contains(&function)
            || handed.iter().any(|classes| classes.is_confined())
    }
}

/// Whether a path that ends here ends with a call that never returns, or with a trap.
fn ends_the_thread(last: &Instruction) -> bool {
    use FlowControl as F;
    matches!(last.flow_control(), F::Call | F::IndirectCall | F::Interrupt | F::Exception)
}

/// Nothing about the team in any register.
pub(super) const NOTHING: Handed = [Classes::CLEAN; 9];
