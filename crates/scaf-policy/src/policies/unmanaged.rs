//! Leaves every program alone: the machine as it was before the daemon, for comparison.

use crate::{Allocation, Dop, Machine, Policy, Program, Share};

pub struct Unmanaged;

impl Policy for Unmanaged {
    fn name(&self) -> &'static str {
        "unmanaged"
    }

    fn allocate(&mut self, _machine: &Machine, programs: &[Program]) -> Allocation {
        let share = |p: &Program| Share {
            id: p.id,
            dop: Dop::Unmanaged,
            reason: "policy unmanaged: left alone".to_owned(),
        };
        programs.iter().map(share).collect::<Vec<_>>().into()
    }

    fn makes_turns(&self) -> bool {
        true
    }

    fn divides(&self) -> bool {
        false
    }
}
