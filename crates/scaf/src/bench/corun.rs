//! Runs several programs at once, until each has ended at least once.
//!
//! A program that ends starts again (unless it is to run once), so that the others keep their neighbour.
//! After the last program's first end, all others are killed; these unfinished runs don't count.
//!
//! Co-runs that are to be compared can take turns, all but one stopped (SIGSTOP), so that a drift of the
//! machine's speed affects all of them alike. Times are without the stops.

use super::child::{Child, Outcome, Recipe};
use super::clock;
use super::interrupt::Interrupt;
use anyhow::Result;
use std::os::fd::BorrowedFd;
use std::time::Duration;

pub struct Part {
    pub recipe: Recipe,
    /// Start, in seconds after the co-run's.
    pub start_s: f64,
    /// Longest run, in seconds.
    pub cap_s: f64,
    /// Whether the program starts again after a successful end.
    pub restart: bool,
}

#[derive(Clone, Debug)]
pub enum Run {
    Ended(Outcome),
    /// It was killed after this many seconds, its cap.
    Capped(f64),
}

#[derive(Debug)]
pub struct Corun {
    /// Start, in nanoseconds of CLOCK_MONOTONIC.
    pub start_ns: u64,
    pub runs: Vec<Vec<Run>>,
    /// Seconds to the last program's first end.
    pub makespan_s: f64,
}

enum State {
    Early,
    Running(Child),
    Over,
}

/// One turn of a co-run. Caches are filled anew in each turn, which takes less than a millisecond.
pub const TURN: Duration = Duration::from_millis(100);

/// Runs the programs at once. If one can't be started, all are killed.
pub fn corun(parts: &[Part], interrupt: &Interrupt) -> Result<Corun> {
    let mut running = Running::new(parts);
    loop {
        if let Some(corun) = running.advance(Duration::from_secs(1), interrupt)? {
            return Ok(corun);
        }
    }
}

/// Runs several co-runs by turns of length `turn`, beginning with number `first`.
pub fn by_turns(
    coruns: &[Vec<Part>],
    first: usize,
    turn: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<Corun>> {
    let mut running: Vec<Running> = coruns.iter().map(|parts| Running::new(parts)).collect();
    let mut done: Vec<Option<Corun>> = coruns.iter().map(|_| None).collect();
    for now in (0..coruns.len()).cycle().skip(first) {
        if done.iter().all(Option::is_some) {
            break;
        }
        if done[now].is_none() {
            done[now] = running[now].take_turn(turn, interrupt)?;
        }
    }
    Ok(done.into_iter().flatten().collect())
}

struct Running<'a> {
    parts: &'a [Part],
    states: Vec<State>,
    corun: Corun,
    /// Seconds that it has run, without stops.
    elapsed: f64,
}

impl<'a> Running<'a> {
    fn new(parts: &'a [Part]) -> Running<'a> {
        let runs = parts.iter().map(|_| Vec::new()).collect();
        let corun = Corun { start_ns: clock::now_ns(), runs, makespan_s: 0.0 };
        Running { parts, states: parts.iter().map(|_| State::Early).collect(), corun, elapsed: 0.0 }
    }

    /// Continues for `limit`; returns the result if the co-run has ended.
    fn advance(&mut self, limit: Duration, interrupt: &Interrupt) -> Result<Option<Corun>> {
        let (start_ns, before) = (clock::now_ns(), self.elapsed);
        let until = before + limit.as_secs_f64();
        loop {
            let elapsed = before + clock::seconds(start_ns, clock::now_ns());
            for ((part, state), runs) in self.parts.iter().zip(&mut self.states).zip(&mut self.corun.runs) {
                advance(part, state, runs, elapsed)?;
            }
            self.elapsed = before + clock::seconds(start_ns, clock::now_ns());
            if self.corun.runs.iter().all(|runs| !runs.is_empty()) {
                self.states.clear(); // dropping the children kills them
                let runs = std::mem::take(&mut self.corun.runs);
                return Ok(Some(Corun { runs, makespan_s: self.elapsed, ..self.corun }));
            }
            if self.elapsed >= until {
                return Ok(None);
            }
            let events = self.parts.iter().zip(&self.states);
            let wake = events.filter_map(|(part, state)| next_event(part, state, self.elapsed));
            let wait = wake.fold(until - self.elapsed, f64::min).max(0.0);
            let ends: Vec<BorrowedFd<'_>> = self.states.iter().filter_map(end).collect();
            interrupt.wait(&ends, Duration::from_secs_f64(wait))?;
        }
    }

    /// The same, stopped before and afterwards. What its programs run while they are woken and stopped
    /// counts.
    fn take_turn(&mut self, limit: Duration, interrupt: &Interrupt) -> Result<Option<Corun>> {
        let (start_ns, before) = (clock::now_ns(), self.elapsed);
        self.go_on(true);
        self.elapsed += clock::seconds(start_ns, clock::now_ns());
        let done = self.advance(limit, interrupt)?;
        self.go_on(false);
        self.elapsed = before + clock::seconds(start_ns, clock::now_ns());
        Ok(done)
    }

    fn go_on(&mut self, on: bool) {
        for state in &mut self.states {
            if let State::Running(child) = state {
                child.go_on(on);
            }
        }
    }
}

/// One program's step: from waiting to running, and from its end to its next start.
fn advance(part: &Part, state: &mut State, runs: &mut Vec<Run>, elapsed: f64) -> Result<()> {
    match state {
        State::Early if elapsed >= part.start_s => *state = State::Running(Child::start(&part.recipe)?),
        State::Running(child) => {
            if let Some(outcome) = child.ended()? {
                // A program that fails would fail again at once, and keep the machine busy.
                let again = part.restart && outcome.status.success();
                runs.push(Run::Ended(outcome));
                *state = if again { State::Running(Child::start(&part.recipe)?) } else { State::Over };
            } else if child.age() >= part.cap_s {
                runs.push(Run::Capped(part.cap_s));
                *state = State::Over; // dropping the child kills it
            }
        }
        State::Early | State::Over => {}
    }
    Ok(())
}

fn next_event(part: &Part, state: &State, elapsed: f64) -> Option<f64> {
    match state {
        State::Early => Some(part.start_s - elapsed),
        State::Running(child) => Some(part.cap_s - child.age()),
        State::Over => None,
    }
}

fn end(state: &State) -> Option<BorrowedFd<'_>> {
    match state {
        State::Running(child) => Some(child.end()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(script: &str, start_s: f64, restart: bool) -> Part {
        let arguments = vec!["-c".into(), script.into()];
        let recipe = Recipe::new("/bin/sh".into(), arguments);
        Part { recipe, start_s, cap_s: 0.8, restart }
    }

    #[test]
    fn short_programs_start_again_until_the_longest_has_ended_once() {
        let interrupt = Interrupt::install().unwrap();
        let parts = [part("sleep 0.1", 0.0, true), part("sleep 0.5", 0.0, true)];
        let found = corun(&parts, &interrupt).unwrap();
        assert!((2..=5).contains(&found.runs[0].len()), "{}", found.runs[0].len());
        assert_eq!(found.runs[1].len(), 1);
        assert!((0.5..0.8).contains(&found.makespan_s), "{}", found.makespan_s);
    }

    #[test]
    fn late_programs_start_late_and_once() {
        let interrupt = Interrupt::install().unwrap();
        let parts = [part("sleep 0.5", 0.0, true), part("sleep 0.01", 0.2, false)];
        let found = corun(&parts, &interrupt).unwrap();
        assert_eq!(found.runs[1].len(), 1);
        let Run::Ended(outcome) = &found.runs[1][0] else { panic!("capped") };
        assert!(clock::seconds(found.start_ns, outcome.ended_ns) >= 0.2);
    }

    #[test]
    fn a_program_at_its_cap_is_killed_and_reported_not_dropped() {
        let interrupt = Interrupt::install().unwrap();
        let found = corun(&[part("sleep 60", 0.0, true)], &interrupt).unwrap();
        assert!(matches!(found.runs[0][..], [Run::Capped(0.8)]));
    }

    #[test]
    fn coruns_that_take_turns_are_timed_without_their_stops() {
        let interrupt = Interrupt::install().unwrap();
        let script = "i=0; while [ $i -lt 30 ]; do sleep 0.01; i=$((i+1)); done";
        let coruns =
            [vec![part(script, 0.0, true)], vec![part(script, 0.0, true), part("sleep 0", 0.0, false)]];
        let found = by_turns(&coruns, 1, TURN, &interrupt).unwrap();
        assert_eq!(found.len(), 2);
        let mut both = 0.0;
        for corun in &found {
            let Run::Ended(outcome) = &corun.runs[0][0] else { panic!("capped") };
            assert!(outcome.seconds <= corun.makespan_s);
            let passed = clock::seconds(corun.start_ns, outcome.ended_ns);
            assert!(passed > outcome.seconds + 0.9 * TURN.as_secs_f64(), "{passed} {}", outcome.seconds);
            both += corun.makespan_s;
        }
        assert!(both <= clock::seconds(found[0].start_ns, clock::now_ns()), "{both}");
    }

    #[test]
    fn a_failing_program_isnt_started_again() {
        let interrupt = Interrupt::install().unwrap();
        let parts = [part("exit 1", 0.0, true), part("sleep 0.2", 0.0, true)];
        assert_eq!(corun(&parts, &interrupt).unwrap().runs[0].len(), 1);
    }
}
