//! First iterations that compilers take out of their loops: they test for the end behind the body, and find
//! the next iteration before it, as where several loops share one index (`collapse`).
//!
//! Code before a loop is its first iteration if it has the effects that a round's body has, one by one, of
//! the same values: those with which the loop begins stand for those that a round leaves to the next one. And
//! it has to enter the loop if the share has more than that one iteration, and only then.

use super::addresses::Place;
use super::check::OUTSIDE;
use super::finding::Finding;
use super::function::Function;
use super::left_to_loop::Left;
use super::linear::{Atom, Found, Sum};
use super::loops::Loop;
use super::rounds::{Rounds, slack};
use super::ssa::{Def, Id, Loc, REST};
use super::terms::Taint;
use super::ways::Ways;
use crate::decode::abi::VECTORS;
use crate::decode::{FLAGS, Flow, Kind, MemoryOperand, Spot};
use crate::size_use::Callee;
use std::cell::Cell;
use std::collections::BTreeSet;

/// Most blocks of an iteration one behind the other, and most effects.
const MOST_BLOCKS: usize = 16;
const MOST_EFFECTS: usize = 32;
/// Most values that are compared for one loop.
const MOST_VALUES: usize = 4000;

/// A first iteration, beside the body of its loop.
pub(super) struct Twins<'l> {
    pub its: &'l Loop,
    pub header: usize,
    /// Their effects, in order, and all blocks of the iteration.
    once: Vec<usize>,
    again: Vec<usize>,
    pub first: Vec<usize>,
    pub body: Vec<usize>,
    left: Cell<usize>,
}

impl Function<'_, '_> {
    /// Finds the blocks of first iterations, by the headers of their loops.
    pub fn find_peeled(&mut self) {
        let all = self.loops.all.iter();
        self.peeled =
            all.filter_map(|its| Some((*its.entries.first()?, self.first_iteration(its)?))).collect();
        let ends = |its: &Loop| its.exits(&self.graph).map(|(from, _)| from).next();
        let has_rest = |header: &usize| {
            let end = self.loop_of(*header).and_then(ends);
            let by = end.and_then(|end| self.flags_of(self.last_step(end)?));
            end.zip(by).is_some_and(|(end, by)| {
                self.rounds_until(end, by) == Rounds::All && self.ask_of_one_share(*header, by)
            })
        };
        let whole: BTreeSet<usize> = self.peeled.keys().copied().filter(has_rest).collect();
        self.peeled.retain(|header, _| whole.contains(header));
    }

    pub fn is_peeled(&self, block: usize) -> bool {
        self.peeled.values().flatten().any(|its| *its == block)
    }

    fn first_iteration(&self, its: &Loop) -> Option<Vec<usize>> {
        let [header] = *its.entries.as_slice() else { return None };
        let before = &self.graph.blocks[header].before;
        let only = |mut all: Vec<usize>| if all.len() == 1 { all.pop() } else { None };
        let enters = only(before.iter().copied().filter(|from| !its.has(*from)).collect())?;
        let ends = only(before.iter().copied().filter(|from| its.has(*from)).collect())?;
        let exits = only(its.exits(&self.graph).map(|(from, _)| from).collect())?;
        let is_within = |other: &Loop| other.blocks.len() < its.blocks.len() && its.has(other.blocks[0]);
        if exits != ends || self.loops.all.iter().any(is_within) {
            return None;
        }
        let (test, way) = self.test_before(enters, header)?;
        let first = self.chain(test);
        let body = self.chain(ends);
        let (once, again) = (self.effects(&first)?, self.effects(&body)?);
        let is_whole = self.effects(&its.blocks)?.len() == again.len();
        if once.is_empty() || once.len() != again.len() || once.len() > MOST_EFFECTS || !is_whole {
            return None;
        }
        let left = self.left_to_next(header, enters, ends, &first);
        let twins = Twins { its, header, once, again, first, body, left: Cell::new(MOST_VALUES) };
        let are_twins = (0..twins.once.len()).all(|at| self.have_one_effect(&twins, &left, at));
        (are_twins && self.enters_with_more(test, way)).then_some(twins.first)
    }

    /// The block that decides whether the loop is entered, and by which way.
    fn test_before(&self, enters: usize, header: usize) -> Option<(usize, usize)> {
        let (mut at, mut to) = (enters, header);
        for _ in 0..MOST_BLOCKS {
            let block = &self.graph.blocks[at];
            match (block.next.as_slice(), block.before.as_slice()) {
                ([one, other], _) if one != other => {
                    return block.next.iter().position(|next| *next == to).map(|way| (at, way));
                }
                ([_], [before]) if self.effects(&[at])?.is_empty() => (at, to) = (*before, at),
                _ => return None,
            }
        }
        None
    }

    /// The blocks that lead to one, and nowhere else.
    fn chain(&self, last: usize) -> Vec<usize> {
        let mut blocks = vec![last];
        while let [before] = self.graph.blocks[blocks[0]].before.as_slice()
            && self.graph.blocks[*before].next.len() == 1
            && *before != last
            && blocks.len() < MOST_BLOCKS
        {
            blocks.insert(0, *before);
        }
        blocks
    }

    /// The steps that call or store something; `None` if one of these can't be compared.
    fn effects(&self, blocks: &[usize]) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for at in blocks.iter().flat_map(|block| self.graph.blocks[*block].steps()) {
            let (step, place) = (&self.graph.steps[at], self.frames.steps[at].place);
            let is_strange = matches!(step.kind, Kind::Fill | Kind::Forbidden)
                || (place == Place::SomewhereOwn && step.stores)
                || matches!(step.flow, Flow::Interrupt | Flow::Transaction | Flow::Stop);
            if is_strange {
                return None;
            }
            if step.flow == Flow::Call || (step.stores && place == Place::Elsewhere) {
                found.push(at);
            }
        }
        Some(found)
    }

    /// The values that come along from several blocks to this one, and what comes from each.
    pub fn met_at(&self, block: usize) -> impl Iterator<Item = (Id, &[Id])> {
        let all = self.ssa.defs.iter().enumerate();
        all.filter_map(move |(id, def)| match def {
            Def::Phi { block: its, inputs, .. } if *its == block && self.ssa.find(id) == id => {
                Some((id, inputs.as_slice()))
            }
            _ => None,
        })
    }

    /// Whether the test before a loop and the one at its end ask about the same share.
    fn ask_of_one_share(&self, header: usize, end: usize) -> bool {
        let atoms = |sum: &Sum| -> BTreeSet<Vec<Atom>> {
            sum.0.keys().filter(|factors| !factors.is_empty()).cloned().collect()
        };
        let test = self.peeled.get(&header).and_then(|blocks| self.last_step(*blocks.last()?));
        let test = test.and_then(|at| self.flags_of(at));
        let mine = test.and_then(|by| self.difference(by, &mut Found::of_one()));
        let its = self.difference(end, &mut Found::of_one()).and_then(|sum| sum.split(Atom::Round(header)));
        mine.zip(its).is_some_and(|(mine, (_, its))| atoms(&mine) == atoms(&its))
    }

    /// What a first iteration leaves to its loop has to be indexes: else it may be computed otherwise there.
    pub fn check_peeled(&self) -> Result<(), Finding> {
        for (header, blocks) in &self.peeled {
            if self.carried(*header).any(|(id, _)| self.taint(id) != Taint::Clean) {
                return Err(self.error(self.graph.blocks[blocks[0]].first, OUTSIDE));
            }
        }
        Ok(())
    }

    /// Whether the loop is entered if the share has more than one iteration, and only then.
    fn enters_with_more(&self, test: usize, way: usize) -> bool {
        let at = self.last_step(test);
        let left =
            at.and_then(|at| self.flags_of(at)).and_then(|by| self.difference(by, &mut Found::of_one()));
        let (Some(at), Some(left)) = (at, left) else { return false };
        [1, -1].into_iter().any(|by_round: i64| {
            let beyond = self.beyond_share(&left, by_round, 1);
            let slack = self.graph.steps[at].condition.and_then(|it| slack(it, way == 1, by_round));
            let beyond = beyond.map(|it| it.wrapping_sub(by_round).wrapping_mul(by_round));
            beyond.zip(slack).is_some_and(|(beyond, slack)| slack.contains(&beyond))
        })
    }

    fn have_one_effect(&self, twins: &Twins<'_>, left: &Left, number: usize) -> bool {
        let (one, other) = (twins.once[number], twins.again[number]);
        if self.graph.steps[one].flow != Flow::Call {
            return self.do_the_same(twins, left, one, other);
        }
        let callee = &self.frames.steps[one].callee;
        let uses = [one, other].map(|at| &self.ssa.uses[at]);
        let is_passed = |(loc, id): &(Loc, Id)| *loc < REST && !self.value(*id).frame;
        *callee != Callee::Unknown
            && *callee == self.frames.steps[other].callee
            && uses[0].len() == uses[1].len()
            && uses.iter().all(|uses| uses.iter().all(is_passed))
            && uses[0].iter().all(|(loc, id)| {
                self.are_widened_alike(twins, (one, *loc), (other, *loc))
                    && self.ssa.used(other, *loc).is_some_and(|its| self.are_twins(twins, left, *id, its))
            })
    }

    /// Whether a step of the first iteration computes what one of the loop's does.
    fn do_the_same(&self, twins: &Twins<'_>, left: &Left, one: usize, other: usize) -> bool {
        let steps = [one, other].map(|at| &self.graph.steps[at]);
        let places = [one, other].map(|at| self.frames.steps[at].place);
        let [a, b] = steps;
        let alike = a.flow == Flow::Next
            && a.form != 0
            && (a.form, a.kind) == (b.form, b.kind)
            && (a.locked, a.condition, a.operands.len()) == (b.locked, b.condition, b.operands.len());
        if !alike {
            return false;
        }
        let own = matches!(places, [Place::Own { .. }, Place::Own { .. }]);
        if places == [Place::Elsewhere; 2] {
            if self.takes_in_other_order(twins, left, one, other) {
                return true;
            }
            if !self.load_alike(twins, left, one, other) {
                return false;
            }
        } else if !own && places != [Place::None; 2] {
            return false;
        }
        let named = |at: usize, loc: Loc| {
            let memory = self.graph.steps[at].memory;
            self.graph.steps[at].operands.contains(&Spot::Register(loc))
                || memory.is_some_and(|it| [it.base, it.index].contains(&Some(loc)))
                || loc >= REST
        };
        let of = |at: usize, spot: Spot| match self.ssa.operand(at, spot).as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let are_twins = |pair: (&Spot, &Spot)| match pair {
            (Spot::Constant(one), Spot::Constant(other)) => one == other,
            (Spot::Memory, Spot::Memory) if !own => true,
            (Spot::Memory, Spot::Memory) | (Spot::Register(_), Spot::Register(_)) => {
                let alike = match pair {
                    (Spot::Register(x), Spot::Register(y)) => {
                        self.are_widened_alike(twins, (one, *x), (other, *y))
                    }
                    _ => true,
                };
                match (of(one, *pair.0), of(other, *pair.1)) {
                    (Some(one), Some(other)) => alike && self.are_twins(twins, left, one, other),
                    // It is only written to.
                    (None, None) => *pair.0 != Spot::Memory,
                    _ => false,
                }
            }
            _ => false,
        };
        let unnamed = |(loc, id): &(Loc, Id)| {
            named(one, *loc)
                || self.ssa.used(other, *loc).is_some_and(|its| self.are_twins(twins, left, *id, its))
        };
        a.operands.iter().zip(&b.operands).all(are_twins) && self.ssa.uses[one].iter().all(unnamed)
    }

    /// Whether what is in memory for a step of the first iteration is what is there for one of a round's.
    fn load_alike(&self, twins: &Twins<'_>, left: &Left, one: usize, other: usize) -> bool {
        // What was stored in between is another one.
        let before = self.effects_before(&twins.first, one);
        before.is_some()
            && before == self.effects_before(&twins.body, other)
            && self.are_at_one_place(twins, left, one, other)
    }

    /// Whether both add up or multiply the same two numbers from memory, the one that the other begins with.
    fn takes_in_other_order(&self, twins: &Twins<'_>, left: &Left, one: usize, other: usize) -> bool {
        let loaded = |at: usize| {
            let step = &self.graph.steps[at];
            let takes = matches!(step.kind, Kind::Add | Kind::Multiply) && step.loads && !step.stores;
            let [Spot::Register(register), Spot::Memory] = *step.operands.as_slice() else { return None };
            let Def::Result { step: by, .. } = self.ssa.defs[self.ssa.find(self.ssa.used(at, register)?)]
            else {
                return None;
            };
            let its = &self.graph.steps[by];
            let is_load = its.kind == Kind::Move && its.loads && its.flow == Flow::Next;
            let is_alike = its.memory?.bytes == step.memory?.bytes;
            (takes && is_load && is_alike && self.frames.steps[by].place == Place::Elsewhere).then_some(by)
        };
        let (Some(mine), Some(its)) = (loaded(one), loaded(other)) else { return false };
        self.graph.steps[mine].form == self.graph.steps[its].form
            && self.load_alike(twins, left, mine, other)
            && self.load_alike(twins, left, one, its)
    }

    /// How many effects an iteration has had before a step of it.
    fn effects_before(&self, blocks: &[usize], at: usize) -> Option<usize> {
        let number = blocks.iter().position(|block| *block == self.block_of[at])?;
        let part = self.effects(&blocks[number..=number])?;
        Some(self.effects(&blocks[..number])?.len() + part.iter().filter(|effect| **effect < at).count())
    }

    fn are_at_one_place(&self, twins: &Twins<'_>, left: &Left, one: usize, other: usize) -> bool {
        let (Some(a), Some(b)) = (self.graph.steps[one].memory, self.graph.steps[other].memory) else {
            return false;
        };
        if a.bytes != b.bytes || [a, b].iter().any(|it| it.has_index && it.index.is_none()) {
            return false;
        }
        let mine = self.address_exactly(one, 0, &mut Found::of_one());
        let parts = |at: usize, it: MemoryOperand| -> Vec<Id> {
            [it.base, it.index].into_iter().flatten().filter_map(|loc| self.ssa.used(at, loc)).collect()
        };
        if let Some(mine) = mine
            && self.add_up_alike(twins, left, &parts(one, a), &parts(other, b))
            && self.is_of_round(twins, left, &mine, &|found| self.address_exactly(other, 0, found))
        {
            return true;
        }
        let are_twins = |one_by: Option<usize>, other_by: Option<usize>| match (one_by, other_by) {
            (None, None) => true,
            (Some(x), Some(y)) => match (self.ssa.used(one, x), self.ssa.used(other, y)) {
                (Some(id), Some(its)) => {
                    self.are_widened_alike(twins, (one, x), (other, y))
                        && self.are_twins(twins, left, id, its)
                }
                _ => false,
            },
            _ => false,
        };
        (a.fixed, a.displacement, a.scale, a.has_index) == (b.fixed, b.displacement, b.scale, b.has_index)
            && are_twins(a.base, b.base)
            && are_twins(a.index, b.index)
    }

    /// Whether a value of the first iteration is what one of the loop's is, in the round before its first.
    fn are_twins(&self, twins: &Twins<'_>, left: &Left, one: Id, other: Id) -> bool {
        let Some(fewer) = twins.left.get().checked_sub(1) else { return false };
        twins.left.set(fewer);
        let (one, other) = (self.root(one), self.root(other));
        let is_left = |(first, again): &(Id, Id)| self.root(*first) == one && self.root(*again) == other;
        let constants = (self.value(one).constant, self.value(other).constant);
        if left.pairs.iter().any(is_left)
            || (one == other && self.is_outside(other, twins.its))
            || (constants.0.is_some() && constants.0 == constants.1)
            || self.are_one_sum(twins, left, one, other)
        {
            return true;
        }
        match (&self.ssa.defs[one], &self.ssa.defs[other]) {
            (_, Def::Phi { block, inputs, .. }) if twins.its.has(*block) && *block != twins.header => {
                let mut ways = inputs.iter().enumerate();
                ways.all(|(way, input)| {
                    let left = self.on_way(left, *block, way);
                    self.are_twins(twins, &left, one, *input)
                })
            }
            (Def::Result { step: a, loc: x }, Def::Result { step: b, loc: y })
                if twins.its.has(self.block_of[*b]) =>
            {
                if self.graph.steps[*a].flow == Flow::Call {
                    let number = |all: &[usize], at: usize| all.iter().position(|it| *it == at);
                    let of = (number(&twins.once, *a), number(&twins.again, *b));
                    return x == y && of.0.is_some() && of.0 == of.1;
                }
                let made = |at: usize, loc: Loc| self.ssa.makes[at].iter().position(|(its, _)| *its == loc);
                made(*a, *x) == made(*b, *y)
                    && (*x == FLAGS) == (*y == FLAGS)
                    && self.do_the_same(twins, left, *a, *b)
            }
            _ => false,
        }
    }

    fn are_one_sum(&self, twins: &Twins<'_>, left: &Left, one: Id, other: Id) -> bool {
        let loc = |id: Id| match &self.ssa.defs[id] {
            Def::Entry(loc) | Def::Phi { loc, .. } | Def::Result { loc, .. } => *loc,
        };
        // Numbers with a point aren't added up in another order.
        let are_whole = [one, other].iter().all(|id| loc(*id) < VECTORS || loc(*id) >= REST);
        are_whole
            && self.add_up_alike(twins, left, &[one], &[other])
            && self.sum_of(one).is_some_and(|mine| {
                self.is_of_round(twins, left, &mine, &|found| self.exactly(other, 0, found))
            })
    }

    /// Whether a sum of the first iteration is one of the round before the loop's first, which has left what
    /// the first iteration leaves; where ways have met, on each of them.
    pub fn is_of_round(
        &self,
        twins: &Twins<'_>,
        left: &Left,
        mine: &Sum,
        its: &dyn Fn(&mut Found) -> Option<Sum>,
    ) -> bool {
        let wanted = |found: &mut Found| before_rounds(its(found)?, twins.header)?.add(mine, -1);
        let given = |found: &mut Found, _: &Ways| {
            let equation = |(first, again): &(Id, Id)| {
                let again = before_rounds(self.exactly(*again, 0, found)?, twins.header)?;
                again.add(&self.sum_of(*first)?, -1)
            };
            left.pairs.iter().filter_map(equation).collect()
        };
        self.is_nothing_in(twins.its, &wanted, &given, &mut Vec::new())
    }
}

/// A sum of the round before a loop's first one.
fn before_rounds(sum: Sum, header: usize) -> Option<Sum> {
    let (by_round, rest) = sum.split(Atom::Round(header))?;
    rest.add(&by_round, -1)
}
