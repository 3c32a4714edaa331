//! A policy's input and output.

use crate::fusion::Measured;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names one program for as long as the daemon knows it. Lower ids arrived earlier, which breaks ties.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ProgramId(pub u64);

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Contexts the daemon may give away, less those that unmanaged programs keep busy. 0 is read as 1.
    pub capacity: u32,
    /// The moment of the decision, in seconds of a clock that never goes back; its zero doesn't matter.
    pub now_s: f64,
    /// Contexts in one unit of each topology level of like units ([`crate::Topology::units`]) and in the
    /// whole machine (may differ from `capacity`), in any order; empty where unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<u32>,
    #[serde(default)]
    pub gang: Gang,
    #[serde(default)]
    pub users: Users,
}

impl Machine {
    /// A machine of `capacity` contexts whose topology is unknown.
    pub fn new(capacity: u32, now_s: f64) -> Machine {
        Machine { capacity, now_s, units: Vec::new(), gang: Gang::default(), users: Users::default() }
    }
}

/// Which programs may take turns with others where they can't share in space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gang {
    Off,
    /// Programs started with `scaf run --rigid` and those beside them, and whom a turn-making policy picks.
    #[default]
    Asked,
    Spinning,
    /// Also programs that outnumber the contexts.
    Auto,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// First users, then each user's programs.
    #[default]
    Equal,
    /// Programs, whoever they belong to.
    ByProgram,
}

/// One program at the moment of a decision, as the policy sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    pub id: ProgramId,
    /// Its user. Each user is due as much as any other ([`Users`]).
    #[serde(default)]
    pub user: u32,
    /// Its process tree: a user's programs of the same one have one share together. 0: it is alone in one.
    #[serde(default)]
    pub tree: u64,
    /// The least contexts its user asked for, honoured as far as the capacity permits. 0 means 1.
    pub min: u32,
    /// The largest number of contexts its user allows. `u32::MAX` means no limit, 0 is read as 1.
    pub max: u32,
    /// Its weight against other programs, clamped to 0.001 to 1000; 1 where it is no positive finite number.
    pub weight: f64,
    /// The DoP it would have alone (OMP_NUM_THREADS, affinity): a cap, as buffers may fit it. 0 means 1.
    pub natural: u32,
    /// The DoP in effect while `efficiency` was measured; 0 while it has none yet.
    pub dop: u32,
    /// Its smoothed efficiency S/p at `dop`, 0 to 1; `None` while nothing has been measured at that DoP.
    pub efficiency: Option<f64>,
    /// Its speedups from this run and earlier ones, by all sources, in order of distinct DoPs.
    #[serde(default)]
    pub curve: Vec<Measured>,
    /// Its speedups from a given or saved profile, constant while it runs; in order of distinct DoPs.
    #[serde(default)]
    pub profile: Vec<Measured>,
    /// Whether it is in a lasting serial phase: all its contexts but one can be lent until the phase ends.
    #[serde(default)]
    pub serial: bool,
    /// Whether it does nothing at all, and hasn't for some time: one context that others have will do.
    #[serde(default)]
    pub idle: bool,
    /// Whether the kernel puts it behind all others (`nice 19`, `SCHED_IDLE`): beside others that aren't, it
    /// takes no context from anyone, and shares what is there.
    #[serde(default)]
    pub background: bool,
    /// Threads it has now: a region keeps its team to its end. 0 if unknown or if they follow the DoP.
    #[serde(default)]
    pub team: u32,
    /// Members of the team that it keeps whatever its DoP is ([`crate::steps`]), at least 1; 0 if its teams
    /// follow the DoP or it isn't known.
    #[serde(default)]
    pub fixed_team: u32,
    /// Whether it needs [`Program::cap`] contexts whenever it runs, and so can only share in time.
    #[serde(default)]
    pub rigid: bool,
}

impl Program {
    /// A program of which nothing is known, on a machine of `natural` contexts: no limits, weight 1.
    pub fn new(id: ProgramId, natural: u32) -> Program {
        Program {
            id,
            user: 0,
            tree: 0,
            min: 1,
            max: u32::MAX,
            weight: 1.0,
            natural,
            dop: 0,
            efficiency: None,
            curve: Vec::new(),
            profile: Vec::new(),
            serial: false,
            idle: false,
            background: false,
            team: 0,
            fixed_team: 0,
            rigid: false,
        }
    }

    /// The largest DoP it can be given: the smallest of `max`, `natural` and the team that it keeps, at least
    /// 1.
    pub fn cap(&self) -> u32 {
        let members = if self.fixed_team == 0 { u32::MAX } else { self.fixed_team };
        self.max.min(self.natural).min(members).max(1)
    }

    /// The DoP it should not fall below: `min`, but within 1 and [`Program::cap`].
    pub fn floor(&self) -> u32 {
        self.min.clamp(1, self.cap())
    }

    /// `weight` brought into 0.001 to 1000; 1 where it is not a positive finite number.
    pub fn sane_weight(&self) -> f64 {
        if self.weight.is_finite() && self.weight > 0.0 { self.weight.clamp(1e-3, 1e3) } else { 1.0 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dop {
    /// Leave the program alone, exactly as without the daemon.
    Unmanaged,
    /// That many hardware contexts, at least 1.
    Contexts(u32),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Share {
    pub id: ProgramId,
    pub dop: Dop,
    /// A short sentence with the numbers that led to `dop`, for people.
    pub reason: String,
}

/// Programs that run during one part of a round, while other turns' members don't (TACO, section 2: a level).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Its length in time slices; at least 1.
    pub slices: u32,
    /// Who runs. Their shares and those of programs that are in no turn fit the capacity together.
    pub members: Vec<ProgramId>,
}

/// Programs of one user or process tree that share contexts, for they are more than these.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pool {
    /// How many contexts, at least 1.
    pub contexts: u32,
    /// Whose they are. Each has a DoP of 1.
    pub members: Vec<ProgramId>,
}

/// The answer of a policy: one share for each program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Allocation {
    /// In the order of the programs that were given.
    pub shares: Vec<Share>,
    /// A round's turns in order. A program may be in several; one that is in none runs all the time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// Programs that keep more contexts than their DoP until they have adapted to it, and how many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<(ProgramId, u32)>,
    /// Who shares contexts with programs of the same user. Nobody is in two pools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<Pool>,
    /// Programs whose one context is one that others have, for they are idle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<ProgramId>,
}

impl Allocation {
    /// Contexts in a program's partition: its DoP, or more while it keeps some. `None` if unmanaged or gone.
    pub fn contexts(&self, id: ProgramId) -> Option<u32> {
        self.contexts_of(self.shares.iter().find(|share| share.id == id)?)
    }

    pub fn contexts_of(&self, share: &Share) -> Option<u32> {
        let Dop::Contexts(dop) = share.dop else { return None };
        let kept = self.keeps.iter().find(|(id, _)| *id == share.id);
        Some(kept.map_or(dop, |(_, contexts)| dop.max(*contexts)))
    }

    /// The share of the time in which a program runs, 0 to 1.
    pub fn time_share(&self, id: ProgramId) -> f64 {
        let slices =
            |turns: &mut dyn Iterator<Item = &Turn>| turns.map(|turn| f64::from(turn.slices)).sum::<f64>();
        let own = slices(&mut self.turns.iter().filter(|turn| turn.members.contains(&id)));
        if own > 0.0 { own / slices(&mut self.turns.iter()) } else { 1.0 }
    }
}

impl From<Vec<Share>> for Allocation {
    fn from(shares: Vec<Share>) -> Allocation {
        Allocation { shares, ..Allocation::default() }
    }
}

/// A recorded decision. A policy gives the same answers to the same calls in the same order, so a list of
/// decisions is enough to replay them with another policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Its number, from 1.
    pub number: u64,
    pub policy: String,
    pub machine: Machine,
    pub programs: Vec<Program>,
    pub allocation: Allocation,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The sum of weighted speedups (STP).
    #[default]
    Throughput,
    /// The sum of the weighted logarithms of speedups: twice as fast is worth the same for everyone.
    Fair,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    pub objective: Objective,
    /// No program's speedup is to fall below this share (0 to 1) of its speedup with an equal part.
    pub floor: f64,
}

impl Settings {
    /// `floor` within 0 and 1; 0 where it is no finite number.
    pub(crate) fn sane_floor(&self) -> f64 {
        if self.floor.is_finite() { self.floor.clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { objective: Objective::Throughput, floor: 0.5 }
    }
}

/// Says how many contexts each program gets. It remembers only earlier calls: no clock, no randomness.
pub trait Policy: Send {
    fn name(&self) -> &'static str;

    /// Divides the machine among `programs`, whose order does not matter to the result.
    ///
    /// Every managed program gets 1 to cap contexts. DoPs add up to at most the smaller of the capacity and
    /// the sum of the caps, or are all 1 where programs outnumber contexts. The sum is less only where no
    /// known program would be faster by what is left (a team that is kept needs all contexts up to its next
    /// step, [`crate::steps`]), or lent contexts find no taker. With [`Allocation::turns`] this holds for
    /// each turn together with the programs that are in none.
    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation;

    /// How often it needs to decide, in hertz; `None`: as the daemon is set.
    fn rate_hz(&self) -> Option<f64> {
        None
    }

    /// Whether it lends contexts of programs in serial phases, which then report the phase's end.
    fn lends(&self) -> bool {
        false
    }

    /// Whether it divides the machine at all, so that users and idle programs count.
    fn divides(&self) -> bool {
        true
    }

    /// Whether it decides about turns itself: [`crate::allocate`] then makes none.
    fn makes_turns(&self) -> bool {
        false
    }

    /// A seed, if PUs are to be chosen arbitrarily ([`crate::place::scatter`]).
    fn scatter(&mut self) -> Option<u64> {
        None
    }
}
/// The slices of each member of `turns` in a round, and the round's slices in all.
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
