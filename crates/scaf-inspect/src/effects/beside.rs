//! What goes round a loop beside an index: so many times that, and more. Compilers keep rows' numbers, and
//! what they compute of them.

use super::addresses::Place;
use super::function::Function;
use super::linear::{Atom, Found, Sum};
use super::loops::Loop;
use super::ssa::{Def, Id};
use super::ways::Ways;

/// Most values of a loop that are looked at.
const MOST_VALUES: usize = 24;

/// A value that is so many times an index, and more.
pub(super) struct Beside {
    pub one: Id,
    index: Id,
    times: Sum,
    more: Sum,
}

impl Function<'_, '_> {
    /// Of values at a loop's beginning, those that are an index of the same loop in each round, times
    /// something and with something added that all threads know.
    pub fn go_beside(&self, header: usize, open: &[Id], indexes: &[Id]) -> Vec<Beside> {
        let Some(its) = self.loop_of(header).filter(|_| open.len() <= MOST_VALUES) else { return Vec::new() };
        let beside = |one: &Id| {
            let mine = self.begin_of(header, its, *one)?;
            indexes.iter().find_map(|index| {
                let (times, more) = times_and_more(&mine, &self.begin_of(header, its, *index)?)?;
                let is_known = |sum: &Sum| self.is_same_within(sum, its) && self.is_known_to_all(sum);
                (is_known(&times) && is_known(&more)).then_some(Beside {
                    one: *one,
                    index: *index,
                    times,
                    more,
                })
            })
        };
        let mut all: Vec<Beside> = open.iter().filter_map(beside).collect();
        // What holds in each round if it holds in the one before, does.
        loop {
            let holds = |it: &Beside| self.is_beside(header, its, it, &all);
            let kept: Vec<bool> = all.iter().map(holds).collect();
            if !kept.contains(&false) {
                return all;
            }
            let mut kept = kept.into_iter();
            all.retain(|_| kept.next() == Some(true));
        }
    }

    fn is_beside(&self, header: usize, its: &Loop, it: &Beside, all: &[Beside]) -> bool {
        let given = |found: &mut Found, _: &Ways| self.relations(all, found);
        let (Def::Phi { inputs: ones, .. }, Def::Phi { inputs: indexes, .. }) =
            (&self.ssa.defs[it.one], &self.ssa.defs[it.index])
        else {
            return false;
        };
        let before = self.graph.blocks[header].before.iter();
        let mut rounds = before.zip(ones.iter().zip(indexes)).filter(|(from, _)| its.has(**from));
        rounds.all(|(_, (one, index))| {
            let wanted = |found: &mut Found| self.relation(it, *one, *index, found);
            self.is_nothing_in(its, &wanted, &given, &mut Vec::new())
        })
    }

    /// What is nothing at a loop's beginning if these go beside their indexes.
    pub fn relations(&self, all: &[Beside], found: &mut Found) -> Vec<Sum> {
        all.iter().filter_map(|it| self.relation(it, it.one, it.index, found)).collect()
    }

    fn relation(&self, it: &Beside, one: Id, index: Id, found: &mut Found) -> Option<Sum> {
        let (one, index) = (self.exactly(one, 0, found)?, self.exactly(index, 0, found)?);
        one.add(&index.multiply(&it.times)?, -1)?.add(&it.more, -1)
    }

    fn is_known_to_all(&self, sum: &Sum) -> bool {
        sum.0.keys().flatten().all(|atom| {
            !self.differs_by_share(atom)
                && match atom {
                    Atom::Value(_) | Atom::Shifted(..) => true,
                    Atom::Load(at) => self.frames.steps[*at].place == Place::Elsewhere,
                    Atom::Round(_) => false,
                }
        })
    }
}

/// What a sum is of another one, which has to be in it: how often, and what is added.
fn times_and_more(one: &Sum, other: &Sum) -> Option<(Sum, Sum)> {
    let is_one = |(factors, times): (&Vec<Atom>, &i64)| match factors.as_slice() {
        [atom] if *times == 1 => Some(*atom),
        _ => None,
    };
    let atom = other.0.iter().find_map(is_one)?;
    let (times, _) = one.split(atom)?;
    let more = one.clone().add(&other.multiply(&times)?, -1)?;
    (times != Sum::default()).then_some((times, more))
}
