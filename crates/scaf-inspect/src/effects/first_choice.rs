//! Forks that lead into a loop in two places. Compilers make them of a test at the beginning of an iteration:
//! each iteration tests at its end for the next one, and the fork before the loop does for the first one.

use super::function::Function;
use super::ssa::Id;
use crate::decode::{Condition, Kind, Spot};

/// What a branch asks, and where it leads if that is so, and if not.
struct Question {
    /// The step that compares.
    by: usize,
    asks: Condition,
    is_unsigned: bool,
    ways: [Way; 2],
}

/// A block, and the one from which it is come to.
struct Way {
    to: usize,
    from: usize,
}

impl Function<'_, '_> {
    /// Whether a fork asks of what a thread's first iteration begins with what its loop asks of what the next
    /// one begins with.
    pub fn chooses_as_iterations(&self, block: usize) -> bool {
        let Some(mine) = self.question(block) else { return false };
        self.graph.blocks[mine.ways[0].to].before.iter().any(|other| {
            let its = self.question(*other).filter(|_| self.is_in_iteration(*other));
            its.is_some_and(|its| {
                (mine.asks, mine.is_unsigned) == (its.asks, its.is_unsigned)
                    && mine.ways.iter().zip(&its.ways).all(|(one, other)| one.to == other.to)
                    && self.compare_alike(&mine, &its)
            })
        })
    }

    fn question(&self, block: usize) -> Option<Question> {
        let last = self.last_step(block)?;
        let [yes, no] = *self.graph.blocks[block].next.as_slice() else { return None };
        let (asks, ways) = match self.graph.steps[last].condition? {
            Condition::NotEqual => (Condition::Equal, [no, yes]),
            Condition::NotAbove => (Condition::Above, [no, yes]),
            Condition::NotBelow => (Condition::Below, [no, yes]),
            Condition::Other => return None,
            asks => (asks, [yes, no]),
        };
        let ways = ways.map(|way| self.way(block, way));
        Some(Question {
            by: self.flags_of(last)?,
            asks,
            is_unsigned: self.graph.steps[last].is_unsigned,
            ways,
        })
    }

    /// Where a way out of a block leads, but for what fills up the code before the beginning of a loop.
    fn way(&self, block: usize, next: usize) -> Way {
        let its = &self.graph.blocks[next];
        let is_filling = its.steps().all(|at| self.graph.steps[at].kind == Kind::Nothing);
        match *its.next.as_slice() {
            [to] if is_filling => Way { to, from: next },
            _ => Way { to: next, from: block },
        }
    }

    /// Whether two steps compare the same, or what comes to one place after them.
    fn compare_alike(&self, mine: &Question, its: &Question) -> bool {
        let [a, b] = [mine.by, its.by].map(|at| &self.graph.steps[at]);
        let comes = |id: Id, way: &Way, inputs: &[Id]| {
            let mut before = self.graph.blocks[way.to].before.iter().zip(inputs);
            before.any(|(from, input)| *from == way.from && self.ssa.find(*input) == self.ssa.find(id))
        };
        let alike = |id: Id, other: Id| {
            let mut ways = mine.ways.iter().zip(&its.ways);
            self.root(id) == self.root(other)
                || ways.any(|(one, way)| {
                    let mut met = self.met_at(one.to);
                    met.any(|(_, inputs)| comes(id, one, inputs) && comes(other, way, inputs))
                })
        };
        let mut pairs = a.operands.iter().zip(&b.operands);
        matches!(a.kind, Kind::Test | Kind::Compare)
            && a.form != 0
            && (a.form, a.kind, a.operands.len()) == (b.form, b.kind, b.operands.len())
            && pairs.all(|pair| match pair {
                (Spot::Constant(one), Spot::Constant(other)) => one == other,
                (Spot::Register(x), Spot::Register(y)) => {
                    let ids = (self.ssa.used(mine.by, *x), self.ssa.used(its.by, *y));
                    matches!(ids, (Some(id), Some(other)) if alike(id, other))
                }
                _ => false,
            })
    }
}
