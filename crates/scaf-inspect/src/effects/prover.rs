//! Finds the functions that regions execute, and proves each of them, and those that they call.

use super::addresses::Known;
use super::check;
use super::finding::Finding;
use super::frames;
use super::function::{Built, Callees, Function, Mode, Summary};
use super::graph::{self, Graph};
use super::hands_back::hands_back;
use super::loops;
use super::runtime::{self, Role, role};
use super::ssa;
use crate::decode::abi::ARGUMENTS;
use crate::decode::{Flow, Kind, RegisterSet};
use crate::size_use::{Callee, Code};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Of a function that isn't looked at.
const UNKNOWN: Summary = Summary { differs: true, tells: false, passes_stack_on: true, has_effects: true };
/// Most instructions of all functions that are looked at in one module, about 2 us each.
const MAX_STEPS: usize = 400_000;
/// Most calls from a region to a function within the module.
const MAX_DEPTH: usize = 24;

/// Most calls of one function that allocate memory for each thread.
const MAX_ALLOCATIONS: usize = 8;

struct Prover<'c, 'e> {
    code: &'c Code<'e>,
    built: HashMap<u64, Option<Result<Rc<Built<'e>>, Finding>>>,
    /// `None` while a function is looked at.
    known: HashMap<(u64, Mode, RegisterSet), Option<Result<Summary, Finding>>>,
    steps: usize,
    depth: usize,
}

/// Proves all regions of a module, or says which code can't be.
pub(crate) fn prove(code: &Code<'_>) -> Result<(), Finding> {
    let mut prover = Prover { code, built: HashMap::new(), known: HashMap::new(), steps: 0, depth: 0 };
    for region in prover.regions()? {
        prover.summary(region, Mode::Repeated, RegisterSet::default())?;
    }
    Ok(())
}

impl<'e> Prover<'_, 'e> {
    /// The functions that regions execute.
    fn regions(&mut self) -> Result<BTreeSet<u64>, Finding> {
        let imports = self.code.elf.imports.keys();
        if let Some(name) = imports.clone().find(|name| check::is_other_start(name)) {
            return Err(Finding::of_function(0, "starts regions by", name));
        }
        let (starters, spots) = self.code.users(&|name| runtime::starts_regions(name));
        let mut met = BTreeSet::new();
        let mut regions = BTreeSet::new();
        for starter in starters {
            let graph = graph::graph(self.code, starter)?;
            if let Some(found) = started_at_once(self.code, &graph, &spots) {
                met.extend(graph.steps.iter().flat_map(|step| spots.range(step.address..step.next)));
                regions.extend(found);
                continue;
            }
            let all = ssa::all_arguments();
            let frames =
                frames::frames(self.code, &graph, &|_| all, &|_| ssa::all_scratch(), &BTreeSet::new());
            for (step, spotted) in graph.steps.iter().zip(&frames.steps) {
                met.extend(spots.range(step.address..step.next));
                let Callee::Import(name) = spotted.callee else { continue };
                let Role::Region(number) = role(name) else { continue };
                match spotted.arguments.get(number) {
                    _ if !matches!(step.flow, Flow::Call | Flow::Jump) => {}
                    Some(Known::Fixed(function)) if self.code.is_start(*function) => {
                        regions.insert(*function);
                    }
                    _ => {
                        let what = "starts a region whose function could not be made out";
                        return Err(Finding::at(step.address, what));
                    }
                }
            }
        }
        match spots.difference(&met).next() {
            Some(missed) => Err(Finding::at(*missed, "starts a region on a path that was not found")),
            None if regions.is_empty() => Err(Finding::at(0, "starts regions where could not be made out")),
            None => Ok(regions),
        }
    }

    fn built(&mut self, function: u64) -> Option<Result<Rc<Built<'e>>, Finding>> {
        if let Some(known) = self.built.get(&function) {
            return known.clone();
        }
        self.built.insert(function, None);
        let built = self.build(function, &BTreeSet::new());
        self.built.insert(function, Some(built.clone()));
        Some(built)
    }

    fn build(&mut self, function: u64, allocations: &BTreeSet<u64>) -> Result<Rc<Built<'e>>, Finding> {
        if self.depth > MAX_DEPTH {
            return Err(Finding::at(function, "is called too deep"));
        }
        let graph = graph::graph(self.code, function)?;
        self.steps += graph.steps.len();
        if self.steps > MAX_STEPS {
            return Err(Finding::at(function, "is behind more code than is followed"));
        }
        let called = |flow: Flow| matches!(flow, Flow::Call | Flow::Jump);
        let steps = graph.steps.iter().filter(|step| called(step.flow));
        let callees: BTreeSet<u64> = steps
            .filter_map(|step| match self.code.callee(step.target) {
                Callee::Local(callee) if step.flow == Flow::Call || self.code.is_start(callee) => {
                    Some(callee)
                }
                _ => None,
            })
            .collect();
        let (mut known, mut callees_hand_back) = (HashMap::new(), HashMap::new());
        self.depth += 1;
        for callee in callees {
            let (its, back) = match self.built(callee) {
                Some(Ok(built)) => ((built.takes, built.changes), built.hands_back),
                _ => ((ssa::all_arguments(), ssa::all_scratch()), ssa::all_arguments()),
            };
            known.insert(callee, its);
            callees_hand_back.insert(callee, back);
        }
        self.depth -= 1;
        let none = (ssa::all_arguments(), ssa::all_scratch());
        let of = |callee: &u64| known.get(callee).copied().unwrap_or(none);
        let taken = |callee: &Callee<'_>| match callee {
            Callee::Import(name) => ssa::taken_by_name(name),
            Callee::Local(callee) => of(callee).0,
            Callee::Unknown => none.0,
        };
        // gcc keeps values in registers that it knows a function not to change (-fipa-ra).
        let changed = |callee: &Callee<'_>| match callee {
            Callee::Local(callee) => of(callee).1,
            _ => none.1,
        };
        let mut changes = RegisterSet::default();
        let frames = frames::frames(self.code, &graph, &taken, &changed, allocations);
        for (step, spotted) in graph.steps.iter().zip(&frames.steps) {
            match step.flow {
                Flow::Call => changes.extend(changed(&spotted.callee)),
                Flow::Jump if spotted.callee != Callee::Unknown => changes.extend(changed(&spotted.callee)),
                _ => changes.extend(step.writes),
            }
        }
        let strange = || Finding::at(function, "has loops that are not understood");
        let loops = loops::loops(&graph).ok_or_else(strange)?;
        let ssa = ssa::ssa(self.code, &graph, &frames, &taken, &changed)
            .ok_or_else(|| Finding::at(function, "is too large to be followed"))?;
        let mut block_of = vec![0; graph.steps.len()];
        for (number, block) in graph.blocks.iter().enumerate() {
            block.steps().for_each(|at| block_of[at] = number);
        }
        let takes = ssa.taken(&graph);
        let hands_back = hands_back(&graph, &frames, &ssa, &callees_hand_back);
        Ok(Rc::new(Built {
            graph,
            frames,
            ssa,
            loops,
            block_of,
            takes,
            changes,
            hands_back,
            callees_hand_back,
        }))
    }

    /// What each thread allocates is looked at as if it were in its frame, call by call: in iterations it may
    /// be for others, and isn't.
    fn look(&mut self, function: u64, mode: Mode, own: RegisterSet) -> Result<Summary, Finding> {
        let mut built = match self.built(function) {
            Some(built) => built?,
            None => return Err(Finding::at(function, "calls itself")),
        };
        let mut allocations = BTreeSet::new();
        loop {
            match self.look_at(function, built, (mode, own)) {
                Err(finding) if finding.allocates && allocations.len() < MAX_ALLOCATIONS => {
                    if !allocations.insert(finding.address) {
                        return Err(finding);
                    }
                    built = self.build(function, &allocations)?;
                }
                found => return found,
            }
        }
    }

    fn look_at(
        &mut self,
        function: u64,
        built: Rc<Built<'e>>,
        (mode, own): (Mode, RegisterSet),
    ) -> Result<Summary, Finding> {
        let callees: BTreeSet<u64> = built
            .frames
            .steps
            .iter()
            .filter_map(|spotted| match spotted.callee {
                Callee::Local(callee) => Some(callee),
                _ => None,
            })
            .collect();
        if built.frames.takes_stack {
            return Err(Finding::at(function, "takes arguments on the stack"));
        }
        if built.ssa.takes_chain() {
            return Err(Finding::at(function, "uses what the function has that it is nested in"));
        }
        let mut returned = HashMap::new();
        if mode != Mode::Once {
            for callee in callees {
                // Who has effects is seen when the calls are looked at.
                let summary = self.summary(callee, Mode::Repeated, RegisterSet::default());
                returned.insert(callee, summary.unwrap_or(UNKNOWN));
            }
        }
        let count = built.ssa.defs.len();
        let headers = built.loops.all.iter().flat_map(|its| its.entries.clone()).collect();
        let mut looked = Function {
            code: self.code,
            mode,
            own,
            built,
            returned,
            headers,
            values: vec![None; count],
            peeled: HashMap::new(),
            forks: Vec::new(),
            contexts: Vec::new(),
            meetings: BTreeSet::new(),
            share_loops: BTreeSet::new(),
            cycles: Vec::new(),
            cycle_of: HashMap::new(),
            picks: HashMap::new(),
            contended: HashSet::new(),
            renewed: HashSet::new(),
            rests: BTreeSet::new(),
            junk: HashSet::new(),
            taints: Vec::new(),
        };
        looked.find_contended();
        let settles = looked.evaluate() && {
            looked.find_peeled();
            looked.find_contexts();
            looked.find_share_loops();
            looked.find_junk();
            looked.find_renewed();
            looked.find_cycles();
            looked.find_taints()
        };
        if !settles {
            return Err(Finding::at(function, "is too large to be followed"));
        }
        looked.check(self)?;
        Ok(looked.returns())
    }
}

/// The regions that a function starts, if it says which one just before each such call. Mostly it does, and
/// to follow all of a large function only for that takes seconds.
fn started_at_once(code: &Code<'_>, graph: &Graph, spots: &BTreeSet<u64>) -> Option<BTreeSet<u64>> {
    let mut regions = BTreeSet::new();
    for block in &graph.blocks {
        for at in block.steps() {
            let step = &graph.steps[at];
            if spots.range(step.address..step.next).next().is_none() {
                continue;
            }
            let Callee::Import(name) = code.callee(step.target) else { return None };
            let Role::Region(number) = role(name) else { return None };
            if !matches!(step.flow, Flow::Call | Flow::Jump) {
                return None;
            }
            let register = *ARGUMENTS.get(number)?;
            let before = (block.first..at).rev().map(|before| &graph.steps[before]);
            let setter =
                before.take_while(|step| step.flow == Flow::Next).find(|it| it.writes.contains(register))?;
            let function = match setter.kind {
                Kind::Address => setter.memory?.fixed?,
                Kind::Constant(address) => u64::try_from(address).ok()?,
                _ => return None,
            };
            code.is_start(function).then(|| regions.insert(function))?;
        }
    }
    Some(regions)
}

impl Callees for Prover<'_, '_> {
    fn summary(&mut self, function: u64, mode: Mode, own: RegisterSet) -> Result<Summary, Finding> {
        match self.known.get(&(function, mode, own)) {
            Some(Some(known)) => return known.clone(),
            // It calls itself, which is proved as far as it goes.
            Some(None) if mode == Mode::Once => {
                let built =
                    self.built.get(&function).and_then(Option::as_ref).and_then(|it| it.as_ref().ok());
                let passes_stack_on = built.is_none_or(|built| built.frames.passes_stack_on);
                return Ok(Summary { passes_stack_on, ..UNKNOWN });
            }
            Some(None) => return Err(Finding::at(function, "calls itself in each thread")),
            None => {}
        }
        self.known.insert((function, mode, own), None);
        self.depth += 1;
        let summary = self.look(function, mode, own);
        self.depth -= 1;
        self.known.insert((function, mode, own), Some(summary.clone()));
        summary
    }
}
