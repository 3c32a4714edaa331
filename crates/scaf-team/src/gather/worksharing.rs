//! Worksharing constructs of a gathered region: loops, sections and singles. The first member that reaches
//! one *opens* it, iterations are distributed on request, and the last member to leave closes it. Members
//! that don't wait at the end of constructs may be ahead of others by up to [`RING`] - 1.

use crate::sync::{AtomicU32, AtomicU64, Ordering, array, constructor};

/// Constructs that may be open at a time; a power of two. Runtimes have no limit. A member that is further
/// ahead waits, and forever if the others wait for it.
pub const RING: usize = 256;

/// How a loop's iterations are distributed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Static: chunks of so many iterations by turns, or with 0 one even part each.
    Static(u64),
    /// Dynamic: chunks of so many iterations.
    Dynamic(u64),
    /// Guided: each chunk is the remaining iterations divided by the team's size, at least so many.
    Guided(u64),
}

/// A loop: `count` numbers from `start` in steps of `step`, and the program's `end`. Signed or unsigned: all
/// sums wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Its first number.
    pub start: u64,
    /// The end that the program named.
    pub end: u64,
    /// Difference of two numbers.
    pub step: u64,
    /// How many numbers.
    pub count: u64,
    /// Its schedule.
    pub rule: Rule,
}

impl Loop {
    /// A loop over signed numbers from `start` to before `end`.
    #[inline]
    pub fn signed(start: i64, end: i64, step: i64, rule: Rule) -> Loop {
        let up = step > 0;
        let empty = if up { start >= end } else { start <= end };
        let span = if up { end.wrapping_sub(start) } else { start.wrapping_sub(end) } as u64;
        let count = if empty { 0 } else { span.div_ceil(step.unsigned_abs().max(1)) };
        Loop { start: start as u64, end: end as u64, step: step as u64, count, rule }
    }

    /// A loop over unsigned numbers; `step` is negative in two's complement, if not `up`.
    #[inline]
    pub fn unsigned(up: bool, start: u64, end: u64, step: u64, rule: Rule) -> Loop {
        let empty = if up { start >= end } else { start <= end };
        let span = if up { end.wrapping_sub(start) } else { start.wrapping_sub(end) };
        let step_size = if up { step } else { step.wrapping_neg() };
        let count = if empty { 0 } else { span.div_ceil(step_size.max(1)) };
        Loop { start, end, step, count, rule }
    }

    /// So many sections, numbered from 1.
    pub fn sections(count: u64) -> Loop {
        Loop { start: 1, end: count.wrapping_add(1), step: 1, count, rule: Rule::Dynamic(1) }
    }
}

/// What a member was assigned of a loop: number of chunks, and iterations of the last one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Assigned {
    chunks: u64,
    from: u64,
    behind: u64,
}

impl Assigned {
    /// Before the first chunk.
    pub const NONE: Assigned = Assigned { chunks: 0, from: 0, behind: 0 };
}

/// How a member reached a construct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Came {
    /// As the first: it has opened it.
    First,
    /// It is open.
    Later,
    /// It is being opened, or its place in the ring is in use: the member has to wait and try again.
    TooEarly,
}

/// One construct.
#[derive(Debug)]
#[repr(align(64))]
struct Share {
    /// The number that this place was last taken for.
    taken: AtomicU32,
    /// The number of the construct that is open here.
    open: AtomicU32,
    /// Members that have left it; [`UNUSED`] once all have.
    left: AtomicU32,
    /// [`DYNAMIC`], [`GUIDED`] or [`STATIC`].
    rule: AtomicU32,
    chunk: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
    step: AtomicU64,
    count: AtomicU64,
    /// Iterations that are assigned.
    next: AtomicU64,
    /// Complete iterations of an ordered loop, or complete `ordered` parts.
    over: AtomicU64,
    /// What a `single` passes to the others.
    handed: AtomicU64,
}

const UNUSED: u32 = u32::MAX;

const DYNAMIC: u32 = 0;
const GUIDED: u32 = 1;
const STATIC: u32 = 2;

/// The constructs of one team. Each member numbers them from 1 over all regions: all reach the same ones in
/// the same order.
#[derive(Debug)]
pub struct Shares<const PLACES: usize = RING> {
    places: [Share; PLACES],
}

impl Share {
    constructor! {
        fn new() -> Self {
            let [taken, open, rule] = array![AtomicU32::new(0); 3];
            let [chunk, start, end, step, count, next, over, handed] = array![AtomicU64::new(0); 8];
            let left = AtomicU32::new(UNUSED);
            Share { taken, open, left, rule, chunk, start, end, step, count, next, over, handed }
        }
    }

    /// Assigns the next of `count` iterations: the first, and the one after the last.
    #[inline]
    fn cut(&self, count: u64, size: u32) -> Option<(u64, u64)> {
        let chunk = self.chunk.load(Ordering::Relaxed);
        let guided = self.rule.load(Ordering::Relaxed) == GUIDED;
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            let rest = count.saturating_sub(next);
            if rest == 0 {
                return None;
            }
            let size = if guided { rest.div_ceil(u64::from(size.max(1))).max(chunk) } else { chunk };
            let behind = next.wrapping_add(size.min(rest));
            match self.next.compare_exchange(next, behind, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((next, behind)),
                Err(now) => next = now,
            }
        }
    }
}

/// The part of `count` iterations that a member has after so many chunks.
fn own_part(count: u64, chunk: u64, (member, size): (u64, u64), chunks: u64) -> Option<(u64, u64)> {
    let (from, length) = if chunk != 0 {
        (chunks.checked_mul(size)?.checked_add(member)?.checked_mul(chunk)?, chunk)
    } else if chunks == 0 {
        // The first members have one more each, if there is a rest.
        let (even, more) = (count.checked_div(size)?, count.checked_rem(size)?);
        (member * even + member.min(more), even + u64::from(member < more))
    } else {
        return None;
    };
    (from < count && length != 0).then(|| (from, from.saturating_add(length).min(count)))
}

impl<const PLACES: usize> Shares<PLACES> {
    constructor! {
        /// No construct is open.
        pub fn new() -> Self {
            Shares { places: array![Share::new(); PLACES] }
        }
    }

    #[inline(always)]
    fn place(&self, number: u32) -> Option<&Share> {
        self.places.get(number as usize % PLACES)
    }

    /// The construct of this number, if it is open.
    #[inline(always)]
    fn opened(&self, number: u32) -> Option<&Share> {
        self.place(number).filter(|share| share.open.load(Ordering::Relaxed) == number)
    }

    /// A member reaches the construct of this number. The first opens it with `whole`.
    #[inline]
    pub fn come(&self, number: u32, whole: &Loop) -> Came {
        self.come_and(number, whole, || {})
    }

    /// The same; the first member prepares something before, which the others see.
    #[inline]
    pub fn come_and(&self, number: u32, whole: &Loop, prepare: impl FnOnce()) -> Came {
        let Some(share) = self.place(number) else { return Came::Later };
        if share.open.load(Ordering::Acquire) == number {
            return Came::Later;
        }
        let taken = share.taken.load(Ordering::Relaxed);
        if taken == number || share.left.load(Ordering::Acquire) != UNUSED {
            return Came::TooEarly;
        }
        if share.taken.compare_exchange(taken, number, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Came::TooEarly;
        }
        let (rule, chunk) = match whole.rule {
            Rule::Dynamic(chunk) => (DYNAMIC, chunk.max(1)),
            Rule::Guided(chunk) => (GUIDED, chunk.max(1)),
            Rule::Static(chunk) => (STATIC, chunk),
        };
        share.left.store(0, Ordering::Relaxed);
        share.rule.store(rule, Ordering::Relaxed);
        share.chunk.store(chunk, Ordering::Relaxed);
        share.start.store(whole.start, Ordering::Relaxed);
        share.end.store(whole.end, Ordering::Relaxed);
        share.step.store(whole.step, Ordering::Relaxed);
        share.count.store(whole.count, Ordering::Relaxed);
        share.next.store(0, Ordering::Relaxed);
        share.over.store(0, Ordering::Relaxed);
        prepare();
        share.open.store(number, Ordering::Release);
        Came::First
    }

    /// Assigns a member of a team of `size` the next chunk of an open loop: its first number, and the first
    /// one after it. `None` if there is none.
    #[inline]
    pub fn deal(
        &self,
        number: u32,
        (member, size): (u32, u32),
        assigned: &mut Assigned,
    ) -> Option<(u64, u64)> {
        let share = self.opened(number)?;
        let count = share.count.load(Ordering::Relaxed);
        let (from, behind) = if share.rule.load(Ordering::Relaxed) == STATIC {
            let chunk = share.chunk.load(Ordering::Relaxed);
            own_part(count, chunk, (member.into(), size.max(1).into()), assigned.chunks)?
        } else {
            share.cut(count, size)?
        };
        *assigned = Assigned { chunks: assigned.chunks.wrapping_add(1), from, behind };
        let start = share.start.load(Ordering::Relaxed);
        let step = share.step.load(Ordering::Relaxed);
        let at = |iteration: u64| start.wrapping_add(iteration.wrapping_mul(step));
        let end = if behind == count { share.end.load(Ordering::Relaxed) } else { at(behind) };
        Some((at(from), end))
    }

    /// The same for a loop that isn't static, in iterations: those before the chunk, and before what follows
    /// it.
    #[inline]
    pub fn take(&self, number: u32, size: u32) -> Option<(u64, u64)> {
        let share = self.opened(number)?;
        share.cut(share.count.load(Ordering::Relaxed), size)
    }

    /// In an ordered loop, whether all iterations before the member's are complete.
    #[inline]
    pub fn is_next(&self, number: u32, assigned: &Assigned) -> bool {
        assigned.from == assigned.behind || self.is_turn(number, assigned.from)
    }

    /// The member's iterations are complete, too; they were [next](Self::is_next).
    #[inline]
    pub fn are_over(&self, number: u32, assigned: &mut Assigned) {
        if let Some(share) = self.opened(number)
            && assigned.from != assigned.behind
        {
            share.over.store(assigned.behind, Ordering::Release);
            assigned.from = assigned.behind;
        }
    }

    /// Whether so many iterations' `ordered` parts are complete. Their effects are visible then.
    #[inline]
    pub fn is_turn(&self, number: u32, iteration: u64) -> bool {
        self.opened(number).is_none_or(|share| share.over.load(Ordering::Acquire) >= iteration)
    }

    /// Further iterations' `ordered` parts are complete.
    #[inline]
    pub fn pass_turn(&self, number: u32, iterations: u64) {
        if let Some(share) = self.opened(number) {
            share.over.fetch_add(iterations, Ordering::AcqRel);
        }
    }

    /// A member of a team of `size` leaves the construct.
    #[inline]
    pub fn leave(&self, number: u32, size: u32) {
        self.leave_and(number, size, || {});
    }

    /// The same; the last one clears up before the place is used again.
    #[inline]
    pub fn leave_and(&self, number: u32, size: u32, clear: impl FnOnce()) {
        if let Some(share) = self.opened(number)
            && share.left.fetch_add(1, Ordering::AcqRel).wrapping_add(1) == size
        {
            clear();
            share.left.store(UNUSED, Ordering::Release);
        }
    }

    /// A cancelled region is over, and members have left without leaving their constructs. Later ones have
    /// numbers that nobody has reached.
    #[cold]
    pub fn abandon(&self) {
        for share in &self.places {
            share.left.store(UNUSED, Ordering::Relaxed);
        }
    }

    /// The member that executes a `single` passes something to the others, who read it after a barrier.
    #[inline]
    pub fn hand(&self, number: u32, what: u64) {
        if let Some(share) = self.opened(number) {
            share.handed.store(what, Ordering::Relaxed);
        }
    }

    /// What was passed; called before the member leaves the construct.
    #[inline]
    pub fn handed(&self, number: u32) -> u64 {
        self.opened(number).map_or(0, |share| share.handed.load(Ordering::Relaxed))
    }
}

impl<const PLACES: usize> Default for Shares<PLACES> {
    fn default() -> Self {
        Shares::new()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "worksharing_tests.rs"]
mod tests;
