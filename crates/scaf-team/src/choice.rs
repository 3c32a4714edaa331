//! Chooses a region's team size and the mechanism by which it follows the grant: a pure function. Folding is
//! done by the daemon, by affinity; threads of dynamic loops are also parked ([`crate::gate`]). A new
//! mechanism is a variant of [`Mechanism`] with its name, and an arm of [`choose`]. The first that applies:
//! 1. *Fold* with a full team: regions that aren't known yet, or are long, if they fold evenly enough; and
//!    those that begin while contexts are lent. Such a *wide* team can grow within the region. Only if the
//!    program has one master and its threads don't spin on memory.
//! 2. *Resize*: regions that leave their size to the runtime and don't depend on it, and all that somebody's
//!    word permits to be resized ([`crate::permission`]).
//! 3. *Gather*, in place of either fold: others whose members can be switched in user mode. A team whose
//!    members couldn't be redistributed among more carriers begins on threads, and is gathered at a barrier
//!    later.
//! 4. *Fold*: all others, whose size the program fixes, or whose code depends on it or hasn't been analysed.

/// How a region follows the grant. Client, daemon, simulator and command line use this definition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u32)]
pub enum Mechanism {
    /// Not at all: it runs as without scaf.
    #[default]
    Unmanaged = 1,
    /// The next team has as many threads as granted.
    Resize = 2,
    /// The team keeps its size, and its CPU affinity shrinks.
    Fold = 4,
    /// As fold; surplus threads of a dynamic loop sleep between chunks.
    Park = 5,
    /// The program has all contexts that it needs, maybe for a part of the time. The daemon chooses this.
    Gang = 6,
    /// The team keeps its size, and fewer threads run its members, switching in user mode where they wait.
    Gather = 7,
}

impl Mechanism {
    /// All of them, with their names.
    pub const NAMES: [(Mechanism, &str); 6] = [
        (Mechanism::Unmanaged, "unmanaged"),
        (Mechanism::Resize, "resize"),
        (Mechanism::Fold, "fold"),
        (Mechanism::Park, "park"),
        (Mechanism::Gang, "gang"),
        (Mechanism::Gather, "gather"),
    ];

    /// The mechanism of that number, if there is one.
    pub fn from_number(number: u32) -> Option<Mechanism> {
        Mechanism::NAMES.iter().map(|(mechanism, _)| *mechanism).find(|mechanism| *mechanism as u32 == number)
    }

    /// The mechanism of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Mechanism> {
        Mechanism::NAMES.iter().find(|(_, its)| *its == name).map(|(mechanism, _)| *mechanism)
    }

    /// For people: why it isn't resized; empty if the caller has a better reason.
    pub fn reason(self) -> &'static str {
        let gather = "teams keep their size, and their threads switch in user mode where they wait";
        if self == Mechanism::Gather { gather } else { "" }
    }

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        Mechanism::NAMES.iter().find(|(mechanism, _)| *mechanism == self).map_or("", |(_, name)| name)
    }
}

/// How long a region takes, as learned from its latest run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// It hasn't run yet.
    Unknown,
    /// It ends before a change of the grant matters.
    Short,
    /// The grant is likely to change in the middle of it.
    Long,
}

/// What is known when a region is entered that isn't nested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Team size by a `num_threads` clause; 0 without one.
    pub requested: u32,
    /// Team size that the runtime would choose.
    pub natural: u32,
    /// Contexts that the grant leaves for it; `None` while the program is unmanaged.
    pub budget: Option<u32>,
    /// The program has fixed its team sizes for good (`omp_set_num_threads`, say).
    pub kept: bool,
    /// Code analysis found that the code doesn't depend on the team's size.
    pub resizable: bool,
    /// Requested sizes are upper limits, by the user's word or the program's.
    pub word: bool,
    /// Its team can be gathered at its beginning.
    pub gathers: bool,
    /// How long it takes.
    pub length: Length,
    /// No other master has a team.
    pub only_master: bool,
    /// Contexts that were lent during the serial phase before it were just reclaimed.
    pub lent: bool,
    /// Its threads spin on memory, so a folded team would wait for itself.
    pub spins: bool,
}

/// What was decided about a team.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// How it follows the grant; with all its contexts, how it would follow a smaller one.
    pub mechanism: Mechanism,
    /// The size for the runtime; 0 leaves it open.
    pub pass: u32,
    /// Threads of the team.
    pub team: u32,
    /// Members that the program sees, if these are more, else 0.
    pub ids: u32,
    /// The program fixed the size itself.
    pub promised: bool,
    /// The team has one thread because of us.
    pub shrunk: bool,
}

impl Choice {
    /// The team of one that the runtime itself would choose.
    pub const ALONE: Choice =
        Choice { mechanism: Mechanism::Unmanaged, pass: 0, team: 1, ids: 0, promised: false, shrunk: false };
    /// The team of one of a serial experiment.
    pub const EXPERIMENT: Choice = Choice { pass: 1, shrunk: true, ..Choice::ALONE };

    /// Whether it has one thread and one member.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.team == 1 && self.ids == 0
    }
}

/// Chooses the team size.
#[inline(always)]
pub fn choose(facts: &Facts) -> Choice {
    // `if(false)` requests a team of one, which isn't a fixed size.
    let clause = facts.requested > 1;
    let size = if facts.requested != 0 { facts.requested } else { facts.natural };
    let whole = Choice { pass: facts.requested, team: size, promised: clause, ..Choice::ALONE };
    let Some(budget) = facts.budget else { return whole };
    let promised = !facts.word && (clause || (facts.requested == 0 && facts.kept));
    let resizable = facts.word || (facts.resizable && !promised);
    let whole = Choice { promised, mechanism: Mechanism::Fold, ..whole };
    let team = budget.max(1);
    if team >= size {
        return if resizable { Choice { mechanism: Mechanism::Resize, ..whole } } else { whole };
    }
    let wide = match facts.length {
        Length::Unknown => folds(size, team, 3),
        // A region that is short with all its contexts may be long with one.
        Length::Short => facts.lent,
        Length::Long if facts.lent => true,
        Length::Long => folds(size, team, 8),
    };
    let starts_wide = wide && facts.only_master && !facts.spins;
    if facts.gathers && (!resizable || starts_wide) {
        Choice { mechanism: Mechanism::Gather, pass: team, team, ids: size, ..whole }
    } else if starts_wide {
        whole
    } else if resizable {
        Choice { mechanism: Mechanism::Resize, pass: team, team, shrunk: team == 1, ..whole }
    } else {
        whole
    }
}

/// Whether threads lose at most a `part`th by taking turns on `contexts`, some of which have one thread more:
/// 16 on 12 take as long as on 8.
fn folds(team: u32, contexts: u32, part: u64) -> bool {
    let (team, contexts) = (u64::from(team), u64::from(contexts.max(1)));
    team.div_ceil(contexts) * contexts * part <= team * (part + 1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHORT: Facts = Facts {
        requested: 0,
        natural: 8,
        budget: Some(3),
        kept: false,
        resizable: true,
        word: false,
        gathers: false,
        length: Length::Short,
        only_master: true,
        lent: false,
        spins: false,
    };

    #[test]
    fn each_kind_of_region_has_its_mechanism() {
        let whole =
            Choice { mechanism: Mechanism::Fold, pass: 0, team: 8, ids: 0, promised: false, shrunk: false };
        let resize = Choice { mechanism: Mechanism::Resize, ..whole };
        let gathered = Choice { mechanism: Mechanism::Gather, pass: 3, team: 3, ids: 8, ..whole };
        let three = Choice { pass: 3, team: 3, ..resize };
        let one = Choice { pass: 1, team: 1, shrunk: true, ..resize };
        let four = Choice { pass: 4, team: 4, promised: true, ..whole };
        let table = [
            ("short", SHORT, three),
            ("short, one context", Facts { budget: Some(1), ..SHORT }, one),
            ("nothing left", Facts { budget: Some(0), ..SHORT }, one),
            ("enough", Facts { budget: Some(8), ..SHORT }, resize),
            ("more than enough", Facts { budget: Some(9), ..SHORT }, resize),
            (
                "unmanaged",
                Facts { budget: None, ..SHORT },
                Choice { mechanism: Mechanism::Unmanaged, ..whole },
            ),
            ("unknown", Facts { length: Length::Unknown, ..SHORT }, whole),
            ("long", Facts { length: Length::Long, budget: Some(4), ..SHORT }, whole),
            ("long, with threads left over", Facts { length: Length::Long, ..SHORT }, whole),
            (
                "long, most contexts waiting",
                Facts { length: Length::Long, budget: Some(7), ..SHORT },
                Choice { pass: 7, team: 7, ..resize },
            ),
            (
                "long, beside another master's",
                Facts { length: Length::Long, only_master: false, ..SHORT },
                three,
            ),
            ("unknown, spinning", Facts { length: Length::Unknown, spins: true, ..SHORT }, three),
            ("short, contexts on their way back", Facts { lent: true, ..SHORT }, whole),
            ("contexts on their way back, spinning", Facts { lent: true, spins: true, ..SHORT }, three),
            ("size-dependent", Facts { resizable: false, ..SHORT }, whole),
            ("omp_set_num_threads", Facts { kept: true, ..SHORT }, Choice { promised: true, ..whole }),
            ("num_threads(4)", Facts { requested: 4, ..SHORT }, four),
            ("size-dependent, gathers", Facts { resizable: false, gathers: true, ..SHORT }, gathered),
            (
                "omp_set_num_threads, gathers",
                Facts { kept: true, gathers: true, ..SHORT },
                Choice { promised: true, ..gathered },
            ),
            (
                "num_threads(4), gathers, one context",
                Facts { requested: 4, gathers: true, budget: Some(1), ..SHORT },
                Choice { pass: 1, team: 1, ids: 4, promised: true, ..gathered },
            ),
            (
                "num_threads(4), gathers, enough contexts",
                Facts { requested: 4, gathers: true, budget: Some(4), ..SHORT },
                four,
            ),
            (
                "gathers and resizable, but not known yet",
                Facts { gathers: true, length: Length::Unknown, ..SHORT },
                gathered,
            ),
            ("gathers and resizable", Facts { gathers: true, ..SHORT }, three),
            (
                "num_threads(4) and omp_set_num_threads, by the user's word",
                Facts { requested: 4, kept: true, resizable: false, word: true, ..SHORT },
                three,
            ),
            (
                "num_threads(2) by the user's word, enough contexts",
                Facts { requested: 2, word: true, ..SHORT },
                Choice { pass: 2, team: 2, ..resize },
            ),
            (
                "size-dependent, by the user's word, but not known yet",
                Facts { resizable: false, word: true, length: Length::Unknown, ..SHORT },
                whole,
            ),
            ("if(false)", Facts { requested: 1, ..SHORT }, Choice { pass: 1, team: 1, ..resize }),
        ];
        for (name, facts, choice) in table {
            assert_eq!(choose(&facts), choice, "{name}");
        }
    }

    #[test]
    fn every_mechanism_has_a_name_and_a_number_of_its_own() {
        for (mechanism, name) in Mechanism::NAMES {
            assert_eq!(Mechanism::from_number(mechanism as u32), Some(mechanism));
            assert_eq!((Mechanism::from_name(name), mechanism.name()), (Some(mechanism), name));
        }
        assert_eq!((Mechanism::from_number(0), Mechanism::from_name("")), (None, None));
    }

    prop_compose! {
        fn facts()(
            requested in 0u32..4,
            natural in 1u32..9,
            budget in proptest::option::of(0u32..12),
            kept in any::<bool>(),
            resizable in any::<bool>(),
            word in any::<bool>(),
            gathers in any::<bool>(),
            length in prop_oneof![Just(Length::Unknown), Just(Length::Short), Just(Length::Long)],
            only_master in any::<bool>(),
            lent in any::<bool>(),
            spins in any::<bool>(),
        ) -> Facts {
            Facts { requested, natural, budget, kept, resizable, word, gathers, length, only_master,
                lent, spins }
        }
    }

    proptest! {
        #[test]
        fn no_team_is_empty_larger_than_natural_or_against_a_promise(facts in facts()) {
            let choice = choose(&facts);
            let size = if facts.requested > 0 { facts.requested } else { facts.natural };
            prop_assert!(choice.team >= 1 && choice.team <= size);
            let found = if choice.ids > 0 { choice.ids } else { choice.team };
            let left_open = facts.requested == 0 && !facts.kept && facts.resizable;
            let may_be_smaller = (left_open || facts.word) && facts.budget.is_some();
            prop_assert!(found == size || may_be_smaller);
            let gathered = choice.mechanism == Mechanism::Gather;
            prop_assert!(choice.ids == 0 || choice.team < choice.ids);
            prop_assert_eq!(choice.ids > 0, gathered);
            prop_assert!(!gathered || facts.gathers);
            prop_assert_eq!(facts.budget.is_none(), choice.mechanism == Mechanism::Unmanaged);
            prop_assert!(choice.mechanism == Mechanism::Resize || choice.ids > 0 || choice.team == size);
            let whole = choice.ids == 0 && choice.team == size;
            prop_assert_eq!(choice.pass, if whole { facts.requested } else { choice.team });
        }
    }
}
