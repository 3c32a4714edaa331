use super::class::Classes;
use super::state::{Exact, Flags, Step, Value};
use super::walk::{Callees, ESCAPES, Walk};
use crate::decode::{Action, Condition, Flow, Operand, Operation};

pub(super) const COMPARES: &str = "compares the team size";
const FIRST: &str = "computes with whether it is the first thread";

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
            // Branches are judged by whether they only print.
            Flags::Size if i.flow != Flow::Branch => self.find(i, COMPARES),
            Flags::Number => self.find(i, "decides by its thread number or the team size"),
            // Branches are judged by what they skip, and flags and choices are followed.
            Flags::First | Flags::Whether { .. } => {
                let followed =
                    matches!(i.action, Action::Flag | Action::Choose) && self.first_if(i).is_some();
                if i.flow != Flow::Branch && !followed {
                    self.find(i, FIRST);
                }
            }
            Flags::Free | Flags::Bound | Flags::Share | Flags::Size => {}
        }
    }

    /// Whether the condition holds for the first thread, if that is what it asks for.
    pub fn first_if(&self, i: &Operation) -> Option<bool> {
        let equal = match i.condition? {
            // A thread number is never negative, so "not above zero" is zero. Compilers put the constant
            // last.
            Condition::NotAbove if self.state.flags == Flags::First => true,
            Condition::Above if self.state.flags == Flags::First => false,
            Condition::Equal => true,
            Condition::NotEqual => false,
            _ => return None,
        };
        match self.state.flags {
            Flags::First => Some(equal),
            Flags::Whether { set, .. } => Some(equal != set),
            _ => None,
        }
    }

    /// The flags after arithmetic. gcc -Os compares with one by subtracting it.
    pub fn flags_after(&self, i: &Operation) -> Flags {
        let classes = |operand: &Operand| match (operand, i.memory) {
            (Operand::General(register, _), _) => self.state.registers[*register].classes,
            (Operand::Memory, Some(memory)) => self.state.load(self.address(i).0, memory.bytes),
            _ => Classes::CLEAN,
        };
        let tells = i
            .operands
            .iter()
            .map(classes)
            .any(|classes| classes.is_thread() || classes.is_team() || classes.is_first());
        if tells
            && matches!(i.action, Action::And)
            && let Some(flags) = i.operands.iter().map(classes).reduce(Classes::and).and_then(Flags::of)
        {
            return flags;
        }
        let vectors =
            matches!(&i.action, Action::Other(effects) if effects.reads_vectors & self.state.vectors != 0);
        if tells || vectors { Flags::Number } else { Flags::Free }
    }

    pub fn test(&mut self, i: &Operation) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        self.state.flags = self.whether(i, a.classes.and(b.classes));
        if [a, b].iter().any(|v| v.classes.is_thread() || v.classes.is_team()) {
            self.find(i, "tests bits of its thread number or of the team size");
        }
    }

    /// The flags after a comparison of such a value with zero.
    fn whether(&mut self, i: &Operation, classes: Classes) -> Flags {
        if !classes.is_first() {
            return Flags::Free;
        }
        let flags = Flags::of(classes);
        if flags.is_none() {
            self.find(i, FIRST);
        }
        flags.unwrap_or(Flags::Free)
    }

    /// A thread may ask whether it is the first, or compare itself with the loop's remainder. It may not ask
    /// for the team's size or whether it is the last: in a team of one, the first is the last.
    pub fn compare(&mut self, i: &Operation) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        self.state.flags = Flags::Free;
        if a.classes.or(b.classes).is_first() {
            let zero = b.exact == Exact::Constant(0);
            let unknown = Classes::IF_SET.or(Classes::IF_CLEAR);
            self.state.flags = self.whether(i, if zero { a.classes } else { unknown });
        }
        for (x, y) in [(a, b), (b, a)] {
            if x.is_function() {
                self.find(i, ESCAPES);
            }
            if x.classes.has(Classes::STEPPED) && y.classes.is_clean() && self.judging {
                self.frame.bounds.insert(self.block);
                if let Step::At(step) = x.step {
                    self.frame.bounded_steps.insert(step);
                }
            }
            if x.classes.is_thread() {
                self.compare_thread(i, x, y);
            }
            if x.classes.is_team() {
                if x.classes.is_size() && y.classes.is_clean() && self.state.flags == Flags::Free {
                    self.state.flags = Flags::Size;
                } else {
                    self.find(i, COMPARES);
                }
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
            if self.judging {
                self.frame.bounded.push(i.address);
            }
        }
    }
}
