//! What is asked of single instructions to follow calls: constants in registers, addresses of functions, and
//! what belongs to the kernel thread.

use super::abi::SCRATCH;
use super::instruction::{INFO, Instruction, general, is_immediate, is_written};
use crate::decode::operation::{Definition, Flow, Register};
use iced_x86::{Mnemonic as M, OpKind, Register as Name};

const PKU: &str = "sets what memory its kernel thread may use, by protection keys";
const AMX: &str = "uses AMX's tiles";
const BASE: &str = "sets a segment's base";

impl Instruction {
    /// What of its kernel thread it changes or needs, after "it": what isn't saved where fibers are switched.
    pub fn binds_thread(&self) -> Option<&'static str> {
        match self.0.mnemonic() {
            M::Wrpkru => Some(PKU),
            M::Wrfsbase | M::Wrgsbase | M::Swapgs => Some(BASE),
            M::Mov | M::Pop if matches!(self.0.op0_register(), Name::FS | Name::GS) => Some(BASE),
            M::Ldtilecfg
            | M::Sttilecfg
            | M::Tdpbf16ps
            | M::Tdpbssd
            | M::Tdpbsud
            | M::Tdpbusd
            | M::Tdpbuud
            | M::Tdpfp16ps
            | M::Tileloadd
            | M::Tileloaddt1
            | M::Tilerelease
            | M::Tilestored
            | M::Tilezero => has_tiles().then_some(AMX),
            _ => None,
        }
    }

    /// The address that it loads into a register.
    pub fn loads_address(&self) -> Option<u64> {
        match self.0.mnemonic() {
            M::Lea => self.fixed_address(),
            M::Mov if self.0.op0_kind() == OpKind::Register && is_immediate(self.0.op1_kind()) => {
                Some(self.0.immediate(1))
            }
            _ => None,
        }
    }

    /// What it leaves in a register.
    pub fn defines(&self, register: Register) -> Definition {
        let i = &self.0;
        if self.flow() == Flow::Call {
            return if SCRATCH.contains(&register) { Definition::Unknown } else { Definition::Not };
        }
        let into = (i.op0_kind() == OpKind::Register).then(|| i.op0_register());
        if let Some(into) = into.filter(|into| general(*into) == Some(register) && into.size() >= 4) {
            let from = (i.op1_kind() == OpKind::Register).then(|| i.op1_register());
            match (i.mnemonic(), from) {
                (M::Mov, None) if is_immediate(i.op1_kind()) => {
                    let mask = if into.size() == 4 { u64::from(u32::MAX) } else { u64::MAX };
                    return Definition::Constant(i.immediate(1) & mask);
                }
                (M::Mov, Some(from)) if from.size() == into.size() => {
                    return general(from).map_or(Definition::Unknown, Definition::Copy);
                }
                (M::Xor | M::Sub, Some(from)) if from == into => return Definition::Constant(0),
                (M::Lea, _) => return self.fixed_address().map_or(Definition::Unknown, Definition::Constant),
                _ => {}
            }
        }
        let written = INFO.with_borrow_mut(|info| {
            let mut used = info.info(i).used_registers().iter();
            used.any(|used| is_written(used.access()) && general(used.register()) == Some(register))
        });
        if written { Definition::Unknown } else { Definition::Not }
    }

    /// The table of addresses through which it jumps, if that lies at a fixed place.
    pub fn table(&self) -> Option<u64> {
        let i = &self.0;
        let is_indexed = i.op0_kind() == OpKind::Memory
            && i.memory_base() == Name::None
            && i.memory_index() != Name::None
            && i.memory_index_scale() == 8;
        is_indexed.then(|| i.memory_displacement64())
    }

    /// Whether it loads an entry of a switch's table: a distance of four bytes, or in code that can't be
    /// moved an address of eight.
    pub fn loads_table_entry(&self) -> bool {
        let i = &self.0;
        let scaled = i.op1_kind() == OpKind::Memory && i.memory_index() != Name::None;
        match i.mnemonic() {
            M::Movsxd => scaled && i.memory_index_scale() == 4,
            M::Mov => scaled && i.memory_index_scale() == 8 && i.memory_base() == Name::None,
            _ => false,
        }
    }
}

/// Whether this machine has AMX. Elsewhere no program runs such code, which libraries keep for all machines.
fn has_tiles() -> bool {
    const TILES: u32 = 1 << 24;
    core::arch::x86_64::__cpuid_count(7, 0).edx & TILES != 0
}
