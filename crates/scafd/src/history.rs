//! The last ten minutes: what each program had and how it did, four times a second.
//!
//! The state at the oldest moment is kept, and of each moment after it what changed ([`Frame`]), in
//! [`MOST_BYTES`] at most. Viewers keep what they receive in the same way.

mod changes;

use crate::control::{self, Frame, Others, Program, Snapshot};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// For how long moments are kept.
pub const KEPT_NS: u64 = 600_000_000_000;
/// Memory that all moments may take, roughly.
pub const MOST_BYTES: usize = 8 << 20;
/// Bytes of moments sent at a time, roughly: writing them takes a millisecond or two.
const ANSWER_BYTES: usize = 128 << 10;
/// Least time between two moments that ticks make, less what a tick may come early.
const TICK_NS: u64 = 240_000_000;
/// Least time between two moments: so long an arrival waits at most until viewers see it.
pub const REST_NS: u64 = 50_000_000;

/// How many programs of each user there are, and the contexts that they have.
type ByUser = BTreeMap<u32, Others>;

#[derive(Debug)]
struct Kept {
    frame: Frame,
    users: Arc<ByUser>,
    bytes: usize,
}

/// The history.
#[derive(Debug, Default)]
pub struct History {
    /// The state before the oldest frame, and the latest one; `None` before the first.
    ends: Option<(Snapshot, Snapshot)>,
    kept: VecDeque<Kept>,
    bytes: usize,
    /// The user of each program that is in any of these.
    owners: BTreeMap<u64, u32>,
    users: Arc<ByUser>,
    asked: bool,
    unbounded: bool,
}

impl History {
    /// One that forgets nothing.
    pub fn unbounded() -> History {
        History { unbounded: true, ..History::default() }
    }

    /// A decision was made between ticks, so a moment is to be kept soon.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// Whether this moment is to be kept; `tick` if programs were just measured.
    pub fn is_due(&self, now_ns: u64, tick: bool) -> bool {
        let Some(latest) = self.latest() else { return true };
        let since_ns = now_ns.saturating_sub(latest.now_ns);
        self.asked && since_ns >= REST_NS || tick && since_ns >= TICK_NS
    }

    /// When a moment has to be kept, in nanoseconds of CLOCK_MONOTONIC.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.latest().filter(|_| self.asked).map(|latest| latest.now_ns + REST_NS)
    }

    /// The latest moment.
    pub fn latest(&self) -> Option<&Snapshot> {
        self.ends.as_ref().map(|(_, latest)| latest)
    }

    /// The state before the first of [`History::frames`].
    pub fn base(&self) -> Option<&Snapshot> {
        self.ends.as_ref().map(|(base, _)| base)
    }

    /// The moments after it.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &Frame> + DoubleEndedIterator {
        self.kept.iter().map(|kept| &kept.frame)
    }

    /// The frame at that place in [`History::frames`].
    pub fn frame(&self, at: usize) -> Option<&Frame> {
        self.kept.get(at).map(|kept| &kept.frame)
    }

    /// Begins anew with that state.
    pub fn begin(&mut self, base: Snapshot) {
        let owners = base.programs.iter().map(|program| (program.id, program.uid)).collect();
        let users = Arc::new(by_user(&base.programs));
        let unbounded = self.unbounded;
        *self = History { ends: Some((base.clone(), base)), owners, users, unbounded, ..History::default() };
    }

    /// Adds this moment.
    pub fn keep(&mut self, now: Snapshot) {
        self.asked = false;
        match self.next(now) {
            Ok(frame) => _ = self.add(frame),
            Err(first) => self.begin(*first),
        }
    }

    /// The frame of this moment; the moment itself where it is the first.
    pub fn next(&self, mut now: Snapshot) -> Result<Frame, Box<Snapshot>> {
        now.moment = self.latest().map_or(0, |latest| latest.moment) + 1;
        now.programs.iter_mut().for_each(changes::slim);
        now.tried.clear();
        now.other_versions.clear();
        match self.latest() {
            None => Err(Box::new(now)),
            Some(latest) => Ok(changes::between(latest, &now)),
        }
    }

    /// Adds the moment after the latest one. False, without effect, for any other.
    pub fn add(&mut self, frame: Frame) -> bool {
        let Some((_, latest)) = self.ends.as_mut().filter(|(_, it)| it.moment + 1 == frame.moment) else {
            return false;
        };
        latest.advance(&frame);
        self.owners.extend(frame.arrived.iter().map(|program| (program.id, program.uid)));
        if !(frame.arrived.is_empty() && frame.left.is_empty() && frame.grants.is_empty()) {
            let users = by_user(&latest.programs);
            if users != *self.users {
                self.users = Arc::new(users);
            }
        }
        let bytes = changes::bytes(&frame) + size_of::<Kept>();
        self.bytes += bytes;
        self.kept.push_back(Kept { frame, users: Arc::clone(&self.users), bytes });
        self.forget();
        true
    }

    fn forget(&mut self) {
        let Some((base, latest)) = self.ends.as_mut().filter(|_| !self.unbounded) else { return };
        let old = |kept: &Kept| latest.now_ns.saturating_sub(kept.frame.now_ns) > KEPT_NS;
        while let Some(oldest) = self.kept.pop_front_if(|it| self.bytes > MOST_BYTES || old(it)) {
            base.advance(&oldest.frame);
            oldest.frame.left.iter().for_each(|id| _ = self.owners.remove(id));
            self.bytes -= oldest.bytes;
        }
    }

    /// The first moments after the one of that number, at least one if there is one, as many as can be sent
    /// at once. With `uid`, only that user's programs are sent.
    pub fn since(&self, moment: u64, uid: Option<u32>) -> control::History {
        let daemon = std::process::id();
        let Some((base, latest)) = &self.ends else {
            return control::History { daemon, oldest: 0, latest: 0, base: None, frames: Vec::new() };
        };
        let known = (base.moment..=latest.moment).contains(&moment);
        let seen = |base: &Snapshot| match uid {
            None => base.clone(),
            Some(uid) => base.clone().seen_by(uid),
        };
        let skipped = if known { (moment - base.moment) as usize } else { 0 };
        let mut bytes = 0;
        let fits = |kept: &&Kept| {
            let first = bytes == 0;
            bytes += kept.bytes;
            first || bytes <= ANSWER_BYTES
        };
        control::History {
            daemon,
            oldest: base.moment,
            latest: latest.moment,
            base: (!known).then(|| Box::new(seen(base))),
            frames: self.kept.iter().skip(skipped).take_while(fits).map(|it| self.seen_by(it, uid)).collect(),
        }
    }

    fn seen_by(&self, kept: &Kept, uid: Option<u32>) -> Frame {
        let Some(uid) = uid else { return kept.frame.clone() };
        let others = kept.users.iter().filter(|(other, _)| **other != uid);
        let others = others.fold(Others::default(), |sum, (_, of)| sum.and(*of));
        kept.frame.seen_by(|id| self.owners.get(&id) == Some(&uid), others)
    }
}

fn by_user(programs: &[Program]) -> ByUser {
    let mut users = ByUser::new();
    for program in programs {
        let of = users.entry(program.uid).or_default();
        *of = of.and(Others::of([program.dop].into_iter()));
    }
    users
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
