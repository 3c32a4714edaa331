//! Calls: what the callee is handed, what it tells about the team, and what is left afterwards.

use super::class::Classes;
use super::code::Callee;
use super::frame::Left;
use super::state::{DATA, Exact, FIRST_ARGUMENT, Place, Value};
use super::walk::{Callees, ESCAPES, STORED, Walk};
use crate::decode::abi::{ARGUMENTS, RESULT, SCRATCH, SECOND_RESULT, STACK_POINTER};
use crate::decode::{Flow, Operation};
use crate::functions::{
    GOMP_STARTS_REGIONS, Role, arguments, fills_memory, never_returns, prints, role, takes_floats,
};

const PASSED: &str =
    "passes the team size or thread number, or what it computed from them, to another function";

impl<C: Callees> Walk<'_, '_, C> {
    /// Follows a call; false if it does not return.
    pub fn call(&mut self, i: &Operation, callee: &Callee<'_>) -> bool {
        if let Callee::Local(function) = callee {
            return self.call_within(i, *function);
        }
        let name = if let Callee::Import(name) = callee { name } else { "" };
        if SCRATCH.iter().any(|register| self.state.registers[*register].exact == Exact::SomeSlot)
            && *callee == Callee::Unknown
        {
            self.find(i, ESCAPES);
        }
        if name == GOMP_STARTS_REGIONS
            && let Exact::Region(function) = self.state.registers[ARGUMENTS[0]].exact
        {
            self.start_region(i, function);
            return true;
        }
        let told = self.check_arguments(i, name);
        self.forget_scratch();
        let answer = match role(name) {
            Role::TeamSize => Classes::TEAM,
            Role::ThreadNumber => Classes::THREAD,
            // The number of characters.
            Role::Other if told && name.contains("printf") => Classes::TEAM_PART.or(Classes::KEPT),
            Role::Inquiry | Role::Sections | Role::Other => Classes::CLEAN,
        };
        self.state.set(RESULT, Value::of(answer));
        !never_returns(name)
    }

    /// Only registers that were written since the last call can be arguments, and only in their order.
    /// Returns whether the size is printed.
    fn check_arguments(&mut self, i: &Operation, name: &str) -> bool {
        let (mut taken, mut told) = (0, false);
        let prints = prints(name);
        if self.state.vectors != 0 && takes_floats(name) {
            told = prints;
            if !prints {
                self.find(i, PASSED);
            }
        }
        for (position, register) in ARGUMENTS.into_iter().enumerate().take(arguments(name)) {
            if !self.state.is_defined(register) {
                if register == SECOND_RESULT {
                    continue;
                }
                break;
            }
            taken += 1;
            let value = self.state.registers[register];
            let share = value.classes.has(Classes::QUOTIENT.or(Classes::REMAINDER));
            let length = fills_memory(name) && position == 2 && share;
            let only_share = !value.classes.is_thread() && !value.classes.is_team();
            if value.is_function() {
                self.find(i, ESCAPES);
            }
            if value.classes.has(Classes::DATA) && !prints {
                self.lose_data();
            }
            let printed = prints && value.classes.is_size();
            told |= printed && value.classes.is_confined();
            if value.classes.is_confined() && !(length && only_share) && !printed {
                self.find(i, PASSED);
            }
        }
        if taken == ARGUMENTS.len() {
            let seventh = self.seventh(i);
            told |= prints && seventh.is_confined();
            let passed = match prints {
                true => seventh.is_confined() && !seventh.is_size(),
                // The runtime's loops are handed where to put a share there.
                false if name.starts_with("GOMP_loop_") => false,
                // Which of what lies there is an argument isn't known.
                // What this function was handed itself is none.
                false => self.arguments_at(i).is_some_and(|(base, top)| {
                    let handed = self.state.handed(Some((base, top)));
                    let mut places = handed.stack_places();
                    places.any(|at| base != 0 || top.wrapping_add(at) < 2 * FIRST_ARGUMENT)
                }),
            };
            if passed {
                self.find(i, PASSED);
            }
        }
        told
    }

    /// Where arguments on the stack begin, if that is known. A jump leaves the return address above them.
    fn arguments_at(&self, i: &Operation) -> Option<(u8, i64)> {
        let Exact::Stack { base, offset } = self.state.registers[STACK_POINTER].exact else { return None };
        Some((base, if i.flow == Flow::Call { offset } else { offset.wrapping_add(8) }))
    }

    fn seventh(&self, i: &Operation) -> Classes {
        self.arguments_at(i).map_or(Classes::CLEAN, |(base, offset)| self.state.lies_at(base, offset))
    }

    fn forget_scratch(&mut self) {
        SCRATCH.into_iter().for_each(|register| self.state.forget(register));
        self.state.vectors = 0;
    }

    /// The start of a region that keeps values in its data: the compiler made the data for this call, in the
    /// own frame, and takes from it afterwards what it needs. No one else has its address.
    fn start_region(&mut self, i: &Operation, function: u64) {
        let data = self.state.registers[ARGUMENTS[1]].exact;
        let left = match self.callees.follow_call(function, &DATA) {
            Some(Err(finding)) => {
                if self.judging {
                    self.frame.find(finding);
                }
                None
            }
            Some(Ok(left)) => left,
            None => None,
        };
        self.forget_scratch();
        self.state.set(RESULT, Value::CLEAN);
        let kept = left.map(|left| left.kept);
        for kept in kept.iter().flat_map(|kept| kept.iter()) {
            match data {
                Exact::Stack { base, offset } => {
                    let at = offset.wrapping_add(kept.offset);
                    let before = self.state.load(Place::Own { base, offset: at }, kept.bytes);
                    let classes = before.or(kept.classes).or(Classes::KEPT);
                    self.state.store(base, at, kept.bytes, classes);
                }
                _ => self.find(i, STORED),
            }
        }
    }

    /// gcc knows which registers its own functions leave alone (-fipa-ra), so a scratch register may still be
    /// used after a call: its value is followed into the callee and out again.
    fn call_within(&mut self, i: &Operation, function: u64) -> bool {
        let handed = self.state.handed(self.arguments_at(i));
        if SCRATCH.iter().any(|register| self.state.registers[*register].classes.has(Classes::DATA)) {
            self.lose_data();
        }
        if SCRATCH.iter().any(|register| self.state.registers[*register].is_function()) {
            self.find(i, ESCAPES);
        }
        self.state.define(RESULT);
        self.state.define(SECOND_RESULT);
        match self.callees.follow_call(function, &handed) {
            None => {
                self.state.registers[RESULT] = Value::CLEAN;
                self.state.vectors = 0;
                true
            }
            Some(Ok(Some(Left { handed, .. }))) => {
                for (register, classes) in SCRATCH.into_iter().zip(handed.registers) {
                    self.state.registers[register] = Value::of(classes);
                }
                self.state.vectors = handed.vectors;
                true
            }
            Some(Ok(None)) => false,
            Some(Err(finding)) => {
                if self.judging {
                    self.frame.find(finding);
                }
                self.forget_scratch();
                true
            }
        }
    }
}
