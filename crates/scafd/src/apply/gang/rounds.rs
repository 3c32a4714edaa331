//! Whose turn it is; pure. At each *look*, a quarter into each slice and at a turn's end, the switcher says
//! how much CPU time the running turn has used. A turn whose programs all sleep is skipped. From then on it
//! is a
//! *guest*: it gets a look in each round, while the turn before it continues. Found awake, it has a turn of
//! its own again. So a gang that waits for its user costs the others nothing, and one that wakes up waits for
//! one turn at most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The first look in a slice is after this part of it.
const LOOK: u64 = 4;
/// Contexts that a turn's programs use together, below which they are taken to sleep.
const ASLEEP: f64 = 0.05;

/// One turn: process ids of those who run, and for how many slices, at least 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Slices.
    pub slices: u32,
    /// Process ids.
    pub members: Vec<u32>,
}

/// The turns and the running one.
#[derive(Clone, Debug)]
pub struct Rounds {
    turns: Vec<Turn>,
    asleep: Vec<bool>,
    slice_ns: u64,
    at: usize,
    began_ns: u64,
    ends_ns: u64,
    looked_ns: u64,
    running: BTreeSet<u32>,
    ran_ns: BTreeMap<u32, u64>,
}

impl Rounds {
    /// Starts the first of `turns`, of which there is at least one, at `now_ns`.
    pub fn new(turns: Vec<Turn>, slice_ns: u64, now_ns: u64) -> Rounds {
        let mut rounds = Rounds {
            asleep: vec![false; turns.len()],
            turns,
            slice_ns,
            at: 0,
            began_ns: now_ns,
            ends_ns: now_ns,
            looked_ns: now_ns,
            running: BTreeSet::new(),
            ran_ns: BTreeMap::new(),
        };
        rounds.begin(0, now_ns);
        rounds
    }

    /// Replaces the turns. The running turn continues to the same end if it is among them, or else the one
    /// that has most of its members. If there is none, the turn starts that has waited longest.
    pub fn replace(&mut self, turns: Vec<Turn>, now_ns: u64) {
        let old = self.turns.get(self.at).map_or(&[][..], |turn| &turn.members);
        let among = |turn: &Turn| turn.members.iter().filter(|pid| old.contains(pid)).count();
        let from_here = (0..turns.len()).map(|i| (self.at + i) % turns.len());
        let same = from_here.clone().find(|&i| turns[i].members == old);
        let alike =
            || from_here.clone().filter(|&i| among(&turns[i]) > 0).min_by_key(|&i| Reverse(among(&turns[i])));
        let goes_on = same.or_else(alike);
        let mut ran_ns = std::mem::take(&mut self.ran_ns);
        ran_ns.extend(self.running.iter().map(|pid| (*pid, now_ns)));
        let known: BTreeSet<u32> = turns.iter().flat_map(|turn| turn.members.iter().copied()).collect();
        ran_ns.retain(|pid, _| known.contains(pid));
        let waits_since = |turn: &Turn| {
            turn.members.iter().map(|pid| ran_ns.get(pid).copied().unwrap_or(now_ns)).min().unwrap_or(now_ns)
        };
        let longest = (0..turns.len()).min_by_key(|&i| waits_since(&turns[i])).unwrap_or(0);
        let asleep = |turn: &Turn| {
            let old = self.turns.iter().position(|old| old.members == turn.members);
            old.is_some_and(|old| self.asleep[old])
        };
        let asleep: Vec<bool> = turns.iter().map(asleep).collect();
        let running = BTreeSet::new();
        let mut next = Rounds { asleep, ran_ns, running, ..Rounds::new(turns, self.slice_ns, now_ns) };
        next.begin(longest, now_ns);
        let before = std::mem::replace(self, next);
        if let Some(at) = goes_on {
            let members = self.turns[at].members.iter().copied();
            self.running = before.running.intersection(&known).copied().chain(members).collect();
            (self.at, self.began_ns, self.ends_ns) = (at, before.began_ns, before.ends_ns);
            self.looked_ns = before.looked_ns;
        }
    }

    /// Length of a slice.
    pub fn slice_ns(&self) -> u64 {
        self.slice_ns
    }

    /// Sets the length of slices from the next turn on.
    pub fn set_slice(&mut self, slice_ns: u64) {
        self.slice_ns = slice_ns;
    }

    /// The programs that run now; all others are stopped.
    pub fn running(&self) -> &BTreeSet<u32> {
        &self.running
    }

    /// Whose turn it is.
    pub fn members(&self) -> &[u32] {
        self.turns.get(self.at).map_or(&[], |turn| &turn.members)
    }

    /// When to look next.
    pub fn next_ns(&self) -> u64 {
        let first_ns = self.began_ns + self.slice_ns / LOOK;
        let past = (self.looked_ns + 1).saturating_sub(first_ns).div_ceil(self.slice_ns.max(1));
        self.ends_ns.min(first_ns + past * self.slice_ns)
    }

    /// A look at `now_ns`; [`Rounds::members`] have used that CPU time since the last one.
    pub fn look(&mut self, now_ns: u64, used_ns: u64) {
        let wall_ns = now_ns.saturating_sub(self.looked_ns);
        let long = wall_ns >= self.slice_ns / LOOK / 2;
        let sleeps = (used_ns as f64) < ASLEEP * wall_ns as f64;
        self.looked_ns = now_ns;
        match (self.asleep.get(self.at).copied().unwrap_or(false), sleeps) {
            (true, false) if long => {
                self.asleep[self.at] = false;
                self.begin(self.at, now_ns);
            }
            (false, true) if long => {
                self.asleep[self.at] = true;
                self.begin(self.at + 1, now_ns);
            }
            _ if now_ns >= self.ends_ns => {
                // By the clock, not by our wake-up; but overslept time is lost.
                let late = now_ns - self.ends_ns >= self.slice_ns;
                self.begin(self.at + 1, if late { now_ns } else { self.ends_ns });
            }
            _ => {}
        }
        self.looked_ns = now_ns;
    }

    fn begin(&mut self, turn: usize, from_ns: u64) {
        self.ran_ns.extend(self.running.iter().map(|pid| (*pid, from_ns)));
        self.at = turn % self.turns.len().max(1);
        (self.began_ns, self.looked_ns) = (from_ns, from_ns);
        let Some(turn) = self.turns.get(self.at) else { return };
        if self.asleep[self.at] {
            self.running.extend(&turn.members);
            self.ends_ns = from_ns + self.slice_ns / LOOK;
        } else {
            self.running = turn.members.iter().copied().collect();
            self.ends_ns = from_ns + u64::from(turn.slices.max(1)) * self.slice_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: u64 = 40;

    fn turns(all: &[(u32, &[u32])]) -> Vec<Turn> {
        all.iter().map(|(slices, members)| Turn { slices: *slices, members: members.to_vec() }).collect()
    }

    /// How long each of three programs runs, given who is awake at what time.
    fn run(rounds: &mut Rounds, until: u64, awake: impl Fn(u32, u64) -> bool) -> [u64; 4] {
        let (mut now, mut ran) = (0, [0; 4]);
        while now < until {
            let next = rounds.next_ns();
            rounds.running().iter().for_each(|pid| ran[*pid as usize] += next - now);
            let used = if rounds.members().iter().any(|pid| awake(*pid, now)) { next - now } else { 0 };
            now = next;
            rounds.look(now, used);
        }
        ran
    }

    #[test]
    fn turns_last_their_slices_and_only_their_members_run() {
        let mut rounds = Rounds::new(turns(&[(1, &[1]), (3, &[2])]), SLICE, 0);
        assert_eq!(run(&mut rounds, 100 * 4 * SLICE, |_, _| true), [0, 100 * SLICE, 300 * SLICE, 0]);
    }

    #[test]
    fn a_program_of_two_turns_goes_on_from_one_to_the_next() {
        let mut rounds = Rounds::new(turns(&[(1, &[1, 3]), (1, &[2, 3])]), SLICE, 0);
        assert_eq!(run(&mut rounds, 10 * SLICE, |_, _| true), [0, 5 * SLICE, 5 * SLICE, 10 * SLICE]);
    }

    #[test]
    fn who_sleeps_costs_the_others_nothing() {
        let mut rounds = Rounds::new(turns(&[(1, &[1]), (1, &[2])]), SLICE, 0);
        let ran = run(&mut rounds, 100 * SLICE, |pid, _| pid == 2);
        assert_eq!(ran[2], 100 * SLICE - SLICE / LOOK);
    }

    #[test]
    fn who_wakes_up_has_a_turn_of_its_own_again_within_a_round() {
        let mut rounds = Rounds::new(turns(&[(1, &[1]), (1, &[2])]), SLICE, 0);
        let wakes = 1000 * SLICE;
        let ran = run(&mut rounds, 2000 * SLICE, |pid, now| pid == 2 || now >= wakes);
        assert!(ran[2].abs_diff(1500 * SLICE) <= 2 * SLICE, "{ran:?}");
    }

    #[test]
    fn where_all_sleep_all_run() {
        let mut rounds = Rounds::new(turns(&[(1, &[1]), (1, &[2]), (1, &[3])]), SLICE, 0);
        run(&mut rounds, 10 * SLICE, |_, _| false);
        assert_eq!(rounds.running().len(), 3);
    }

    #[test]
    fn time_that_was_overslept_is_over() {
        let mut rounds = Rounds::new(turns(&[(1, &[1]), (1, &[2])]), SLICE, 0);
        rounds.look(SLICE * 50, SLICE * 50);
        assert_eq!((rounds.members(), rounds.ends_ns), (&[2][..], 51 * SLICE));
        rounds.look(51 * SLICE + 3, SLICE);
        assert_eq!((rounds.members(), rounds.ends_ns), (&[1][..], 52 * SLICE));
    }

    #[test]
    fn new_turns_let_the_one_that_runs_go_on() {
        let mut rounds = Rounds::new(turns(&[(1, &[1]), (1, &[2])]), SLICE, 0);
        rounds.look(SLICE, SLICE);
        rounds.replace(turns(&[(1, &[3]), (2, &[2])]), SLICE + 10);
        assert_eq!((rounds.members(), rounds.ends_ns), (&[2][..], 2 * SLICE));
        assert!(rounds.running().iter().eq(&[2]));
        rounds.replace(turns(&[(1, &[1]), (1, &[3])]), SLICE + 20);
        assert!(rounds.running().iter().eq(&[1]));
    }

    #[test]
    fn whoever_comes_and_goes_nobody_is_forgotten() {
        let mut rounds = Rounds::new(turns(&[(1, &[10, 11]), (1, &[1]), (1, &[2])]), SLICE, 0);
        let (mut now, mut ran) = (0, [0u64; 3]);
        for newcomer in 100..2000 {
            let next = now + SLICE / 5;
            for (ran, pid) in ran.iter_mut().zip([10, 1, 2]) {
                *ran += if rounds.running().contains(&pid) { next - now } else { 0 };
            }
            now = next;
            rounds.replace(turns(&[(1, &[10, 11, newcomer]), (1, &[1]), (1, &[2])]), now);
            while rounds.next_ns() <= now {
                rounds.look(now, SLICE);
            }
        }
        let third = now / 3;
        assert!(ran.iter().all(|ran| *ran > third / 2), "{ran:?} of {now}");
    }
}
