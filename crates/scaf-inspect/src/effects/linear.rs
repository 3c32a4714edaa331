//! What values are in terms of others: sums of products, exactly.
//!
//! A value that goes round a loop and is moved by the same in each round is where it begins, and the number
//! of the round times that.

use super::addresses::Place;
use super::function::Function;
use super::loops::Loop;
use super::ssa::{Def, Id, Loc, WHOLE};
use crate::decode::abi::{RESULT, SECOND_RESULT};
use crate::decode::{FLAGS, Flow, Kind, Spot, Step};
use std::collections::{BTreeMap, HashMap};

/// Most products of a sum, and most factors of a product.
const MOST_TERMS: usize = 16;
const MOST_FACTORS: usize = 5;
/// Most values that one is followed through, one behind the other, and altogether.
const MAX_DEPTH: usize = 24;
const MAX_VALUES: usize = 400;

/// What isn't computed from anything else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Atom {
    Value(Id),
    /// A value without so many of its last bits, which may be shifted by its sign or not.
    Shifted(Id, u32, Option<Shift>),
    /// What a step loads as one of its operands.
    Load(usize),
    /// The number of rounds of the loop with that header.
    Round(usize),
}

/// How many bytes are shifted, and what comes in on the left: the sign or zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Shift {
    bytes: usize,
    by_sign: bool,
}

/// Factors, and how often their product is added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sum(pub BTreeMap<Vec<Atom>, i64>);

impl Sum {
    pub fn constant(value: i64) -> Sum {
        Sum(BTreeMap::new()).plus(vec![], value)
    }

    pub fn atom(atom: Atom) -> Sum {
        Sum::default().plus(vec![atom], 1)
    }

    pub fn plus(mut self, factors: Vec<Atom>, times: i64) -> Sum {
        let entry = self.0.entry(factors).or_insert(0);
        *entry = entry.wrapping_add(times);
        self.0.retain(|_, times| *times != 0);
        self
    }

    pub fn add(self, other: &Sum, times: i64) -> Option<Sum> {
        let terms = other.0.iter();
        let sum = terms.fold(self, |sum, (factors, by)| sum.plus(factors.clone(), by.wrapping_mul(times)));
        (sum.0.len() <= MOST_TERMS).then_some(sum)
    }

    pub fn multiply(&self, other: &Sum) -> Option<Sum> {
        let mut product = Sum::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut factors: Vec<Atom> = a.iter().chain(b).copied().collect();
                factors.sort_unstable();
                if factors.len() > MOST_FACTORS {
                    return None;
                }
                product = product.plus(factors, x.wrapping_mul(*y));
            }
        }
        (product.0.len() <= MOST_TERMS).then_some(product)
    }

    pub fn as_constant(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    pub fn has(&self, atom: Atom) -> bool {
        self.0.keys().any(|factors| factors.contains(&atom))
    }

    /// What it has of an atom, that taken out, and the rest; `None` where the atom is squared.
    pub fn split(&self, atom: Atom) -> Option<(Sum, Sum)> {
        let (mut of, mut rest) = (Sum::default(), Sum::default());
        for (factors, times) in &self.0 {
            let count = factors.iter().filter(|factor| **factor == atom).count();
            let others: Vec<Atom> = factors.iter().filter(|factor| **factor != atom).copied().collect();
            match count {
                0 => rest = rest.plus(others, *times),
                1 => of = of.plus(others, *times),
                _ => return None,
            }
        }
        Some((of, rest))
    }
}

impl Found {
    pub fn within(left: usize) -> Found {
        Found { known: HashMap::new(), left }
    }

    pub fn of_one() -> Found {
        Found::within(MAX_VALUES)
    }
}

/// One search: what has been found, and what is being looked at.
#[derive(Default)]
pub(super) struct Found {
    pub known: HashMap<Id, Option<Sum>>,
    pub left: usize,
}

impl Function<'_, '_> {
    pub fn sum_of(&self, id: Id) -> Option<Sum> {
        self.exactly(id, 0, &mut Found::of_one())
    }

    pub fn exactly(&self, id: Id, depth: usize, found: &mut Found) -> Option<Sum> {
        // A counter of few bytes begins again.
        let id = self.root_through(id, WHOLE);
        if let Some(known) = found.known.get(&id) {
            return known.clone();
        }
        if let Some(constant) = self.value(id).constant {
            return Some(Sum::constant(constant));
        }
        found.left = found.left.checked_sub(1)?;
        if depth > MAX_DEPTH {
            return Some(Sum::atom(Atom::Value(id)));
        }
        // Where it comes back to itself it is itself.
        found.known.insert(id, Some(Sum::atom(Atom::Value(id))));
        let sum = match &self.ssa.defs[id] {
            Def::Entry(_) => None,
            Def::Phi { block, inputs, .. } => self.goes_exactly(id, *block, inputs, depth, found),
            Def::Result { step, loc } => self.computed_exactly(*step, *loc, depth, found),
        };
        let sum = sum.unwrap_or_else(|| Sum::atom(Atom::Value(id)));
        found.known.insert(id, Some(sum.clone()));
        Some(sum)
    }

    pub fn goes_exactly(
        &self,
        id: Id,
        block: usize,
        inputs: &[Id],
        depth: usize,
        found: &mut Found,
    ) -> Option<Sum> {
        let its = self.loop_of(block)?;
        self.begin_is_as_wide(block, inputs, depth, found).then_some(())?;
        let (mut begin, mut next): (Option<Sum>, Option<Sum>) = (None, None);
        for (before, input) in self.graph.blocks[block].before.iter().zip(inputs) {
            let is_round = its.has(*before);
            // What is found in a round stands for this one only.
            let mut within = Found::within(found.left);
            within.known.insert(id, Some(Sum::atom(Atom::Value(id))));
            let sum = self.exactly(*input, depth + 1, if is_round { &mut within } else { found })?;
            found.left = found.left.min(within.left);
            let known = if is_round { &mut next } else { &mut begin };
            if known.get_or_insert_with(|| sum.clone()) != &sum {
                return None;
            }
        }
        let (begin, next) = (begin?, next?);
        let (by_itself, moved) = next.split(Atom::Value(id))?;
        let step = match by_itself.as_constant()? {
            1 => moved,
            // Computed from the number of the round alone: what it begins with has to be that of round 0.
            0 => {
                let (step, left) = moved.split(Atom::Round(block))?;
                (begin.clone().add(&step, 1)? == left).then_some(step)?
            }
            _ => return None,
        };
        (self.is_same_within(&step, its) && !begin.has(Atom::Value(id))).then_some(())?;
        begin.add(&step.multiply(&Sum::atom(Atom::Round(block)))?, 1)
    }

    /// Whether a sum is the same in each round of a loop.
    pub fn is_same_within(&self, sum: &Sum, its: &Loop) -> bool {
        sum.0.keys().flatten().all(|atom| match atom {
            Atom::Value(id) | Atom::Shifted(id, ..) => self.is_outside(*id, its),
            Atom::Load(at) => !its.has(self.block_of[*at]),
            Atom::Round(header) => !its.has(*header),
        })
    }

    /// The innermost loop that is entered there.
    pub fn loop_of(&self, block: usize) -> Option<&Loop> {
        let all = self.loops.all.iter().filter(|its| its.entries == [block]);
        all.min_by_key(|its| its.blocks.len())
    }

    pub fn is_outside(&self, id: Id, its: &Loop) -> bool {
        match &self.ssa.defs[id] {
            Def::Entry(_) => true,
            Def::Phi { block, .. } => !its.has(*block),
            Def::Result { step, .. } => !its.has(self.block_of[*step]),
        }
    }

    pub fn computed_exactly(&self, at: usize, loc: Loc, depth: usize, found: &mut Found) -> Option<Sum> {
        let step = &self.graph.steps[at];
        let own = matches!(self.frames.steps[at].place, Place::Own { .. });
        if step.flow != Flow::Next || step.locked || (step.stores && !own) || step.bytes < WHOLE {
            return None;
        }
        let mut of = |number: usize| match *step.operands.get(number)? {
            // Whatever sign its last bits have.
            Spot::Constant(value) if step.bytes == 4 => Some(Sum::constant(i64::from(value as i32))),
            Spot::Constant(value) => Some(Sum::constant(value)),
            Spot::Register(register) => self.exactly(self.ssa.used(at, register)?, depth + 1, found),
            Spot::Memory if own => match self.ssa.operand(at, Spot::Memory).as_slice() {
                [only] => self.exactly(*only, depth + 1, found),
                _ => None,
            },
            Spot::Memory if step.loads => Some(Sum::atom(Atom::Load(at))),
            _ => None,
        };
        let (one, other) = step.sources().unwrap_or((0, 1));
        match step.kind {
            Kind::Add => of(one)?.add(&of(other)?, 1),
            // A quotient that is rounded towards zero is one by itself.
            Kind::Subtract if self.is_sign(at, other) => None,
            Kind::Subtract => of(one)?.add(&of(other)?, -1),
            Kind::Multiply => of(one)?.multiply(&of(other)?),
            Kind::Negate => Sum::default().add(&of(0)?, -1),
            Kind::Shift => match step.operands.get(1) {
                Some(Spot::Constant(by @ 0..=31)) => Sum::default().add(&of(0)?, 1 << by),
                _ => None,
            },
            Kind::ShiftRight { .. } => match step.operands.get(1) {
                Some(Spot::Constant(by @ 1..=31)) => Some(Sum::atom(self.shifted(at, *by as u32)?)),
                // A quotient by a number, of a product.
                Some(Spot::Constant(by @ 32..=62)) if step.bytes == 8 => {
                    Some(Sum::atom(self.shifted(at, *by as u32)?))
                }
                _ => None,
            },
            // The last bits are what is left of a value without the others.
            Kind::And => match step.operands.get(1) {
                Some(Spot::Constant(mask @ 1..=0x7fff_ffff)) if (mask + 1).count_ones() == 1 => {
                    let by = (mask + 1).trailing_zeros();
                    let others = Sum::atom(self.shifted(at, by)?);
                    of(0)?.add(&others, -(mask + 1))
                }
                _ => None,
            },
            Kind::Divide
                if loc == SECOND_RESULT && !self.operand(at, *step.operands.first()?).classes.is_team() =>
            {
                let quotient = self.ssa.makes[at].iter().find(|(loc, _)| *loc == RESULT)?.1;
                let whole = of(0)?.multiply(&Sum::atom(Atom::Value(self.root(quotient))))?;
                self.exactly(self.ssa.used(at, RESULT)?, depth + 1, found)?.add(&whole, -1)
            }
            Kind::Address => self.address_exactly(at, depth, found),
            _ => None,
        }
    }

    /// Whether an operand is another value's sign.
    fn is_sign(&self, at: usize, number: usize) -> bool {
        let Some(Spot::Register(register)) = self.graph.steps[at].operands.get(number) else { return false };
        let Some(id) = self.ssa.used(at, *register).map(|id| self.root(id)) else { return false };
        let Def::Result { step, .. } = self.ssa.defs[id] else { return false };
        let its = &self.graph.steps[step];
        matches!(its.kind, Kind::ShiftRight { .. })
            && matches!(its.operands.get(1), Some(Spot::Constant(31 | 63)))
    }

    /// What a step computes from without so many of its last bits, of which some may be gone before.
    fn shifted(&self, at: usize, by: u32) -> Option<Atom> {
        let id = self.only(at)?;
        let shift = |step: &Step| match step.kind {
            Kind::ShiftRight { by_sign } => Some(Shift { bytes: step.bytes, by_sign }),
            _ => None,
        };
        if let Def::Result { step, loc } = self.ssa.defs[id]
            && let its = &self.graph.steps[step]
            && let (Kind::ShiftRight { .. }, [Spot::Register(_), Spot::Constant(before @ 1..=31)]) =
                (its.kind, its.operands.as_slice())
            && loc != FLAGS
            && its.bytes == self.graph.steps[at].bytes
            && (self.graph.steps[at].kind == Kind::And || its.form == self.graph.steps[at].form)
        {
            return Some(Atom::Shifted(self.only(step)?, by + *before as u32, shift(its)));
        }
        Some(Atom::Shifted(id, by, shift(&self.graph.steps[at])))
    }

    /// The one value that a step computes from, other than a number.
    fn only(&self, at: usize) -> Option<Id> {
        match self.ssa.operand(at, *self.graph.steps[at].operands.first()?).as_slice() {
            [only] => Some(self.root(*only)),
            _ => None,
        }
    }

    /// The address that a step's memory operand names.
    pub fn address_exactly(&self, at: usize, depth: usize, found: &mut Found) -> Option<Sum> {
        let memory = self.graph.steps[at].memory?;
        if let Some(fixed) = memory.fixed {
            return Some(Sum::constant(fixed as i64));
        }
        let mut sum = Sum::constant(memory.displacement as i64);
        if let Some(base) = memory.base {
            sum = sum.add(&self.exactly(self.ssa.used(at, base)?, depth + 1, found)?, 1)?;
        }
        if memory.has_index {
            let index = self.exactly(self.ssa.used(at, memory.index?)?, depth + 1, found)?;
            sum = sum.add(&index, memory.scale as i64)?;
        }
        Some(sum)
    }
}
