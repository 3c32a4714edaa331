//! The last look: whether each effect of a function is one of an iteration, or the end of a reduction.

use super::addresses::Place;
use super::finding::Finding;
use super::frames::Spotted;
use super::function::{Callees, Function, Mode, Summary};
use super::loops::Loop;
use super::runtime::{self, Role, role};
use super::ssa::Id;
use super::terms::{Context, Fork, Taint, Value};
use crate::decode::abi::STACK_POINTER;
use crate::decode::{FLAGS, Flow, Kind, Spot, Step};
use crate::size_use::Callee;
use std::collections::BTreeSet;

const REPEATS: &str =
    "stores something in each thread, outside of any loop's iterations, sections or the like";
pub(super) const CARRIES: &str = "uses in an iteration what the thread carries from one to the next";
const TELLS: &str = "uses what depends on its thread's number or share";
pub(super) const OUTSIDE: &str =
    "stores something in each thread that has a share of a loop, outside of its iterations";
const ADDRESS: &str = "uses an address in its own stack frame as a number, or gives it away";

impl Function<'_, '_> {
    pub fn check(&self, prover: &mut dyn Callees) -> Result<(), Finding> {
        for block in &self.loops.order {
            for at in self.graph.blocks[*block].steps() {
                self.check_step(prover, *block, at)?;
            }
            self.check_fork(*block)?;
        }
        self.check_peeled()?;
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
            let leaves = |(from, _): &(usize, usize)| {
                self.forks[*from] == Fork::Varies
                    || (self.forks[*from] == Fork::Same && self.leaves_behind_effects(its, *header, *from))
            };
            if self.share_loops.contains(header)
                && let Some((from, _)) = its.exits(&self.graph).find(leaves)
            {
                let at = self.last_step(from).unwrap_or_default();
                return Err(self.error(at, "leaves a loop before its thread's share ends"));
            }
        }
        Ok(())
    }

    /// Whether a block asks something behind effects of its iteration: all threads that leave there have done
    /// one each. Compilers make loops that are left before anything is done in any.
    fn leaves_behind_effects(&self, its: &Loop, header: usize, block: usize) -> bool {
        let asks = self.last_step(block).is_some_and(|at| self.graph.steps[at].flow == Flow::Branch);
        let (mut work, mut met) = (vec![block], BTreeSet::new());
        while let Some(block) = work.pop().filter(|_| asks) {
            let has_effect = self.graph.blocks[block].steps().any(|at| {
                let step = &self.graph.steps[at];
                step.flow == Flow::Call || (step.stores && self.frames.steps[at].place == Place::Elsewhere)
            });
            if has_effect {
                return true;
            }
            if block != header && met.insert(block) {
                let before = self.graph.blocks[block].before.iter();
                work.extend(before.copied().filter(|before| its.has(*before)));
            }
        }
        false
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
            (Fork::Varies | Fork::Share, Context::Share)
                if !self.is_iteration(block) && !self.chooses_as_iterations(block) =>
            {
                "decides by what differs whether its thread does its share"
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
        // Nobody but the threads knows where their shares begin and end.
        let is_bound = |value: Value| value.is_index() || value.end;
        if context == Context::Once
            && self.mode == Mode::Repeated
            && (is_bound(address.1) || self.ssa.uses[at].iter().any(|(_, id)| is_bound(self.value(*id))))
        {
            return Err(self.error(at, TELLS));
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
        if context == Context::Share && !self.is_iteration(block) {
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
                let place = self.frames.steps[at].place;
                let stores = step.stores && place == Place::Elsewhere;
                let picks = step.loads && place == Place::SomewhereOwn;
                stores || picks || matches!(step.kind, Kind::Compare | Kind::Test) || self.computes(at)
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
            if !leaves && !in_address(*loc) && is_bound() && !self.makes_index(at, &its.entries) {
                return Err(self.error(at, TELLS));
            }
        }
        Ok(())
    }

    /// Whether a step makes something else of its operands.
    fn computes(&self, at: usize) -> bool {
        let copies = [Kind::Nothing, Kind::Move, Kind::Widen, Kind::Push, Kind::Pop, Kind::Leave];
        !copies.contains(&self.graph.steps[at].kind)
    }

    /// Whether a step makes of where a share begins what goes on with its iterations, or has nothing to do
    /// with it any more.
    fn makes_index(&self, at: usize, headers: &[usize]) -> bool {
        let made = || self.ssa.makes[at].iter().filter(|(loc, _)| *loc != FLAGS).map(|(_, id)| *id);
        let goes_on = |id| self.sum_of(id).is_some_and(|sum| self.goes_with_rounds(&sum, headers));
        self.computes(at) && made().next().is_some() && made().all(goes_on)
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

    /// The same, or in the first iteration of one.
    pub fn is_iteration(&self, block: usize) -> bool {
        self.is_in_iteration(block) || self.is_peeled(block)
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
                !step.stores
                    || self.frames.steps[at].place != Place::Elsewhere
                    || self.address(at).frame
                    || step.kind == Kind::Fill
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

    /// Whether an address is one in what a task of a loop's iterations was handed, which lasts from
    /// one of them to the next.
    pub fn is_in_task_data(&self, address: Value) -> bool {
        self.mode == Mode::TaskLoop && address.frame
    }

    /// Whether it does anything but to compute, itself or by what it calls.
    fn has_effects(&self) -> bool {
        let some = |(step, spotted): (&Step, &Spotted<'_>)| match spotted.callee {
            Callee::Local(function) => self.returned.get(&function).is_none_or(|it| it.has_effects),
            Callee::Import(name) => !matches!(role(name), Role::Computes | Role::Ends),
            Callee::Unknown => step.flow == Flow::Next && step.stores && spotted.place == Place::Elsewhere,
        };
        self.contexts.iter().any(|context| *context != Context::Repeated)
            || self.graph.steps.iter().zip(&self.frames.steps).any(some)
    }

    /// What it returns.
    pub fn returns(&self) -> Summary {
        let returned = self.graph.blocks.iter().enumerate().filter(|(_, block)| block.returns);
        let passes_stack_on = self.frames.passes_stack_on;
        let has_effects = self.has_effects();
        let mut all = Summary { differs: false, tells: false, passes_stack_on, has_effects };
        for at in returned.flat_map(|(block, _)| self.last_step(block)) {
            if let Callee::Local(function) = self.frames.steps[at].callee
                && self.graph.steps[at].flow == Flow::Jump
            {
                all.passes_stack_on |= self.returned.get(&function).is_none_or(|it| it.passes_stack_on);
            }
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
