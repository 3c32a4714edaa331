//! Registers by their numbers, as the System V calling convention uses them.

use crate::decode::operation::Register;

pub(crate) const NAME: &str = "x86-64";
pub(crate) const NOT_UNDERSTOOD: &str = "its machine code is not x86-64, the only kind that is understood";
pub(crate) const REGISTERS: usize = 16;
pub(crate) const MAX_INSTRUCTION: u64 = 15;
pub(crate) const RAX: Register = 0;
pub(crate) const RCX: Register = 1;
pub(crate) const RDX: Register = 2;
pub(crate) const RSI: Register = 6;
pub(crate) const RDI: Register = 7;
/// What a function returns, a division's quotient, and what a string instruction stores.
pub(crate) const RESULT: Register = RAX;
/// The upper half of what a function returns, and a division's rest.
pub(crate) const SECOND_RESULT: Register = RDX;
/// Where string instructions copy to and from.
pub(crate) const DESTINATION: Register = RDI;
pub(crate) const SOURCE: Register = RSI;
pub(crate) const STACK_POINTER: Register = 4;
pub(crate) const FRAME_POINTER: Register = 5;
pub(crate) const ARGUMENTS: [Register; 6] = [RDI, RSI, RDX, RCX, 8, 9];
/// Registers that a function may change; [`RESULT`] is the first.
pub(crate) const SCRATCH: [Register; 9] = [RAX, RCX, RDX, RSI, RDI, 8, 9, 10, 11];
/// The vector registers' first number, and the one behind their last; the first eight take arguments.
pub(crate) const VECTORS: Register = 16;
pub(crate) const VECTORS_END: Register = 48;
/// The register that nested functions find their surroundings by.
pub(crate) const CHAIN: Register = 10;
