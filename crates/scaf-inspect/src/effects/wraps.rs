//! Several indexes in one (`collapse`): where a thread's iterations begin is divided by how many there are of
//! the inner ones. What is left over is counted on until it comes to that number, and begins again; the
//! quotient then goes on by one.

use super::function::Function;
use super::linear::{Atom, Sum};
use super::ssa::{Def, Id};
use crate::decode::{Kind, Spot};

impl Function<'_, '_> {
    /// Whether a cycle is such an index: what is left over of a division, or the quotient of one whose rest
    /// is counted on as well.
    pub fn wraps(&self, members: &[Id], begins: &[Id], takes: &[Id]) -> bool {
        let mut sums = begins.iter().map(|id| self.sum_of(*id));
        let Some(begin) = sums.next().flatten() else { return false };
        if !sums.all(|sum| sum.as_ref() == Some(&begin)) {
            return false;
        }
        if let Some(quotient) = only_atom(&begin) {
            let headers = members.iter().filter_map(|id| match self.ssa.defs[*id] {
                Def::Phi { block, .. } if self.share_loops.contains(&block) => Some(block),
                _ => None,
            });
            return headers.into_iter().any(|header| self.has_rest_of(quotient, header));
        }
        let Some((divisor, first)) = rest_of(&begin) else { return false };
        let steps = members.iter().filter_map(|id| match self.ssa.defs[*id] {
            Def::Result { step, .. } => Some(step),
            Def::Entry(_) | Def::Phi { .. } => None,
        });
        let mut by_one = true;
        for at in steps {
            let step = &self.graph.steps[at];
            by_one &= match (step.kind, step.operands.as_slice()) {
                (Kind::Add, [_, Spot::Constant(by)]) => *by == 1,
                (Kind::Address, _) => step.memory.is_some_and(|it| !it.has_index && it.displacement == 1),
                (Kind::Move | Kind::Widen | Kind::Compare, _) => true,
                (Kind::Select, _) => true,
                _ => false,
            };
        }
        // It begins again at the first one, and where it has come to the number.
        let again = takes.iter().all(|id| {
            self.sum_of(*id) == Some(Sum::constant(first))
                || self.is_compared_to(*id, members, divisor, first)
        });
        by_one && again && self.ends_at(members, divisor, first)
    }

    /// Whether what is left over of the division that has this quotient goes round the same loop.
    fn has_rest_of(&self, quotient: Atom, header: usize) -> bool {
        let phis = self.ssa.defs.iter().enumerate().filter_map(|(id, def)| match def {
            Def::Phi { block, inputs, .. } if *block == header && self.ssa.find(id) == id => Some(inputs),
            _ => None,
        });
        phis.into_iter().any(|inputs| {
            let before = self.graph.blocks[header].before.iter().zip(inputs);
            let mut begins = before.filter(|(from, _)| !self.goes_round(**from, header));
            begins.any(|(_, input)| {
                self.sum_of(*input).is_some_and(|sum| {
                    rest_of(&sum).is_some()
                        && sum.0.iter().any(|(factors, by)| {
                            *by < 0 && factors.iter().any(|factor| is_one_division(*factor, quotient))
                        })
                })
            })
        })
    }

    /// Whether a value is compared with one of the cycle's, as the number of inner iterations is.
    fn is_compared_to(&self, id: Id, members: &[Id], divisor: Option<i64>, first: i64) -> bool {
        divisor.is_none_or(|divisor| self.sum_of(id) == Some(Sum::constant(divisor.wrapping_add(first))))
            && self.compares_with(members).any(|other| other == self.root(id))
    }

    fn compares_with<'a>(&'a self, members: &'a [Id]) -> impl Iterator<Item = Id> + 'a {
        let compares = self.graph.steps.iter().enumerate().filter(|(_, step)| step.kind == Kind::Compare);
        compares.flat_map(move |(at, step)| {
            let ids: Vec<Id> = step.operands.iter().flat_map(|spot| self.ssa.operand(at, *spot)).collect();
            let some = ids.iter().any(|id| members.contains(id));
            ids.into_iter().filter(move |id| some && !members.contains(id)).map(|id| self.root(id))
        })
    }

    /// Whether the cycle is compared with the number of inner iterations, if that is a constant.
    fn ends_at(&self, members: &[Id], divisor: Option<i64>, first: i64) -> bool {
        let Some(divisor) = divisor else { return self.compares_with(members).next().is_some() };
        let ends = [divisor.wrapping_add(first), divisor.wrapping_add(first).wrapping_sub(1)];
        let constants = self.compares_with(members).filter_map(|id| self.value(id).constant);
        let written = self.graph.steps.iter().enumerate().filter_map(|(at, step)| {
            match (step.kind, step.operands.as_slice()) {
                (Kind::Compare, [spot, Spot::Constant(end)]) => {
                    let ids = self.ssa.operand(at, *spot);
                    ids.iter().any(|id| members.contains(id)).then_some(*end)
                }
                _ => None,
            }
        });
        let mut all = constants.chain(written);
        all.any(|end| ends.contains(&end))
    }
}

fn only_atom(sum: &Sum) -> Option<Atom> {
    let mut terms = sum.0.iter().filter(|(factors, _)| !factors.is_empty());
    match (terms.next(), terms.next()) {
        (Some((factors, 1)), None) => match factors.as_slice() {
            [atom] => Some(*atom),
            _ => None,
        },
        _ => None,
    }
}

/// Of a value less some multiple of a quotient: that number if it is a constant, and what is added.
fn rest_of(sum: &Sum) -> Option<(Option<i64>, i64)> {
    let first = sum.0.get(&Vec::new()).copied().unwrap_or(0);
    let of = |negative: bool| {
        sum.0.iter().filter(move |(factors, times)| !factors.is_empty() && (**times < 0) == negative)
    };
    let mut less = of(true);
    let (Some((factors, times)), None) = (less.next(), less.next()) else { return None };
    let mut more = of(false);
    let is_whole = more.next().is_some() && of(false).all(|(_, times)| *times == 1);
    let divisor = if factors.len() == 1 { Some(times.wrapping_neg()) } else { None };
    is_whole.then_some((divisor, first))
}

/// Whether two quotients are of one number: a compiler rounds negative ones in its own way.
fn is_one_division(one: Atom, other: Atom) -> bool {
    match (one, other) {
        (Atom::Shifted(_, one), Atom::Shifted(_, other)) => one == other,
        _ => one == other,
    }
}
