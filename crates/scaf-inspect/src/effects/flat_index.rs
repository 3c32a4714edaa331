//! Several indexes in one (`collapse`), exactly: what they are together, each times the iterations of those
//! within it, begins where the share does and is one more after each round; and each but the outermost begins
//! again where it has come to its number, and nowhere else.
//!
//! All that is said here of a round is said of the next one too, if it holds in the one before: of the
//! indexes, and of what is kept beside them.

use super::beside::Beside;
use super::function::Function;
use super::linear::{Atom, Found, Sum};
use super::loops::Loop;
use super::ssa::{Def, Id};
use super::terms::Goes;
use super::ways::Ways;
use crate::decode::abi::RESULT;
use crate::decode::{Condition, Flow, Kind, Spot};
use std::collections::HashSet;

/// Most indexes in one, and most blocks from where ways meet back to what decided between them.
const MOST_INDEXES: usize = 8;
const MOST_BLOCKS: usize = 8;

/// One of the indexes: how often it counts, and where it begins again after how many, but for the outermost.
struct Part {
    id: Id,
    times: Sum,
    first: Sum,
    many: Option<Sum>,
}

impl Function<'_, '_> {
    /// Finds the cycles that are counted on like one index, and those that go along with an index.
    pub fn find_indexes(&mut self) {
        let goes = |it: &Self, id: Id| it.cycle_of.get(&id).map(|number| it.cycles[*number].goes);
        let is_open = |goes| matches!(goes, None | Some(Goes::Carries | Goes::Sums(_)));
        let mut counted = HashSet::new();
        for header in &self.share_loops {
            let may_be = |id: &Id| is_open(goes(self, *id)) || goes(self, *id) == Some(Goes::Index);
            let all: Vec<Id> = self.met_at(*header).map(|(id, _)| id).filter(may_be).collect();
            counted.extend(self.counted_as_one(*header, &all));
        }
        self.become_indexes(&counted);
        let mut beside = HashSet::new();
        for header in &self.share_loops {
            let of = |wanted: &dyn Fn(Option<Goes>) -> bool| -> Vec<Id> {
                self.met_at(*header).map(|(id, _)| id).filter(|id| wanted(goes(self, *id))).collect()
            };
            let (open, indexes) = (of(&is_open), of(&|goes| goes == Some(Goes::Index)));
            beside.extend(self.go_beside(*header, &open, &indexes).into_iter().map(|it| it.one));
        }
        self.become_indexes(&beside);
    }

    fn become_indexes(&mut self, these: &HashSet<Id>) {
        for number in self.all_of(these) {
            self.cycles[number].goes = Goes::Index;
        }
    }

    /// The cycles of which all that goes round a loop through iterations is among these.
    fn all_of(&self, these: &HashSet<Id>) -> HashSet<usize> {
        let is_other = |id: &Id| match &self.ssa.defs[*id] {
            Def::Phi { block, .. } => self.share_loops.contains(block) && !these.contains(id),
            _ => false,
        };
        let others: HashSet<usize> =
            self.cycle_of.iter().filter(|(id, _)| is_other(id)).map(|(_, number)| *number).collect();
        these
            .iter()
            .filter_map(|id| self.cycle_of.get(id))
            .filter(|it| !others.contains(it))
            .copied()
            .collect()
    }

    /// Of values at a loop's beginning, those that are counted on like one index, and what goes beside them.
    pub fn counted_as_one(&self, header: usize, all: &[Id]) -> HashSet<Id> {
        let Some(its) = self.loop_of(header) else { return HashSet::new() };
        for innermost in all {
            let Some(parts) = self.parts_of(header, its, *innermost, all) else { continue };
            let indexes: Vec<Id> = parts.iter().map(|part| part.id).collect();
            let others: Vec<Id> = all.iter().copied().filter(|id| !indexes.contains(id)).collect();
            let beside = self.go_beside(header, &others, &indexes);
            if self.is_one_more(header, its, &parts, &beside) {
                return indexes.into_iter().chain(beside.iter().map(|it| it.one)).collect();
            }
        }
        HashSet::new()
    }

    /// The indexes that come together to where the share begins, with that one.
    fn parts_of(&self, header: usize, its: &Loop, innermost: Id, all: &[Id]) -> Option<Vec<Part>> {
        let mut own = self.begin_of(header, its, innermost)?;
        let (mut whole, mut id, mut times) = (own.clone(), innermost, Sum::constant(1));
        let mut parts: Vec<Part> = Vec::new();
        loop {
            let first = self.not_of_share(&own);
            let Some(quotient) = self.subtracted(&whole) else {
                parts.push(Part { id, times, first, many: None });
                let begins = self.by_iteration(&whole) == Some(Sum::constant(1));
                return (begins && parts.len() > 1).then_some(parts);
            };
            let many = Sum::default().add(&own.split(quotient)?.0, -1)?;
            let divided = own.clone().add(&many.multiply(&Sum::atom(quotient))?, 1)?.add(&first, -1)?;
            self.divides(quotient, &divided, &many).then_some(())?;
            let next_times = Sum::default().add(&whole.split(quotient)?.0, -1)?;
            parts.push(Part { id, times, first, many: Some(many) });
            let is_next = |id: &Id| {
                let sum = self.begin_of(header, its, *id)?;
                let same = sum.0.keys().flatten().find(|atom| self.are_one_quotient(**atom, quotient));
                let (once, others) = sum.split(*same?)?;
                (once == Sum::constant(1)).then_some((*id, others.plus(vec![quotient], 1)))
            };
            (id, own) = all.iter().find_map(is_next)?;
            if parts.len() > MOST_INDEXES || parts.iter().any(|part| part.id == id) {
                return None;
            }
            whole = whole.add(&own.multiply(&next_times)?, 1)?;
            times = next_times;
        }
    }

    /// Whether a quotient is that of these two, so that what is left over is less than the second.
    fn divides(&self, quotient: Atom, divided: &Sum, by: &Sum) -> bool {
        match quotient {
            Atom::Value(id) => match self.ssa.defs[self.root(id)] {
                Def::Result { step, .. } => {
                    let of = self.ssa.used(step, RESULT).and_then(|id| self.sum_of(id));
                    let divisor = self.graph.steps[step].operands.first();
                    let divisor = divisor.map(|spot| self.ssa.operand(step, *spot));
                    let divisor = divisor.filter(|ids| ids.len() == 1).and_then(|ids| self.sum_of(ids[0]));
                    of.as_ref() == Some(divided) && divisor.as_ref() == Some(by)
                }
                _ => false,
            },
            Atom::Shifted(id, bits, _) => by.as_constant().is_some_and(|by| {
                let before = divided.0.keys().find_map(|factors| match factors.as_slice() {
                    [Atom::Shifted(its, before, _)] if *its == id && *divided == Sum::atom(factors[0]) => {
                        Some(*before)
                    }
                    _ => None,
                });
                let is = self.rounded(id, bits).as_ref() == Some(divided);
                let before = before.or_else(|| is.then_some(0));
                before.is_some_and(|before| bits > before && i128::from(by) == 1 << (bits - before))
                    || self.is_inverse(id, divided, bits, by)
            }),
            Atom::Load(_) | Atom::Round(_) => false,
        }
    }

    /// What is divided by 2^`bits` where this value is shifted: it is more than that if that is negative, to
    /// be rounded towards zero.
    fn rounded(&self, id: Id, bits: u32) -> Option<Sum> {
        let sum = self.sum_of(id)?;
        // The sign's bits, as many as are left out.
        let is_bias = |atom: &&Atom| {
            let Atom::Shifted(sign, by, _) = atom else { return false };
            let Def::Result { step, .. } = self.ssa.defs[self.root(*sign)] else { return false };
            let its = &self.graph.steps[step];
            let (all, sign) = (its.bytes as u32 * 8, its.operands.get(1));
            matches!(its.kind, Kind::ShiftRight { .. })
                && sign == Some(&Spot::Constant(i64::from(all) - 1))
                && by + bits == all
        };
        if let Some(bias) = sum.0.keys().flatten().find(is_bias).copied() {
            let (once, others) = sum.split(bias)?;
            return (once == Sum::constant(1)).then_some(others);
        }
        let Def::Result { step, .. } = self.ssa.defs[self.root(id)] else { return Some(sum) };
        let its = &self.graph.steps[step];
        if its.kind != Kind::Select {
            return Some(sum);
        }
        let ids = its.operands.iter().flat_map(|spot| self.ssa.operand(step, *spot));
        let sums: Vec<Sum> = ids.filter_map(|id| self.sum_of(id)).collect();
        let [one, other] = sums.as_slice() else { return None };
        let more = other.clone().add(one, -1)?.as_constant()?;
        let all = (1 << bits) - 1;
        (more.abs() == all).then(|| if more > 0 { one.clone() } else { other.clone() })
    }

    /// Whether two quotients are one, by the same power of two.
    fn are_one_quotient(&self, one: Atom, other: Atom) -> bool {
        match (one, other) {
            (Atom::Shifted(a, x, _), Atom::Shifted(b, y, _)) => {
                x == y && (a == b || self.rounded(a, x).is_some_and(|it| Some(it) == self.rounded(b, y)))
            }
            _ => one == other,
        }
    }

    /// Whether a value is a number of 32 bits times such a part of 2^`bits` that without so many bits it is
    /// divided by `by`, exactly (Granlund and Montgomery 1994, theorem 4.2).
    fn is_inverse(&self, id: Id, divided: &Sum, bits: u32, by: i64) -> bool {
        let Some(product) = self.sum_of(id) else { return false };
        // Halved as often as that goes first.
        let shifted = match product.0.iter().next() {
            Some((factors, _)) if product.0.len() == 1 => match factors[..] {
                [Atom::Shifted(id, bits, _)] if self.sum_of(id).as_ref() == Some(divided) => bits,
                _ => 0,
            },
            _ => 0,
        };
        let factor = match (shifted, divided.0.iter().next()) {
            (0, Some((factors, times))) => {
                let factor = product
                    .0
                    .get(factors)
                    .filter(|its| its.checked_rem(*times) == Some(0))
                    .map(|its| its / times);
                let is_product =
                    |factor: &i64| divided.multiply(&Sum::constant(*factor)).as_ref() == Some(&product);
                factor.filter(is_product)
            }
            (1..=31, _) if by % (1 << shifted) == 0 => product.0.values().next().copied(),
            _ => None,
        };
        let Some(factor) = factor else { return false };
        let (by, whole) = (by >> shifted, 32 - shifted);
        // A number of four bytes, whatever its sign.
        let inverse = i128::from(factor).rem_euclid(1 << 32);
        let beyond = inverse * i128::from(by) - (1 << bits);
        bits >= whole && by > 0 && (0..=1 << (bits - whole)).contains(&beyond)
    }

    /// What a sum has that has nothing to do with where a share begins.
    fn not_of_share(&self, sum: &Sum) -> Sum {
        let known = |factors: &Vec<Atom>| !factors.iter().any(|atom| self.differs_by_share(atom));
        Sum(sum
            .0
            .iter()
            .filter(|(factors, _)| known(factors))
            .map(|(f, times)| (f.clone(), *times))
            .collect())
    }

    /// A quotient that a sum has less than none of.
    fn subtracted(&self, sum: &Sum) -> Option<Atom> {
        let is_quotient = |atom: &&Atom| match atom {
            Atom::Value(id) => self.is_quotient(*id),
            Atom::Shifted(..) => true,
            Atom::Load(_) | Atom::Round(_) => false,
        };
        let less = sum.0.iter().filter(|(_, times)| **times < 0);
        less.flat_map(|(factors, _)| factors).find(is_quotient).copied()
    }

    /// What a value is at a loop's beginning before its first round.
    pub fn begin_of(&self, header: usize, its: &Loop, id: Id) -> Option<Sum> {
        let Def::Phi { inputs, .. } = &self.ssa.defs[id] else { return None };
        let before = self.graph.blocks[header].before.iter();
        let mut sums = before.zip(inputs).filter(|(from, _)| !its.has(**from));
        self.begin_is_as_wide(header, inputs, 0, &mut Found::of_one()).then_some(())?;
        let first = self.sum_of(*sums.next()?.1)?;
        sums.all(|(_, input)| self.sum_of(*input).as_ref() == Some(&first)).then_some(first)
    }

    fn is_one_more(&self, header: usize, its: &Loop, parts: &[Part], beside: &[Beside]) -> bool {
        let before = &self.graph.blocks[header].before;
        let mut rounds = before.iter().enumerate().filter(|(_, from)| its.has(**from));
        let next = |id: Id, number: usize, found: &mut Found| {
            let Def::Phi { inputs, .. } = &self.ssa.defs[id] else { return None };
            self.exactly(*inputs.get(number)?, 0, found)
        };
        let given = |found: &mut Found, ways: &Ways, number: usize| {
            let mut given = self.relations(beside, found);
            given.extend(
                self.decided(its, ways, (header, number))
                    .into_iter()
                    .filter_map(|(by, way)| self.ends(by, way, found)),
            );
            given
        };
        rounds.all(|(number, _)| {
            let by_one = |found: &mut Found| {
                parts.iter().try_fold(Sum::constant(-1), |sum, part| {
                    let moved = next(part.id, number, found)?.add(&self.exactly(part.id, 0, found)?, -1)?;
                    sum.add(&moved.multiply(&part.times)?, 1)
                })
            };
            let wraps = |part: &Part, many: &Sum| {
                self.each_way(
                    its,
                    &|found| next(part.id, number, found),
                    &|sum, found, ways| {
                        let given = given(found, ways, number);
                        let is = |sum: Option<Sum>| {
                            sum.is_some_and(|sum| self.follows_in(its, sum, given.clone()))
                        };
                        let now = self.exactly(part.id, 0, found);
                        let moved = now.and_then(|now| sum.clone().add(&now, -1));
                        let more = moved.clone().and_then(|moved| moved.add(&Sum::constant(1), -1));
                        let end = sum.clone().add(&part.first, -1).and_then(|sum| sum.add(many, -1));
                        let goes_on = |(by, way): (usize, usize)| {
                            let other = self.ends(by, 1 - way, found);
                            let both = other.zip(end.clone());
                            both.is_some_and(|(other, end)| {
                                [-1, 1].into_iter().any(|times| is(other.clone().add(&end, times)))
                            })
                        };
                        is(moved)
                            || is(sum.clone().add(&part.first, -1))
                            || (is(more)
                                && self.decided(its, ways, (header, number)).into_iter().any(goes_on))
                    },
                    &mut Vec::new(),
                )
            };
            self.is_nothing_in(its, &by_one, &|found, ways| given(found, ways, number), &mut Vec::new())
                && parts.iter().all(|part| part.many.as_ref().is_none_or(|many| wraps(part, many)))
        })
    }

    /// Whether something is right of a sum of a round on each of the ways that it may have come.
    fn each_way(
        &self,
        its: &Loop,
        of: &dyn Fn(&mut Found) -> Option<Sum>,
        right: &dyn Fn(&Sum, &mut Found, &Ways) -> bool,
        ways: &mut Ways,
    ) -> bool {
        let mut found = self.on_ways(ways);
        let Some(sum) = of(&mut found) else { return false };
        let Some(meets) = self.meets_in(its, [&sum], ways) else {
            return right(&sum, &mut self.on_ways(ways), ways);
        };
        self.all_ways(meets, ways, &mut |ways| self.each_way(its, of, right, ways))
    }

    /// The branches that lead those ways to where several meet, the last one to the loop's beginning, and
    /// which way each went.
    fn decided(&self, its: &Loop, ways: &Ways, last: (usize, usize)) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (meets, way) in ways.iter().chain([&last]) {
            let (mut to, mut at) = (*meets, self.graph.blocks[*meets].before[*way]);
            for _ in 0..MOST_BLOCKS {
                let block = &self.graph.blocks[at];
                if let [one, other] = *block.next.as_slice()
                    && one != other
                {
                    found.push((at, usize::from(to == other)));
                }
                match block.before.as_slice() {
                    [before] if its.has(*before) && !its.entries.contains(&at) => (to, at) = (at, *before),
                    _ => break,
                }
            }
        }
        found
    }

    /// What is nothing if a block's comparison has gone that way, which ends a count: it is never beyond its
    /// end, since it begins before it and goes on by one.
    fn ends(&self, block: usize, way: usize, found: &mut Found) -> Option<Sum> {
        let at = self.last_step(block)?;
        let step = &self.graph.steps[at];
        let (Flow::Branch, Some(condition)) = (step.flow, step.condition) else { return None };
        let by = self.flags_of(at).filter(|by| !self.compares_in_part(*by))?;
        let more = match (condition, way) {
            (Condition::Equal, 1) | (Condition::NotEqual, 0) => 0,
            (Condition::NotBelow | Condition::NotAbove, 1) | (Condition::Below | Condition::Above, 0) => 0,
            (Condition::Above, 1) | (Condition::NotAbove, 0) => -1,
            (Condition::Below, 1) | (Condition::NotBelow, 0) => 1,
            _ => return None,
        };
        let is_equal = matches!(condition, Condition::Equal | Condition::NotEqual);
        // What is negative is much without a sign.
        let mut compared = self.graph.steps[by].operands.iter().flat_map(|spot| self.ssa.operand(by, *spot));
        let is_negative = |sum: &Sum| sum.0.get(&Vec::new()).is_some_and(|more| *more < 0);
        if step.is_unsigned && compared.any(|id| self.exactly(id, 0, found).as_ref().is_none_or(is_negative))
        {
            return None;
        }
        let is_comparison = is_equal || self.graph.steps[by].kind == Kind::Compare;
        self.difference(by, found)?.add(&Sum::constant(more), 1).filter(|_| is_comparison)
    }
}
