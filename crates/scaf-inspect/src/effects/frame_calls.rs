//! What calls do to a function's stack frame: what they are passed of it, and what they may change.

use super::addresses::{Known, State};
use super::frames::Search;
use super::runtime;
use crate::decode::abi::{ARGUMENTS, RESULT, SCRATCH, STACK_POINTER};
use crate::decode::{Step, Target};
use crate::size_use::Callee;

/// Most arguments on the stack that are looked at.
const MOST_PASSED: i64 = 16;

impl Search<'_, '_, '_, '_> {
    pub(super) fn call(&mut self, at: usize, step: &Step, state: &mut State) {
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
        // Arguments on the stack follow the sixth; functions of the module that take any aren't proved.
        if let Some(last) = filled.iter().position(|(it, _)| usize::from(*it) == ARGUMENTS.len())
            && let Known::Frame { base, offset } = state.registers[STACK_POINTER]
            && let Known::Frame { base, offset } = self.standing(state, (base, offset))
        {
            fills.push((base, offset, usize::from(filled[last].1)));
            which.push(last);
        } else if let Known::Frame { base, offset } = state.registers[STACK_POINTER]
            && (callee == Callee::Unknown || runtime::takes_any(name))
        {
            for number in 0..MOST_PASSED {
                let known = self.standing(state, (base, offset + 8 * number));
                self.expose(known);
                reaches |= known.is_frame();
            }
        }
        // What it allocates may be filled.
        reaches |= self.frames.allocations.contains(&step.address) && name == "calloc";
        let spotted = &mut self.frames.steps[at];
        (spotted.callee, spotted.arguments, spotted.reaches) = (callee, arguments, reaches);
        (spotted.fills, spotted.filled) = (fills, which);
        for register in SCRATCH.into_iter().filter(|register| changes.contains(*register)) {
            state.registers[register] = Known::Nothing;
        }
        if self.frames.allocations.contains(&step.address) {
            state.registers[RESULT] =
                Known::SomeFrame { base: Some(step.address), from: i64::MIN, sure: true };
        }
        // It may have put something else there.
        if reaches {
            let frames = &self.frames;
            let exposed = state.places.iter_mut().filter(|(place, _)| frames.is_exposed(**place));
            exposed.for_each(|(_, known)| *known = known.doubted());
        }
    }
}
