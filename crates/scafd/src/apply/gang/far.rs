//! Turns that a broker carries out.

use super::turn::{Member, Turn};
use crate::broker::Broker;
use crate::broker::wire::{Answer, Ask, Who};
use std::io;

/// Most failures that are asked for at once.
const MOST: usize = 64;

/// Tells who takes turns; gives the time between two switches in nanoseconds.
pub(super) fn take(broker: &Broker, turns: &[Turn]) -> io::Result<u64> {
    for turn in turns {
        for (at, member) in turn.members.iter().enumerate() {
            let who = Who { pid: member.pid, starttime: member.starttime };
            // Whom it doesn't know it doesn't stop: it has just left.
            broker.ask(&Ask::Member { begins: at == 0, slices: turn.slices, who })?;
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
