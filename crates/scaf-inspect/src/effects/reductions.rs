//! The ends of reductions: what a thread's iterations have come to, combined with shared memory.

use super::addresses::Place;
use super::function::Function;
use super::ssa::{Def, Id};
use super::terms::{Op, Taint};
use crate::decode::abi::RESULT;
use crate::decode::{FLAGS, Flow, Kind, Spot};
use std::collections::BTreeSet;

/// A value or none, an index and what it is multiplied by, and what is added.
type Spelled = (Option<Id>, Option<(Id, usize)>, u64);

/// Most blocks of code that stores a least or most: they end where memory is used.
const MOST_BLOCKS: usize = 8;

impl Function<'_, '_> {
    /// Whether a store outside of iterations combines a sum of the thread's with shared memory.
    pub fn reduces(&self, at: usize) -> bool {
        let step = &self.graph.steps[at];
        let address = self.address(at);
        if self.tainted_address(at) != Taint::Clean || address.differs() || address.frame {
            return false;
        }
        if self.is_widened(at) {
            return false;
        }
        match (step.kind, step.operands.as_slice()) {
            (Kind::Move, [Spot::Memory, spot]) => self.is_combined(at, (at, *spot), 0),
            (Kind::CompareExchange, [Spot::Memory, spot]) => self.is_combined(at, (at, *spot), 0),
            (kind, [Spot::Memory, spot]) => Op::of(kind).is_some_and(|op| {
                let (taint, value) = self.tainted(at, *spot);
                // What a thread without an iteration combines, written out.
                let changes_nothing = || op == Op::Add && value.constant == Some(0);
                self.is_sum(taint, op) || (taint == Taint::Clean && changes_nothing())
            }),
            _ => false,
        }
    }

    /// Whether a sum had fewer bytes than what it is combined with, or passes through fewer: what one
    /// thread's sum loses beyond these, two threads' sums may not.
    fn is_widened(&self, at: usize) -> bool {
        let Some(bytes) = self.graph.steps[at].memory.map(|memory| memory.bytes.min(8)) else { return false };
        let is_narrow = |at: usize| {
            let its = &self.graph.steps[at];
            its.flow == Flow::Next && its.bytes < bytes
        };
        let of = |at: usize| self.ssa.uses[at].iter().map(|(_, id)| *id).collect::<Vec<Id>>();
        let mut work = of(at);
        let mut sums = BTreeSet::new();
        while let Some(id) = work.pop() {
            let is_clean = self.taint(id) == Taint::Clean && !self.cycle_of.contains_key(&id);
            if is_clean || !sums.insert(id) {
                continue;
            }
            match &self.ssa.defs[id] {
                Def::Phi { inputs, .. } => work.extend(inputs),
                Def::Result { step, loc } if *loc != FLAGS && self.graph.steps[*step].flow == Flow::Next => {
                    if is_narrow(*step) {
                        return true;
                    }
                    work.extend(of(*step));
                }
                _ => {}
            }
        }
        // Each bit for itself stays the same in fewer bytes.
        sums.retain(|id| !matches!(self.taint(*id), Taint::Sum(Op::And | Op::Or | Op::Xor)));
        // A copy is the value that it copies, however few its bytes.
        let is_sum = |(loc, id): &(usize, Id)| *loc != FLAGS && sums.contains(&self.ssa.find(*id));
        self.ssa.makes.iter().enumerate().any(|(at, made)| is_narrow(at) && made.iter().any(is_sum))
    }

    fn is_extreme(&self, taint: Taint) -> bool {
        matches!(taint, Taint::Sum(op) if op.is_extreme())
    }

    /// The least or the most of what stands where `at` stores and of a sum, by a branch.
    fn combines_by_branch(&self, at: usize, block: usize, inputs: &[Id]) -> bool {
        let Some(from) = inputs.iter().position(|input| self.is_extreme(self.taint(*input))) else {
            return false;
        };
        let sum = self.taint(inputs[from]);
        let is_sum = |by: usize, spot: Spot| self.tainted(by, spot).0 == sum;
        let is_there = |by: usize, spot: Spot| self.stands_at(by, spot, at);
        let picked = self.picked_by((block, from), &is_sum, &is_there);
        let others = inputs.iter().enumerate().filter(|(number, _)| *number != from);
        let mut others = others.map(|(_, input)| *input);
        inputs.len() == 2
            && others.all(|input| self.is_there(at, input, 0))
            && picked.is_some_and(|(_, op)| self.is_sum(sum, op))
    }

    pub fn is_sum(&self, taint: Taint, op: Op) -> bool {
        match taint {
            Taint::Sum(its) => its == op,
            Taint::Counter { from_zero } => from_zero && op == Op::Add,
            _ => false,
        }
    }

    /// Whether an operand is what stands where `at` stores, combined with a sum.
    pub fn is_combined(&self, at: usize, (by, spot): (usize, Spot), depth: usize) -> bool {
        let [id] = *self.ssa.operand(by, spot) else { return false };
        self.combines(at, self.root(id), depth)
    }

    pub fn combines(&self, at: usize, id: Id, depth: usize) -> bool {
        match &self.ssa.defs[id] {
            Def::Result { step, .. } if self.graph.steps[*step].kind == Kind::Lanes && depth < 2 => {
                // Two of eight bytes each, side by side.
                let its = &self.graph.steps[*step];
                let Some((one, other)) = its.sources() else { return false };
                let part = |number: usize| match self.ssa.operand(*step, its.operands[number]).as_slice() {
                    [only] => Some(self.root(*only)),
                    _ => None,
                };
                let combines = |id: Option<Id>, by: u64| id.is_some_and(|id| self.combines_at(at, id, by));
                combines(part(one), 0) && combines(part(other), 8)
            }
            // Of two, the lesser or the greater.
            Def::Phi { block, inputs, .. } => self.combines_by_branch(at, *block, inputs),
            Def::Result { step, .. } => {
                let its = &self.graph.steps[*step];
                let op = if its.kind == Kind::Select { self.selects(*step) } else { Op::of(its.kind) };
                let (Some(op), Some((one, other))) = (op, its.sources()) else { return false };
                let there = |number: usize| match (
                    its.operands[number],
                    self.ssa.operand(*step, its.operands[number]).as_slice(),
                ) {
                    (Spot::Memory, []) => self.have_one_address(at, *step),
                    (_, [only]) => self.is_there(at, *only, 0),
                    _ => false,
                };
                let sum = |number: usize| self.is_sum(self.tainted(*step, its.operands[number]).0, op);
                (there(one) && sum(other)) || (there(other) && sum(one) && its.kind != Kind::Subtract)
            }
            _ => false,
        }
    }

    /// Whether a step selects the lesser or the greater of a sum and something else, by comparing them.
    fn selects(&self, at: usize) -> Option<Op> {
        let step = &self.graph.steps[at];
        let is_sum = |at: usize, spot: Spot| self.is_extreme(self.tainted(at, spot).0);
        let number = step.operands.iter().position(|spot| is_sum(at, *spot))?;
        let by = self.flags_of(at)?;
        let [one, other] = *self.graph.steps[by].operands.as_slice() else { return None };
        let is_first = is_sum(by, one);
        let fits = self.graph.steps[by].kind == Kind::Compare && is_first != is_sum(by, other);
        self.picked(at, by, is_first, number == 1).filter(|_| fits)
    }

    /// The same with what stands some bytes behind that.
    pub fn combines_at(&self, at: usize, id: Id, by: u64) -> bool {
        let Def::Result { step, .. } = &self.ssa.defs[id] else { return false };
        let its = &self.graph.steps[*step];
        let (Some(op), Some((one, other))) = (Op::of(its.kind), its.sources()) else { return false };
        let there = |number: usize| {
            let read = match (its.operands[number], self.ssa.operand(*step, its.operands[number]).as_slice())
            {
                (Spot::Memory, []) => *step,
                (_, [only]) => match self.ssa.defs[self.root(*only)] {
                    Def::Result { step, .. } if self.graph.steps[step].kind == Kind::Move => step,
                    _ => return false,
                },
                _ => return false,
            };
            let moved = self.spelled(at).map(|(base, index, added)| (base, index, added.wrapping_add(by)));
            self.graph.steps[read].loads && moved.is_some() && moved == self.spelled(read)
        };
        let sum = |number: usize| self.is_sum(self.tainted(*step, its.operands[number]).0, op);
        its.kind != Kind::Subtract && ((there(one) && sum(other)) || (there(other) && sum(one)))
    }

    /// Whether a value is what stands where `at` stores.
    pub fn is_there(&self, at: usize, id: Id, depth: usize) -> bool {
        let id = self.root(id);
        match &self.ssa.defs[id] {
            Def::Phi { inputs, .. } => {
                depth > 4 || inputs.iter().all(|input| self.is_there(at, *input, depth + 1))
            }
            Def::Result { step, .. } => {
                let its = &self.graph.steps[*step];
                let reads = matches!(its.kind, Kind::Move | Kind::CompareExchange) && its.loads;
                reads && (*step == at || self.have_one_address(at, *step))
            }
            Def::Entry(_) => false,
        }
    }

    /// Whether a branch repeats the exchange that ends a reduction, or skips it where it would change
    /// nothing.
    pub fn ends_reduction(&self, block: usize) -> bool {
        let Some(by) = self.last_step(block).and_then(|at| self.flags_of(at)) else { return false };
        let step = &self.graph.steps[by];
        if step.kind == Kind::CompareExchange {
            return self.reduces(by);
        }
        let [one, other] = step.operands.as_slice() else { return false };
        if step.kind == Kind::Compare && (self.asks_whether_exchanged(by, *one, *other)) {
            return true;
        }
        if step.kind != Kind::Compare || self.is_in_iteration(block) {
            return false;
        }
        let sum = |spot: &Spot| self.is_extreme(self.tainted(by, *spot).0);
        let (sum, rest) = (sum(one) || sum(other), if sum(one) { other } else { one });
        let [one, other] = *self.graph.blocks[block].next.as_slice() else { return false };
        sum && (self.only_stores(by, *rest, one, other) || self.only_stores(by, *rest, other, one))
    }

    /// Whether the code from one block to another does nothing but to store where what was compared with
    /// stands, and nothing is chosen by having come that way.
    fn only_stores(&self, by: usize, rest: Spot, from: usize, to: usize) -> bool {
        let mut block = from;
        for _ in 0..MOST_BLOCKS {
            let its = &self.graph.blocks[block];
            let fits = its.before.len() == 1
                && its.steps().all(|at| {
                    let (step, place) = (&self.graph.steps[at], self.frames.steps[at].place);
                    let elsewhere = step.stores && place == Place::Elsewhere;
                    step.flow != Flow::Call && (!elsewhere || self.stands_at(by, rest, at))
                });
            match its.next.as_slice() {
                [next] if fits && *next == to => return self.joins_one(to),
                [next] if fits => block = *next,
                _ => return false,
            }
        }
        false
    }

    /// Whether whatever comes to a block is the same on all ways.
    fn joins_one(&self, to: usize) -> bool {
        let used: BTreeSet<Id> = self.ssa.uses.iter().flatten().map(|(_, id)| self.ssa.find(*id)).collect();
        self.ssa.defs.iter().enumerate().all(|(id, def)| match def {
            Def::Phi { block, inputs, .. } if *block == to && used.contains(&id) => self.are_one(inputs),
            _ => true,
        })
    }

    /// Whether what an exchange has met is compared with what was expected.
    fn asks_whether_exchanged(&self, by: usize, one: Spot, other: Spot) -> bool {
        let of = |spot: Spot| match self.ssa.operand(by, spot).as_slice() {
            [only] => Some(self.root(*only)),
            _ => None,
        };
        let (Some(one), Some(other)) = (of(one), of(other)) else { return false };
        [(one, other), (other, one)].into_iter().any(|(met, expected)| match self.ssa.defs[met] {
            Def::Result { step, loc: RESULT } if self.graph.steps[step].kind == Kind::CompareExchange => {
                let asked = self.ssa.used(step, RESULT).map(|id| self.root(id));
                asked == Some(expected) && self.reduces(step)
            }
            _ => false,
        })
    }

    pub fn stands_at(&self, by: usize, spot: Spot, at: usize) -> bool {
        match (spot, self.ssa.operand(by, spot).as_slice()) {
            (Spot::Memory, []) => self.have_one_address(at, by),
            (_, [only]) => self.is_there(at, *only, 0),
            _ => false,
        }
    }

    /// Whether two steps' memory operands are at one address.
    pub fn have_one_address(&self, one: usize, other: usize) -> bool {
        let elsewhere = |at: usize| self.frames.steps[at].place == Place::Elsewhere;
        elsewhere(one)
            && elsewhere(other)
            && self.spelled(one).is_some_and(|a| Some(a) == self.spelled(other))
    }

    /// A step's address: a value or a fixed place, an index, and what is added.
    pub fn spelled(&self, at: usize) -> Option<Spelled> {
        let memory = self.graph.steps[at].memory?;
        let of = |register: usize| self.ssa.used(at, register).map(|id| self.root(id));
        let index = match (memory.has_index, memory.index) {
            (false, _) => None,
            (true, register) => Some((of(register?)?, memory.scale)),
        };
        let mut added = memory.displacement;
        let Some(register) = memory.base else { return Some((None, index, added)) };
        let mut base = of(register)?;
        for _ in 0..8 {
            let Def::Result { step, .. } = self.ssa.defs[base] else { break };
            let its = &self.graph.steps[step];
            let (from, by) = match (its.kind, its.operands.as_slice()) {
                (Kind::Address, _) => {
                    let memory = its.memory?;
                    if memory.has_index {
                        break;
                    }
                    if memory.base.is_none() {
                        return Some((None, index, added.wrapping_add(memory.displacement)));
                    }
                    (memory.base?, memory.displacement)
                }
                (Kind::Add, [Spot::Register(register), Spot::Constant(by)]) => (*register, *by as u64),
                _ => break,
            };
            base = self.ssa.used(step, from).map(|id| self.root(id))?;
            added = added.wrapping_add(by);
        }
        Some((Some(base), index, added))
    }
}
