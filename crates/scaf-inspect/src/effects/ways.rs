//! What follows in each round of a loop, whichever way it has come: of equations that hold there.

use super::function::Function;
use super::linear::{Atom, Found, Sum};
use super::loops::Loop;
use super::ssa::Def;
use std::collections::HashMap;

/// Most places one behind the other where ways meet within a round, and most ways that meet in one.
const MOST_MEETINGS: usize = 3;
const MOST_WAYS: usize = 8;

/// How a round has come to each of some places where ways meet.
pub(super) type Ways = Vec<(usize, usize)>;

impl Function<'_, '_> {
    /// Whether a sum is nothing in each round of a loop if others are, whichever way it has come.
    pub fn is_nothing_in(
        &self,
        its: &Loop,
        wanted: &dyn Fn(&mut Found) -> Option<Sum>,
        given: &dyn Fn(&mut Found, &Ways) -> Vec<Sum>,
        ways: &mut Ways,
    ) -> bool {
        let Some(sum) = wanted(&mut self.on_ways(ways)) else { return false };
        let given_here = given(&mut self.on_ways(ways), ways);
        let meets = self.meets_in(its, [&sum].into_iter().chain(&given_here), ways);
        if self.follows_in(its, sum, given_here) {
            return true;
        }
        meets.is_some_and(|meets| {
            self.all_ways(meets, ways, &mut |ways| self.is_nothing_in(its, wanted, given, ways))
        })
    }

    /// Where ways meet in a round, of which some sums don't tell which one was taken.
    pub fn meets_in<'s>(
        &self,
        its: &Loop,
        sums: impl IntoIterator<Item = &'s Sum>,
        ways: &Ways,
    ) -> Option<usize> {
        let meets = |atom: &Atom| {
            let Atom::Value(id) = atom else { return None };
            let Def::Phi { block, .. } = self.ssa.defs[*id] else { return None };
            let is_new = ways.iter().all(|(meets, _)| *meets != block);
            (is_new && its.has(block) && !its.entries.contains(&block)).then_some(block)
        };
        sums.into_iter().flat_map(|sum| sum.0.keys().flatten()).find_map(meets)
    }

    /// Whether something is right on each of the ways that meet in a block.
    pub fn all_ways(&self, meets: usize, ways: &mut Ways, right: &mut dyn FnMut(&mut Ways) -> bool) -> bool {
        let many = self.graph.blocks[meets].before.len();
        ways.len() < MOST_MEETINGS
            && many <= MOST_WAYS
            && (0..many).all(|way| {
                ways.push((meets, way));
                let is = right(ways);
                ways.pop();
                is
            })
    }

    /// For sums of a round that has come those ways. The last one is the first that it comes to.
    pub fn on_ways(&self, ways: &Ways) -> Found {
        let mut known = HashMap::new();
        for (meets, way) in ways.iter().rev() {
            let before = known.clone();
            for (id, inputs) in self.met_at(*meets) {
                let mut found = Found { known: before.clone(), ..Found::of_one() };
                known.extend(inputs.get(*way).map(|input| (id, self.exactly(*input, 0, &mut found))));
            }
        }
        Found { known, ..Found::of_one() }
    }

    /// Whether a sum is nothing if others are, in a round of a loop.
    pub fn follows_in(&self, its: &Loop, sum: Sum, given: Vec<Sum>) -> bool {
        // What the round has is put in terms of what is before it, as far as that can be.
        follows(sum, given, &|atom| match atom {
            Atom::Value(id) | Atom::Shifted(id, ..) => self.is_outside(*id, its),
            Atom::Load(_) | Atom::Round(_) => true,
        })
    }
}

/// Whether a sum is nothing if all of these are. What isn't `last` is replaced first.
fn follows(mut rest: Sum, mut all: Vec<Sum>, last: &dyn Fn(&Atom) -> bool) -> bool {
    while let Some(equation) = all.pop() {
        let of_one = |factors: &Vec<Atom>| match factors.as_slice() {
            [atom] => {
                let (of, others) = equation.split(*atom)?;
                let of = of.as_constant().filter(|of| matches!(of, -1 | 1))?;
                Some((*atom, of, others))
            }
            _ => None,
        };
        let found = equation.0.keys().filter_map(of_one).min_by_key(|(atom, ..)| last(atom));
        let Some((atom, of, others)) = found else { continue };
        let Some(is) = Sum::default().add(&others, -of) else { continue };
        let put = |sum: &Sum| {
            let (times, others) = sum.split(atom)?;
            others.add(&times.multiply(&is)?, 1)
        };
        let Some(next) = put(&rest) else { return false };
        rest = next;
        all = all.iter().filter_map(put).collect();
    }
    rest == Sum::default()
}
