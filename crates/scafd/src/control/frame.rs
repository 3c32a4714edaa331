//! The history as it is kept and sent: the state at one moment, and from there on what changed.
//!
//! A viewer has the state at some moment and asks for the frames after it. [`Snapshot::advance`] makes the
//! state at the next moment from a frame. So all that a view shows is a [`Snapshot`], of now or of then.

use super::snapshot::{Frame, Program, Snapshot};
use serde::{Deserialize, Serialize};

/// An answer to [`super::Request::History`]: as many frames as are sent at once. Ask again after the last of
/// them until that is the latest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Process id of the daemon; each daemon numbers its moments from 1.
    pub daemon: u32,
    /// Number of the oldest moment that is kept. Ten minutes are, or as many as fit 8 MiB: of 256 programs
    /// that all change all the time some minutes.
    pub oldest: u64,
    /// Number of the latest moment.
    pub latest: u64,
    /// The state before the first frame, where whoever asked can't have it.
    pub base: Option<Box<Snapshot>>,
    /// What changed from each moment to the next, in order.
    pub frames: Vec<Frame>,
}

impl Snapshot {
    /// Makes this the state at the frame's moment, if it is the one before. Programs that it doesn't have are
    /// passed over.
    pub fn advance(&mut self, frame: &Frame) {
        frame.apply(self);
        self.others = frame.others;
        if let Some(setting) = &frame.setting {
            setting.apply(self);
        }
        if !frame.left.is_empty() {
            self.programs.retain(|program| !frame.left.contains(&program.id));
        }
        if !frame.arrived.is_empty() {
            self.programs.extend(frame.arrived.iter().cloned());
            self.programs.sort_by_key(|program| program.id);
        }
        for grant in &frame.grants {
            self.with(grant.id, |program| grant.apply(program));
        }
        for numbers in &frame.numbers {
            self.with(numbers.id, |program| numbers.apply(program));
        }
        for curve in &frame.curves {
            self.with(curve.id, |program| program.curve.clone_from(&curve.points));
        }
    }

    /// Programs stand in order of their numbers.
    fn with(&mut self, id: u64, change: impl FnOnce(&mut Program)) {
        let found = self.programs.binary_search_by_key(&id, |program| program.id).ok();
        if let Some(program) = found.and_then(|at| self.programs.get_mut(at)) {
            change(program);
        }
    }
}
