use super::class::Classes;
use super::state::{Exact, Flags, Step, Value};
use super::walk::{Callees, ESCAPES, Walk};
use crate::decode::{Condition, Flow, Operand, Operation};

impl<C: Callees> Walk<'_, '_, C> {
    pub fn condition(&mut self, i: &Operation) {
        if !i.reads_flags {
            return;
        }
        let equal = matches!(i.condition, Some(Condition::Equal | Condition::NotEqual));
        match self.state.flags {
            Flags::Bound | Flags::Share if equal => {
                self.find(i, "asks for one certain thread other than the first");
            }
            Flags::Number => self.find(i, "decides by its thread number or the team size"),
            // For branches it matters what they skip (`first.rs`).
            Flags::First if i.flow != Flow::Branch => {
                self.find(i, "computes with whether it is the first thread");
            }
            Flags::Free | Flags::Bound | Flags::Share | Flags::First => {}
        }
    }

    /// The flags after arithmetic. gcc -Os compares with one by subtracting it.
    pub fn flags_after(&self, i: &Operation) -> Flags {
        let tells = i.operands.iter().any(|operand| {
            let classes = match (operand, i.memory) {
                (Operand::General(register, _), _) => self.state.registers[*register].classes,
                (Operand::Memory, Some(memory)) => self.state.load(self.address(i).0, memory.bytes),
                _ => Classes::CLEAN,
            };
            classes.is_thread() || classes.is_team()
        });
        if tells { Flags::Number } else { Flags::Free }
    }

    pub fn test(&mut self, i: &Operation) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        self.state.flags = Flags::Free;
        if [a, b].iter().any(|v| v.classes.is_thread() || v.classes.is_team()) {
            self.find(i, "tests bits of its thread number or of the team size");
        }
    }

    /// A thread may test whether it is the first, or compare its number with the loop's remainder. It may not
    /// test the team's size or whether it is the last: in a team of one, the first is the last.
    pub fn compare(&mut self, i: &Operation) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        self.state.flags = Flags::Free;
        for (x, y) in [(a, b), (b, a)] {
            if x.is_function() {
                self.find(i, ESCAPES);
            }
            if x.classes.has(Classes::STEPPED) && y.classes.is_clean() && self.final_pass {
                self.frame.bounds.insert(self.block);
                if let Step::At(step) = x.step {
                    self.frame.bounded_steps.insert(step);
                }
            }
            if x.classes.is_thread() {
                self.compare_thread(i, x, y);
            }
            if x.classes.is_team() {
                self.find(i, "compares the team size");
            }
        }
    }

    fn compare_thread(&mut self, i: &Operation, thread: Value, other: Value) {
        if !other.classes.is_clean() {
            let remainder = other.classes.has(Classes::REMAINDER) && !other.classes.is_team();
            if remainder && !other.classes.is_thread() {
                self.state.flags = Flags::Share;
            } else {
                self.find(i, "compares its thread number with the team size or the like");
            }
            return;
        }
        // A thread number minus one may be zero, too.
        let itself = !thread.classes.has(Classes::THREAD_PART.or(Classes::SHIFTED));
        if itself && other.exact == Exact::Constant(0) {
            self.state.flags = Flags::First;
        } else {
            self.state.flags = Flags::Bound;
            if self.final_pass {
                self.frame.bounded.push(i.address);
            }
        }
    }
}
