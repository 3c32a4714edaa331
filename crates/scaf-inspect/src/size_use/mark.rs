//! Where a spinning loop can be made to yield: some instructions around its branch back that can be carried
//! out elsewhere, with room for a jump in their place ([`Mark`]); else some at its beginning.
//!
//! No branch may lead to an instruction inside a mark, from the same function or another (compilers put cold
//! parts of a function elsewhere). A function with jumps to unknown targets, as by tables, has no marks.

use super::code::Code;
use crate::decode::{Flow, Instruction, Target};
use scaf_team::arch::spin_marks::{JUMP_BYTES, MOST_BYTES, Mark, sum};
use std::collections::BTreeSet;

/// Most instructions of a mark before the branch or from the loop's beginning on, and behind the branch.
const MOST_BEFORE: usize = 4;
const MOST_BEHIND: usize = 3;

/// The marks of loops whose branches back stand at these places in a function, of which these are all
/// instructions. `None` if one of the loops can't have any.
pub(super) fn marks(code: &Code<'_>, function: &[Instruction], loops: &[usize]) -> Option<Vec<Mark>> {
    let mut targets = BTreeSet::new();
    for instruction in function {
        match (instruction.flow(), instruction.target()) {
            (_, Target::Code(target)) => {
                targets.insert(target);
            }
            (Flow::Jump | Flow::Branch, Target::Register(_) | Target::Unknown) => return None,
            _ => {}
        }
    }
    let mut marks: Vec<Mark> =
        loops.iter().map(|branch| mark(code, function, *branch, &targets)).collect::<Option<_>>()?;
    marks.sort_unstable_by_key(|mark| mark.at);
    marks.dedup();
    let within = |mark: &Mark| {
        let end = mark.at + u64::from(mark.length);
        let from = function.partition_point(move |instruction| instruction.address() <= mark.at);
        let rest = function.get(from..).unwrap_or(&[]).iter().map(Instruction::address);
        rest.take_while(move |address| *address < end)
    };
    let overlaps = marks.windows(2).any(|pair| pair[0].at + u64::from(pair[0].length) > pair[1].at);
    let places: BTreeSet<u64> = marks.iter().flat_map(within).collect();
    (!overlaps && !code.is_jumped_to(&places)).then_some(marks)
}

/// Who goes on where an exception is caught or passed on may go on right behind a loop, by a table and no
/// branch.
const LANDS: [&str; 2] = ["__cxa_begin_catch", "_Unwind_Resume"];

/// The smallest mark that has the branch at that place, the loop's own instructions first.
fn mark(code: &Code<'_>, function: &[Instruction], branch: usize, targets: &BTreeSet<u64>) -> Option<Mark> {
    let lands = LANDS.iter().any(|name| code.elf.imports.contains_key(*name));
    let most_behind = if lands { 0 } else { MOST_BEHIND };
    let tries = (0..=most_behind).flat_map(|behind| (0..=MOST_BEFORE).map(move |before| (before, behind)));
    let mut found = tries.filter_map(|(before, behind)| {
        let run = function.get(branch.checked_sub(before)?..=branch.checked_add(behind)?)?;
        mark_of(code, run, before, targets)
    });
    found.next().or_else(|| {
        let Target::Code(begin) = function.get(branch)?.target() else { return None };
        let begin = function.binary_search_by_key(&begin, Instruction::address).ok()?;
        let from_begin = function.get(begin..)?;
        // Executed in each round.
        let straight = from_begin.iter().take_while(|instruction| instruction.flow() == Flow::Next).count();
        let runs = (0..=straight.min(MOST_BEFORE)).flat_map(|from| {
            (1..=MOST_BEFORE).filter_map(move |count| from_begin.get(from..from.checked_add(count)?))
        });
        runs.filter_map(|run| {
            let branch = run.iter().position(|one| one.flow() == Flow::Branch).unwrap_or(run.len());
            Some(Mark { first: true, ..mark_of(code, run, branch, targets)? })
        })
        .next()
    })
}

/// The mark of these instructions, if they can be one; `branch` is the branch's index, or their number.
fn mark_of(code: &Code<'_>, run: &[Instruction], branch: usize, targets: &BTreeSet<u64>) -> Option<Mark> {
    let (first, last) = (run.first()?, run.last()?);
    let (at, length) = (first.address(), last.next().checked_sub(first.address())?);
    let bytes = code.code_from(at)?.get(..usize::try_from(length).ok()?)?;
    let plain = run.iter().enumerate().all(|(place, instruction)| {
        place == branch || (instruction.flow() == Flow::Next && !instruction.is_invalid())
    });
    let between = run.iter().skip(1).any(|instruction| targets.contains(&instruction.address()));
    if !plain || between || !(JUMP_BYTES..=MOST_BYTES).contains(&bytes.len()) {
        return None;
    }
    let offset = |address: u64| u8::try_from(address.checked_sub(at)?).ok();
    let mut fields = [0; 2];
    let mut places = fields.iter_mut();
    for instruction in run.iter().filter(|instruction| instruction.fixed_address().is_some()) {
        let field = instruction.displacement_offset(code.code_from(instruction.address())?)?;
        *places.next()? = offset(instruction.address().checked_add(field)?)?;
    }
    let mark = Mark {
        at,
        length: offset(last.next())?,
        branch: offset(run.get(branch).map_or(last.next(), Instruction::address))?,
        first: branch == run.len(),
        fields,
        sum: sum(bytes),
    };
    // Whether the branch is of a kind that can be made anew, and everything else stands.
    mark.stub(bytes, at.wrapping_add(1 << 20), at.wrapping_add(1 << 20)).map(|_| mark)
}
