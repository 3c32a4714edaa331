use super::class::Classes;
use super::state::{Handed, State};
use crate::decode::Operation;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub address: u64,
    pub what: &'static str,
    /// Not understood; no dependence on the size was seen.
    pub unknown: bool,
}

impl Finding {
    pub fn depends(address: u64, what: &'static str) -> Self {
        Self { address, what, unknown: false }
    }

    pub fn unknown(address: u64, what: &'static str) -> Self {
        Self { address, what, unknown: true }
    }
}

/// What is left when a function returns.
#[derive(Clone, Debug)]
pub(super) struct Left {
    pub handed: Handed,
    /// What it keeps in the data that it was started with.
    pub kept: Rc<[InData]>,
}

/// `None` if the function never returns.
pub(super) type Summary = Result<Option<Left>, Finding>;

/// A store to the data that a region was started with.
#[derive(Clone, Copy, Debug)]
pub(super) struct InData {
    pub at: u64,
    pub offset: i64,
    pub bytes: usize,
    pub classes: Classes,
}

pub(super) struct First {
    pub at: u64,
    pub block: u64,
    pub first: u64,
    pub other: u64,
    /// All others go the other way; else it is only no less likely.
    pub alone: bool,
}

#[derive(Default)]
pub(super) struct Frame {
    pub entry: u64,
    pub states: BTreeMap<u64, State>,
    pub blocks: BTreeMap<u64, Rc<[Operation]>>,
    pub cuts: BTreeSet<u64>,
    pub tables: BTreeSet<u64>,
    /// Instructions that move the stack pointer by an unknown distance, with their new bases.
    pub bases: BTreeMap<u64, u8>,
    pub returned: Option<Handed>,
    // The fields from here on are filled in the final pass.
    pub edges: BTreeMap<u64, Vec<u64>>,
    /// Blocks that may leave the function other than by a call that never returns.
    pub leaving: BTreeSet<u64>,
    pub firsts: Vec<First>,
    /// Branches that ask for the team's size: where they stand, and both ways.
    pub sizes: Vec<(u64, u64, Option<u64>)>,
    /// Blocks that do nothing which anyone else could see.
    pub idle: BTreeSet<u64>,
    /// Blocks that print and change nothing else, with the place where they lead to.
    pub prints: BTreeMap<u64, u64>,
    pub finding: Option<Finding>,
    /// Places of the own frame whose address is taken: other code may reach anything from there up.
    pub taken: Vec<(u8, i64)>,
    /// Places of the own frame from which on one is chosen by an index.
    pub indexed: Vec<(u8, i64)>,
    /// Confined values stored in the own frame: instruction, base, offset.
    pub kept: Vec<(u64, u8, i64)>,
    /// Places of arguments on the stack that hold such values.
    pub handed_stack: Vec<i64>,
    pub kept_in_data: Vec<InData>,
    /// What is read of the data, from and to; anything if it isn't known, or others come to know the place.
    pub read_of_data: Vec<(i64, i64)>,
    /// Comparisons of the thread number that only a chunked loop justifies.
    pub bounded: Vec<u64>,
    /// Instructions that step a thread's multiple by the team's, and the block where a loop carries the sum.
    pub steps: Vec<(u64, Option<u64>)>,
    /// Those of `steps` whose sum is compared with a bound.
    pub bounded_steps: BTreeSet<u64>,
    pub bounds: BTreeSet<u64>,
}

impl Frame {
    pub fn find(&mut self, finding: Finding) {
        if self.finding.as_ref().is_none_or(|first| finding.address < first.address) {
            self.finding = Some(finding);
        }
    }
}
