//! Classes of values by what they have to do with the team, and their arithmetic.
//!
//! A value has a *set* of classes, because several paths lead to most places. `schedule(static)` over n
//! iterations compiles to: quotient and remainder of n by the team size; one more for the first remainder
//! threads; start = thread number * quotient + remainder. This start is an ordinary loop index. With a chunk
//! size, thread number * chunk is stepped by team size * chunk; compared with the bound, that is an index.

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Classes(u16);

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
    /// Thread number * quotient, plus the remainder, and what follows from it: a loop index.
    pub const START: Self = Self(128);
    /// A thread number's multiple, stepped by the team size's: a chunked loop's index.
    pub const STEPPED: Self = Self(256);
    /// Thread number * quotient: without the remainder, iterations are left over, how many depends on the
    /// team. On one of two paths the first threads have one more each instead.
    pub const SHARE: Self = Self(512);
    /// A mark beside the classes, not in their arithmetic: the thread number was added to or cut short, so
    /// zero may mean another thread than the first.
    pub const SHIFTED: Self = Self(1024);

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
        self.has(TEAMS)
    }

    /// Whether the value must neither leave the function nor choose an element in memory. A chunked loop's
    /// index is the thread's multiple in the first round and a stepped one in all others. Either alone is no
    /// index: people lay out tables as `table[bin * team size + thread number]`.
    pub const fn is_confined(self) -> bool {
        let drops_rest = self.has(Self::SHARE) && !self.has(Self::START);
        self.has(THREADS) != self.has(Self::STEPPED) || self.has(TEAMS.or(PARTS)) || drops_rest
    }

    pub const fn is_index(self) -> bool {
        self.has(Self::START.or(Self::STEPPED)) && !self.is_confined()
    }

    /// Whether a result depends on the team, for the caller. A quotient left over on only one path does not.
    pub const fn reveals_team(self) -> bool {
        let index = self.has(Self::START.or(Self::STEPPED));
        (self.has(THREADS.or(TEAMS).or(Self::SHARE)) && !index)
            || (self.has(PARTS) && !index && !self.has(Self::CLEAN))
    }

    const fn mark(self) -> Self {
        Self(self.0 & Self::SHIFTED.0)
    }

    pub const fn shifted(self) -> Self {
        if self.has(Self::THREAD) { self.or(Self::SHIFTED) } else { self }
    }

    fn each(self) -> impl Iterator<Item = Self> {
        (0..10).map(|bit| Self(1 << bit)).filter(move |class| self.has(*class))
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
                _ if both.has(Self::SHARE) && both.has(Self::REMAINDER) => Self::START,
                _ if both.has(Self::START) => Self::START,
                _ if both.has(Self::SHARE) => Self::SHARE,
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
            return Self::QUOTIENT;
        }
        self.pairs(other, |a, b| match (a, b) {
            (Self::STEPPED, b) if b.has(THREADS) => Self::TEAM_PART,
            (Self::STEPPED, b) if b.has(TEAMS) => Self::THREAD_PART,
            (Self::START | Self::SHARE, Self::START | Self::SHARE) => Self::QUOTIENT,
            (a, b) => a.plus(b),
        })
    }

    pub fn times(self, other: Self) -> Self {
        self.pairs(other, |a, b| {
            let both = a.or(b);
            match (a, b) {
                (Self::CLEAN, other) | (other, Self::CLEAN) => other.scaled(),
                _ if both.has(THREADS) && both.has(Self::QUOTIENT) => Self::SHARE,
                _ if both.has(THREADS) => Self::THREAD_PART,
                _ if both.has(TEAMS) => Self::TEAM_PART,
                _ if both.has(Self::STEPPED) => Self::STEPPED,
                _ if both.has(Self::START) => Self::START,
                _ if both.has(Self::SHARE) => Self::SHARE,
                _ => both,
            }
        })
    }

    /// What divisions, shifts and bits make of two values. With a size or a share among them that may be the
    /// thread number: `index % size`, `index / share`.
    pub fn mixed(self, other: Self) -> Self {
        self.pairs(other, |a, b| match (a, b) {
            (Self::CLEAN, other) | (other, Self::CLEAN) => other.scaled(),
            (a, b) if a.or(b).has(TEAMS.or(PARTS)) => Self::THREAD_PART,
            (a, b) => a.scaled().plus(b.scaled()),
        })
    }

    pub fn divided_by(self, divisor: Self) -> (Self, Self) {
        let part = |of_team: Self| {
            self.pairs(divisor, |a, b| match (a, b) {
                (Self::CLEAN, b) if b.has(TEAMS) => of_team,
                (a, b) => a.mixed(b),
            })
        };
        (part(Self::QUOTIENT), part(Self::REMAINDER))
    }
}

const THREADS: Classes = Classes::THREAD.or(Classes::THREAD_PART);
const TEAMS: Classes = Classes::TEAM.or(Classes::TEAM_PART);
const PARTS: Classes = Classes::QUOTIENT.or(Classes::REMAINDER);

#[cfg(test)]
mod tests {
    use super::Classes as C;

    #[test]
    fn a_static_loops_start_is_an_ordinary_index() {
        let (quotient, remainder) = C::CLEAN.divided_by(C::TEAM);
        let start = C::THREAD.times(quotient).plus(remainder.or(C::CLEAN));
        assert_eq!(start, C::START.or(C::SHARE));
        assert!(!start.is_confined());
        let without_rest = C::THREAD.times(quotient);
        assert!(without_rest.is_confined() && without_rest.plus(C::CLEAN).reveals_team());
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
}
