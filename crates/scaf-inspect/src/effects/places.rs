//! Which places, registers and parts of the own frame, a step uses and makes.

use super::addresses::Place;
use super::ssa::{Build, Loc, REST};
use crate::decode::abi::{RESULT, SECOND_RESULT, STACK_POINTER, VECTORS};
use crate::decode::{Flow, RegisterSet, Step};
use crate::size_use::Callee;

impl Build<'_, '_, '_> {
    /// Gives all places in the frame that instructions name their numbers: what overlaps is cut where any of
    /// it begins or ends, unless all of it begins at one place.
    pub fn name_parts(&mut self) {
        let mut all: Vec<(u64, i64, usize)> = Vec::new();
        for at in 0..self.graph.steps.len() {
            all.extend(self.accessed(at));
            all.extend(self.frames.steps[at].fills.iter().copied());
        }
        all.sort_unstable();
        all.dedup();
        let mut rest = all.as_slice();
        while let Some((base, begin, _)) = rest.first().copied() {
            let mut end = begin;
            let overlaps = rest.iter().take_while(|(its, offset, bytes)| {
                let is_one = *its == base && (*offset == begin || *offset < end);
                if is_one {
                    end = end.max(offset.saturating_add(*bytes as i64));
                }
                is_one
            });
            let count = overlaps.count();
            let (group, behind) = rest.split_at(count);
            rest = behind;
            // A place that holds a long and an integer in turn is cut in two, so that each is seen by itself.
            let sizes: Vec<usize> = group.iter().map(|(_, _, bytes)| *bytes).collect();
            let halves = sizes == [4, 8] && self.stores_half(base, begin);
            if halves {
                self.name(base, begin);
                self.name(base, begin.saturating_add(4));
                continue;
            }
            if group.iter().all(|(_, offset, _)| *offset == begin) {
                self.wholes.insert((base, begin), (end - begin) as usize);
                self.name(base, begin);
                continue;
            }
            for (_, offset, bytes) in group {
                self.name(base, *offset);
                let behind = offset.saturating_add(*bytes as i64);
                if behind < end {
                    self.name(base, behind);
                }
            }
        }
        let its = self.parts.iter().filter(|(part, _)| self.frames.is_exposed(**part));
        self.exposed.extend(its.map(|(_, loc)| *loc));
    }

    fn stores_half(&self, base: u64, begin: i64) -> bool {
        let mut steps = self.graph.steps.iter().enumerate();
        steps.any(|(at, step)| step.stores && self.accessed(at) == Some((base, begin, 4)))
    }

    pub fn name(&mut self, base: u64, offset: i64) {
        let next = REST + 1 + self.parts.len();
        self.parts.entry((base, offset)).or_insert(next);
    }

    /// The part of the frame that a step's memory operand covers.
    pub fn accessed(&self, at: usize) -> Option<(u64, i64, usize)> {
        let step = &self.graph.steps[at];
        match self.frames.steps[at].place {
            Place::Own { base, offset } if step.loads || step.stores => {
                let bytes = step.memory.map_or(8, |memory| memory.bytes);
                Some((base, offset, if bytes == 0 { 8 } else { bytes.min(64) }))
            }
            _ => None,
        }
    }

    pub fn parts_of(&self, base: u64, offset: i64, bytes: usize) -> Vec<Loc> {
        let whole = self.wholes.contains_key(&(base, offset));
        let end = if whole { offset.saturating_add(1) } else { offset.saturating_add(bytes as i64) };
        self.parts.range((base, offset)..(base, end)).map(|(_, loc)| *loc).collect()
    }

    /// The places in the frame that a step's memory operand covers.
    pub fn covered(&self, at: usize) -> Vec<Loc> {
        match self.accessed(at) {
            Some((base, offset, bytes)) => self.parts_of(base, offset, bytes),
            None => Vec::new(),
        }
    }

    /// Whether a store leaves a part of the place as it was.
    pub fn is_partial(&self, at: usize) -> bool {
        let its = self.accessed(at);
        its.is_some_and(|(base, offset, bytes)| {
            self.wholes.get(&(base, offset)).is_some_and(|whole| bytes < *whole)
        })
    }

    pub fn used(&self, at: usize, step: &Step, takes: &dyn Fn(&Callee<'_>) -> RegisterSet) -> Vec<Loc> {
        let spotted = &self.frames.steps[at];
        let (place, reaches) = (spotted.place, spotted.reaches);
        let mut all: Vec<Loc> = Vec::new();
        match step.flow {
            Flow::Call | Flow::Jump if step.flow == Flow::Call || spotted.callee != Callee::Unknown => {
                all.extend(takes(&spotted.callee).iter());
            }
            Flow::Return => all.extend([RESULT, SECOND_RESULT, VECTORS, VECTORS + 1]),
            _ => {}
        }
        if step.flow == Flow::Next || step.flow == Flow::Branch {
            all.extend(step.reads.iter());
        }
        if let Some(memory) = step.memory
            && !matches!(place, Place::Own { .. })
        {
            all.extend([memory.base, memory.index].into_iter().flatten());
        }
        if let crate::decode::Target::Register(register) = step.target {
            all.push(register);
        }
        if step.loads || (step.stores && self.is_partial(at)) {
            all.extend(self.covered(at));
        }
        let is_llvms = matches!(spotted.callee, Callee::Import(name) if name.starts_with("__kmpc_"));
        if is_llvms {
            // The loop's bounds come the same way as the share's go.
            let fills = spotted.fills.iter();
            all.extend(fills.flat_map(|(base, offset, bytes)| self.parts_of(*base, *offset, *bytes)));
        }
        if reaches || place == Place::SomewhereOwn && (step.loads || step.stores) {
            all.extend(&self.exposed);
        }
        all.retain(|loc| *loc != STACK_POINTER);
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn made(&self, at: usize, step: &Step) -> Vec<Loc> {
        let spotted = &self.frames.steps[at];
        let (place, reaches, fills) = (spotted.place, spotted.reaches, spotted.fills.clone());
        let mut all: Vec<Loc> = Vec::new();
        if step.flow == Flow::Next {
            all.extend(step.writes.iter().filter(|register| *register != STACK_POINTER));
        }
        if step.stores && step.flow == Flow::Next {
            all.extend(self.covered(at));
            if place == Place::SomewhereOwn {
                all.extend(&self.exposed);
            }
        }
        for (base, offset, bytes) in fills {
            all.extend(self.parts_of(base, offset, bytes));
        }
        if reaches && step.flow == Flow::Call {
            all.extend(&self.exposed);
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
