//! What the exact forms of values tell of shares: where chunks begin, how long a share is, and whether all
//! that goes along with the iterations goes as fast.

use super::addresses::Place;
use super::function::{Function, Mode};
use super::linear::{Atom, Found, Sum};
use super::loops::Loop;
use super::ssa::{Def, Id, Loc};
use super::terms::{Goes, Taint};
use crate::decode::{FLAGS, Flow, Kind};
use crate::size_use::Classes;

/// Most values that are gone through for one loop.
const MAX_OF_LOOP: usize = 20_000;

impl Function<'_, '_> {
    /// Whether this is where a chunk of iterations begins that comes so many rounds later: some number times
    /// the thread's number and, for each round, the team's size.
    pub fn begins_chunk(&self, id: Id, later: i64) -> bool {
        let Some(sum) = self.sum_of(id) else { return false };
        let atoms = || sum.0.keys().flatten().copied();
        let is = |atom: Atom, classes: Classes| {
            matches!(atom, Atom::Value(id) if self.value(id).classes ==
        classes)
        };
        let only = |classes: Classes| {
            let mut its = atoms().filter(|atom| is(*atom, classes));
            let first = its.next()?;
            its.all(|other| other == first).then_some(first)
        };
        let Some(thread) = only(Classes::THREAD) else { return false };
        let team = only(Classes::TEAM).unwrap_or(Atom::Round(usize::MAX));
        let split = || {
            let (by_thread, rest) = sum.split(thread)?;
            let (by_team, rest) = rest.split(team)?;
            Some((by_thread, by_team, rest))
        };
        let Some((by_thread, by_team, rest)) = split() else { return false };
        let mut rounds = by_team.0.keys().flatten().copied().filter(|atom| matches!(atom, Atom::Round(_)));
        let round = rounds.next();
        let is_known = |sum: &Sum| {
            sum.0.keys().flatten().all(|atom| match atom {
                Atom::Value(id) | Atom::Shifted(id, ..) => !self.value(*id).differs(),
                Atom::Load(_) | Atom::Round(_) => false,
            })
        };
        let Some((each, first)) = by_team.split(round.unwrap_or(Atom::Round(usize::MAX))) else {
            return false;
        };
        let each_fits = if round.is_some() { each == by_thread } else { each == Sum::default() };
        let leads = Sum::default().add(&by_thread, later);
        each_fits && leads == Some(first) && is_known(&by_thread) && is_known(&rest)
    }

    /// Whether a step computes where a thread's next chunk begins.
    pub fn begins_next_chunk(&self, at: usize, loc: Loc) -> bool {
        let made = self.ssa.makes[at].iter().find(|(its, _)| *its == loc && loc != FLAGS);
        made.is_some_and(|(_, id)| {
            let id = self.ssa.find(*id);
            self.value(id).classes.has(Classes::STEPPED) && self.begins_chunk(id, 1)
        })
    }

    /// Whether one of these is a later round's index, and no end, which is the lesser of two.
    pub fn is_next_round(&self, ids: &[Id]) -> bool {
        let is_least = |id: Id| match self.ssa.defs[id] {
            Def::Result { step, .. } => self.graph.steps[step].kind == Kind::Select,
            Def::Phi { block, .. } => !self.is_header(block),
            Def::Entry(_) => false,
        };
        let is_stepped = |id: &Id| {
            let classes = self.value(*id).classes;
            classes.has(Classes::STEPPED) && classes.is_confined() && !is_least(self.root(*id))
        };
        ids.iter().any(is_stepped)
    }

    /// If this is the length of a share, times the bytes of an element: these.
    pub fn length_of_all(&self, id: Id) -> Option<i64> {
        let mut id = self.root(id);
        if let Def::Result { step, .. } = self.ssa.defs[id]
            && self.graph.steps[step].kind == Kind::Select
        {
            // At least that of one element.
            let operands = self.graph.steps[step].operands.iter();
            let ids = operands.flat_map(|spot| self.ssa.operand(step, *spot));
            let mut long = ids.filter(|id| self.value(*id).constant.is_none());
            let (Some(only), None) = (long.next(), long.next()) else { return None };
            id = only;
        }
        let sum = self.sum_of(id)?;
        let mut terms = sum.0.iter().map(|(factors, times)| (factors.as_slice(), *times));
        match (terms.next(), terms.next(), terms.next()) {
            (Some(([Atom::Value(id)], bytes)), None, _) => self.is_length(*id).then_some(bytes),
            // Of a chunk, where it ends without where it begins.
            (Some(([Atom::Value(one)], x)), Some(([Atom::Value(other)], y)), None) => {
                let is_end = self.value(*one).end;
                let (end, begin) = if is_end { (*one, *other) } else { (*other, *one) };
                let fits = x == y.wrapping_neg() && self.value(end).end && self.are_of_one_chunk(begin, end);
                fits.then_some(if is_end { x } else { y })
            }
            _ => None,
        }
    }

    /// Whether an address begins with the share, so many bytes for each iteration.
    pub fn begins_with_share(&self, id: Id, bytes: i64) -> bool {
        let begin = self.sum_of(id).and_then(|sum| self.by_iteration(&sum));
        begin == Some(Sum::constant(bytes))
    }

    /// Whether the runtime has put both there at once, one as the chunk's end.
    pub fn are_of_one_chunk(&self, begin: Id, end: Id) -> bool {
        let by = |id: Id| match self.ssa.defs[self.ssa.find(id)] {
            Def::Result { step, .. } if self.graph.steps[step].flow == Flow::Call => Some(step),
            _ => None,
        };
        let are = |begin: Id, end: Id| {
            by(begin).is_some()
                && by(begin) == by(end)
                && self.value(begin).is_index()
                && !self.value(begin).end
                && self.value(end).end
        };
        match (&self.ssa.defs[begin], &self.ssa.defs[end]) {
            (Def::Phi { block, inputs: begins, .. }, Def::Phi { block: its, inputs: ends, .. }) => {
                block == its && begins.iter().zip(ends).all(|(begin, end)| are(*begin, *end))
            }
            _ => are(begin, end),
        }
    }

    /// Whether one is where a thread's iterations begin, and the other where they end.
    pub fn are_bounds(&self, begin: Id, end: Id) -> bool {
        self.are_of_one_chunk(begin, end) || self.are_of_one_share(begin, end)
    }

    /// The same of a share that is computed in two places, for threads with and without one of the iterations
    /// that are left over.
    fn are_of_one_share(&self, begin: Id, end: Id) -> bool {
        let is_length = |begin: Id, end: Id| {
            let length = self.sum_of(end).zip(self.sum_of(begin));
            let Some(length) = length.and_then(|(end, begin)| end.add(&begin, -1)) else { return false };
            let one_more = length.0.get(&Vec::new()).copied().unwrap_or(0);
            let mut terms = length.0.iter().filter(|(factors, _)| !factors.is_empty());
            match (terms.next(), terms.next()) {
                (Some((factors, 1)), None) => {
                    matches!(factors[..], [Atom::Value(id)] if self.is_quotient(id))
                        && (0..=1).contains(&one_more)
                }
                _ => false,
            }
        };
        match (&self.ssa.defs[begin], &self.ssa.defs[end]) {
            (Def::Phi { block, inputs: begins, .. }, Def::Phi { block: its, inputs: ends, .. }) => {
                let are_alike = self.value(begin).is_index() && self.value(end).end;
                are_alike
                    && block == its
                    && begins.iter().zip(ends).all(|(begin, end)| is_length(*begin, *end))
            }
            _ => false,
        }
    }

    /// Whether all that is moved with a loop's rounds, and begins where a thread's share does, is moved by as
    /// many iterations; else the step that isn't.
    pub fn runs_evenly(&self, its: &Loop, header: usize) -> Result<(), usize> {
        let mut found = Found::within(MAX_OF_LOOP);
        let mut pace = None;
        let first = self.graph.blocks[header].first;
        for (id, inputs) in self.met_at(header) {
            if self.value(id).is_index() && !self.begin_is_as_wide(header, inputs, 0, &mut found) {
                return Err(first);
            }
            let sum = self.exactly(id, 0, &mut found).ok_or(first)?;
            let is_even = !self.is_of_round_before(header, id, inputs, &sum)
                && self.keeps_pace(&sum, header, &mut pace);
            is_even.then_some(()).ok_or(first)?;
        }
        for at in its.blocks.iter().flat_map(|block| self.graph.blocks[*block].steps()) {
            let step = &self.graph.steps[at];
            if step.flow != Flow::Next {
                continue;
            }
            if found.left == 0 {
                return Err(at);
            }
            let is_sum = |(_, id): &(usize, Id)| matches!(self.taint(*id), Taint::Sum(_));
            if step.kind == Kind::Address && self.ssa.makes[at].iter().any(is_sum) {
                continue;
            }
            if self.frames.steps[at].place == Place::Elsewhere
                && let Some(sum) = self.address_exactly(at, 0, &mut found)
            {
                self.keeps_pace(&sum, header, &mut pace).then_some(()).ok_or(at)?;
            }
            if step.kind == Kind::Add {
                for (_, id) in self.ssa.makes[at].iter().filter(|(loc, _)| *loc != FLAGS) {
                    if self.value(*id).is_index() && self.taint(*id) == Taint::Clean {
                        let sum = self.exactly(*id, 0, &mut found).ok_or(at)?;
                        self.keeps_pace(&sum, header, &mut pace).then_some(()).ok_or(at)?;
                    }
                }
            }
        }
        // A counter that ends with the length of the share tells how many iterations a round has.
        for (block, _) in its.exits(&self.graph) {
            let Some(by) = self.last_step(block).and_then(|at| self.flags_of(at)) else { continue };
            // What is left to go: a length, less what the rounds have done.
            let difference = self.difference(by, &mut found);
            let Some((by_rounds, left)) = difference.and_then(|sum| sum.split(Atom::Round(header))) else {
                continue;
            };
            let mut terms = left.0.iter().filter(|(factors, _)| !factors.is_empty());
            if let (Some(rounds), Some((factors, times)), None) =
                (by_rounds.as_constant(), terms.next(), terms.next())
                && let [Atom::Value(id)] = factors.as_slice()
                && self.is_length(*id)
                && let Some((by_round, begin)) = &pace
                && Sum::default().add(by_round, *times)
                    != Sum::default().add(&begin.times, rounds.wrapping_neg())
            {
                return Err(first);
            }
        }
        Ok(())
    }

    /// Whether each iteration finds there what the one before it has made of its index, and the first of a
    /// share perhaps something else: not what the runtime hands out, chunks' bounds, or what goes beside an
    /// index.
    fn is_of_round_before(&self, header: usize, id: Id, inputs: &[Id], sum: &Sum) -> bool {
        let value = self.value(id);
        let is_open = value.is_index()
            && !value.end
            && !value.classes.has(Classes::STEPPED)
            && !self.cycle_of.contains_key(&id)
            && *sum == Sum::atom(Atom::Value(id));
        let is_handed = |input: &Id| match self.ssa.defs[self.root(*input)] {
            Def::Result { step, .. } => self.graph.steps[step].flow == Flow::Call,
            _ => false,
        };
        if !is_open || inputs.iter().any(is_handed) {
            return false;
        }
        let is_index = |id: &Id| self.cycle_of.get(id).is_some_and(|it| self.cycles[*it].goes == Goes::Index);
        let indexes: Vec<Id> = self.met_at(header).map(|(id, _)| id).filter(is_index).collect();
        self.go_beside(header, &[id], &indexes).is_empty()
    }

    /// Whether what a step makes is an index, as much for each round of one of the share's loops as for each
    /// iteration before it. [`Function::runs_evenly`] looks whether all else in the loop is.
    pub fn counts_iterations(&self, at: usize, loc: Loc) -> bool {
        let Some((_, id)) = self.ssa.makes[at].iter().find(|(its, _)| *its == loc) else { return false };
        let Some(sum) = self.sum_of(*id) else { return false };
        let is_share = |atom: &Atom| matches!(atom, Atom::Round(header) if self.share_loops.contains(header));
        let mut rounds = sum.0.keys().flatten().copied().filter(is_share);
        let Some(round) = rounds.next() else { return false };
        let Some((by_round, rest)) = sum.split(round) else { return false };
        rounds.all(|other| other == round) && self.by_iteration(&rest) == Some(by_round)
    }

    /// Whether a value is where the share begins, or the like, in each of a loop's iterations alike.
    pub fn is_begin_of_all(&self, id: Id, header: usize) -> bool {
        let value = self.value(id);
        if !value.classes.has(Classes::START) {
            return false;
        }
        let Some(its) = self.loop_of(header) else { return false };
        let atoms = |sum: &Sum| sum.0.keys().flatten().copied().collect::<Vec<Atom>>();
        match self.sum_of(id) {
            None => true,
            Some(sum) => atoms(&sum).iter().all(|atom| match atom {
                Atom::Value(id) | Atom::Shifted(id, ..) => self.is_outside(*id, its),
                Atom::Load(at) => !its.has(self.block_of[*at]),
                Atom::Round(at) => !its.has(*at),
            }),
        }
    }

    /// Whether a sum has as much of the loop's rounds to each iteration as others have.
    fn keeps_pace(&self, sum: &Sum, header: usize, pace: &mut Option<(Sum, Begin)>) -> bool {
        let Some((by_round, rest)) = sum.split(Atom::Round(header)) else { return false };
        let its = self.loop_of(header);
        let is_within = |atom: &Atom| match atom {
            Atom::Value(id) | Atom::Shifted(id, ..) => its.is_some_and(|its| !self.is_outside(*id, its)),
            Atom::Load(at) => its.is_some_and(|its| its.has(self.block_of[*at])),
            Atom::Round(_) => false,
        };
        // What is computed from the index in each round is looked at there.
        let is_of_round = |atom: &Atom| !self.class_of(atom).is_clean() && is_within(atom);
        if by_round == Sum::default() || rest.0.keys().flatten().any(is_of_round) {
            return true;
        }
        // So is what is loaded in each round.
        let rest = Sum(rest.0.into_iter().filter(|(factors, _)| !factors.iter().any(is_within)).collect());
        let begin = match self.begin_in(&rest) {
            Some(Some(begin)) => begin,
            Some(None) => return true,
            None => return false,
        };
        let (rounds, first) = pace.get_or_insert_with(|| (by_round.clone(), begin.clone()));
        let products = (rounds.multiply(&begin.times), by_round.multiply(&first.times));
        products.0.is_some() && products.0 == products.1 && first.share == begin.share
    }

    /// What a part of a sum has to do with the team.
    fn class_of(&self, atom: &Atom) -> Classes {
        match atom {
            Atom::Value(id) | Atom::Shifted(id, ..) => self.value(*id).classes,
            Atom::Load(_) | Atom::Round(_) => Classes::CLEAN,
        }
    }

    /// Whether a part of a sum is another one for other shares: so is what is loaded where one begins.
    pub fn differs_by_share(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Value(id) | Atom::Shifted(id, ..) => self.value(*id).differs(),
            Atom::Load(at) => self.address(*at).differs(),
            Atom::Round(_) => false,
        }
    }

    /// Whether a sum goes on in each round of a loop, or says nothing of where a share begins.
    pub fn goes_with_rounds(&self, sum: &Sum, headers: &[usize]) -> bool {
        let mut atoms = sum.0.keys().flatten();
        let tells = |atom: &Atom| !self.class_of(atom).is_clean();
        atoms.clone().any(|atom| matches!(atom, Atom::Round(header) if headers.contains(header)))
            || !atoms.any(tells)
    }

    /// Whether a value has to do with where a share begins, but not as a sum: the rounds that a thread
    /// has had are left of the index.
    pub fn has_lost_its_begin(&self, id: Id) -> bool {
        self.value(id).is_index() && self.sum_of(id).is_some_and(|sum| self.only_counts(&sum))
    }

    /// The same of a step's address.
    pub fn is_at_lost_begin(&self, at: usize) -> bool {
        let known = || self.address_exactly(at, 0, &mut Found::of_one());
        self.frames.steps[at].place == Place::Elsewhere
            && self.address(at).is_index()
            && known().is_some_and(|sum| self.only_counts(&sum))
    }

    fn only_counts(&self, sum: &Sum) -> bool {
        let mut atoms = sum.0.keys().flatten();
        let tells = |atom: &Atom| !self.class_of(atom).is_clean();
        let counts = |atom: &Atom| matches!(atom, Atom::Round(header) if self.share_loops.contains(header));
        atoms.clone().any(counts) && !atoms.any(tells)
    }

    /// Whether a step chooses between where a share begins with and without the iterations left over.
    fn chooses_begin(&self, at: usize) -> bool {
        let step = &self.graph.steps[at];
        let mut ids = step.operands.iter().flat_map(|spot| self.ssa.operand(at, *spot));
        let is_begin = |id: Id| {
            let Some(sum) = self.sum_of(id) else { return false };
            let class = |atom: &Atom| match atom {
                Atom::Value(id) => Some(self.value(*id).classes),
                _ => None,
            };
            let all = sum.0.iter().all(|(factors, times)| match factors.as_slice() {
                [one] => class(one).is_some_and(|its| its.has(Classes::REMAINDER)) && *times == 1,
                [one, other] => {
                    let both = [class(one), class(other)];
                    let is_quotient =
                        |its: &Option<Classes>| its.is_some_and(|its| its.has(Classes::QUOTIENT));
                    both.contains(&Some(Classes::THREAD)) && both.iter().any(is_quotient) && *times == 1
                }
                _ => false,
            });
            all && sum.0.keys().any(|factors| factors.len() == 2)
        };
        step.kind == Kind::Select && ids.all(is_begin)
    }

    /// What a sum has of where the share begins; `Some(None)` if it has nothing of that, and `None` if it has
    /// something else that goes by the share.
    fn begin_in(&self, sum: &Sum) -> Option<Option<Begin>> {
        let class = |atom: &Atom| self.class_of(atom);
        let goes_by_share = |sum: &Sum| sum.0.keys().flatten().any(|atom| self.differs_by_share(atom));
        if !goes_by_share(sum) {
            return Some(None);
        }
        let find = |sum: &Sum, wanted: &dyn Fn(Classes) -> bool| {
            let whole = |atom: &&Atom| matches!(atom, Atom::Value(_)) && wanted(class(atom));
            sum.0.keys().flatten().find(whole).copied()
        };
        if let Some(number) = find(sum, &|classes| classes == Classes::THREAD) {
            let (by_number, rest) = sum.split(number)?;
            let Some(share) = find(&by_number, &|classes| classes.has(Classes::QUOTIENT)) else {
                // A chunk that is dealt by hand.
                return Some(None);
            };
            let (times, others) = by_number.split(share)?;
            // What is left over goes to the first threads.
            let left_over = find(&rest, &|classes| classes.has(Classes::REMAINDER))?;
            let (first, rest) = rest.split(left_over)?;
            let fits = others == Sum::default() && first == times && !goes_by_share(&rest);
            return fits.then_some(Some(Begin { times, share: Some(share) }));
        }
        let is_begin = |atom: &Atom| match atom {
            Atom::Value(id) => match self.ssa.defs[*id] {
                Def::Result { step, .. } => {
                    // A task is handed where its share begins.
                    let is_handed = self.mode == Mode::TaskLoop && self.graph.steps[step].loads;
                    self.graph.steps[step].flow != Flow::Next || is_handed || self.chooses_begin(step)
                }
                _ => true,
            },
            _ => false,
        };
        let Some(start) = find(sum, &|classes| classes.has(Classes::START)) else {
            // Steps of chunks.
            let is_part = |atom: &Atom| class(atom).has(Classes::START);
            return (!sum.0.keys().flatten().any(is_part)).then_some(None);
        };
        let (times, rest) = sum.split(start)?;
        (is_begin(&start) && !goes_by_share(&rest)).then_some(Some(Begin { times, share: None }))
    }

    /// How much a sum has of where the share begins, if that and nothing else goes by the share.
    pub fn by_iteration(&self, sum: &Sum) -> Option<Sum> {
        self.begin_in(sum).flatten().map(|begin| begin.times)
    }
}

/// Where a share begins, in a sum: how often, and which quotient's it is.
#[derive(Clone, PartialEq)]
struct Begin {
    times: Sum,
    share: Option<Atom>,
}
