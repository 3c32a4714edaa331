//! Turns that a broker carries out.

use super::turn::{Member, Turn};
use crate::broker::Broker;
use crate::broker::protocol::{Answer, Ask, Who};
use std::io;

/// Most failures that are asked for at once.
const MOST: usize = 64;

/// Tells who takes turns; gives the time between two switches in nanoseconds.
pub(super) fn take(broker: &Broker, turns: &[Turn]) -> io::Result<u64> {
    for turn in turns {
        let mut begins = true;
        for member in &turn.members {
            let who = Who { pid: member.pid, starttime: member.starttime };
            // Whom it refuses it doesn't stop: who has just ended, say.
            let answer = broker.ask(&Ask::Member { begins, slices: turn.slices, who })?;
            begins &= answer.done().is_err();
        }
    }
    broker.ask(&Ask::TakeTurns)?.done()
}

/// Who couldn't be stopped, and why.
pub(super) fn failed(broker: &Broker) -> Vec<(Member, String)> {
    let next = || match broker.ask(&Ask::Unstopped) {
        Ok(Answer::Unstopped(who, why)) => Some((Member { pid: who.pid, starttime: who.starttime }, why)),
        _ => None,
    };
    std::iter::from_fn(next).take(MOST).collect()
}
