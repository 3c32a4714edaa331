//! Calls: what the callee is handed, what it tells about the team, and what is left afterwards.

use super::class::Classes;
use super::code::Callee;
use super::names::{Role, arguments, fills_memory, never_returns, role};
use super::state::{ARGUMENTS, Exact, RAX, RDX, RSP, SCRATCH, Value};
use super::step::{ESCAPES, Walk};
use iced_x86::Instruction;

const PASSED: &str =
    "passes the team size or thread number, or what it computed from them, to another function";

impl Walk<'_, '_, '_> {
    /// Follows a call; false if it does not come back.
    pub(super) fn call(&mut self, i: &Instruction, callee: &Callee<'_>) -> bool {
        if let Callee::Local(function) = callee {
            return self.call_within(i, *function);
        }
        let name = if let Callee::Import(name) = callee { name } else { "" };
        if SCRATCH.iter().any(|r| self.state.registers[*r].exact == Exact::SomeSlot)
            && *callee == Callee::Unknown
        {
            self.find(i, ESCAPES, false);
        }
        self.check_arguments(i, name);
        self.forget_scratch();
        let answer = match role(name) {
            Role::TeamSize => Classes::TEAM,
            Role::ThreadNumber => Classes::THREAD,
            Role::Inquiry | Role::Sections | Role::Other => Classes::CLEAN,
        };
        self.state.registers[RAX] = Value::of(answer);
        self.state.defined |= 1 << RAX;
        !never_returns(name)
    }

    /// Only registers that were written since the last call can be arguments, and only in their order.
    fn check_arguments(&mut self, i: &Instruction, name: &str) {
        let mut taken = 0;
        for register in ARGUMENTS.iter().take(arguments(name)) {
            if self.state.defined & 1 << register == 0 {
                if *register == RDX {
                    // May be the second half of what the last call returned.
                    continue;
                }
                break;
            }
            taken += 1;
            let value = self.state.registers[*register];
            let share = value.classes.has(Classes::QUOTIENT.or(Classes::REMAINDER));
            let length = fills_memory(name) && *register == RDX && share;
            let only_share = !value.classes.is_thread() && !value.classes.is_team();
            if value.is_function() {
                self.find(i, ESCAPES, false);
            }
            if value.classes.is_confined() && !(length && only_share) {
                self.find(i, PASSED, false);
            }
        }
        // A seventh argument lies on the stack.
        if taken == ARGUMENTS.len()
            && let Exact::Stack { region, offset } = self.state.registers[RSP].exact
            && self.state.lies_at(region, offset)
        {
            self.find(i, PASSED, false);
        }
    }

    fn forget_scratch(&mut self) {
        for register in SCRATCH {
            self.state.registers[register] = Value::CLEAN;
            self.state.defined &= !(1 << register);
        }
    }

    /// gcc knows which registers its own functions leave alone (-fipa-ra), so that what is in scratch registers may
    /// still be used afterwards: it is followed into the callee and out again.
    fn call_within(&mut self, i: &Instruction, function: u64) -> bool {
        let handed = self.state.handed();
        if SCRATCH.iter().any(|r| self.state.registers[*r].is_function()) {
            self.find(i, ESCAPES, false);
        }
        if let Exact::Stack { region, offset } = self.state.registers[RSP].exact
            && self.state.lies_at(region, offset)
            && ARGUMENTS.iter().all(|register| self.state.defined & 1 << register != 0)
        {
            self.find(i, PASSED, false);
        }
        self.state.defined |= 1 << RAX | 1 << RDX;
        if !self.analysis.is_followed(function, &handed) {
            self.state.registers[RAX] = Value::CLEAN;
            return true;
        }
        match self.analysis.summary(function, &handed) {
            Ok(Some(left)) => {
                for (register, classes) in SCRATCH.iter().zip(left) {
                    self.state.registers[*register] = Value::of(classes);
                }
                true
            }
            Ok(None) => false,
            Err(finding) => {
                if self.judging {
                    self.frame.find(finding);
                }
                self.forget_scratch();
                true
            }
        }
    }
}
