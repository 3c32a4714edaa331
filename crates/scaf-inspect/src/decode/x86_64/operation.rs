//! What instructions do, in the analysis's own terms.

use super::abi::{RAX, RCX, RDI, RDX, RSI};
use super::instruction::{Instruction, general, is_immediate, is_read, is_written};
use crate::decode::operation::{
    Action, Condition, Effects, Fill, Flow, MemoryOperand, Operand, Operation, Pair, Target,
};
use iced_x86::{
    ConditionCode, InstructionInfoFactory, Mnemonic as M, OpAccess, OpKind, Register as Name, UsedMemory,
};

const WIDE: Pair = Pair { low: RAX, high: RDX };
/// Of operands of one byte both halves stand in AX.
const NARROW: Pair = Pair { low: RAX, high: RAX };

impl Instruction {
    pub fn operation(&self) -> Operation {
        let flow = self.flow();
        let mut operands: Vec<Operand> = (0..self.0.op_count()).map(|number| self.operand(number)).collect();
        let action = if flow == Flow::Next { self.action(&mut operands) } else { Action::Nothing };
        Operation {
            address: self.address(),
            next: self.next(),
            flow,
            target: if flow == Flow::Next { Target::Unknown } else { self.target() },
            condition: self.condition(),
            reads_flags: self.0.rflags_read() != 0,
            writes_flags: self.0.rflags_modified() != 0,
            action,
            memory: operands.contains(&Operand::Memory).then(|| self.memory()),
            operands,
            takes_down_frame: self.takes_down_frame(),
        }
    }

    fn action(&self, operands: &mut Vec<Operand>) -> Action {
        let i = &self.0;
        let same = self.is_same_register();
        match i.mnemonic() {
            M::Mov | M::Movzx | M::Movsx | M::Movsxd if self.is_general() => {
                if i.mnemonic() == M::Mov {
                    Action::Copy
                } else {
                    Action::CopyExtended
                }
            }
            M::Lea => Action::Address,
            M::Sub | M::Xor if same => Action::Set(Some(0)),
            M::Add => Action::Add,
            M::Sub => Action::Subtract,
            M::Inc | M::Dec => {
                operands.push(Operand::Constant(1));
                if i.mnemonic() == M::Inc { Action::Add } else { Action::Subtract }
            }
            // Only the borrow decides: all bits are 0 or all are 1.
            M::Sbb if same => Action::Set(None),
            M::Adc | M::Sbb => Action::Carry,
            M::And => Action::And,
            M::Or if same => Action::OrSelf,
            M::Or => Action::Or,
            M::Xor => Action::Xor,
            M::Imul | M::Mul => match i.op_count() {
                1 => Action::MultiplyWide(self.pair()),
                2 => Action::Multiply([0, 1]),
                _ => Action::Multiply([1, 2]),
            },
            M::Div | M::Idiv => Action::Divide(self.pair()),
            M::Shl | M::Sal | M::Shr | M::Sar | M::Neg | M::Not | M::Rol | M::Ror | M::Bswap => Action::Scale,
            M::Cmp => Action::Compare,
            M::Test if same => {
                operands[1] = Operand::Constant(0);
                Action::Compare
            }
            M::Test => Action::Test,
            M::Cdqe | M::Cwde | M::Cbw => Action::Widen(RAX),
            M::Cdq | M::Cqo | M::Cwd => Action::Sign(WIDE),
            M::Push => Action::Push,
            M::Pop => Action::Pop,
            M::Leave => Action::Leave,
            M::Nop | M::Endbr64 | M::Pause | M::Prefetcht0 => Action::Nothing,
            M::Movsb | M::Movsd | M::Movsq | M::Stosb | M::Stosd | M::Stosq if i.is_string_instruction() => {
                let stores = matches!(i.mnemonic(), M::Stosb | M::Stosd | M::Stosq);
                let repeats = i.has_rep_prefix() || i.has_repne_prefix();
                let value = stores.then_some(RAX);
                Action::Fill(Fill { to: RDI, from: RSI, length: RCX, value, repeats })
            }
            _ if i.condition_code() == ConditionCode::None => self.other(),
            _ if i.op_count() == 2 && self.is_general() => Action::Choose,
            _ => Action::Flag,
        }
    }

    fn other(&self) -> Action {
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(&self.0);
        let addresses = [self.0.memory_base(), self.0.memory_index()];
        let used = info.used_registers().iter();
        let reads =
            used.clone().filter(|used| is_read(used.access()) && !addresses.contains(&used.register()));
        let writes = used.filter(|used| is_written(used.access()));
        let accesses =
            |kind: &dyn Fn(OpAccess) -> bool| info.used_memory().iter().map(UsedMemory::access).any(kind);
        Action::Other(Effects {
            reads: reads.filter_map(|used| general(used.register())).collect(),
            writes: writes.map(|used| general(used.register())).collect(),
            reads_memory: accesses(&is_read),
            writes_memory: accesses(&is_written),
        })
    }

    fn operand(&self, number: u32) -> Operand {
        match self.0.op_kind(number) {
            OpKind::Register => {
                let name = self.0.op_register(number);
                general(name).map_or(Operand::Special, |register| Operand::General(register, name.size()))
            }
            OpKind::Memory => Operand::Memory,
            kind if is_immediate(kind) => Operand::Constant(self.0.immediate(number) as i64),
            _ => Operand::Other,
        }
    }

    pub(super) fn memory(&self) -> MemoryOperand {
        MemoryOperand {
            base: general(self.0.memory_base()),
            index: general(self.0.memory_index()),
            has_index: self.0.memory_index() != Name::None,
            is_scaled: self.0.memory_index_scale() > 1,
            scale: self.0.memory_index_scale() as usize,
            displacement: self.0.memory_displacement64(),
            fixed: self.fixed_address(),
            bytes: self.0.memory_size().size(),
        }
    }

    pub(super) fn condition(&self) -> Option<Condition> {
        Some(match self.0.condition_code() {
            ConditionCode::None => return None,
            ConditionCode::e => Condition::Equal,
            ConditionCode::ne => Condition::NotEqual,
            ConditionCode::le | ConditionCode::be => Condition::NotAbove,
            ConditionCode::g | ConditionCode::a => Condition::Above,
            ConditionCode::l | ConditionCode::b | ConditionCode::s => Condition::Below,
            ConditionCode::ge | ConditionCode::ae | ConditionCode::ns => Condition::NotBelow,
            _ => Condition::Other,
        })
    }

    fn takes_down_frame(&self) -> bool {
        let (i, to) = (&self.0, self.0.op0_register());
        let saved = [Name::RBX, Name::RBP, Name::R12, Name::R13, Name::R14, Name::R15];
        match i.mnemonic() {
            // With -Os, alignment of the stack is popped into any register.
            M::Nop | M::Endbr64 | M::Leave | M::Vzeroupper | M::Pop => true,
            M::Add | M::Sub | M::Lea => to == Name::RSP,
            M::Mov => {
                let from_frame = matches!(i.memory_base(), Name::RSP | Name::RBP);
                saved.contains(&to) && i.op1_kind() == OpKind::Memory && from_frame
            }
            _ => false,
        }
    }

    /// Where a product goes, or where a dividend stands.
    fn pair(&self) -> Pair {
        let bytes = match self.0.op0_kind() {
            OpKind::Register => self.0.op0_register().size(),
            _ => self.0.memory_size().size(),
        };
        if bytes == 1 { NARROW } else { WIDE }
    }

    fn is_general(&self) -> bool {
        let plain = |at: u32| self.0.op_kind(at) != OpKind::Register || self.0.op_register(at).is_gpr();
        plain(0) && plain(1)
    }

    fn is_same_register(&self) -> bool {
        self.0.op_count() == 2
            && self.0.op0_kind() == OpKind::Register
            && self.0.op1_kind() == OpKind::Register
            && self.0.op0_register() == self.0.op1_register()
            && self.0.op0_register() != Name::None
    }
}
