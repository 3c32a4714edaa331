use super::state::{PassedClasses, State};
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

/// The scratch registers when a function returns; `None` if it never does.
pub(super) type Summary = Result<Option<PassedClasses>, Finding>;

pub(super) struct First {
    pub at: u64,
    pub block: u64,
    pub first: u64,
    pub other: u64,
    /// The result's register has a constant at the branch.
    pub answers: bool,
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
    pub returned: Option<PassedClasses>,
    // The fields from here on are filled in the final pass.
    pub edges: BTreeMap<u64, Vec<u64>>,
    /// Blocks that may leave the function other than by a call that never returns.
    pub leaving: BTreeSet<u64>,
    pub firsts: Vec<First>,
    pub finding: Option<Finding>,
    /// The address of a place in the own frame is taken: other code may reach anything in it.
    pub taken: bool,
    /// Instructions that store confined values in the own frame.
    pub kept: Vec<u64>,
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
