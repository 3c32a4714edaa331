//! x86-64: its decoder, registers, calling convention (System V) and compilers' idioms.

pub(crate) mod abi;
mod instruction;
pub(crate) mod object;
mod operation;
pub(crate) mod patterns;
mod references;
mod stack_addresses;
mod step;

pub(crate) use instruction::{Effect, Instruction, Look, decode, decode_into};
pub(crate) use stack_addresses::looks_at_stack;
