//! Where a function's memory operands lie in its own stack frame, which parts of the frame other code may
//! reach, and which functions registers name.
//!
//! Locals whose address is taken lie above what compilers spill. So from the lowest address on that is given
//! away, anything in the frame may be changed by calls.

use super::graph::Graph;
use super::runtime;
use crate::decode::abi::{ARGUMENTS, FRAME_POINTER, RDI, REGISTERS, RSI, SCRATCH, STACK_POINTER};
use crate::decode::{Flow, Kind, RegisterSet, Spot, Step, Target};
use crate::size_use::{Callee, Code};
use std::collections::{BTreeMap, BTreeSet};

/// Most places of a frame whose contents are followed.
const MAX_PLACES: usize = 128;

/// What is known of a register's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    Nothing,
    /// A place in the own frame. Aligning the stack pointer begins a new base, at an unknown distance.
    Frame {
        base: u64,
        offset: i64,
    },
    SomeFrame,
    /// What stands in a slot of the linker's.
    Slot(u64),
    /// An address in the module.
    Fixed(u64),
}

impl Known {
    pub fn is_frame(self) -> bool {
        matches!(self, Known::Frame { .. } | Known::SomeFrame)
    }

    fn join(self, other: Known) -> Known {
        match (self, other) {
            (a, b) if a == b => a,
            (a, b) if a.is_frame() || b.is_frame() => Known::SomeFrame,
            _ => Known::Nothing,
        }
    }
}

/// Where a memory operand lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    None,
    Own { base: u64, offset: i64 },
    SomewhereOwn,
    Elsewhere,
}

#[derive(Clone, PartialEq, Debug)]
struct State {
    registers: [Known; REGISTERS],
    places: BTreeMap<(u64, i64), Known>,
}

/// What a step has to do with the frame.
#[derive(Clone, Debug)]
pub(super) struct Spotted<'e> {
    pub place: Place,
    /// Of a call or a jump to a function.
    pub callee: Callee<'e>,
    /// What a call's argument registers hold, in their order.
    pub arguments: [Known; ARGUMENTS.len()],
    /// The frame's places that a call fills, and their bytes.
    pub fills: Vec<(u64, i64, usize)>,
    /// Which of the function's arguments that it fills each of them is.
    pub filled: Vec<usize>,
    /// It may change and read whatever is exposed.
    pub reaches: bool,
}

pub(super) struct Frames<'e> {
    pub steps: Vec<Spotted<'e>>,
    /// By base, from where on the frame may be reached by other code or by addresses that aren't followed.
    pub exposed: BTreeMap<u64, i64>,
}

struct Search<'c, 'e, 'g, 'a> {
    code: &'c Code<'e>,
    graph: &'g Graph,
    /// The registers that a function may take arguments in.
    takes: &'a dyn Fn(&Callee<'e>) -> RegisterSet,
    /// The registers that it may change.
    changes: &'a dyn Fn(&Callee<'e>) -> RegisterSet,
    frames: Frames<'e>,
}

pub(super) fn frames<'e>(
    code: &Code<'e>,
    graph: &Graph,
    takes: &dyn Fn(&Callee<'e>) -> RegisterSet,
    changes: &dyn Fn(&Callee<'e>) -> RegisterSet,
) -> Frames<'e> {
    let none = Spotted {
        place: Place::None,
        callee: Callee::Unknown,
        arguments: [Known::Nothing; ARGUMENTS.len()],
        fills: Vec::new(),
        filled: Vec::new(),
        reaches: false,
    };
    let frames = Frames { steps: vec![none; graph.steps.len()], exposed: BTreeMap::new() };
    let mut search = Search { code, graph, takes, changes, frames };
    let mut entry = State { registers: [Known::Nothing; REGISTERS], places: BTreeMap::new() };
    entry.registers[STACK_POINTER] = Known::Frame { base: 0, offset: 0 };
    let mut states: Vec<Option<State>> = vec![None; graph.blocks.len()];
    states[0] = Some(entry);
    let mut work = BTreeSet::from([0]);
    while let Some(block) = work.pop_first() {
        let Some(state) = states[block].clone() else { continue };
        let after = search.walk(block, state);
        for next in &graph.blocks[block].next {
            match &mut states[*next] {
                Some(known) => {
                    if known.absorb(&after) {
                        work.insert(*next);
                    }
                }
                none => {
                    *none = Some(after.clone());
                    work.insert(*next);
                }
            }
        }
    }
    // What was seen on the way may have been known better than it is.
    search.frames.exposed.clear();
    for (block, state) in states.into_iter().enumerate() {
        if let Some(state) = state {
            search.walk(block, state);
        }
    }
    search.frames
}

impl State {
    fn absorb(&mut self, other: &State) -> bool {
        let before = self.clone();
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = mine.join(*theirs);
        }
        for (place, mine) in &mut self.places {
            *mine = mine.join(other.places.get(place).copied().unwrap_or(Known::Nothing));
        }
        self.places.retain(|_, known| *known != Known::Nothing);
        *self != before
    }
}

impl Search<'_, '_, '_, '_> {
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
        self.frames.steps[at].place = place;
        let copies = step.kind == Kind::Fill && step.reads.contains(RSI);
        self.frames.steps[at].reaches = copies && state.registers[RSI].is_frame();
        match step.flow {
            Flow::Call => self.call(at, step, state),
            Flow::Jump if returns => self.call(at, step, state),
            Flow::Next => self.compute(step, place, state),
            _ => {}
        }
    }

    fn place(&mut self, step: &Step, state: &State) -> Place {
        if step.kind == Kind::Push {
            return place_of(moved(state.registers[STACK_POINTER], -8));
        }
        if step.kind == Kind::Pop {
            return place_of(state.registers[STACK_POINTER]);
        }
        if step.kind == Kind::Fill {
            let to = state.registers[RDI];
            self.expose(to);
            self.expose(state.registers[RSI]);
            return if to.is_frame() { Place::SomewhereOwn } else { Place::Elsewhere };
        }
        let Some(memory) = step.memory else { return Place::None };
        let known = |register: Option<usize>| register.map_or(Known::Nothing, |it| state.registers[it]);
        let (base, index) = (known(memory.base), known(memory.index));
        match base {
            Known::Frame { .. } if !memory.has_index => place_of(moved(base, memory.displacement as i64)),
            _ if base.is_frame() || index.is_frame() => {
                if step.kind != Kind::Address {
                    let all = [moved(base, memory.displacement as i64), index];
                    all.into_iter().for_each(|known| self.expose(known));
                }
                Place::SomewhereOwn
            }
            _ => Place::Elsewhere,
        }
    }

    fn expose(&mut self, known: Known) {
        if let Known::Frame { base, offset } = known {
            let lowest = self.frames.exposed.entry(base).or_insert(offset);
            *lowest = (*lowest).min(offset);
        }
    }

    fn call(&mut self, at: usize, step: &Step, state: &mut State) {
        let callee = match step.target {
            Target::Register(register) => match state.registers[register] {
                Known::Slot(slot) => self.code.callee(Target::Slot(slot)),
                _ => Callee::Unknown,
            },
            target => self.code.callee(target),
        };
        let arguments = ARGUMENTS.map(|register| state.registers[register]);
        let name = if let Callee::Import(name) = callee { name } else { "" };
        let filled = runtime::fills(name);
        let (mut fills, mut which) = (Vec::new(), Vec::new());
        let mut reaches = false;
        let (takes, changes) = ((self.takes)(&callee), (self.changes)(&callee));
        for (number, (known, register)) in arguments.into_iter().zip(ARGUMENTS).enumerate() {
            if !known.is_frame() || !takes.contains(register) {
                continue;
            }
            match known {
                Known::Frame { base, offset } if filled.iter().any(|(it, _)| usize::from(*it) == number) => {
                    let at = filled.iter().position(|(it, _)| usize::from(*it) == number).unwrap_or(0);
                    fills.push((base, offset, filled.get(at).map_or(8, |(_, bytes)| usize::from(*bytes))));
                    which.push(at);
                }
                _ => {
                    self.expose(known);
                    reaches = true;
                }
            }
        }
        // Arguments on the stack follow the sixth.
        if let Some(last) = filled.iter().position(|(it, _)| usize::from(*it) == ARGUMENTS.len())
            && let Known::Frame { base, offset } = state.registers[STACK_POINTER]
            && let Some(Known::Frame { base, offset }) = state.places.get(&(base, offset)).copied()
        {
            fills.push((base, offset, usize::from(filled[last].1)));
            which.push(last);
        } else if filled.len() < ARGUMENTS.len()
            && let Known::Frame { base, offset } = state.registers[STACK_POINTER]
            && let Some(known) = state.places.get(&(base, offset)).copied()
            && known.is_frame()
        {
            self.expose(known);
            reaches |= matches!(callee, Callee::Local(_) | Callee::Unknown);
        }
        let spotted = &mut self.frames.steps[at];
        (spotted.callee, spotted.arguments, spotted.reaches) = (callee, arguments, reaches);
        (spotted.fills, spotted.filled) = (fills, which);
        for register in SCRATCH.into_iter().filter(|register| changes.contains(*register)) {
            state.registers[register] = Known::Nothing;
        }
    }

    fn compute(&mut self, step: &Step, place: Place, state: &mut State) {
        let top = state.registers[STACK_POINTER];
        let known = |state: &State, spot: Option<&Spot>| match spot {
            Some(Spot::Register(register)) if *register < REGISTERS => state.registers[*register],
            Some(Spot::Memory) => match place {
                Place::Own { base, offset } => {
                    state.places.get(&(base, offset)).copied().unwrap_or(Known::Nothing)
                }
                _ => self.slot(step),
            },
            Some(Spot::Constant(value)) if self.code.is_start(*value as u64) => Known::Fixed(*value as u64),
            _ => Known::Nothing,
        };
        let operands = step.operands.as_slice();
        let first = known(state, operands.first());
        let second = known(state, operands.get(1));
        let by = match operands.get(1) {
            Some(Spot::Constant(value)) => Some(*value),
            _ => None,
        };
        let is_frame = first.is_frame() || second.is_frame();
        let result = match step.kind {
            Kind::Move => second,
            Kind::Address => self.taken(step, place, state),
            Kind::Add | Kind::Subtract if by.is_some() => {
                moved(first, by.map_or(0, |by| if step.kind == Kind::Add { by } else { by.wrapping_neg() }))
            }
            // The distance of two places.
            Kind::Subtract if first.is_frame() && second.is_frame() => Known::Nothing,
            Kind::Add | Kind::Subtract if operands.first() == Some(&Spot::Register(STACK_POINTER)) => {
                Known::Frame { base: step.address, offset: 0 }
            }
            Kind::And if operands.first() == Some(&Spot::Register(STACK_POINTER)) => {
                Known::Frame { base: step.address, offset: 0 }
            }
            Kind::Select => first.join(second),
            Kind::Constant(_) | Kind::Nothing | Kind::Compare | Kind::Test => Known::Nothing,
            Kind::Push => {
                state.registers[STACK_POINTER] = moved(top, -8);
                first
            }
            Kind::Pop => {
                state.registers[STACK_POINTER] = moved(top, 8);
                match place {
                    Place::Own { base, offset } => {
                        state.places.get(&(base, offset)).copied().unwrap_or(Known::Nothing)
                    }
                    _ => Known::Nothing,
                }
            }
            Kind::Leave => {
                let frame = state.registers[FRAME_POINTER];
                state.registers[STACK_POINTER] = moved(frame, 8);
                Known::Nothing
            }
            _ if is_frame => Known::SomeFrame,
            _ => Known::Nothing,
        };
        let adds_up = !matches!(step.kind, Kind::Move | Kind::Push | Kind::Pop | Kind::Compare | Kind::Test)
            && !matches!(step.kind, Kind::Leave | Kind::Nothing);
        if result == Known::SomeFrame && adds_up {
            self.expose(first);
            self.expose(second);
        }
        // Into memory, or a vector, from which it isn't followed.
        let away = matches!(operands.first(), Some(Spot::Register(register)) if *register >= REGISTERS);
        if result.is_frame()
            && ((step.stores && step.kind != Kind::Push) || away)
            && !self.is_argument(place, top)
        {
            self.expose(result);
        }
        if let (Place::Own { base, offset }, true) = (place, step.stores) {
            state.places.retain(|(its, at), _| *its != base || (*at - offset).abs() >= 8);
            if result != Known::Nothing && state.places.len() < MAX_PLACES {
                state.places.insert((base, offset), result);
            }
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

    /// What LEA computes.
    fn taken(&mut self, step: &Step, place: Place, state: &State) -> Known {
        let Some(memory) = step.memory else { return Known::Nothing };
        match place {
            Place::Own { base, offset } => Known::Frame { base, offset },
            Place::SomewhereOwn => {
                for register in [memory.base, memory.index].into_iter().flatten() {
                    self.expose(moved(state.registers[register], memory.displacement as i64));
                }
                Known::SomeFrame
            }
            _ => memory.fixed.map_or(Known::Nothing, Known::Fixed),
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

fn moved(known: Known, by: i64) -> Known {
    match known {
        Known::Frame { base, offset } => Known::Frame { base, offset: offset.wrapping_add(by) },
        Known::Fixed(_) | Known::Slot(_) => Known::Nothing,
        known => known,
    }
}

fn place_of(known: Known) -> Place {
    match known {
        Known::Frame { base, offset } => Place::Own { base, offset },
        Known::SomeFrame => Place::SomewhereOwn,
        _ => Place::Elsewhere,
    }
}
