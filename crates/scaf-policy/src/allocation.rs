//! What a policy is asked, and what it answers.

use crate::fusion::Measured;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names one program for as long as the daemon knows it. Lower ids arrived earlier, which breaks ties.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ProgramId(pub u64);

/// What there is to give away at the moment of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Hardware contexts that can be given away now: those the daemon may use, less what unmanaged programs
    /// keep busy. At least 1; 0 is read as 1.
    pub capacity: u32,
    /// The moment of the decision, in seconds by a clock that never goes back; where it starts doesn't
    /// matter.
    pub now_s: f64,
    /// Contexts in one unit of each level of its topology at which units are alike
    /// ([`crate::Topology::units`]), the whole machine included, in any order; empty where nothing is known
    /// of them. That of the whole may differ from `capacity`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<u32>,
    /// Who may be made to take turns.
    #[serde(default)]
    pub gang: Gang,
}

impl Machine {
    /// So many contexts, of whose topology nothing is known.
    pub fn new(capacity: u32, now_s: f64) -> Machine {
        Machine { capacity, now_s, units: Vec::new(), gang: Gang::default() }
    }
}

/// Who takes turns with other programs; whoever that is, it is only where they can't share in space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gang {
    /// Nobody.
    Off,
    /// Programs that were started for it (`scaf run --rigid`), and those beside them; and whoever a policy
    /// that makes turns says.
    #[default]
    Asked,
    /// Programs that were found to spin as well, and programs that are more than the contexts.
    Auto,
}

/// One program at the moment of a decision, as the policy sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Which program.
    pub id: ProgramId,
    /// Whose it is: each user is due as much time as any other.
    #[serde(default)]
    pub user: u32,
    /// The least number of contexts its user asked for; honoured as far as the capacity permits. 0 means 1.
    pub min: u32,
    /// The largest number of contexts its user allows. `u32::MAX` means no limit, 0 is read as 1.
    pub max: u32,
    /// How much its contexts count against those of other programs; 1 is normal. Values outside
    /// 0.001 to 1000 are brought back into that range; NaN, infinity, zero and negative values count as 1.
    pub weight: f64,
    /// The degree of parallelism it would have if it were alone (OMP_NUM_THREADS, its affinity). A cap: no
    /// program grows beyond it, since its buffers may be sized by it. At least 1; 0 is read as 1.
    pub natural: u32,
    /// The DoP in effect while `efficiency` was measured; 0 while it has none yet.
    pub dop: u32,
    /// Its smoothed efficiency S/p at `dop`, 0 to 1; `None` while nothing has been measured at that DoP.
    pub efficiency: Option<f64>,
    /// What is known of its speedup from this run and those before, by all sources: DoPs at which something
    /// was observed, in their order, each once. What lies between is for the policy to guess.
    #[serde(default)]
    pub curve: Vec<Measured>,
    /// Its speedup as it was known before it started, from a profile that was given or saved: it doesn't
    /// change while the program runs. In the order of DoPs, each once; empty where there is none.
    #[serde(default)]
    pub profile: Vec<Measured>,
    /// Whether it is in a serial phase that has lasted a while: all its contexts but one can be lent until
    /// the phase ends.
    #[serde(default)]
    pub serial: bool,
    /// Threads that it runs with now, as far as that is known: a region that runs when its DoP changes keeps
    /// its team to its end. 0 where nothing is known, or threads follow the DoP at once.
    #[serde(default)]
    pub team: u32,
    /// Whether its DoP can't be changed: whenever it runs, it needs [`Program::cap`] contexts at once (it
    /// spins for itself, or was declared so). It can only share in time ([`Turn`]).
    #[serde(default)]
    pub rigid: bool,
}

impl Program {
    /// A program of which nothing is known, on a machine of `natural` contexts: no limits, weight 1.
    pub fn new(id: ProgramId, natural: u32) -> Program {
        Program {
            id,
            user: 0,
            min: 1,
            max: u32::MAX,
            weight: 1.0,
            natural,
            dop: 0,
            efficiency: None,
            curve: Vec::new(),
            profile: Vec::new(),
            serial: false,
            team: 0,
            rigid: false,
        }
    }

    /// The largest DoP that it can be given: the smaller of `max` and `natural`, at least 1.
    pub fn cap(&self) -> u32 {
        self.max.min(self.natural).max(1)
    }

    /// The DoP that it should not fall below: `min`, but within 1 and [`Program::cap`].
    pub fn floor(&self) -> u32 {
        self.min.clamp(1, self.cap())
    }

    /// `weight` brought into 0.001 to 1000; 1 where it is not a positive finite number.
    pub fn sane_weight(&self) -> f64 {
        if self.weight.is_finite() && self.weight > 0.0 { self.weight.clamp(1e-3, 1e3) } else { 1.0 }
    }
}

/// The degree of parallelism that a program is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dop {
    /// Leave the program alone, exactly as without the daemon.
    Unmanaged,
    /// That many hardware contexts, at least 1.
    Contexts(u32),
}

/// What one program is given, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Share {
    /// Which program.
    pub id: ProgramId,
    /// How many contexts.
    pub dop: Dop,
    /// A short sentence with the numbers that led to `dop`, for people.
    pub reason: String,
}

/// One turn of programs that share in time: while it lasts, those in it run, each on the contexts of its
/// share, and those that are only in other turns don't (TACO, section 2: a level of its hierarchy is a turn).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// How many time slices it lasts in each round of all turns; at least 1.
    pub slices: u32,
    /// Who runs. Their shares, with those of programs that are in no turn, fit the capacity together.
    pub members: Vec<ProgramId>,
}

/// The answer of a policy: one share for each program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Allocation {
    /// In the order of the programs that were given.
    pub shares: Vec<Share>,
    /// The turns of a round, in their order. A program may be in several; one that is in none of them runs
    /// all the time. Empty where everyone does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// Programs that have more contexts than their DoP, until they have adapted to it: so many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<(ProgramId, u32)>,
}

impl Allocation {
    /// How many contexts a program's partition has: as many as its DoP, or more while it keeps others. `None`
    /// if it is left alone, or isn't there.
    pub fn contexts(&self, id: ProgramId) -> Option<u32> {
        self.contexts_of(self.shares.iter().find(|share| share.id == id)?)
    }

    /// The same for one of its shares.
    pub fn contexts_of(&self, share: &Share) -> Option<u32> {
        let Dop::Contexts(dop) = share.dop else { return None };
        let kept = self.keeps.iter().find(|(keeper, _)| *keeper == share.id);
        Some(kept.map_or(dop, |(_, contexts)| dop.max(*contexts)))
    }

    /// The share of the time for which a program runs, 0 to 1.
    pub fn time_share(&self, id: ProgramId) -> f64 {
        let slices =
            |turns: &mut dyn Iterator<Item = &Turn>| turns.map(|turn| f64::from(turn.slices)).sum::<f64>();
        let own = slices(&mut self.turns.iter().filter(|turn| turn.members.contains(&id)));
        if own > 0.0 { own / slices(&mut self.turns.iter()) } else { 1.0 }
    }
}

impl From<Vec<Share>> for Allocation {
    /// Everyone runs all the time.
    fn from(shares: Vec<Share>) -> Allocation {
        Allocation { shares, ..Allocation::default() }
    }
}

/// A decision as it is kept: what the policy was given and what it answered. Given the same in the same
/// order, a policy answers the same; so a list of these is all that it takes to ask another policy what it
/// would have done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Its number, from 1.
    pub number: u64,
    /// The policy's name.
    pub policy: String,
    /// What there was to give away, and when.
    pub machine: Machine,
    /// Who was there.
    pub programs: Vec<Program>,
    /// What each of them got.
    pub allocation: Allocation,
}

/// What policies that can be told are to aim at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The sum of weighted speedups (STP).
    #[default]
    Throughput,
    /// The sum of the weighted logarithms of speedups: twice as fast is worth the same for everyone.
    Fair,
}

/// How policies that can be told are to decide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// What to aim at.
    pub objective: Objective,
    /// No program's speedup is to fall below this share of what it would be if all had equally many contexts;
    /// 0 to 1.
    pub floor: f64,
}

impl Settings {
    /// The floor as it is meant: within 0 and 1, and none where it is no number.
    pub(crate) fn sane_floor(&self) -> f64 {
        if self.floor.is_finite() { self.floor.clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { objective: Objective::Throughput, floor: 0.5 }
    }
}

/// Says how many hardware contexts each program gets.
///
/// A policy may remember what it saw in earlier calls, but nothing else: no clock, no randomness.
pub trait Policy: Send {
    /// The name under which the registry knows it.
    fn name(&self) -> &'static str;

    /// Divides the machine among `programs`, whose order does not matter to the result.
    ///
    /// Every managed program gets at least 1 context and at most its cap. The DoPs add up to at most the
    /// smaller of the capacity and the sum of the caps, unless there are more programs than contexts: then
    /// each gets 1. They add up to less only under policies that know of no program that one more would make
    /// faster, or that have lent what is left to nobody. Where programs take turns ([`Allocation::turns`]),
    /// so it is for those of each turn, with those that are in none.
    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation;

    /// How often it wants to decide, in hertz, where it can't do with the daemon's setting.
    fn rate_hz(&self) -> Option<f64> {
        None
    }

    /// Whether it gives fewer contexts to programs in a serial phase ([`Program::serial`]): they are told to
    /// say when it ends.
    fn lends(&self) -> bool {
        false
    }

    /// Whether it says itself who takes turns, or wants nobody to: [`crate::with_turns`] makes none then.
    fn makes_turns(&self) -> bool {
        false
    }

    /// A seed, where PUs are to be chosen without any thought ([`crate::place::scatter`]).
    fn scatter(&mut self) -> Option<u64> {
        None
    }
}
/// How many slices each member of `turns` has in a round, and how many there are.
pub(crate) fn slices(turns: &[Turn]) -> (BTreeMap<ProgramId, u32>, u32) {
    let mut slices: BTreeMap<ProgramId, u32> = BTreeMap::new();
    let add = |sum: u32, turn: &Turn| sum.saturating_add(turn.slices);
    for turn in turns {
        for id in &turn.members {
            let own = slices.entry(*id).or_default();
            *own = add(*own, turn);
        }
    }
    (slices, turns.iter().fold(0, add))
}
