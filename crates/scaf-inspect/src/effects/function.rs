//! A function, and all that is found out about it.

use super::finding::Finding;
use super::frames::Frames;
use super::graph::Graph;
use super::loops::Loops;
use super::ssa::{Id, Ssa};
use super::terms::{Context, Cycle, Fork, Taint, Value};
use crate::decode::RegisterSet;
use crate::size_use::Code;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// How a function is executed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Mode {
    /// By each thread of a team: a region's function, or one that such code calls.
    Repeated,
    /// By one thread: within an iteration, a task or the like.
    Once,
    /// As one of some tasks that share out a loop.
    TaskLoop,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    /// What it returns may differ between threads.
    pub differs: bool,
    /// What it returns tells the team's size, its thread's number or its share.
    pub tells: bool,
    /// What its caller passes on the stack may be passed on.
    pub passes_stack_on: bool,
    /// It shares out work, or has an effect of another kind: what each thread passes it of its own would be
    /// taken for everybody's.
    pub has_effects: bool,
}

/// What is the same in whatever way a function is executed.
pub(super) struct Built<'e> {
    pub graph: Graph,
    pub frames: Frames<'e>,
    pub ssa: Ssa,
    pub loops: Loops,
    /// The block of each step.
    pub block_of: Vec<usize>,
    /// Registers whose values at its beginning it uses.
    pub takes: RegisterSet,
    /// Registers that it may change.
    pub changes: RegisterSet,
    /// Arguments' registers: what it returns may be an address that it is passed in one of these, or near it.
    pub hands_back: RegisterSet,
    /// The same of the functions that it calls.
    pub callees_hand_back: HashMap<u64, RegisterSet>,
}

pub(super) struct Function<'c, 'e> {
    pub code: &'c Code<'e>,
    pub mode: Mode,
    /// Registers in which it is passed addresses of what is its thread's own.
    pub own: RegisterSet,
    pub built: Rc<Built<'e>>,
    /// Functions that it calls, and what they return.
    pub returned: HashMap<u64, Summary>,
    pub headers: BTreeSet<usize>,
    pub values: Vec<Option<Value>>,
    /// Blocks of first iterations that stand before their loops, by the loops' headers.
    pub peeled: HashMap<usize, Vec<usize>>,
    pub forks: Vec<Fork>,
    pub contexts: Vec<Context>,
    /// Where threads meet again that have gone different ways.
    pub meetings: BTreeSet<usize>,
    /// Headers of loops through a thread's iterations.
    pub share_loops: BTreeSet<usize>,
    pub cycles: Vec<Cycle>,
    pub cycle_of: HashMap<Id, usize>,
    /// Where ways meet that a least or most decided, and which cycle's.
    pub picks: HashMap<usize, usize>,
    /// Loads within locks of what is stored there.
    pub contended: HashSet<usize>,
    /// Places in the frame at the beginning of an iteration that doesn't look at what stands there.
    pub renewed: HashSet<Id>,
    pub rests: BTreeSet<usize>,
    /// What stands in a register and was meant for nobody.
    pub junk: HashSet<Id>,
    pub taints: Vec<Taint>,
}

impl<'e> std::ops::Deref for Function<'_, 'e> {
    type Target = Built<'e>;

    fn deref(&self) -> &Built<'e> {
        &self.built
    }
}

impl Function<'_, '_> {
    pub fn is_header(&self, block: usize) -> bool {
        self.headers.contains(&block)
    }

    pub fn may_differ(&self, function: u64) -> bool {
        self.returned.get(&function).is_none_or(|returned| returned.differs)
    }

    pub fn may_tell(&self, function: u64) -> bool {
        self.returned.get(&function).is_some_and(|returned| returned.tells)
    }
}

/// Who looks at the functions that one calls.
pub(super) trait Callees {
    /// Proves a function that is executed in that way, and is passed addresses of its thread's own in these
    /// registers.
    fn summary(&mut self, function: u64, mode: Mode, own: RegisterSet) -> Result<Summary, Finding>;
}
