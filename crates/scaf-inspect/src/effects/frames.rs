//! Where a function's memory operands lie in its own stack frame, which parts of the frame other code may
//! reach, and which functions registers name.
//!
//! Locals whose address is taken lie above what compilers spill. So from the lowest address on that is given
//! away, anything in the frame may be changed by calls.

use super::addresses::{Known, Place, State, indexed, moved, place_of};
use super::{graph::Graph, runtime};
use crate::decode::abi::{ARGUMENTS, DESTINATION, REGISTERS, RESULT, SOURCE};
use crate::decode::abi::{FRAME_POINTER, STACK_POINTER};
use crate::decode::{Flow, Kind, RegisterSet, Spot, Step, Target};
use crate::size_use::{Callee, Code};
use std::collections::{BTreeMap, BTreeSet};

/// Most places of a frame whose contents are followed.
const MAX_PLACES: usize = 128;
/// Where a caller's part of the stack begins: behind the address to return to.
const CALLERS: i64 = 8;
/// Who has looked at a block so many times waits no longer for addresses to settle.
const OFTEN: usize = 8;

/// What a step has to do with the frame.
#[derive(Clone, Debug)]
pub(super) struct Spotted<'e> {
    pub place: Place,
    /// Where what the operand is about begins in the frame, where that is known.
    pub from: Option<(u64, i64)>,
    /// What the stack pointer holds.
    pub stack: Known,
    /// Of a call or a jump to a function.
    pub callee: Callee<'e>,
    /// What a call's argument registers hold, in their order; of a return the first is what it returns.
    pub arguments: [Known; ARGUMENTS.len()],
    /// The frame's places that a call fills, and their bytes.
    pub fills: Vec<(u64, i64, usize)>,
    /// Which of the function's arguments that it fills each of them is.
    pub filled: Vec<usize>,
    /// It may change and read whatever is exposed.
    pub reaches: bool,
    /// The memory that it uses may lie in the own frame, or elsewhere.
    pub unsure: bool,
}

pub(super) struct Frames<'e> {
    pub steps: Vec<Spotted<'e>>,
    /// By base, from where on the frame may be reached by other code or by addresses that aren't followed.
    pub exposed: BTreeMap<u64, i64>,
    /// All of it is, in all bases.
    pub all_exposed: bool,
    /// It looks at what its caller has on the stack: further arguments, and structures.
    pub takes_stack: bool,
    /// It ends as a function that may: its caller's arguments on the stack are that one's.
    pub passes_stack_on: bool,
    /// The calls by which the function allocates memory that is used as if it were in the frame.
    pub allocations: BTreeSet<u64>,
}

impl Frames<'_> {
    pub fn is_exposed(&self, (base, offset): (u64, i64)) -> bool {
        self.all_exposed || self.exposed.get(&base).is_some_and(|from| offset >= *from)
    }
}

pub(super) struct Search<'c, 'e, 'g, 'a> {
    pub(super) code: &'c Code<'e>,
    graph: &'g Graph,
    /// The registers that a function may take arguments in.
    pub(super) takes: &'a dyn Fn(&Callee<'e>) -> RegisterSet,
    /// The registers that it may change.
    pub(super) changes: &'a dyn Fn(&Callee<'e>) -> RegisterSet,
    pub(super) frames: Frames<'e>,
    /// Addresses in the frame that were put where they aren't followed: anything that is looked at there may
    /// be one.
    scattered: Known,
}

pub(super) fn frames<'e>(
    code: &Code<'e>,
    graph: &Graph,
    takes: &dyn Fn(&Callee<'e>) -> RegisterSet,
    changes: &dyn Fn(&Callee<'e>) -> RegisterSet,
    allocations: &BTreeSet<u64>,
) -> Frames<'e> {
    let none = Spotted {
        place: Place::None,
        from: None,
        stack: Known::Nothing,
        callee: Callee::Unknown,
        arguments: [Known::Nothing; ARGUMENTS.len()],
        fills: Vec::new(),
        filled: Vec::new(),
        reaches: false,
        unsure: false,
    };
    let steps = vec![none; graph.steps.len()];
    let allocations = allocations.clone();
    let (exposed, all_exposed, takes_stack, passes_stack_on) = (BTreeMap::new(), false, false, false);
    let frames = Frames { steps, exposed, all_exposed, takes_stack, passes_stack_on, allocations };
    let mut search = Search { code, graph, takes, changes, frames, scattered: Known::Nothing };
    // What is exposed, and where addresses were put that weren't followed, counts for all of the function.
    for pass in 0.. {
        // One that is moved down and put back each time would go on for ever.
        if pass > OFTEN {
            search.scattered = search.scattered.anywhere();
        }
        let before = (search.frames.exposed.clone(), search.frames.all_exposed, search.scattered);
        for (block, state) in search.states().into_iter().enumerate() {
            if let Some(state) = state {
                search.walk(block, state);
            }
        }
        if before == (search.frames.exposed.clone(), search.frames.all_exposed, search.scattered) {
            break;
        }
    }
    search.frames
}

impl Search<'_, '_, '_, '_> {
    /// What is known where each block begins.
    fn states(&mut self) -> Vec<Option<State>> {
        let mut entry = State { registers: [Known::Nothing; REGISTERS], places: BTreeMap::new() };
        entry.registers[STACK_POINTER] = Known::Frame { base: 0, offset: 0 };
        let graph = self.graph;
        let mut states: Vec<Option<State>> = vec![None; graph.blocks.len()];
        states[0] = Some(entry);
        let mut met = vec![0; graph.blocks.len()];
        // What leads to a block is looked at before it, but for loops.
        let mut order = vec![usize::MAX; graph.blocks.len()];
        super::loops::order(graph).into_iter().enumerate().for_each(|(at, block)| order[block] = at);
        let mut work = BTreeSet::from([(0, 0)]);
        while let Some((_, block)) = work.pop_first() {
            let Some(state) = states[block].clone() else { continue };
            met[block] += 1;
            let after = self.walk(block, state);
            for next in &graph.blocks[block].next {
                match &mut states[*next] {
                    Some(known) => {
                        if known.absorb(&after, met[*next] > OFTEN) {
                            work.insert((order[*next], *next));
                        }
                    }
                    none => {
                        *none = Some(after.clone());
                        work.insert((order[*next], *next));
                    }
                }
            }
        }
        states
    }

    fn walk(&mut self, block: usize, mut state: State) -> State {
        let graph = self.graph;
        let returns = graph.blocks[block].returns;
        for at in graph.blocks[block].steps() {
            self.step(at, &graph.steps[at], &mut state, returns);
        }
        state
    }

    fn step(&mut self, at: usize, step: &Step, state: &mut State, returns: bool) {
        let place = self.place(step, state);
        let reads = matches!(place, Place::Own { base: 0, offset: CALLERS.. });
        self.frames.takes_stack |= reads && (step.loads || step.stores) && step.kind != Kind::Pop;
        self.frames.steps[at].place = place;
        self.frames.steps[at].from = self.from(step, state);
        self.frames.steps[at].stack = state.registers[STACK_POINTER];
        self.frames.steps[at].unsure = place == Place::SomewhereOwn && !self.is_sure(step, state);
        let copies = step.kind == Kind::Fill && step.reads.contains(SOURCE);
        self.frames.steps[at].reaches = copies && state.registers[SOURCE].is_frame();
        match step.flow {
            Flow::Call => self.call(at, step, state),
            Flow::Jump if returns => {
                self.call(at, step, state);
                self.frames.passes_stack_on |= match self.frames.steps[at].callee {
                    Callee::Import(name) => runtime::takes_any(name),
                    Callee::Local(_) => false,
                    Callee::Unknown => true,
                };
            }
            Flow::Next => self.compute(step, place, state),
            Flow::Return => self.frames.steps[at].arguments[0] = state.registers[RESULT],
            _ => {}
        }
    }

    fn place(&mut self, step: &Step, state: &State) -> Place {
        if step.kind == Kind::Push {
            if let Some(memory) = step.memory
                && let Some(base) = memory.base
            {
                let pushed = place_of(moved(state.registers[base], memory.displacement as i64));
                self.frames.takes_stack |= matches!(pushed, Place::Own { base: 0, offset: CALLERS.. });
            }
            return place_of(moved(state.registers[STACK_POINTER], -8));
        }
        if step.kind == Kind::Pop {
            return place_of(state.registers[STACK_POINTER]);
        }
        if step.kind == Kind::Fill {
            let to = state.registers[DESTINATION];
            [to, state.registers[SOURCE]].into_iter().for_each(|known| self.expose(known));
            return if to.is_frame() { Place::SomewhereOwn } else { Place::Elsewhere };
        }
        let Some(memory) = step.memory else { return Place::None };
        let known = |register: Option<usize>| register.map_or(Known::Nothing, |it| state.registers[it]);
        let (base, index) = (known(memory.base), known(memory.index));
        match base {
            Known::Frame { .. } if !memory.has_index => place_of(moved(base, memory.displacement as i64)),
            _ if base.is_frame() || index.is_frame() => {
                if step.kind != Kind::Address {
                    self.expose(indexed(moved(base, memory.displacement as i64), index));
                    self.expose(indexed(moved(index, memory.displacement as i64), base));
                }
                Place::SomewhereOwn
            }
            _ => Place::Elsewhere,
        }
    }

    /// Where what a step's memory operand is about begins, if it is surely in the frame.
    fn from(&self, step: &Step, state: &State) -> Option<(u64, i64)> {
        if step.kind == Kind::Fill {
            return state.registers[DESTINATION].beginning();
        }
        let memory = step.memory.filter(|_| !matches!(step.kind, Kind::Push | Kind::Pop))?;
        let mut known = [memory.base, memory.index].into_iter().flatten().map(|it| state.registers[it]);
        moved(known.find(|known| known.is_frame())?, memory.displacement as i64).beginning()
    }

    /// Whether what a step's memory operand is about lies in the frame for sure.
    fn is_sure(&self, step: &Step, state: &State) -> bool {
        let registers = match step.memory {
            _ if step.kind == Kind::Fill => [Some(DESTINATION), None],
            Some(memory) => [memory.base, memory.index],
            None => return false,
        };
        registers.into_iter().flatten().any(|register| state.registers[register].is_surely_frame())
    }

    pub(super) fn expose(&mut self, known: Known) {
        self.frames.takes_stack |= matches!(known.reach(), Some((Some(0), (CALLERS.., _))));
        match known.reach() {
            Some((Some(base), (from, _))) => {
                let lowest = self.frames.exposed.entry(base).or_insert(from);
                *lowest = (*lowest).min(from);
            }
            Some((None, _)) => self.frames.all_exposed = true,
            None => {}
        }
    }

    /// An address is put where it isn't followed.
    fn scatter(&mut self, known: Known) {
        self.expose(known);
        if known.is_frame() {
            let all = if self.scattered == Known::Nothing { known } else { self.scattered.join(known) };
            self.scattered = all.onward();
        }
    }

    /// What may stand where something isn't followed.
    fn may_stand(&self) -> Known {
        if self.scattered == Known::Nothing { Known::Nothing } else { self.scattered.doubted() }
    }

    /// What stands in a place of the frame.
    pub(super) fn standing(&self, state: &State, place: (u64, i64)) -> Known {
        match state.places.get(&place) {
            Some(known) => *known,
            None if self.frames.is_exposed(place) => self.may_stand(),
            None => Known::Nothing,
        }
    }

    fn compute(&mut self, step: &Step, place: Place, state: &mut State) {
        let top = state.registers[STACK_POINTER];
        let operands = step.operands.as_slice();
        let is_vector = |spot: Option<&Spot>| matches!(spot, Some(Spot::Register(it)) if *it >= REGISTERS);
        let first = self.known(step, place, state, operands.first());
        let second = self.known(step, place, state, operands.get(1));
        let by = match operands.get(1) {
            Some(Spot::Constant(value)) => Some(*value),
            _ => None,
        };
        let moves_stack = operands.first() == Some(&Spot::Register(STACK_POINTER));
        let result = match step.kind {
            _ if is_vector(operands.first()) => {
                // From a vector it isn't followed.
                self.scatter(if step.kind == Kind::Address { Known::Nothing } else { second });
                Known::Nothing
            }
            Kind::Move | Kind::Lanes => second,
            Kind::Address => taken(step, place, state),
            Kind::Add if by.is_some() => moved(first, by.unwrap_or(0)),
            Kind::Subtract if by.is_some() => moved(first, by.unwrap_or(0).wrapping_neg()),
            Kind::Add | Kind::Subtract | Kind::And if moves_stack => {
                Known::Frame { base: step.address, offset: 0 }
            }
            // The distance of two places.
            Kind::Subtract if second.is_frame() => Known::Nothing,
            Kind::Subtract => first.onward(),
            Kind::Add if first.is_frame() => indexed(first, second),
            Kind::Add if second.is_frame() => indexed(second, first),
            Kind::Select => first.join(second),
            Kind::Constant(..0) => Known::Below,
            Kind::Constant(_) | Kind::Nothing | Kind::Compare | Kind::Test => Known::Nothing,
            Kind::Push => {
                state.registers[STACK_POINTER] = moved(top, -8);
                first
            }
            Kind::Pop => {
                state.registers[STACK_POINTER] = moved(top, 8);
                match place {
                    Place::Own { base, offset } => self.standing(state, (base, offset)),
                    _ => Known::Nothing,
                }
            }
            Kind::Leave => {
                let frame = state.registers[FRAME_POINTER];
                state.registers[STACK_POINTER] = moved(frame, 8);
                Known::Nothing
            }
            _ if first.is_frame() || second.is_frame() => first.join(second).anywhere().doubted(),
            Kind::Shift | Kind::Widen if first == Known::Below || second == Known::Below => Known::Below,
            Kind::Add if first == Known::Below || second == Known::Below => Known::Below,
            _ => Known::Nothing,
        };
        if step.stores && step.kind != Kind::Push && !self.is_argument(place, top) {
            self.expose(result);
        }
        if step.stores {
            self.put(step, place, state, result, is_vector(operands.get(1)));
        }
        for register in step.writes.iter().filter(|register| *register < REGISTERS) {
            let is_result = operands.first() == Some(&Spot::Register(register)) && !step.stores;
            let moves_stack =
                register == STACK_POINTER && matches!(step.kind, Kind::Push | Kind::Pop | Kind::Leave);
            if !moves_stack {
                state.registers[register] = if is_result { result } else { Known::Nothing };
            }
        }
    }

    /// What is known of an operand.
    fn known(&self, step: &Step, place: Place, state: &State, spot: Option<&Spot>) -> Known {
        match spot {
            Some(Spot::Register(register)) if *register < REGISTERS => state.registers[*register],
            // Of a vector's number.
            Some(Spot::Register(_)) if matches!(step.kind, Kind::Move | Kind::Lanes) => self.may_stand(),
            Some(Spot::Memory) => {
                let its = match place {
                    Place::Own { base, offset } => self.standing(state, (base, offset)),
                    Place::SomewhereOwn => self.may_stand(),
                    _ => self.slot(step),
                };
                let is_part = step.memory.is_some_and(|memory| (1..8).contains(&memory.bytes));
                if is_part && its != Known::Below { Known::Nothing } else { its }
            }
            Some(Spot::Constant(value)) if self.code.is_start(*value as u64) => Known::Fixed(*value as u64),
            Some(Spot::Constant(..0)) => Known::Below,
            _ => Known::Nothing,
        }
    }

    /// Notes what a step stores.
    fn put(&mut self, step: &Step, place: Place, state: &mut State, known: Known, is_vector: bool) {
        let Place::Own { base, offset } = place else {
            if place == Place::SomewhereOwn {
                self.scatter(known);
            }
            return;
        };
        let bytes = step.memory.map_or(8, |memory| memory.bytes.clamp(8, 64)) as i64;
        state.places.retain(|(its, at), _| *its != base || *at <= offset - 8 || *at >= offset + bytes);
        let known = if is_vector { self.may_stand() } else { known };
        if known == Known::Nothing {
            return;
        }
        if state.places.len() >= MAX_PLACES || (!is_vector && self.frames.is_exposed((base, offset))) {
            self.scatter(known);
        }
        if state.places.len() < MAX_PLACES {
            let lanes = (0..bytes).step_by(8).map(|lane| ((base, offset + lane), known));
            state.places.extend(lanes.take(if is_vector { 8 } else { 1 }));
        }
    }

    /// Whether a place is where the first argument behind the registers' lies: what that points to is found
    /// when the call is met.
    fn is_argument(&self, place: Place, top: Known) -> bool {
        matches!((place, top), (Place::Own { base, offset }, Known::Frame { base: its, offset: lowest })
            if base == its && offset == lowest)
    }

    fn slot(&self, step: &Step) -> Known {
        let slot = step.memory.and_then(|memory| memory.fixed);
        let slot = slot.filter(|slot| self.code.callee(Target::Slot(*slot)) != Callee::Unknown);
        slot.map_or(Known::Nothing, Known::Slot)
    }
}

/// What LEA computes.
fn taken(step: &Step, place: Place, state: &State) -> Known {
    let Some(memory) = step.memory else { return Known::Nothing };
    let of = |register: Option<usize>| register.map_or(Known::Nothing, |it| state.registers[it]);
    let (base, index, by) = (of(memory.base), of(memory.index), memory.displacement as i64);
    match place {
        Place::Own { base, offset } => Known::Frame { base, offset },
        Place::SomewhereOwn if base.is_frame() => indexed(moved(base, by), index),
        Place::SomewhereOwn => indexed(moved(index, by), base),
        _ if base == Known::Below || index == Known::Below => Known::Below,
        _ => memory.fixed.map_or(Known::Nothing, Known::Fixed),
    }
}
