//! Classes of values by what they have to do with the team, and their arithmetic.
//!
//! A value has a *set* of classes, because several paths lead to most places. `schedule(static)` over n
//! iterations compiles to: quotient and remainder of n by the team size; one more for the first remainder
//! threads; start = thread number * quotient + remainder. This start is an ordinary loop index. With a chunk
//! size, thread number * chunk is stepped by team size * chunk, and becomes an index when it is compared with
//! the loop's bound.

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Classes(u16);

impl Classes {
    /// Unrelated to the team.
    pub const CLEAN: Self = Self(1);
    pub const TEAM: Self = Self(2);
    pub const THREAD: Self = Self(4);
    /// Computed from the thread number: scaled, offset, an element's address.
    pub const THREAD_PART: Self = Self(8);
    pub const TEAM_PART: Self = Self(16);
    pub const QUOTIENT: Self = Self(32);
    pub const REMAINDER: Self = Self(64);
    /// Thread number * quotient, and what follows from it: a loop index.
    pub const START: Self = Self(128);
    /// A thread number's multiple, stepped by the team size's: a chunked loop's index.
    pub const STEPPED: Self = Self(256);
    /// A mark beside the classes, not in their arithmetic: the thread number or team size was added to or cut
    /// short, so zero may mean another thread than the first.
    pub const SHIFTED: Self = Self(512);
    /// Marks of values that are compared with zero. [`Self::IF_SET`]: bit by bit, the first thread has at
    /// least what another thread would have; others have zero, unless the value may be a clean one as well.
    /// [`Self::IF_CLEAR`]: the first thread has at most what another would have. With both, nothing is known
    /// but that the value depends on who is first.
    pub const IF_SET: Self = Self(1024);
    pub const IF_CLEAR: Self = Self(2048);
    /// A mark: an address in the data that a region was started with.
    pub const DATA: Self = Self(4096);
    /// A mark: the address of a variable that holds a team's size.
    pub const HELD: Self = Self(8192);
    /// A mark: computed from a size that was kept in a variable, so that it may be another team's. No loop of
    /// gcc's divides by such a one.
    pub const KEPT: Self = Self(16384);

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    pub const fn is_clean(self) -> bool {
        self.0 == Self::CLEAN.0
    }

    /// The thread number or computed from it, but no chunked loop's index.
    pub const fn is_thread(self) -> bool {
        self.has(THREADS) && !self.has(Self::STEPPED)
    }

    pub const fn is_team(self) -> bool {
        self.has(TEAMS.or(Self::KEPT))
    }

    /// Whether the value must neither leave the function nor choose an element in memory. A chunked loop's
    /// index is the thread's multiple in the first round and a stepped one in all others. Either alone is no
    /// index: people lay out tables as `table[bin * team size + thread number]`.
    pub const fn is_confined(self) -> bool {
        self.has(THREADS) != self.has(Self::STEPPED)
            || self.has(TEAMS.or(PARTS).or(FIRSTS).or(Self::HELD).or(Self::KEPT))
    }

    /// Whether the value tells at most the team's size, not who a thread is.
    pub const fn is_size(self) -> bool {
        !self.has(THREADS.or(Self::STEPPED).or(Self::START).or(FIRSTS))
    }

    /// Whether the value may be the team's size and nothing that was computed from it.
    pub const fn is_size_itself(self) -> bool {
        self.0 & !(Self::CLEAN.0 | Self::TEAM.0 | Self::KEPT.0) == 0
    }

    pub const fn is_first(self) -> bool {
        self.has(FIRSTS)
    }

    /// Which result of a comparison with zero is the first thread's, if that is all that the value tells:
    /// `true` is for "not zero".
    pub const fn first_if(self) -> Option<bool> {
        let rest = self.0 & !(Self::CLEAN.0 | Self::SHIFTED.0);
        if rest == Self::IF_SET.0 {
            Some(true)
        } else if rest == Self::IF_CLEAR.0 {
            Some(false)
        } else {
            None
        }
    }

    /// The class of what the first thread has bits of and others have not, or the other way round.
    pub const fn of_first(set: bool) -> Self {
        if set { Self::IF_SET } else { Self::CLEAN.or(Self::IF_CLEAR) }
    }

    /// Whether all threads but the first have zero.
    pub const fn is_firsts_alone(self) -> bool {
        self.0 & !Self::SHIFTED.0 == Self::IF_SET.0
    }

    /// The bits that both have.
    pub fn and(self, other: Self) -> Self {
        let sum = self.or(other);
        match sum.first_if() {
            Some(true) if self.is_firsts_alone() || other.is_firsts_alone() => Self::IF_SET,
            Some(_) => sum,
            None => self.scaled().plus(other.scaled()),
        }
    }

    /// Whether a result tells the caller about the team. A quotient left over on only one path does not.
    pub const fn is_told(self) -> bool {
        let index = self.has(Self::START.or(Self::STEPPED));
        (self.has(THREADS.or(TEAMS)) && !index)
            || self.has(FIRSTS.or(Self::HELD).or(Self::KEPT))
            || (self.has(PARTS) && !index && !self.has(Self::CLEAN))
    }

    const fn mark(self) -> Self {
        let both = if self.has(FIRSTS) { FIRSTS.0 } else { 0 };
        Self(self.0 & (Self::SHIFTED.0 | Self::DATA.0 | Self::HELD.0 | Self::KEPT.0) | both)
    }

    pub const fn shifted(self) -> Self {
        if self.has(Self::THREAD.or(Self::TEAM)) { self.or(Self::SHIFTED) } else { self }
    }

    fn each(self) -> impl Iterator<Item = Self> {
        (0..9).map(|bit| Self(1 << bit)).filter(move |class| self.has(*class))
    }

    fn pairs(self, other: Self, combine: impl Fn(Self, Self) -> Self) -> Self {
        if self.is_clean() && other.is_clean() {
            return Self::CLEAN;
        }
        self.each()
            .flat_map(|a| other.each().map(move |b| (a, b)))
            .fold(self.or(other).mark(), |sum, (a, b)| sum.or(combine(a, b)))
    }

    pub fn scaled(self) -> Self {
        self.each().fold(self.mark(), |sum, class| {
            sum.or(match class {
                Self::THREAD => Self::THREAD_PART,
                Self::TEAM => Self::TEAM_PART,
                other => other,
            })
        })
    }

    pub fn plus(self, other: Self) -> Self {
        self.pairs(other, |a, b| {
            let both = a.or(b);
            match (a, b) {
                (Self::CLEAN, other) | (other, Self::CLEAN) => other,
                _ if both.has(THREADS) => Self::THREAD_PART,
                _ if both.has(Self::STEPPED) => Self::STEPPED,
                _ if both.has(TEAMS) => Self::TEAM_PART,
                _ if both.has(Self::START) => Self::START,
                _ => Self::QUOTIENT,
            }
        })
    }

    /// Addition, and whether a thread's multiple may be stepped by the team's.
    pub fn stepped(self, other: Self) -> (Self, bool) {
        let thread_and_team = |a: Self, b: Self| a.has(THREADS.or(Self::STEPPED)) && b.has(TEAMS);
        if !thread_and_team(self, other) && !thread_and_team(other, self) {
            return (self.plus(other), false);
        }
        let sum = self.pairs(other, |a, b| {
            if thread_and_team(a, b) || thread_and_team(b, a) { Self::STEPPED } else { a.plus(b) }
        });
        (sum, true)
    }

    /// Subtraction: a stepped multiple minus the multiple is the step; two indexes differ by a length.
    pub fn minus(self, other: Self) -> Self {
        let is_index = |value: Self| value.has(THREADS) && value.has(Self::STEPPED) && !value.is_confined();
        if is_index(self) && is_index(other) {
            return Self::CLEAN;
        }
        self.pairs(
            other,
            |a, b| if a == Self::STEPPED && b.has(THREADS) { Self::TEAM_PART } else { a.plus(b) },
        )
    }

    pub fn times(self, other: Self) -> Self {
        self.pairs(other, |a, b| {
            let both = a.or(b);
            match (a, b) {
                (Self::CLEAN, other) | (other, Self::CLEAN) => other.scaled(),
                _ if both.has(THREADS) && both.has(Self::QUOTIENT) => Self::START,
                _ if both.has(THREADS) => Self::THREAD_PART,
                _ if both.has(TEAMS) => Self::TEAM_PART,
                _ if both.has(Self::STEPPED) => Self::STEPPED,
                _ if both.has(Self::START) => Self::START,
                _ => both,
            }
        })
    }

    pub fn divided_by(self, divisor: Self) -> (Self, Self) {
        let quotient = self.pairs(divisor, |a, b| match (a, b) {
            (Self::CLEAN, b) if b.has(TEAMS) => Self::QUOTIENT,
            // A share computed by hand: thread number * iterations / team size.
            (Self::THREAD_PART, b) if b.has(TEAMS) => Self::START,
            (a, Self::CLEAN) => a.scaled(),
            (a, b) => a.scaled().plus(b.scaled()),
        });
        let remainder = self.pairs(divisor, |a, b| match (a, b) {
            (Self::CLEAN, b) if b.has(TEAMS) => Self::REMAINDER,
            (a, Self::CLEAN) => a.scaled(),
            (a, b) => a.scaled().plus(b.scaled()),
        });
        (quotient, remainder)
    }
}

const THREADS: Classes = Classes::THREAD.or(Classes::THREAD_PART);
const TEAMS: Classes = Classes::TEAM.or(Classes::TEAM_PART);
const PARTS: Classes = Classes::QUOTIENT.or(Classes::REMAINDER);
const FIRSTS: Classes = Classes::IF_SET.or(Classes::IF_CLEAR);

#[cfg(test)]
mod tests {
    use super::Classes as C;

    #[test]
    fn a_static_loops_start_is_an_ordinary_index() {
        let (quotient, remainder) = C::CLEAN.divided_by(C::TEAM);
        let start = C::THREAD.times(quotient).plus(remainder.or(C::CLEAN));
        assert_eq!(start, C::START);
        assert!(!start.plus(quotient).is_confined());
        assert!(quotient.is_confined() && remainder.is_confined());
    }

    #[test]
    fn an_element_of_the_threads_own_is_told_from_a_loops_element() {
        assert!(C::CLEAN.plus(C::THREAD.times(C::CLEAN)).is_confined());
        assert!(C::START.plus(C::THREAD).is_confined());
        assert!(C::STEPPED.plus(C::THREAD).is_confined());
    }

    #[test]
    fn a_chunked_loops_index_comes_from_steps_of_the_team() {
        let (stepped, is_step) = C::THREAD_PART.stepped(C::TEAM_PART);
        assert!(is_step && stepped.is_confined() && !stepped.or(C::THREAD_PART).is_confined());
        assert_eq!(stepped.minus(C::THREAD_PART), C::TEAM_PART);
        assert!(C::TEAM.plus(C::THREAD).is_confined());
    }

    #[test]
    fn whether_a_thread_is_the_first_is_known_through_and_alone() {
        let (set, clear) = (C::of_first(true), C::of_first(false));
        assert!(set.and(C::CLEAN).is_firsts_alone() && set.is_confined() && set.is_told());
        assert_eq!(set.or(C::CLEAN).first_if(), Some(true));
        assert!(!set.or(C::CLEAN).is_firsts_alone());
        assert_eq!(clear.and(C::CLEAN).first_if(), Some(false));
        assert_eq!(set.and(clear).first_if(), None);
        assert_eq!(set.plus(C::CLEAN).first_if(), None);
        assert_eq!(set.and(C::TEAM).first_if(), None);
    }

    #[test]
    fn no_loop_divides_by_a_kept_size() {
        let kept = C::TEAM.or(C::KEPT);
        let (quotient, remainder) = C::CLEAN.divided_by(kept);
        let start = C::THREAD.times(quotient).plus(remainder.or(C::CLEAN));
        assert!(start.is_confined() && start.is_told());
        let (stepped, _) = C::THREAD_PART.stepped(kept.scaled());
        assert!(stepped.or(C::THREAD_PART).is_confined());
        assert!(quotient.is_size() && !quotient.is_size_itself() && kept.is_size_itself());
        assert!(!kept.plus(C::CLEAN).shifted().is_size_itself());
    }
}
