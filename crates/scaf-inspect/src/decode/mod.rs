//! Machine code in the analysis's own terms. Each architecture is a folder here that offers the same items;
//! nothing outside that folder knows its registers, encodings or idioms.

mod operation;
mod register_set;
mod step;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub(crate) use operation::{
    Action, Condition, Definition, Effects, Fill, Flow, MemoryOperand, Operand, Operation, Pair, Register,
    RelativeLoad, Target,
};
pub(crate) use register_set::RegisterSet;
pub(crate) use step::{FLAGS, Kind, Order, Spot, Step};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(not(target_arch = "x86_64"))]
compile_error!(
    "scaf-inspect reads the machine code of x86-64 only. A port is a folder src/decode/ARCHITECTURE with \
     `abi` (registers and their use in calls), `object` (the ELF machine and its relocations), `Instruction` \
     and `decode` (the decoder), `Instruction::operation` (what an instruction does) and `patterns` (the \
     linker's stubs, calls, and functions passed as arguments)"
);
