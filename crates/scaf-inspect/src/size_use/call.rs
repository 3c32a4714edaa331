//! Calls: the callee's arguments, its results, and the registers afterwards.

use super::class::Classes;
use super::code::Callee;
use super::state::{Exact, Value};
use super::walk::{Callees, ESCAPES, Walk};
use crate::decode::abi::{ARGUMENTS, RESULT, SCRATCH, SECOND_RESULT};
use crate::decode::{Flow, Operation, Target};
use crate::functions::{Tells, arguments, fills_memory, never_returns, tells};

const PASSED: &str =
    "passes the team size or thread number, or what it computed from them, to another function";

impl<C: Callees> Walk<'_, '_, C> {
    /// Follows a call; false if it does not return.
    pub fn call(&mut self, i: &Operation, callee: &Callee<'_>) -> bool {
        if let Callee::Local(function) = callee {
            return self.call_within(i, *function);
        }
        let name = if let Callee::Import(name) = callee { name } else { "" };
        let through = match i.target {
            Target::Register(register) => self.state.registers[register],
            _ => Value::CLEAN,
        };
        if *callee == Callee::Unknown
            && (through.is_function()
                || SCRATCH.iter().any(|register| self.state.registers[*register].exact == Exact::SomeSlot))
        {
            self.find(i, ESCAPES);
        }
        self.check_arguments(i, name);
        self.forget_scratch();
        self.state.forget_written();
        let answer = match tells(name) {
            Tells::TeamSize => Classes::TEAM,
            Tells::ThreadNumber => Classes::THREAD,
            _ => Classes::CLEAN,
        };
        self.state.set(RESULT, Value::of(answer));
        !never_returns(name)
    }

    /// Only registers that were written since the last call can be arguments. One that wasn't may be a member
    /// without a value of a structure, with others behind it.
    fn check_arguments(&mut self, i: &Operation, name: &str) {
        for (position, register) in ARGUMENTS.into_iter().enumerate().take(arguments(name)) {
            if !self.state.is_defined(register) {
                continue;
            }
            let value = self.state.registers[register];
            let share = value.classes.has(Classes::QUOTIENT.or(Classes::REMAINDER));
            let length = position == 2 && share && self.fills_own_share(name);
            let only_share = !value.classes.is_thread() && !value.classes.is_team();
            if value.is_function() {
                self.find(i, ESCAPES);
            }
            if value.classes.is_confined() && !(length && only_share) {
                self.find(i, PASSED);
            }
        }
        if arguments(name) == ARGUMENTS.len() {
            self.check_stack(i);
        }
    }

    /// Whether memory is set or copied where a thread's share begins.
    fn fills_own_share(&self, name: &str) -> bool {
        let is_index = |position: usize| self.state.registers[ARGUMENTS[position]].classes.is_index();
        fills_memory(name) && is_index(0) && (name == "memset" || is_index(1))
    }

    /// Stack arguments aren't followed into callees, so none may be of the team. Structures are passed there
    /// though registers are free.
    fn check_stack(&mut self, i: &Operation) {
        // A call at a function's end leaves the caller's return address below its arguments.
        let above = if i.flow == Flow::Call { 0 } else { 8 };
        if self.state.passes_on_stack(above) {
            self.find(i, PASSED);
        }
    }

    fn forget_scratch(&mut self) {
        SCRATCH.into_iter().for_each(|register| self.state.forget(register));
    }

    /// gcc keeps values in scratch registers that a callee doesn't change (-fipa-ra): they are followed into
    /// the callee and out again.
    fn call_within(&mut self, i: &Operation, function: u64) -> bool {
        let passed = self.state.passed();
        if SCRATCH.iter().any(|register| self.state.registers[*register].is_function()) {
            self.find(i, ESCAPES);
        }
        self.check_stack(i);
        self.state.forget_written();
        self.state.define(RESULT);
        self.state.define(SECOND_RESULT);
        match self.callees.follow_call(function, &passed) {
            None => {
                self.state.registers[RESULT] = Value::CLEAN;
                self.state.registers[SECOND_RESULT].exact = Exact::Any;
                true
            }
            Some(Ok(Some(left))) => {
                for (register, classes) in SCRATCH.into_iter().zip(left) {
                    self.state.registers[register] = Value::of(classes);
                }
                true
            }
            Some(Ok(None)) => false,
            Some(Err(finding)) => {
                if self.final_pass {
                    self.frame.find(finding);
                }
                self.forget_scratch();
                true
            }
        }
    }
}
