//! Loops, sections and singles of a gathered region: each is *opened* by the member that comes first, dealt
//! out to whoever asks, and closed by the last.
//!
//! Members that don't wait at the end of one may be ahead of others by up to [`RING`] - 1.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Shares that are open at a time; a power of two. Runtimes have no limit, so who waits for others behind so
/// many that it didn't wait at would wait for ever.
pub const RING: usize = 256;

/// How a loop's iterations are dealt out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// To each member its own: chunks of so many iterations by turns, or with 0 one even part each.
    Static(u64),
    /// In chunks of so many iterations.
    Dynamic(u64),
    /// In chunks of the part of each member in what is left, at least so many iterations.
    Guided(u64),
}

/// A loop: the numbers from `start` on in steps of `step`, `count` of them, and the `end` that the program
/// named. Signed or unsigned, as the program has them: all sums wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Its first number.
    pub start: u64,
    /// The end that the program named.
    pub end: u64,
    /// From one number to the next.
    pub step: u64,
    /// How many numbers.
    pub count: u64,
    /// How they are dealt out.
    pub rule: Rule,
}

impl Loop {
    /// A loop over signed numbers, up to `end` or down to it, not reaching it.
    #[inline]
    pub fn signed(start: i64, end: i64, step: i64, rule: Rule) -> Loop {
        let up = step > 0;
        let empty = if up { start >= end } else { start <= end };
        let span = if up { end.wrapping_sub(start) } else { start.wrapping_sub(end) } as u64;
        let count = if empty { 0 } else { span.div_ceil(step.unsigned_abs().max(1)) };
        Loop { start: start as u64, end: end as u64, step: step as u64, count, rule }
    }

    /// The same over unsigned numbers; `step` is negative, as two's complement, if not `up`.
    #[inline]
    pub fn unsigned(up: bool, start: u64, end: u64, step: u64, rule: Rule) -> Loop {
        let empty = if up { start >= end } else { start <= end };
        let span = if up { end.wrapping_sub(start) } else { start.wrapping_sub(end) };
        let step_size = if up { step } else { step.wrapping_neg() };
        let count = if empty { 0 } else { span.div_ceil(step_size.max(1)) };
        Loop { start, end, step, count, rule }
    }

    /// So many sections, which are numbered from 1.
    pub fn sections(count: u64) -> Loop {
        Loop { start: 1, end: count.wrapping_add(1), step: 1, count, rule: Rule::Dynamic(1) }
    }
}

/// What a member has of a loop: how many chunks it got, and the iterations of the last one.
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

/// A member has come to a share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Came {
    /// As the first: it has the share opened now.
    First,
    /// The share is open.
    Later,
    /// The share is still being opened, or its place in the ring is still in use: the member has to wait and
    /// come again.
    TooEarly,
}

/// One share.
#[derive(Debug)]
#[repr(align(64))]
struct Share {
    /// The number of the share that this place was last taken for.
    taken: AtomicU32,
    /// The number of the share that is open here.
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
    /// Iterations dealt out.
    next: AtomicU64,
    /// Iterations of an ordered loop that are over, or their `ordered` parts.
    over: AtomicU64,
    /// What a `single` hands to the others.
    handed: AtomicU64,
}

const UNUSED: u32 = u32::MAX;

const DYNAMIC: u32 = 0;
const GUIDED: u32 = 1;
const STATIC: u32 = 2;

/// The shares of one team. Numbered from 1 over all of its regions, by each member for itself: all come to
/// the same ones in the same order.
#[derive(Debug)]
pub struct Shares<const PLACES: usize = RING> {
    places: [Share; PLACES],
}

macro_rules! fresh {
    () => {
        Share {
            taken: AtomicU32::new(0),
            open: AtomicU32::new(0),
            left: AtomicU32::new(UNUSED),
            rule: AtomicU32::new(DYNAMIC),
            chunk: AtomicU64::new(0),
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            step: AtomicU64::new(0),
            count: AtomicU64::new(0),
            next: AtomicU64::new(0),
            over: AtomicU64::new(0),
            handed: AtomicU64::new(0),
        }
    };
}

impl Share {
    /// The next of `count` iterations that nobody has, and the first one behind them.
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

/// A member's part of `count` iterations after so many chunks.
fn own_part(count: u64, chunk: u64, (member, size): (u64, u64), chunks: u64) -> Option<(u64, u64)> {
    let (from, length) = if chunk != 0 {
        (chunks.checked_mul(size)?.checked_add(member)?.checked_mul(chunk)?, chunk)
    } else if chunks == 0 {
        // The first members have one more each, if need be.
        let (even, more) = (count.checked_div(size)?, count.checked_rem(size)?);
        (member * even + member.min(more), even + u64::from(member < more))
    } else {
        return None;
    };
    (from < count && length != 0).then(|| (from, from.saturating_add(length).min(count)))
}

impl<const PLACES: usize> Shares<PLACES> {
    /// Shares of which none is open.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Shares { places: [const { fresh!() }; PLACES] }
    }

    /// Shares of which none is open.
    #[cfg(loom)]
    pub fn new() -> Self {
        Shares { places: core::array::from_fn(|_| fresh!()) }
    }

    #[inline(always)]
    fn place(&self, number: u32) -> Option<&Share> {
        self.places.get(number as usize % PLACES)
    }

    /// The share of this number, if it is open.
    #[inline(always)]
    fn opened(&self, number: u32) -> Option<&Share> {
        self.place(number).filter(|share| share.open.load(Ordering::Relaxed) == number)
    }

    /// A member comes to the share of this number. Who comes first opens it with `whole`.
    #[inline]
    pub fn come(&self, number: u32, whole: &Loop) -> Came {
        self.come_and(number, whole, || {})
    }

    /// The same; who comes first prepares something before, which the others see then.
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

    /// The next chunk of an open loop for a member of a team of `size`, which holds `hand`: its first number,
    /// and the first one that isn't in it. `None` if it gets no more.
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

    /// The same for a loop that isn't static, in iterations: how many lie before the chunk, and before what
    /// follows it.
    #[inline]
    pub fn take(&self, number: u32, size: u32) -> Option<(u64, u64)> {
        let share = self.opened(number)?;
        share.cut(share.count.load(Ordering::Relaxed), size)
    }

    /// Whether all iterations before those that a member holds are over, in an ordered loop.
    #[inline]
    pub fn is_next(&self, number: u32, assigned: &Assigned) -> bool {
        assigned.from == assigned.behind || self.is_turn(number, assigned.from)
    }

    /// Those that it holds are over as well; they were [next](Self::is_next).
    #[inline]
    pub fn are_over(&self, number: u32, assigned: &mut Assigned) {
        if let Some(share) = self.opened(number)
            && assigned.from != assigned.behind
        {
            share.over.store(assigned.behind, Ordering::Release);
            assigned.from = assigned.behind;
        }
    }

    /// Whether the `ordered` parts of so many iterations of an open loop are over. What was done in them is
    /// seen then.
    #[inline]
    pub fn is_turn(&self, number: u32, iteration: u64) -> bool {
        self.opened(number).is_none_or(|share| share.over.load(Ordering::Acquire) >= iteration)
    }

    /// Those of further iterations are.
    #[inline]
    pub fn pass_turn(&self, number: u32, iterations: u64) {
        if let Some(share) = self.opened(number) {
            share.over.fetch_add(iterations, Ordering::AcqRel);
        }
    }

    /// A member of a team of `size` leaves the share.
    #[inline]
    pub fn leave(&self, number: u32, size: u32) {
        self.leave_and(number, size, || {});
    }

    /// The same; who leaves last clears up before anybody comes to another share in this place.
    #[inline]
    pub fn leave_and(&self, number: u32, size: u32, clear: impl FnOnce()) {
        if let Some(share) = self.opened(number)
            && share.left.fetch_add(1, Ordering::AcqRel).wrapping_add(1) == size
        {
            clear();
            share.left.store(UNUSED, Ordering::Release);
        }
    }

    /// A cancelled region is over, and members have left shares without saying so. None is open any more;
    /// the next ones have numbers that nobody has come to.
    #[cold]
    pub fn abandon(&self) {
        for share in &self.places {
            share.left.store(UNUSED, Ordering::Relaxed);
        }
    }

    /// The member that executes a `single` hands something to the others, who find it after a barrier.
    #[inline]
    pub fn hand(&self, number: u32, what: u64) {
        if let Some(share) = self.opened(number) {
            share.handed.store(what, Ordering::Relaxed);
        }
    }

    /// What was handed to the others; before the member leaves the share.
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
