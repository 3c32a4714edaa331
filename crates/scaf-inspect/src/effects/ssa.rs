//! Each value that a function computes, once: where it comes from, and what it is used for (static single
//! assignment). Places in the own frame hold values as registers do.

use super::addresses::Place;
use super::frames::Frames;
use super::graph::Graph;
use super::runtime;
use crate::decode::abi::{ARGUMENTS, CHAIN, RESULT, SCRATCH, VECTORS};
use crate::decode::{FLAGS, Flow, Kind, RegisterSet, Spot};
use crate::size_use::{Callee, Code};
use std::collections::{BTreeMap, HashMap};

/// Most values of one function.
const MAX_VALUES: usize = 400_000;

pub(super) type Id = usize;
/// A register by its number, or a place in the frame.
pub(super) type Loc = usize;
/// Fewest bytes of a number that is followed through copies and sums.
pub(super) const WHOLE: usize = 4;
/// What is exposed in the frame and isn't named by any instruction.
pub(super) const REST: Loc = 64;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Def {
    /// What stood there when the function began.
    Entry(Loc),
    /// What came along from one of the blocks before, in their order.
    Phi { block: usize, loc: Loc, inputs: Vec<Id> },
    /// What a step left there.
    Result { step: usize, loc: Loc },
}

pub(super) struct Ssa {
    pub defs: Vec<Def>,
    /// For each step the values that it uses, and those that it makes.
    pub uses: Vec<Vec<(Loc, Id)>>,
    pub makes: Vec<Vec<(Loc, Id)>>,
    /// What a value is the same as.
    same: Vec<Id>,
    /// The places in the frame, by base and offset, from the first on.
    parts: Vec<(u64, i64)>,
    /// Places that other code may reach.
    exposed: Vec<Loc>,
}

impl Ssa {
    pub fn find(&self, id: Id) -> Id {
        self.same[id]
    }

    pub fn is_exposed(&self, loc: Loc) -> bool {
        self.exposed.contains(&loc)
    }

    /// Where in the frame this place begins.
    pub fn part(&self, loc: Loc) -> Option<(u64, i64)> {
        self.parts.get(loc.checked_sub(REST + 1)?).copied()
    }

    /// The registers whose values at the beginning are used, other than to return them.
    pub fn taken(&self, graph: &Graph) -> RegisterSet {
        let steps = self.uses.iter().zip(&graph.steps).filter(|(_, step)| step.flow != Flow::Return);
        let mut work: Vec<Id> = steps.flat_map(|(uses, _)| uses).map(|(_, id)| *id).collect();
        let mut met = vec![false; self.defs.len()];
        let (mut taken, arguments) = (RegisterSet::default(), all_arguments());
        while let Some(id) = work.pop() {
            if std::mem::replace(&mut met[id], true) {
                continue;
            }
            match &self.defs[id] {
                Def::Entry(loc) if *loc < REST && arguments.contains(*loc) => taken.insert(*loc),
                Def::Phi { inputs, .. } => work.extend(inputs),
                _ => {}
            }
        }
        taken
    }

    /// Whether the static chain that it was called with is used: a nested function.
    pub fn takes_chain(&self) -> bool {
        let is_chain = |(_, id): &(Loc, Id)| self.defs[*id] == Def::Entry(CHAIN);
        self.uses.iter().flatten().any(is_chain)
    }

    pub fn used(&self, step: usize, loc: Loc) -> Option<Id> {
        self.uses[step].iter().find(|(at, _)| *at == loc).map(|(_, id)| *id)
    }

    /// The values of an operand; several if a load covers several. `None` for constants and other memory.
    pub fn operand(&self, step: usize, spot: Spot) -> Vec<Id> {
        match spot {
            Spot::Register(register) => self.used(step, register).into_iter().collect(),
            Spot::Memory => {
                let mut all: Vec<Id> =
                    self.uses[step].iter().filter(|(loc, _)| *loc >= REST).map(|(_, id)| *id).collect();
                all.sort_unstable();
                all.dedup();
                all
            }
            _ => Vec::new(),
        }
    }
}

pub(super) fn is_in_frame(loc: Loc) -> bool {
    loc >= REST
}

/// What stands in a block's places at its end.
#[derive(Default)]
pub(super) struct Ends {
    values: HashMap<Loc, Id>,
    /// A call that may have changed the scratch registers.
    call: Option<usize>,
}

pub(super) struct Build<'g, 'f, 'e> {
    pub code: &'g Code<'e>,
    pub changes: &'g dyn Fn(&Callee<'_>) -> RegisterSet,
    pub graph: &'g Graph,
    pub frames: &'f Frames<'e>,
    /// Where each place begins.
    pub parts: BTreeMap<(u64, i64), Loc>,
    /// Bytes of places of which less is accessed as well, always from the beginning.
    pub wholes: HashMap<(u64, i64), usize>,
    pub exposed: Vec<Loc>,
    pub defs: Vec<Def>,
    pub ends: Vec<Ends>,
    pub begins: HashMap<(usize, Loc), Id>,
    pub results: HashMap<(usize, Loc), Id>,
    pub work: Vec<(Id, Loc)>,
}

/// `None` if there are too many values.
pub(super) fn ssa<'e>(
    code: &Code<'e>,
    graph: &Graph,
    frames: &Frames<'e>,
    takes: &dyn Fn(&Callee<'_>) -> RegisterSet,
    changes: &dyn Fn(&Callee<'_>) -> RegisterSet,
) -> Option<Ssa> {
    let mut build = Build {
        code,
        changes,
        graph,
        frames,
        parts: BTreeMap::new(),
        wholes: HashMap::new(),
        exposed: vec![REST],
        defs: Vec::new(),
        ends: Vec::new(),
        begins: HashMap::new(),
        results: HashMap::new(),
        work: Vec::new(),
    };
    build.name_parts();
    let (mut uses, mut makes) = (Vec::new(), Vec::new());
    for block in 0..graph.blocks.len() {
        let mut ends = Ends::default();
        for at in graph.blocks[block].steps() {
            let step = &graph.steps[at];
            let its: Vec<(Loc, Id)> = build
                .used(at, step, takes)
                .into_iter()
                .map(|loc| (loc, build.read(block, &mut ends, loc)))
                .collect();
            uses.push(its);
            if step.flow == Flow::Call {
                ends.call = Some(at);
                let changed = changes(&frames.steps[at].callee);
                ends.values.retain(|loc, _| !is_scratch(*loc) || !changed.contains(*loc));
            }
            let mut made = Vec::new();
            let stored = build.covered(at);
            for loc in build.made(at, step) {
                // What is stored at once is one value.
                let id = build.result(at, if stored.contains(&loc) { stored[0] } else { loc });
                ends.values.insert(loc, id);
                made.push((loc, id));
            }
            makes.push(made);
        }
        build.ends.push(ends);
        if build.defs.len() > MAX_VALUES {
            return None;
        }
    }
    while let Some((phi, loc)) = build.work.pop() {
        build.fill(phi, loc);
        if build.defs.len() > MAX_VALUES {
            return None;
        }
    }
    Some(build.finish(uses, makes))
}

fn is_scratch(loc: Loc) -> bool {
    SCRATCH.contains(&loc) || (VECTORS..REST).contains(&loc)
}

impl Build<'_, '_, '_> {
    fn result(&mut self, step: usize, loc: Loc) -> Id {
        let defs = &mut self.defs;
        *self.results.entry((step, loc)).or_insert_with(|| {
            defs.push(Def::Result { step, loc });
            defs.len() - 1
        })
    }

    /// What stands in a place within a block.
    fn read(&mut self, block: usize, ends: &mut Ends, loc: Loc) -> Id {
        if let Some(known) = ends.values.get(&loc) {
            return *known;
        }
        let id = match ends.call {
            Some(call) if is_scratch(loc) && self.may_change(call, loc) => self.result(call, loc),
            _ => self.begin(block, loc),
        };
        ends.values.insert(loc, id);
        id
    }

    fn may_change(&self, call: usize, loc: Loc) -> bool {
        (self.changes)(&self.frames.steps[call].callee).contains(loc)
    }

    fn begin(&mut self, block: usize, loc: Loc) -> Id {
        if let Some(known) = self.begins.get(&(block, loc)) {
            return *known;
        }
        let id = self.defs.len();
        if block == 0 || self.graph.blocks[block].before.is_empty() {
            self.defs.push(Def::Entry(loc));
        } else {
            self.defs.push(Def::Phi { block, loc, inputs: Vec::new() });
            self.work.push((id, loc));
        }
        self.begins.insert((block, loc), id);
        id
    }

    fn fill(&mut self, phi: Id, loc: Loc) {
        let Def::Phi { block, .. } = self.defs[phi] else { return };
        let graph = self.graph;
        let mut found = Vec::new();
        for before in &graph.blocks[block].before {
            let mut ends = std::mem::take(&mut self.ends[*before]);
            found.push(self.read(*before, &mut ends, loc));
            self.ends[*before] = ends;
        }
        if let Def::Phi { inputs, .. } = &mut self.defs[phi] {
            *inputs = found;
        }
    }

    /// What a step copies there, if it does no more than that.
    fn copied(&self, step: usize, loc: Loc, uses: &[(Loc, Id)]) -> Option<Id> {
        let its = &self.graph.steps[step];
        let own = matches!(self.frames.steps[step].place, Place::Own { .. });
        let copies = match its.kind {
            // A copy of some bytes of a number is another one.
            Kind::Move => (own || (!its.loads && !its.stores)) && its.bytes >= WHOLE,
            Kind::Push => is_in_frame(loc),
            Kind::Pop | Kind::Leave => own,
            Kind::Widen => true,
            _ => false,
        };
        let mut ids: Vec<Id> = uses.iter().map(|(_, id)| *id).collect();
        ids.dedup();
        match ids.as_slice() {
            [only] if copies && loc != FLAGS && its.flow == Flow::Next => Some(*only),
            _ => None,
        }
    }

    /// What names a value that is the same wherever it is loaded: a number, or a place in read-only data.
    fn constant(&self, step: usize, loc: Loc) -> Option<(u64, usize)> {
        let its = &self.graph.steps[step];
        let vector = usize::from(loc >= VECTORS);
        match (its.kind, its.operands.as_slice()) {
            _ if loc == FLAGS || its.flow != Flow::Next || its.stores => None,
            (Kind::Constant(value), _) => Some((value as u64, vector)),
            (Kind::Move, [_, Spot::Constant(value)]) => Some((*value as u64, vector)),
            (Kind::Move, [_, Spot::Memory]) => {
                let memory = its.memory?;
                let address = memory
                    .fixed
                    .or((!memory.has_index && memory.base.is_none()).then_some(memory.displacement))?;
                let piece = self.code.elf.data.iter().find(|piece| piece.covers(address))?;
                let is_constant = [".rodata", ".got"].iter().any(|name| piece.name.starts_with(name));
                is_constant.then_some((address, 2 + memory.bytes))
            }
            (Kind::Address, _) => its.memory?.fixed.map(|address| (address, 1000)),
            _ => None,
        }
    }

    /// Drops those that only hand on one value.
    fn finish(mut self, mut uses: Vec<Vec<(Loc, Id)>>, makes: Vec<Vec<(Loc, Id)>>) -> Ssa {
        let mut same: Vec<Id> = (0..self.defs.len()).collect();
        for (id, def) in self.defs.iter().enumerate() {
            if let Def::Result { step, loc } = def
                && let Some(source) = self.copied(*step, *loc, &uses[*step])
            {
                same[id] = source;
            }
        }
        let mut constants: HashMap<(u64, usize), Id> = HashMap::new();
        for (id, def) in self.defs.iter().enumerate() {
            if let Def::Result { step, loc } = def
                && let Some(constant) = self.constant(*step, *loc)
            {
                same[id] = *constants.entry(constant).or_insert(id);
            }
        }
        let root = |same: &[Id], mut id: Id| {
            while same[id] != id {
                id = same[id];
            }
            id
        };
        loop {
            let mut changed = false;
            for id in 0..self.defs.len() {
                let Def::Phi { inputs, .. } = &self.defs[id] else { continue };
                if same[id] != id {
                    continue;
                }
                let mut only = None;
                let is_trivial = inputs.iter().all(|input| {
                    let input = root(&same, *input);
                    input == id || *only.get_or_insert(input) == input
                });
                if let (true, Some(only)) = (is_trivial, only) {
                    same[id] = only;
                    changed = true;
                }
            }
            // Parts of a place into which the same comes along are one value.
            let mut alike: HashMap<(usize, Vec<Id>), Id> = HashMap::new();
            for id in 0..self.defs.len() {
                let Def::Phi { block, inputs, loc } = &self.defs[id] else { continue };
                if same[id] == id && is_in_frame(*loc) {
                    let roots = inputs.iter().map(|input| root(&same, *input));
                    let known = roots.map(|input| if input == id { Id::MAX } else { input }).collect();
                    let first = *alike.entry((*block, known)).or_insert(id);
                    changed |= first != id;
                    same[id] = first;
                }
            }
            if !changed {
                break;
            }
        }
        for id in 0..same.len() {
            same[id] = root(&same, id);
        }
        for def in &mut self.defs {
            if let Def::Phi { inputs, .. } = def {
                inputs.iter_mut().for_each(|input| *input = same[*input]);
            }
        }
        uses.iter_mut().flatten().for_each(|(_, id)| *id = same[*id]);
        let mut parts = vec![(0, 0); self.parts.len()];
        self.parts.iter().for_each(|(part, loc)| parts[loc - REST - 1] = *part);
        Ssa { defs: self.defs, uses, makes, same, parts, exposed: self.exposed }
    }
}

/// The registers in which a function of that name may take arguments.
pub(super) fn taken_by_name(name: &str) -> RegisterSet {
    let mut all = RegisterSet::default();
    let known = crate::functions::arguments(name);
    // Those that hand out chunks take places for the bounds last.
    let chunk = match (runtime::role(name), runtime::fills(name).last()) {
        (runtime::Role::Chunk, Some((last, _))) => usize::from(*last) + 1,
        _ => known,
    };
    let general = known.min(chunk).min(ARGUMENTS.len());
    ARGUMENTS.iter().take(general).for_each(|register| all.insert(*register));
    (0..runtime::float_arguments(name)).for_each(|number| all.insert(VECTORS + number));
    if runtime::takes_any(name) {
        all.insert(RESULT);
    }
    all
}

/// Those that a function may change.
pub(super) fn all_scratch() -> RegisterSet {
    let mut all = RegisterSet::default();
    SCRATCH.into_iter().chain(VECTORS..REST).for_each(|register| all.insert(register));
    all
}

/// Those that hold arguments of functions in general.
pub(super) fn all_arguments() -> RegisterSet {
    let mut all = RegisterSet::default();
    ARGUMENTS.iter().for_each(|register| all.insert(*register));
    (0..8).for_each(|number| all.insert(VECTORS + number));
    all
}
