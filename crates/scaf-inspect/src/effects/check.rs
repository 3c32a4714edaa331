//! The last look: whether each effect of a function is one of an iteration, or the end of a reduction.

use super::addresses::{Known, Place};
use super::finding::Finding;
use super::function::{Callees, Function, Mode, Summary};
use super::loops::Loop;
use super::runtime::{self, Role, role};
use super::ssa::{Def, Id};
use super::terms::{Context, Fork, Taint, Value};
use crate::decode::abi::{ARGUMENTS, STACK_POINTER};
use crate::decode::{FLAGS, Flow, Kind, Spot, Step};
use crate::functions::{self, fills_memory, never_returns};
use crate::size_use::Callee;

const REPEATS: &str =
    "stores something in each thread, outside of any loop's iterations, sections or the like";
const CARRIES: &str = "uses in an iteration what the thread carries from one to the next";
const TELLS: &str = "uses what depends on its thread's number or share";
const OUTSIDE: &str = "stores something in each thread that has a share of a loop, outside of its iterations";
const ADDRESS: &str = "uses an address in its own stack frame as a number, or gives it away";

impl Function<'_, '_> {
    pub fn check(&self, prover: &mut dyn Callees) -> Result<(), Finding> {
        for block in &self.loops.order {
            for at in self.graph.blocks[*block].steps() {
                self.check_step(prover, *block, at)?;
            }
            self.check_fork(*block)?;
        }
        self.check_strides()?;
        self.check_waits()
    }

    /// Whether what runs along with an index of iterations runs as fast as all else that does.
    fn check_strides(&self) -> Result<(), Finding> {
        for its in &self.loops.all {
            let [header] = its.entries.as_slice() else { continue };
            if self.share_loops.contains(header)
                && let Err(at) = self.runs_evenly(its, *header)
            {
                return Err(self.error(at, CARRIES));
            }
            // OpenMP's loops end where the share does, and nowhere else.
            let leaves = |(from, _): &(usize, usize)| self.forks[*from] == Fork::Varies;
            if self.share_loops.contains(header)
                && let Some((from, _)) = its.exits(&self.graph).find(leaves)
            {
                let at = self.last_step(from).unwrap_or_default();
                return Err(self.error(at, "leaves a loop before its thread's share ends"));
            }
        }
        Ok(())
    }

    pub fn error(&self, at: usize, what: &'static str) -> Finding {
        Finding::at(self.graph.steps[at].address, what)
    }

    /// Why a value may have no effect.
    pub fn harm(&self, taint: Taint, value: Value) -> Option<&'static str> {
        match taint {
            Taint::Clean if value.classes.is_confined() => Some(TELLS),
            Taint::Clean => None,
            _ => Some(CARRIES),
        }
    }

    pub fn check_fork(&self, block: usize) -> Result<(), Finding> {
        let Some(at) = self.last_step(block) else { return Ok(()) };
        let flow = self.graph.steps[at].flow;
        if flow != Flow::Branch && self.graph.blocks[block].next.len() < 2 {
            return Ok(());
        }
        if self.ends_reduction(block) {
            return Ok(());
        }
        let chooses = self.cycles.iter().any(|cycle| cycle.chooses.contains(&block));
        let tainted = self.ssa.uses[at].iter().any(|(_, id)| self.taint(*id) != Taint::Clean);
        if tainted && !chooses {
            return Err(self.error(at, "decides by what its thread carries from one iteration to the next"));
        }
        let leads_to_meeting = |way: usize| {
            self.graph.blocks[block].next.get(way).is_some_and(|next| self.meetings.contains(next))
        };
        let what = match (self.forks[block], self.contexts[block]) {
            (Fork::Guard(with), Context::Split) if leads_to_meeting(with) => return Ok(()),
            (Fork::Unknown, _) => "decides by its thread's number or share, or by what isn't understood",
            (Fork::First(_) | Fork::Rest(_), Context::Share) if !self.is_in_iteration(block) => return Ok(()),
            (Fork::First(_) | Fork::Rest(_), Context::Share | Context::Once) => {
                "decides by its thread's number within an iteration"
            }
            (Fork::First(_) | Fork::Guard(_) | Fork::Granted(..) | Fork::Rest(_), Context::Split) => {
                "has loops or the like for some of the threads only"
            }
            (Fork::Guard(_) | Fork::Granted(..), Context::Once) if self.mode != Mode::Once => {
                "has loops or the like for one of the threads only"
            }
            (Fork::Varies | Fork::Share | Fork::Last(_), Context::Repeated | Context::Split) => {
                "decides outside of iterations by what differs between threads"
            }
            (Fork::Share, Context::Share) if self.is_in_iteration(block) && !self.leaves_share(block) => {
                "decides within an iteration by how many its thread's share has"
            }
            (Fork::Sections, _) if self.graph.blocks[block].zero.is_none() => {
                "has sections in a form that isn't understood"
            }
            _ => return Ok(()),
        };
        Err(self.error(at, what))
    }

    pub fn check_step(&self, prover: &mut dyn Callees, block: usize, at: usize) -> Result<(), Finding> {
        let step = &self.graph.steps[at];
        let spotted = &self.frames.steps[at];
        if step.kind == Kind::Forbidden {
            return Err(self.error(at, "asks the processor about itself, or changes how its thread computes"));
        }
        if step.thread_local {
            return Err(self.error(at, "uses what each thread has of its own"));
        }
        self.check_bounds_kept(block, at)?;
        self.check_kept(block, at)?;
        match step.flow {
            Flow::Call => return self.check_call(prover, block, at),
            Flow::Jump if spotted.callee != Callee::Unknown && self.graph.blocks[block].returns => {
                return self.check_call(prover, block, at);
            }
            Flow::Next => {}
            Flow::Return if self.may_be_allocated(spotted.arguments[0]) => {
                return Err(self.error(at, ADDRESS));
            }
            _ => return Ok(()),
        }
        self.check_addresses(at)?;
        if self.is_at_lost_begin(at) {
            return Err(self.error(at, CARRIES));
        }
        if step.stores && spotted.unsure {
            return Err(
                self.error(at, "stores something at an address that may be in its own stack frame or not")
            );
        }
        if !step.stores || spotted.place != Place::Elsewhere || step.kind == Kind::Push {
            return Ok(());
        }
        let context = self.contexts[block];
        if context == Context::Share && !self.is_in_iteration(block) && self.reduces(at) {
            return Ok(());
        }
        if context == Context::Split {
            return Err(self.error(at, REPEATS));
        }
        if context == Context::Repeated {
            return if self.reduces(at) { Ok(()) } else { Err(self.error(at, REPEATS)) };
        }
        let address = (self.tainted_address(at), self.address(at));
        if self.is_in_task_data(address.1) {
            return Err(self.error(at, CARRIES));
        }
        let registers = self.ssa.uses[at].iter().filter(|(loc, _)| {
            let in_address = step.memory.is_some_and(|it| [it.base, it.index].contains(&Some(*loc)));
            !in_address || step.reads.contains(*loc)
        });
        let values = registers.map(|(_, id)| (self.taint(*id), self.value(*id)));
        let lost = |(_, id): &&(usize, Id)| self.has_lost_its_begin(*id);
        if self.ssa.uses[at].iter().any(|used| lost(&used)) {
            return Err(self.error(at, CARRIES));
        }
        if let Some(what) = values.chain([address]).find_map(|(taint, value)| self.harm(taint, value)) {
            return Err(self.error(at, what));
        }
        // Who has iterations at all, or so many, is another thread in another team.
        if context == Context::Share && !self.is_in_iteration(block) {
            return Err(self.error(at, OUTSIDE));
        }
        Ok(())
    }

    /// Where a share or a chunk begins and ends is for nothing but to find the iterations.
    fn check_bounds_kept(&self, block: usize, at: usize) -> Result<(), Finding> {
        let step = &self.graph.steps[at];
        let tells = match step.flow {
            Flow::Call => true,
            Flow::Next => {
                let stores = step.stores && self.frames.steps[at].place == Place::Elsewhere;
                stores || matches!(step.kind, Kind::Compare | Kind::Test)
            }
            _ => false,
        };
        if !tells || self.contexts[block] != Context::Share {
            return Ok(());
        }
        let all = self.loops.all.iter().filter(|its| its.has(block));
        let innermost = all.filter(|its| self.deals_out(its)).min_by_key(|its| its.blocks.len());
        let Some(its) = innermost else { return Ok(()) };
        let leaves = step.flow == Flow::Next
            && its
                .exits(&self.graph)
                .any(|(from, _)| self.last_step(from).and_then(|last| self.flags_of(last)) == Some(at));
        let in_address = |loc: usize| {
            step.memory.is_some_and(|it| [it.base, it.index].contains(&Some(loc)))
                && !step.reads.contains(loc)
        };
        for (loc, id) in self.ssa.uses[at].iter().filter(|(_, id)| !self.junk.contains(id)) {
            let is_bound = || its.entries.iter().any(|entry| self.is_begin_of_all(*id, *entry));
            if !leaves && !in_address(*loc) && is_bound() {
                return Err(self.error(at, TELLS));
            }
        }
        Ok(())
    }

    /// Whether a block ends a loop through a thread's iterations, or goes round it.
    fn leaves_share(&self, block: usize) -> bool {
        let all = self.loops.all.iter().filter(|its| its.has(block) && self.deals_out(its));
        let goes_round = |its: &Loop| self.graph.blocks[block].next.iter().any(|to| its.entries.contains(to));
        let mut all =
            all.filter(|its| goes_round(its) || its.exits(&self.graph).any(|(from, _)| from == block));
        all.next().is_some()
    }

    /// Whether a block is in a loop through a thread's iterations.
    pub fn is_in_iteration(&self, block: usize) -> bool {
        self.loops.all.iter().any(|its| its.has(block) && self.deals_out(its))
    }

    /// Addresses in the own frame may be computed, compared with each other, and passed on.
    pub fn check_addresses(&self, at: usize) -> Result<(), Finding> {
        let step = &self.graph.steps[at];
        let is_frame = |spot: &Spot| self.operand(at, *spot).frame;
        let some = step.operands.iter().filter(|spot| **spot != Spot::Memory).any(is_frame);
        // Making room on the stack.
        let moves_stack = step.operands.first() == Some(&Spot::Register(STACK_POINTER)) && !step.stores;
        if !some || moves_stack {
            return Ok(());
        }
        let moves = match step.kind {
            Kind::Move | Kind::Push | Kind::Lanes | Kind::Select | Kind::Fill => {
                !step.stores || self.frames.steps[at].place != Place::Elsewhere || step.kind == Kind::Fill
            }
            Kind::Address | Kind::Add | Kind::Subtract | Kind::Nothing | Kind::Pop | Kind::Leave => {
                !step.stores
            }
            Kind::Test => step.operands.iter().all(is_frame),
            Kind::Compare => step.operands.iter().all(|spot| {
                let value = self.operand(at, *spot);
                value.frame || value.constant == Some(0)
            }),
            Kind::Constant(_) => true,
            _ => false,
        };
        if moves { Ok(()) } else { Err(self.error(at, ADDRESS)) }
    }

    /// Whether something was put where a call's arguments on the stack stand, other than to save a register.
    fn passes_on_stack(&self, at: usize) -> bool {
        let Known::Frame { base, offset } = self.frames.steps[at].stack else { return true };
        let puts = |(by, step): (usize, &Step)| {
            let is_there = self.frames.steps[by].place == Place::Own { base, offset };
            let saves = || match (step.kind, step.operands.first()) {
                (Kind::Push, Some(Spot::Register(register))) => {
                    let id = self.ssa.used(by, *register).map(|id| self.ssa.find(id));
                    id.is_some_and(|id| self.ssa.defs[id] == Def::Entry(*register))
                }
                _ => false,
            };
            is_there && step.stores && !saves()
        };
        self.graph.steps.iter().enumerate().any(puts)
    }

    /// Whether a function that only computes writes something through a pointer that isn't into the own frame.
    fn writes_elsewhere(&self, at: usize, name: &str) -> bool {
        let arguments = &self.frames.steps[at].arguments;
        let is_own = |number: usize| arguments.get(number).is_some_and(|known| known.is_surely_frame());
        runtime::fills(name).iter().any(|(number, _)| !is_own(usize::from(*number)))
    }

    /// Whether a call allocates memory that is used as if it were in the frame.
    pub fn allocates_own(&self, at: usize) -> bool {
        self.frames.allocations.contains(&self.graph.steps[at].address)
    }

    fn may_be_allocated(&self, known: Known) -> bool {
        match known {
            Known::SomeFrame { base, .. } => {
                let allocations = &self.frames.allocations;
                base.map_or(!allocations.is_empty(), |base| allocations.contains(&base))
            }
            _ => false,
        }
    }

    pub fn check_call(&self, prover: &mut dyn Callees, block: usize, at: usize) -> Result<(), Finding> {
        let spotted = &self.frames.steps[at];
        // What isn't everybody's is nobody's to have effects.
        let context = match self.contexts[block] {
            Context::Split => Context::Repeated,
            context => context,
        };
        let name = match &spotted.callee {
            Callee::Unknown => return Err(self.error(at, "calls a function through a pointer")),
            Callee::Local(function) => {
                self.check_arguments(at, context == Context::Repeated)?;
                if context == Context::Share && !self.is_in_iteration(block) {
                    return Err(self.error(at, OUTSIDE));
                }
                let mode = if context == Context::Repeated { Mode::Repeated } else { Mode::Once };
                return prover.summary(*function, mode).map(|_| ());
            }
            Callee::Import(name) => *name,
        };
        let unknown = |what: &'static str| Finding::of_function(self.graph.steps[at].address, what, name);
        if never_returns(name) {
            return Ok(());
        }
        let is_within = context != Context::Repeated;
        let makes = matches!(role(name), Role::Region(_) | Role::Task(_) | Role::TaskLoop);
        if makes && context == Context::Share && !self.is_in_iteration(block) {
            return Err(self.error(at, OUTSIDE));
        }
        match role(name) {
            Role::Computes if self.writes_elsewhere(at, name) => {
                Err(unknown("has an answer written where it may be looked at by others, by"))
            }
            Role::Computes => Ok(()),
            Role::TeamSize | Role::ThreadNumber if self.mode == Mode::Repeated => Ok(()),
            Role::TeamSize | Role::ThreadNumber => Err(unknown("asks within an iteration or a task, by")),
            Role::Ends | Role::Neutral | Role::Global => Ok(()),
            Role::Share if !self.has_known_schedule(at) => Err(unknown("shares out in an unknown way, by")),
            Role::Reduces | Role::Share if self.mode != Mode::Once => self.check_bounds(at),
            Role::Reduces | Role::Share => Err(unknown("shares out work within an iteration, by")),
            Role::Chunk | Role::Section | Role::Single | Role::SingleCopy if self.mode == Mode::Once => {
                Err(unknown("shares out work within an iteration, by"))
            }
            Role::Chunk | Role::Section | Role::Single | Role::SingleCopy => self.check_arguments(at, true),
            Role::Region(number) if is_within => {
                self.check_arguments(at, false)?;
                self.check_handed(prover, at, number, Mode::Repeated)
            }
            Role::Task(number @ 5) if is_within => self.check_handed(prover, at, number, Mode::Once),
            Role::Task(_) | Role::TaskLoop if is_within => {
                self.check_arguments(at, false)?;
                if self.ssa.used(at, ARGUMENTS[2]).is_none_or(|id| self.value(id).constant != Some(0)) {
                    self.check_handed(prover, at, 2, Mode::Once)?;
                }
                let mode = if role(name) == Role::TaskLoop { Mode::TaskLoop } else { Mode::Once };
                self.check_handed(prover, at, 0, mode)
            }
            Role::Region(_) | Role::Task(_) | Role::TaskLoop => {
                Err(unknown("makes tasks or regions in each thread, by"))
            }
            Role::Harmless if runtime::takes_any(name) && self.passes_on_stack(at) => {
                Err(unknown("passes arguments on the stack, to"))
            }
            Role::Harmless if is_within => {
                let by_index = fills_memory(name) && self.fills_share(at);
                if context == Context::Share && !by_index && !self.is_in_iteration(block) {
                    return Err(self.error(at, OUTSIDE));
                }
                if by_index { Ok(()) } else { self.check_arguments(at, false) }
            }
            Role::Harmless if fills_memory(name) && spotted.arguments[0].is_surely_frame() => Ok(()),
            // If there isn't enough memory, there is for nobody.
            Role::Harmless if self.allocates_own(at) => self.check_arguments(at, true),
            Role::Harmless if functions::frees(name) && spotted.arguments[0].is_surely_frame() => Ok(()),
            Role::Harmless => Err(unknown("calls in each thread, outside of iterations and the like,")),
            Role::Unknown => Err(unknown("calls what isn't known to be harmless:")),
        }
    }

    /// Whether memory is set or copied from where a thread's share begins on, as far as the share goes.
    pub fn fills_share(&self, at: usize) -> bool {
        let of = |number: usize| self.ssa.used(at, ARGUMENTS[number]);
        let (Some(to), Some(from), Some(length)) = (of(0), of(1), of(2)) else { return false };
        let clean = [to, from, length].into_iter().all(|id| self.taint(id) == Taint::Clean);
        let begins = |id: Id| self.value(id).is_index() && !self.value(id).end;
        let Some(bytes) = self.length_of_all(length).filter(|_| clean && begins(to)) else { return false };
        // One value for all, or as many from as many elements.
        let alike = !self.value(from).differs() && self.is_value_to_set(at);
        self.begins_with_share(to, bytes) && (alike || (begins(from) && self.begins_with_share(from, bytes)))
    }

    /// Whether a call sets memory to a value.
    fn is_value_to_set(&self, at: usize) -> bool {
        matches!(&self.frames.steps[at].callee, Callee::Import(name) if name.contains("memset"))
    }

    /// Whether LLVM's runtime is asked for a static schedule, with chunks or without. By others, and by the
    /// modifier `monotonic` in some versions, threads do what others do as well.
    fn has_known_schedule(&self, at: usize) -> bool {
        const STATIC: [i64; 2] = [33, 34];
        let id = self.ssa.used(at, ARGUMENTS[2]);
        id.and_then(|id| self.value(id).constant).is_some_and(|schedule| STATIC.contains(&schedule))
    }

    /// Whether all threads share out one loop.
    pub fn check_bounds(&self, at: usize) -> Result<(), Finding> {
        let bounds = self.ssa.uses[at].iter().filter(|(loc, _)| super::ssa::is_in_frame(*loc));
        for (_, id) in bounds {
            if self.taint(*id) != Taint::Clean || self.value(*id).differs() {
                return Err(self.error(at, "shares out a loop that differs between threads"));
            }
        }
        Ok(())
    }

    /// Whether an address is one in what a task of a loop's iterations was handed, which lasts from
    /// one of them to the next.
    fn is_in_task_data(&self, address: Value) -> bool {
        self.mode == Mode::TaskLoop && address.frame
    }

    /// Whether what a call is passed may have an effect.
    pub fn check_arguments(&self, at: usize, repeated: bool) -> Result<(), Finding> {
        for (loc, id) in self.passed(at) {
            let (taint, value) = (self.taint(*id), self.value(*id));
            if let Some(what) = self.harm(taint, value) {
                return Err(self.error(at, what));
            }
            let number = ARGUMENTS.iter().position(|register| register == loc);
            let is_own =
                number.is_some_and(|number| self.frames.steps[at].arguments[number].is_surely_frame());
            if (self.is_in_task_data(value) && !is_own) || self.has_lost_its_begin(*id) {
                return Err(self.error(at, CARRIES));
            }
            if repeated && value.differs() {
                return Err(self.error(at, "passes on in each thread what differs between threads"));
            }
        }
        Ok(())
    }

    /// A function that a call is handed, to be executed.
    pub fn check_handed(
        &self,
        prover: &mut dyn Callees,
        at: usize,
        number: usize,
        mode: Mode,
    ) -> Result<(), Finding> {
        match self.frames.steps[at].arguments.get(number) {
            Some(Known::Fixed(function)) if self.code.is_start(*function) => {
                prover.summary(*function, mode).map(|_| ())
            }
            _ => Err(self.error(at, "starts a function that could not be made out")),
        }
    }

    /// What it returns.
    pub fn returns(&self) -> Summary {
        let returned = self.graph.blocks.iter().enumerate().filter(|(_, block)| block.returns);
        let mut all = Summary { differs: false, tells: false };
        for at in returned.flat_map(|(block, _)| self.last_step(block)) {
            let (differs, tells) = match &self.frames.steps[at].callee {
                // What another function returns.
                Callee::Import(name) if self.graph.steps[at].flow == Flow::Jump => {
                    let tells = matches!(role(name), Role::TeamSize | Role::ThreadNumber | Role::Global);
                    (role(name) != Role::Computes, tells)
                }
                Callee::Local(function) if self.graph.steps[at].flow == Flow::Jump => {
                    (self.may_differ(*function), self.may_tell(*function))
                }
                _ => (false, false),
            };
            (all.differs, all.tells) = (all.differs || differs, all.tells || tells);
            for (_, id) in self.ssa.uses[at].iter().filter(|(loc, _)| *loc != FLAGS) {
                all.tells |= self.taint(*id) != Taint::Clean || !self.value(*id).classes.is_clean();
                all.differs |= all.tells || self.value(*id).differs();
            }
        }
        all
    }
}

/// Whether it starts regions whose function isn't looked for.
pub(super) fn is_other_start(name: &str) -> bool {
    runtime::starts_regions(name) && !matches!(role(name), Role::Region(_))
}
