use super::code::Callee;
use super::first::SPLITS;
use super::frame::First;
use super::state::{Exact, Flags};
use super::walk::{Callees, ESCAPES, Walk};
use crate::decode::abi::{RESULT, STACK_POINTER};
use crate::decode::{Action, Condition, Flow, Operand, Operation, Target};

impl<'e, C: Callees> Walk<'_, 'e, C> {
    /// Steps over one instruction; returns the blocks that may follow if it ends the path.
    pub fn step(&mut self, i: &Operation) -> Option<Vec<u64>> {
        match i.flow {
            Flow::Next => {
                self.compute(i);
                None
            }
            Flow::Call => {
                let callee = self.callee(i);
                if self.call(i, &callee) { None } else { Some(Vec::new()) }
            }
            Flow::Return => {
                self.return_to_caller(i);
                Some(Vec::new())
            }
            Flow::Jump => Some(self.jump(i)),
            Flow::Branch => Some(self.branch(i)),
            Flow::Stop => Some(Vec::new()),
            Flow::Interrupt => {
                self.give_up(i, "calls the kernel by itself");
                Some(Vec::new())
            }
            Flow::Transaction => {
                self.give_up(i, "runs in a memory transaction");
                Some(Vec::new())
            }
        }
    }

    fn branch(&mut self, i: &Operation) -> Vec<u64> {
        self.condition(i);
        if self.final_pass && self.state.flags == Flags::First {
            self.first(i);
        }
        let mut next = vec![i.next];
        match self.code.callee(i.target) {
            Callee::Local(target) => next.push(target),
            callee => {
                // A conditional jump to another module's function is a tail call.
                self.frame.leaving.insert(self.block);
                let before = self.state.clone();
                if self.call(i, &callee) {
                    self.return_to_caller(i);
                }
                self.state = before;
            }
        }
        next
    }

    /// Records a branch that tests for the first thread: by equality, in either order of the operands.
    fn first(&mut self, i: &Operation) {
        let (first, other) = match (self.code.callee(i.target), i.condition) {
            // A thread number is never negative, so "not above zero" is zero. Constants come last.
            (Callee::Local(target), Some(Condition::Equal | Condition::NotAbove)) => (target, i.next),
            (Callee::Local(target), Some(Condition::NotEqual | Condition::Above)) => (i.next, target),
            _ => return self.find(i, SPLITS),
        };
        // A function that returns a constant on such a branch reveals it to its callers.
        let answers = matches!(self.state.registers[RESULT].exact, Exact::Constant(_));
        self.frame.firsts.push(First { at: i.address, block: self.block, first, other, answers });
    }

    fn return_to_caller(&mut self, i: &Operation) {
        if self.state.registers[RESULT].is_function() {
            self.find(i, ESCAPES);
        }
        let passed = self.state.passed();
        let returned = self.frame.returned.get_or_insert(passed);
        for (mine, theirs) in returned.iter_mut().zip(passed) {
            *mine = mine.or(theirs);
        }
    }

    fn jump(&mut self, i: &Operation) -> Vec<u64> {
        let callee = self.callee(i);
        let tail = self.state.registers[STACK_POINTER].exact == Exact::Stack { base: 0, offset: 0 };
        match callee {
            Callee::Local(target) if target == self.frame.entry => vec![target],
            Callee::Local(target) if !(tail && self.code.is_start(target)) => vec![target],
            Callee::Unknown if !matches!(i.target, Target::Slot(_)) => {
                let targets = self.switch(i).unwrap_or_else(|()| {
                    self.give_up(i, "has a switch whose cases could not be made out");
                    Vec::new()
                });
                let others = targets.is_empty() || !self.is_switch(i);
                if others && tail {
                    // A tail call through a pointer: the frame is already removed.
                    self.frame.leaving.insert(self.block);
                    let before = self.state.clone();
                    self.call(i, &Callee::Unknown);
                    self.return_to_caller(i);
                    self.state = before;
                } else if others {
                    self.give_up(i, "jumps to where could not be made out");
                }
                targets
            }
            callee => {
                if self.call(i, &callee) {
                    self.return_to_caller(i);
                }
                Vec::new()
            }
        }
    }

    /// The cases of a switch: all entries of all tables that the function has mentioned.
    fn switch(&mut self, i: &Operation) -> Result<Vec<u64>, ()> {
        // The function, and what direct branches have shown to be a part of it.
        let mut parts: Vec<(u64, u64)> = self.code.function_around(i.address).into_iter().collect();
        self.callees.count(self.frame.states.len() as u64 / 8);
        for block in self.frame.states.keys() {
            if !is_in(&parts, *block) {
                parts.extend(self.code.function_around(*block));
            }
        }
        let inside = |target: u64| is_in(&parts, target);
        if i.operands.first() == Some(&Operand::Memory)
            && let Some(memory) = i.memory.filter(|memory| memory.base.is_none() && memory.has_index)
        {
            return self.code.jump_table((memory.displacement, None), true, inside);
        }
        let mut targets: Vec<u64> = Vec::new();
        for table in &self.frame.tables {
            let next = self.frame.tables.range(table + 1..).next();
            targets.extend(self.code.jump_table((*table, next.copied()), false, inside)?);
            self.callees.count(1 + targets.len() as u64 / 4);
        }
        targets.sort_unstable();
        targets.dedup();
        Ok(targets)
    }

    /// Whether a jump's target is computed as a switch's is, and not taken from a table of pointers to
    /// functions: chosen from a table at a fixed place, or a distance and the table's address added up last.
    fn is_switch(&self, i: &Operation) -> bool {
        let Target::Register(register) = i.target else {
            return i.memory.is_some_and(|memory| memory.base.is_none() && memory.has_index);
        };
        let block = self.frame.blocks.get(&self.block);
        let before = block.into_iter().flat_map(|all| all.iter()).take_while(|it| it.address < i.address);
        before.filter(|it| it.destination() == Some(register)).last().is_some_and(|last| match last.action {
            Action::Add => true,
            Action::Address => last.memory.is_some_and(|memory| memory.has_index),
            _ => false,
        })
    }

    fn callee(&self, i: &Operation) -> Callee<'e> {
        match i.target {
            Target::Register(register) => match self.state.registers[register].exact {
                Exact::Slot(slot) => self.code.callee(Target::Slot(slot)),
                _ => Callee::Unknown,
            },
            target => self.code.callee(target),
        }
    }
}

fn is_in(parts: &[(u64, u64)], address: u64) -> bool {
    parts.iter().any(|(start, end)| (*start..*end).contains(&address))
}
