//! What one function does: whom it calls, and whether it binds itself to its kernel thread.

use super::binary::Binary;
use super::judge::{self, Arguments};
use crate::decode::{
    Definition, Flow, Instruction, Register, Target, abi, decode_into, looks_at_stack, patterns,
};
use crate::functions::{FORKS, GOMP_STARTS_REGIONS};
use crate::size_use::Callee;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;

/// Most instructions of a function; generated parsers have 100,000.
const MAX_FUNCTION: usize = 1 << 20;
/// How far a constant argument is looked for before a call.
const LOOK_BACK: usize = 40;

/// What says where something of the thread's own is, from which it may count how deep its stack is.
const OWN_STORAGE: [&str; 2] = ["pthread_self", "__tls_get_addr"];

/// Where the kernel tells a thread its number.
const THREAD: &[u8] = b"/proc/thread-self";

/// Something that a function does.
pub(super) enum Step<'e> {
    /// It calls, or may call, this one of its module.
    Local(u64),
    /// It loads the address of this one, which it may be about to hand to a function that calls it.
    Loads(u64),
    /// It calls a function by name, with these constants in its argument registers, if it is asked for them.
    Import(&'e str, Option<Arguments>),
    /// It calls through a pointer.
    Indirect,
    /// It binds itself to its kernel thread: what it does, after "it".
    Bound(String),
}

pub(super) struct Bodies {
    left: usize,
    instructions: Vec<Instruction>,
    /// The function whose instructions these are, and where its module's code lies.
    decoded: Option<(*const u8, u64)>,
    /// Where its branches lead.
    targets: OnceCell<BTreeSet<u64>>,
}

impl Bodies {
    pub fn new(most: usize) -> Self {
        Self { left: most, instructions: Vec::new(), decoded: None, targets: OnceCell::new() }
    }

    /// Decodes the function at `start` up to its end, or up to what is no code.
    fn decode(&mut self, binary: &Binary<'_>, start: u64) -> Result<(), String> {
        let Some((code, end)) = binary.body(start) else {
            return Err(format!("calls what is no code ({})", binary.place(start)));
        };
        let which = Some((code.as_ptr(), start));
        if std::mem::replace(&mut self.decoded, which) == which {
            return Ok(());
        }
        self.targets.take();
        // What follows a function's end may be data.
        decode_into(&mut self.instructions, code, (start, end), MAX_FUNCTION.min(self.left));
        if self.instructions.len() == MAX_FUNCTION {
            self.left = 0;
        }
        self.charge(self.instructions.len())
    }

    /// So many instructions were looked at.
    fn charge(&mut self, count: usize) -> Result<(), String> {
        self.left = self.left.saturating_sub(count);
        if self.left == 0 { Err("has more code than is followed".into()) } else { Ok(()) }
    }

    /// The functions that regions and tasks of this module run, and whether these are all.
    pub fn roots(&mut self, binary: &Binary<'_>) -> Result<(BTreeSet<u64>, bool), String> {
        let mut found = BTreeSet::new();
        let mut all_known = true;
        let targets: BTreeSet<u64> = binary.code.places_of(|name| runs(name).is_some()).collect();
        let pieces = binary.elf.text.iter().filter(|piece| !piece.name.starts_with(".plt"));
        let spots = pieces.flat_map(|piece| patterns::mentions(piece.data, piece.address, &targets));
        let functions: BTreeSet<u64> = spots.map(|spot| binary.start_of(spot)).collect();
        for function in functions {
            self.decode(binary, function)?;
            for (at, instruction) in self.instructions.iter().enumerate() {
                let Callee::Import(name) = binary.code.callee(instruction.target()) else { continue };
                for register in runs(name).into_iter().flatten() {
                    match self.constant(at, *register, function) {
                        Some(0) => {}
                        Some(address) if binary.is_start(address) => drop(found.insert(address)),
                        _ => all_known = false,
                    }
                }
            }
        }
        Ok((found, all_known))
    }

    /// Decodes the function that `entry` is in the midst of: where that begins, and the number of the
    /// instruction at `entry`. `None` if a function begins there, or if it isn't decoded with the rest.
    /// Parts of functions that compilers put elsewhere jump back into their midst.
    fn midst(&mut self, binary: &Binary<'_>, entry: u64) -> Result<Option<(u64, usize)>, String> {
        let start = binary.start_of(entry);
        if start == entry || binary.body(start).is_none_or(|(_, end)| end <= entry) {
            return Ok(None);
        }
        self.decode(binary, start)?;
        let at = self.instructions.binary_search_by_key(&entry, Instruction::address);
        Ok(at.ok().filter(|at| self.is_fallen_into(*at)).map(|at| (start, at)))
    }

    /// Whether the instructions before this one surely go on to it. Else a function may begin there of which
    /// no table knows, as of assembler code.
    fn is_fallen_into(&self, at: usize) -> bool {
        let mut before = self.instructions.get(..at).unwrap_or_default().iter().rev();
        let last = before.find(|instruction| !instruction.is_padding());
        last.is_some_and(|last| matches!(last.flow(), Flow::Next | Flow::Branch))
    }

    /// What the function at `start` does, and where.
    pub fn steps<'e>(&mut self, binary: &Binary<'e>, start: u64) -> Result<Vec<(u64, Step<'e>)>, String> {
        let mut steps = Vec::new();
        // All that differs for who comes this way is which constants are known in the next instructions.
        let part = match self.midst(binary, start)? {
            Some((whole, at)) => {
                steps.push((start, Step::Local(whole)));
                let part = at..self.instructions.len().min(at + LOOK_BACK);
                self.charge(part.len())?;
                part
            }
            None => {
                self.decode(binary, start)?;
                0..self.instructions.len()
            }
        };
        let is_whole = part.start == 0;
        let bounds = self.instructions.first().map_or(start, Instruction::address)
            ..self.instructions.last().map_or(start, Instruction::next);
        let mut own = Vec::new();
        for (at, instruction) in self.instructions.iter().enumerate().take(part.end).skip(part.start) {
            let address = instruction.address();
            let mut add = |step| steps.push((address, step));
            match instruction.flow() {
                Flow::Call | Flow::Jump | Flow::Branch => match instruction.target() {
                    Target::Code(target) if bounds.contains(&target) => {}
                    target => match binary.code.callee(target) {
                        Callee::Local(target) => add(Step::Local(target)),
                        Callee::Import(name) => {
                            if OWN_STORAGE.contains(&name) {
                                own.push(address);
                            }
                            let known = judge::wants_arguments(binary.member(name)).then(|| {
                                let first = |number: usize| self.constant(at, abi::ARGUMENTS[number], start);
                                [first(0), first(1), first(2)]
                            });
                            add(Step::Import(name, known));
                        }
                        Callee::Unknown if self.is_switch(binary, part.start..at, &bounds) => {}
                        Callee::Unknown => add(Step::Indirect),
                    },
                },
                Flow::Interrupt => add(Step::Bound("makes a system call of its own".into())),
                Flow::Next => {
                    if let Some(what) = instruction.binds_thread() {
                        add(Step::Bound(what.into()));
                    } else if let Some(loaded) = instruction.loads_address() {
                        if binary.is_start(loaded) {
                            add(Step::Loads(loaded));
                        } else if binary.elf.bytes_at(loaded).is_some_and(|at| at.starts_with(THREAD)) {
                            add(Step::Bound("looks into /proc/thread-self".into()));
                        }
                    }
                }
                Flow::Return | Flow::Stop | Flow::Transaction => {}
            }
        }
        if !is_whole {
            return Ok(steps);
        }
        let looks = |place| (place, Step::Bound("looks where it is in its thread's stack".into()));
        steps.extend(looks_at_stack(&self.instructions, &own).map(looks));
        Ok(steps)
    }

    /// Where the branches of what is decoded lead.
    fn branch_targets(&self) -> &BTreeSet<u64> {
        self.targets.get_or_init(|| self.find_branch_targets())
    }

    fn find_branch_targets(&self) -> BTreeSet<u64> {
        let branches = self.instructions.iter().filter(|it| matches!(it.flow(), Flow::Jump | Flow::Branch));
        let targets = branches.filter_map(|branch| match branch.target() {
            Target::Code(target) => Some(target),
            _ => None,
        });
        targets.collect()
    }

    /// The constant in a register at the instruction of this index, if it has one on all paths from `entry`.
    fn constant(&self, at: usize, register: Register, entry: u64) -> Option<u64> {
        let inside = self.branch_targets();
        let mut register = register;
        let mut next = self.instructions.get(at)?;
        for before in self.instructions.get(at.saturating_sub(LOOK_BACK)..at)?.iter().rev() {
            let goes_on = matches!(before.flow(), Flow::Next | Flow::Call | Flow::Branch);
            if next.address() == entry
                || inside.contains(&next.address())
                || !goes_on
                || before.next() != next.address()
            {
                return None;
            }
            match before.defines(register) {
                Definition::Constant(value) => return Some(value),
                Definition::Copy(from) => register = from,
                Definition::Unknown => return None,
                Definition::Not => {}
            }
            next = before;
        }
        None
    }

    /// Whether a jump to an unknown target is a switch within the function. `from` is what comes before it.
    fn is_switch(&self, binary: &Binary<'_>, from: Range<usize>, body: &Range<u64>) -> bool {
        let at = from.end;
        let Some(jump) = self.instructions.get(at).filter(|it| it.flow() == Flow::Jump) else { return false };
        let first = jump.table().and_then(|table| binary.elf.bytes_at(table)?.first_chunk::<8>());
        if let Some(first) = first {
            return body.contains(&u64::from_le_bytes(*first));
        }
        let before = self.instructions.get(at.saturating_sub(12).max(from.start)..at).unwrap_or_default();
        matches!(jump.target(), Target::Register(_)) && before.iter().any(Instruction::loads_table_entry)
    }
}

/// The registers in which a function of a runtime's gets functions that the team's threads run.
fn runs(name: &str) -> Option<&'static [Register]> {
    match name {
        "GOMP_task" | "GOMP_taskloop" | "GOMP_taskloop_ull" => Some(&[abi::ARGUMENTS[0], abi::ARGUMENTS[2]]),
        "GOMP_teams_reg" => Some(&[abi::ARGUMENTS[0]]),
        "__kmpc_omp_task_alloc" | "__kmpc_omp_target_task_alloc" => Some(&[abi::ARGUMENTS[5]]),
        "GOMP_parallel_end" => None,
        _ if name.starts_with(GOMP_STARTS_REGIONS) => Some(&[abi::ARGUMENTS[0]]),
        _ if name.starts_with(FORKS) => Some(&[abi::ARGUMENTS[2]]),
        _ => None,
    }
}
