//! What calls do: whether their effects are those of an iteration, and what they are passed.

use super::addresses::{Known, Place};
use super::check::{CARRIES, OUTSIDE};
use super::finding::Finding;
use super::function::{Callees, Function, Mode};
use super::runtime::{self, Role, role};
use super::ssa::{Def, Id, Loc};
use super::terms::{Context, Taint};
use crate::decode::abi::ARGUMENTS;
use crate::decode::{Kind, RegisterSet, Spot, Step};
use crate::functions::{self, fills_memory, never_returns};
use crate::size_use::Callee;

impl Function<'_, '_> {
    /// Whether a call allocates memory that is used as if it were in the frame.
    pub fn allocates_own(&self, at: usize) -> bool {
        self.frames.allocations.contains(&self.graph.steps[at].address)
    }

    pub fn may_be_allocated(&self, known: Known) -> bool {
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
        let is_outside = context == Context::Share && !self.is_iteration(block);
        let name = match &spotted.callee {
            Callee::Unknown => return Err(self.error(at, "calls a function through a pointer")),
            Callee::Local(function) => {
                self.check_arguments(at, context == Context::Repeated)?;
                if is_outside {
                    return Err(self.error(at, OUTSIDE));
                }
                let mode = if context == Context::Repeated { Mode::Repeated } else { Mode::Once };
                let summary = prover.summary(*function, mode, self.own_registers(at))?;
                if summary.passes_stack_on && self.passes_on_stack(at) {
                    return Err(
                        self.error(at, "passes arguments on the stack, to a function that passes them on")
                    );
                }
                if mode == Mode::Repeated && summary.has_effects && self.passes_own(at) {
                    return Err(self.error(at, "passes memory of its own to a function that shares out work"));
                }
                return Ok(());
            }
            Callee::Import(name) => *name,
        };
        let unknown = |what: &'static str| Finding::of_function(self.graph.steps[at].address, what, name);
        if never_returns(name) {
            return Ok(());
        }
        let is_within = context != Context::Repeated;
        let makes = matches!(role(name), Role::Region(_) | Role::Task(_) | Role::TaskLoop);
        if makes && is_outside {
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
            Role::CallsBack(number) if is_within => {
                if is_outside {
                    return Err(self.error(at, OUTSIDE));
                }
                self.check_arguments(at, false)?;
                self.check_handed(prover, at, number, Mode::Once)
            }
            Role::Harmless if runtime::takes_any(name) && self.passes_on_stack(at) => {
                Err(unknown("passes arguments on the stack, to"))
            }
            Role::Harmless if is_within => {
                let by_index = fills_memory(name) && self.fills_share(at);
                if is_outside && !by_index {
                    return Err(self.error(at, OUTSIDE));
                }
                if by_index { Ok(()) } else { self.check_arguments(at, false) }
            }
            Role::Harmless if fills_memory(name) && spotted.arguments[0].is_surely_frame() => Ok(()),
            // If there isn't enough memory, there is for nobody.
            Role::Harmless if self.allocates_own(at) => self.check_arguments(at, true),
            Role::Harmless if functions::frees(name) && spotted.arguments[0].is_surely_frame() => Ok(()),
            Role::Harmless | Role::CallsBack(_) => {
                Err(unknown("calls in each thread, outside of iterations and the like,"))
            }
            Role::Unknown => Err(unknown("calls what isn't known to be harmless:")),
        }
    }

    /// Where a call is passed addresses in the own frame, or of what the thread has allocated.
    fn passed_own(&self, at: usize) -> impl Iterator<Item = Loc> {
        let is_own = move |loc: Loc, id: Id| self.value(id).frame || self.argument(at, loc).is_frame();
        self.passed(at).filter(move |(loc, id)| is_own(*loc, *id)).map(|(loc, _)| *loc)
    }

    fn passes_own(&self, at: usize) -> bool {
        self.passed_own(at).next().is_some()
    }

    /// The registers in which it is.
    pub fn own_registers(&self, at: usize) -> RegisterSet {
        let mut own = RegisterSet::default();
        self.passed_own(at).filter(|loc| ARGUMENTS.contains(loc)).for_each(|loc| own.insert(loc));
        own
    }

    /// What is known of what a call is passed in a register.
    fn argument(&self, at: usize, loc: Loc) -> Known {
        let number = ARGUMENTS.iter().position(|register| *register == loc);
        number.map_or(Known::Nothing, |number| self.frames.steps[at].arguments[number])
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

    /// Whether a function that only computes writes through a pointer that isn't into the own frame.
    fn writes_elsewhere(&self, at: usize, name: &str) -> bool {
        let arguments = &self.frames.steps[at].arguments;
        let is_own = |number: usize| arguments.get(number).is_some_and(|known| known.is_surely_frame());
        runtime::fills(name).iter().any(|(number, _)| !is_own(usize::from(*number)))
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
    pub fn is_value_to_set(&self, at: usize) -> bool {
        let callee = &self.frames.steps[at].callee;
        matches!(callee, Callee::Import(name) if fills_memory(name) && name.contains("memset"))
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

    /// Whether what a call is passed may have an effect.
    pub fn check_arguments(&self, at: usize, repeated: bool) -> Result<(), Finding> {
        for (loc, id) in self.passed(at) {
            let (taint, value) = (self.taint(*id), self.value(*id));
            if let Some(what) = self.harm(taint, value) {
                return Err(self.error(at, what));
            }
            let is_own = self.argument(at, *loc).is_surely_frame();
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
                prover.summary(*function, mode, RegisterSet::default()).map(|_| ())
            }
            _ => Err(self.error(at, "starts a function that could not be made out")),
        }
    }
}
