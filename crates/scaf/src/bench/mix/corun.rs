//! Several programs at once, until each has been through at least once.
//!
//! Programs start at their times. One that ends starts again (unless it is to run once), so that the others keep
//! their neighbour; when the last of them has come to its first end, whatever still runs is killed and doesn't count.

use super::super::child::{Child, Outcome, Recipe};
use super::super::clock;
use super::super::interrupt::Interrupt;
use anyhow::Result;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// A program in a co-run.
pub struct Part {
    /// How to start it.
    pub recipe: Recipe,
    /// When, in seconds after the first.
    pub start_s: f64,
    /// Longest run, in seconds.
    pub cap_s: f64,
    /// Whether it starts again.
    pub restart: bool,
}

/// One run of one program.
#[derive(Clone, Debug)]
pub enum Run {
    /// It came to its end, in whatever way.
    Ended(Outcome),
    /// It was killed after this many seconds, its cap.
    Capped(f64),
}

/// What happened.
#[derive(Debug)]
pub struct Corun {
    /// When it began, in nanoseconds of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Runs of each program.
    pub runs: Vec<Vec<Run>>,
    /// Seconds to the last program's first end.
    pub makespan_s: f64,
}

enum State {
    /// It has to wait for its time.
    Early,
    Running(Child),
    /// It doesn't start again.
    Over,
}

/// Runs the programs at once.
///
/// # Errors
/// One can't be started, or the user interrupts. Whatever runs is killed.
pub fn corun(parts: &[Part], interrupt: &Interrupt) -> Result<Corun> {
    let start_ns = clock::now_ns();
    let mut states: Vec<State> = parts.iter().map(|_| State::Early).collect();
    let mut runs: Vec<Vec<Run>> = parts.iter().map(|_| Vec::new()).collect();
    loop {
        let elapsed = clock::seconds(start_ns, clock::now_ns());
        for ((part, state), runs) in parts.iter().zip(&mut states).zip(&mut runs) {
            advance(part, state, runs, elapsed)?;
        }
        if runs.iter().all(|runs| !runs.is_empty()) {
            let makespan_s = clock::seconds(start_ns, clock::now_ns());
            return Ok(Corun { start_ns, runs, makespan_s });
        }
        let elapsed = clock::seconds(start_ns, clock::now_ns());
        let wake = parts.iter().zip(&states).filter_map(|(part, state)| next_event(part, state, elapsed));
        let limit = wake.fold(1.0, f64::min).max(0.0);
        let ends: Vec<BorrowedFd<'_>> = states.iter().filter_map(end).collect();
        interrupt.wait(&ends, Duration::from_secs_f64(limit))?;
    }
}

/// One program's step: from its start time to running, from its end to its next start.
fn advance(part: &Part, state: &mut State, runs: &mut Vec<Run>, elapsed: f64) -> Result<()> {
    match state {
        State::Early if elapsed >= part.start_s => *state = State::Running(Child::start(&part.recipe)?),
        State::Running(child) => {
            if let Some(outcome) = child.ended()? {
                // One that fails would fail again at once, and keep the machine busy with that.
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

/// Seconds to the next thing that the clock brings about.
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
        let recipe = Recipe { program: "/bin/sh".into(), arguments, environment: vec![], pus: None };
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
    fn a_failing_program_isnt_started_again() {
        let interrupt = Interrupt::install().unwrap();
        let parts = [part("exit 1", 0.0, true), part("sleep 0.2", 0.0, true)];
        assert_eq!(corun(&parts, &interrupt).unwrap().runs[0].len(), 1);
    }
}
