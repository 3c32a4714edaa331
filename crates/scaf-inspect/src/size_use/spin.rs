//! Does the code of a module's regions wait by spinning on memory, as in programs that pass work by flags?
//!
//! A spinning loop has a way around that reads memory and changes nothing: no store, no register carried from
//! one round to the next, and calls only of functions that have no effect ([`EFFECTLESS`]). After one such
//! round all others are the same, unless another thread changes the memory. So loops that compute have none.
//! Fences count as changing nothing.
//!
//! Examined are the functions that are passed to the runtime, and direct calls from there, two levels deep.

use super::code::{Callee, Code};
use super::mark;
use super::way::{MAX_LOOP, Way};
use crate::decode::{Effect, Flow, Instruction, Look, RegisterSet, Target, decode_into};
use scaf_team::arch::spin_marks::Mark;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// Most instructions examined in one module, about 50 ns each.
const MAX_INSTRUCTIONS: usize = 4_000_000;
/// Most instructions looked at for one branch back.
const MAX_LOOK: usize = 200;
/// Calls between a region and a function that is examined.
const MAX_DEPTH: usize = 2;
/// Library functions that change nothing that the loop could see. Clang calls one for a flush.
const EFFECTLESS: [&str; 3] = ["__kmpc_flush", "omp_get_num_threads", "omp_get_thread_num"];
/// The same, and the client answers them: a loop that calls one yields by itself.
const YIELDS: [&str; 3] = ["pthread_yield", "sched_yield", "thrd_yield"];

pub(crate) const MOST_LOOPS: usize = 64;

/// The loops in which the code of a module's regions waits by spinning on memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spins {
    /// The first one: a function, and the offset in it.
    pub place: String,
    /// The marks of all of them that don't yield by themselves ([`scaf_team::arch::spin_marks::Mark`]), at
    /// virtual addresses; `None` if these are more than 64, or one can't be marked.
    pub marks: Option<Vec<[u64; 2]>>,
}

pub(crate) fn spins(code: &Code<'_>) -> Option<Spins> {
    if !code.elf.machine_supported {
        return None;
    }
    let mut search =
        Search { budget: MAX_INSTRUCTIONS, place: None, marks: Some(Vec::new()), seen: Seen::new(code) };
    code.search_regions(MAX_DEPTH, |function, callees| {
        search.look(function, callees);
        None::<()>
    });
    let place = code.describe(search.place?);
    let marks = search.marks.filter(|marks| marks.len() <= MOST_LOOPS);
    Some(Spins { place, marks })
}

struct Search<'c, 'e> {
    budget: usize,
    place: Option<u64>,
    /// `None` once a loop couldn't be marked.
    marks: Option<Vec<[u64; 2]>>,
    seen: Seen<'c, 'e>,
}

impl Search<'_, '_> {
    /// Finds the spinning loops of a function. Functions that it calls are added to `callees`.
    fn look(&mut self, function: u64, callees: &mut BTreeSet<u64>) {
        let code = self.seen.code;
        let seen = &mut self.seen;
        let (Some((start, end)), Some(bytes)) = (code.function_around(function), code.code_from(function))
        else {
            return;
        };
        let whole = seen.begin(bytes, (start, end), self.budget);
        self.budget -= seen.all.len();
        let mut loops = Vec::new();
        for last in 0..seen.all.len() {
            seen.last = last;
            // A loop that spins without a yield also does with one.
            if seen.spins(true) {
                if let Target::Code(target) = seen.all[last].target() {
                    self.place.get_or_insert(target);
                }
                if seen.spins(false) {
                    loops.push(last);
                }
            }
            if let (Flow::Call, target @ Target::Code(_)) = (seen.all[last].flow(), seen.all[last].target())
                && let Callee::Local(callee) = code.callee(target)
            {
                callees.insert(callee);
            }
        }
        if !loops.is_empty() {
            let marks = if whole { mark::marks(code, &seen.all, &loops) } else { None };
            self.marks = self.marks.take().zip(marks).map(|(mut all, marks)| {
                all.extend(marks.iter().map(Mark::words));
                all
            });
        }
    }
}

/// The instructions of a function, in their order, of which those up to one are looked at.
struct Seen<'c, 'e> {
    code: &'c Code<'e>,
    all: Vec<Instruction>,
    /// Where each may lead besides the next one, or instead; [`NOWHERE`] for most.
    leads: Vec<u32>,
    /// Whether another one leads to it.
    joined: Vec<bool>,
    last: usize,
    /// For each the latest search that reached it, and which of `acts` it does.
    reached: Vec<(u32, Option<NonZeroU32>)>,
    searches: u32,
    /// Cached: finding an effect takes longer than decoding the instruction.
    acts: Vec<Act>,
}

const NOWHERE: u32 = u32::MAX;

enum Act {
    /// It changes nothing but registers.
    Registers(Look),
    /// The same, but for a call that yields.
    Yields(Look),
    More,
}

impl<'c, 'e> Seen<'c, 'e> {
    fn new(code: &'c Code<'e>) -> Self {
        let (all, leads, joined) = (Vec::new(), Vec::new(), Vec::new());
        Seen { code, all, leads, joined, last: 0, reached: Vec::new(), searches: 0, acts: Vec::new() }
    }

    /// Takes at most so many instructions of a function instead; `false` if it has more, or other bytes.
    fn begin(&mut self, bytes: &[u8], span: (u64, u64), most: usize) -> bool {
        let whole = decode_into(&mut self.all, bytes, span, most);
        self.leads.clear();
        self.joined.clear();
        self.joined.resize(self.all.len(), false);
        for instruction in &self.all {
            let place = match (instruction.flow(), instruction.target()) {
                (Flow::Jump | Flow::Branch, Target::Code(target)) => {
                    self.all.binary_search_by_key(&target, Instruction::address).ok()
                }
                _ => None,
            };
            self.leads.push(place.and_then(|place| u32::try_from(place).ok()).unwrap_or(NOWHERE));
            if let Some(place) = place {
                self.joined[place] = true;
            }
        }
        self.reached.clear();
        self.reached.resize(self.all.len(), (0, None));
        (self.last, self.searches) = (0, 0);
        self.acts.clear();
        whole
    }

    /// Whether the last one leads back, and from there a way around only reads memory, and may yield or not.
    fn spins(&mut self, may_yield: bool) -> bool {
        let Some(begin) = self.led_to(self.last) else { return false };
        // Most loops compute, which is found out without following each way.
        let Some(straight) = self.straight_on(begin, may_yield) else { return false };
        if !self.may_spin(begin, straight, may_yield) {
            return false;
        }
        let mut left = MAX_LOOK;
        let mut ways = vec![(begin, Way::new())];
        while let Some((mut place, mut way)) = ways.pop() {
            while let Some(rest) = left.checked_sub(1)
                && let Some(look) = self.look(place, may_yield)
                && way.takes(look)
            {
                left = rest;
                if place == self.last {
                    if way.spins() {
                        return true;
                    }
                    break;
                }
                let (next, other) = self.next(place);
                ways.extend(other.map(|other| (other, way.clone())));
                let Some(next) = next else { break };
                place = next;
            }
        }
        false
    }

    /// The first one of those that all ways to the last one end with; `None` if one of them changes
    /// something, or they are too many.
    fn straight_on(&mut self, begin: usize, may_yield: bool) -> Option<usize> {
        for place in (begin..=self.last).rev().take(MAX_LOOP) {
            self.look(place, may_yield)?;
            if place == begin || self.joined[place] || self.all[place - 1].flow() == Flow::Jump {
                return Some(place);
            }
        }
        None
    }

    /// Whether the last one can be reached at all by what changes nothing but registers, and not each way
    /// there carries a register on, as those from `straight` on alone show.
    fn may_spin(&mut self, begin: usize, straight: usize, may_yield: bool) -> bool {
        self.searches += 1;
        let (mut left, mut is_reached) = (MAX_LOOK, false);
        let mut written = RegisterSet::default();
        let mut next = vec![begin];
        while let Some(mut place) = next.pop() {
            while std::mem::replace(&mut self.reached[place].0, self.searches) != self.searches
                && let Some(look) = self.look(place, may_yield)
            {
                if place < straight {
                    written.extend(look.writes);
                }
                if left == 0 {
                    // What else is written isn't known.
                    return is_reached;
                }
                left -= 1;
                if place == self.last {
                    is_reached = true;
                    break;
                }
                let (ahead, other) = self.next(place);
                next.extend(other);
                let Some(ahead) = ahead else { break };
                place = ahead;
            }
        }
        let mut way = Way::new();
        let goes_on = (straight..=self.last)
            .all(|place| self.look(place, may_yield).is_some_and(|look| way.takes(look)));
        // From the midst of it a way may lead back, and through its beginning twice.
        let is_straight = (straight..self.last).all(|place| self.led_to(place).is_none());
        is_reached && goes_on && !(is_straight && way.carries_but(written))
    }

    /// Where the code goes on from one that isn't the last, and where else it may.
    fn next(&self, place: usize) -> (Option<usize>, Option<usize>) {
        match self.all[place].flow() {
            Flow::Jump if matches!(self.all[place].target(), Target::Code(_)) => (self.led_to(place), None),
            _ => (Some(place + 1), self.led_to(place)),
        }
    }

    /// Where it leads besides the next one, or instead, if that isn't behind the last one.
    fn led_to(&self, place: usize) -> Option<usize> {
        Some(self.leads[place] as usize).filter(|to| *to <= self.last)
    }

    /// What one reads and writes, if it changes nothing but registers.
    fn look(&mut self, place: usize, may_yield: bool) -> Option<&Look> {
        if self.reached[place].1.is_none() {
            self.acts.push(self.act(&self.all[place]));
            self.reached[place].1 = u32::try_from(self.acts.len()).ok().and_then(NonZeroU32::new);
        }
        match self.acts.get(self.reached[place].1?.get() as usize - 1)? {
            Act::Registers(look) => Some(look),
            Act::Yields(look) => Some(look).filter(|_| may_yield),
            Act::More => None,
        }
    }

    fn act(&self, instruction: &Instruction) -> Act {
        match instruction.effect() {
            Effect::Registers(look) => Act::Registers(look),
            Effect::Call(look) => match self.code.callee(instruction.target()) {
                Callee::Import(name) if EFFECTLESS.contains(&name) => Act::Registers(look),
                Callee::Import(name) if YIELDS.contains(&name) => Act::Yields(look),
                _ => Act::More,
            },
            Effect::More => Act::More,
        }
    }
}
