//! All known moments, and the one that is shown.

use scafd::control::{Frame, History as Answer, Snapshot};
use scafd::history::History;
use std::collections::{BTreeMap, BTreeSet};

/// A program's contexts over time: when they changed, in nanoseconds, and to how many. 0 while it isn't
/// there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    changes: Vec<(u64, u32)>,
}

impl Series {
    fn push(&mut self, at_ns: u64, contexts: u32) {
        if self.changes.last().is_none_or(|last| last.1 != contexts) {
            self.changes.push((at_ns, contexts));
        }
    }

    /// How many it had then.
    pub fn at(&self, ns: u64) -> u32 {
        let after = self.changes.partition_point(|change| change.0 <= ns);
        after.checked_sub(1).and_then(|at| self.changes.get(at)).map_or(0, |change| change.1)
    }

    fn is_over_before(&self, ns: u64) -> bool {
        self.changes.last().is_none_or(|last| last.1 == 0 && last.0 < ns)
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, in nanoseconds of CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// What.
    pub what: What,
}

/// See [`Event`].
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A program came: its number and name.
    Arrival(u64, String),
    /// A program left.
    Departure(u64, String),
    /// Another policy is in force.
    Policy(String),
    /// The daemon logged so many warnings.
    Warnings(u64),
}

const MOST_EVENTS: usize = 500;

/// All known moments, and the one that is shown.
#[derive(Debug, Default)]
pub struct Timeline {
    history: History,
    daemon: u32,
    /// The shown moment; `None` before any is known.
    view: Option<Snapshot>,
    /// Whether it follows the latest moment.
    follows: bool,
    series: BTreeMap<u64, Series>,
    /// By which each program has its letter and colour for as long as it is known.
    slots: BTreeMap<u64, usize>,
    events: Vec<Event>,
}

impl Timeline {
    /// Of a daemon that is yet to be asked.
    pub fn new() -> Timeline {
        Timeline { follows: true, ..Timeline::default() }
    }

    /// Of a recording, shown from its beginning.
    pub fn recorded(moments: impl Iterator<Item = Snapshot>) -> Timeline {
        let mut timeline = Timeline { history: History::unbounded(), ..Timeline::default() };
        for moment in moments {
            match timeline.history.next(moment) {
                Ok(frame) => timeline.add(frame),
                Err(first) => {
                    timeline.history.begin(*first);
                    timeline.begin();
                }
            }
        }
        timeline.view = timeline.history.base().cloned();
        timeline
    }

    /// Number of the latest moment that is known, to ask for those after it.
    pub fn latest(&self) -> u64 {
        self.history.latest().map_or(0, |latest| latest.moment)
    }

    /// The latest moment.
    pub fn now(&self) -> Option<&Snapshot> {
        self.history.latest()
    }

    /// Adds a daemon's answer. True if there is more to ask for.
    pub fn take(&mut self, answer: Answer) -> bool {
        let another = answer.daemon != self.daemon && self.daemon != 0;
        self.daemon = answer.daemon;
        match answer.base {
            Some(base) => {
                self.history.begin(*base);
                self.begin();
            }
            // Another daemon numbers its moments anew: ask for all of them.
            None if another => {
                *self = Timeline { follows: self.follows, ..Timeline::default() };
                return true;
            }
            None => {}
        }
        answer.frames.into_iter().for_each(|frame| self.add(frame));
        self.forget();
        if self.follows {
            self.show_latest();
        }
        self.latest() < answer.latest
    }

    fn begin(&mut self) {
        self.series.clear();
        self.slots.clear();
        self.events.clear();
        let Some(base) = self.history.base() else { return };
        for program in &base.programs {
            slot(&mut self.slots, program.id);
            self.series.entry(program.id).or_default().push(base.now_ns, program.dop.unwrap_or(0));
        }
        self.view = Some(base.clone());
    }

    /// Adds the moment after the latest one, and nothing else.
    fn add(&mut self, frame: Frame) {
        if self.latest() + 1 == frame.moment {
            self.record(&frame);
            self.history.add(frame);
        }
    }

    /// Adds a frame to the series and the events.
    fn record(&mut self, frame: &Frame) {
        let at_ns = frame.now_ns;
        let mut happened = |what: What| self.events.push(Event { at_ns, what });
        for program in &frame.arrived {
            happened(What::Arrival(program.id, program.name.clone()));
            slot(&mut self.slots, program.id);
            self.series.entry(program.id).or_default().push(at_ns, program.dop.unwrap_or(0));
        }
        for id in &frame.left {
            let name = self.history.latest().and_then(|it| it.programs.iter().find(|it| it.id == *id));
            happened(What::Departure(*id, name.map_or_else(String::new, |it| it.name.clone())));
            self.series.entry(*id).or_default().push(at_ns, 0);
        }
        for grant in &frame.grants {
            self.series.entry(grant.id).or_default().push(at_ns, grant.dop.unwrap_or(0));
        }
        if let (Some(setting), Some(before)) = (&frame.setting, self.history.latest())
            && setting.policy != before.policy
        {
            happened(What::Policy(setting.policy.clone()));
        }
        if let Some(more) = self.history.latest().and_then(|it| frame.warnings.checked_sub(it.warnings))
            && more > 0
        {
            happened(What::Warnings(more));
        }
        if self.events.len() > MOST_EVENTS {
            self.events.drain(..MOST_EVENTS / 2);
        }
    }

    fn forget(&mut self) {
        let Some(oldest_ns) = self.history.base().map(|base| base.now_ns) else { return };
        self.series.retain(|_, series| !series.is_over_before(oldest_ns));
        self.slots.retain(|id, _| self.series.contains_key(id));
    }

    fn show_latest(&mut self) {
        let Some(latest) = self.history.latest() else { return };
        if self.view.as_ref().is_none_or(|view| view.moment != latest.moment) {
            self.view = Some(latest.clone());
        }
    }

    /// The shown moment.
    pub fn view(&self) -> Option<&Snapshot> {
        self.view.as_ref()
    }

    /// Whether the latest moment is shown.
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// Shows the latest moment from now on.
    pub fn follow(&mut self) {
        self.follows = true;
        self.show_latest();
    }

    /// Stays at the shown moment.
    pub fn stay(&mut self) {
        self.follows = false;
    }

    /// Goes by so many moments, back if that is negative, and stays there.
    pub fn step(&mut self, by: i64) {
        if let Some(at) = self.view.as_ref().map(|view| view.moment) {
            self.go_to(at.saturating_add_signed(by));
        }
    }

    /// Goes to the last moment no later than `ns` from the shown one, and stays there.
    pub fn travel(&mut self, ns: i64) {
        let Some(view) = &self.view else { return };
        self.go_to_time(view.now_ns.saturating_add_signed(ns));
    }

    /// Goes to the last moment that was no later than that.
    pub fn go_to_time(&mut self, ns: u64) {
        let Some(base) = self.history.base() else { return };
        // Frames are in order of time.
        let (mut low, mut high) = (0, self.history.frames().len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let later = self.history.frame(middle).is_none_or(|frame| frame.now_ns > ns);
            if later { high = middle } else { low = middle + 1 }
        }
        self.go_to(base.moment + low as u64);
    }

    fn go_to(&mut self, moment: u64) {
        self.follows = false;
        let (Some(base), Some(latest)) = (self.history.base(), self.history.latest()) else { return };
        let moment = moment.clamp(base.moment, latest.moment);
        if moment == latest.moment {
            self.view = Some(latest.clone());
            return;
        }
        let mut view = match self.view.take() {
            Some(view) if (base.moment..=moment).contains(&view.moment) => view,
            _ => base.clone(),
        };
        let from = (view.moment - base.moment) as usize;
        let to = (moment - base.moment) as usize;
        (from..to).filter_map(|at| self.history.frame(at)).for_each(|frame| view.advance(frame));
        self.view = Some(view);
    }

    /// The first and the last moment's time, in nanoseconds.
    pub fn span_ns(&self) -> (u64, u64) {
        let ns = |of: Option<&Snapshot>| of.map_or(0, |it| it.now_ns);
        (ns(self.history.base()), ns(self.history.latest()))
    }

    /// A program's contexts over time.
    pub fn series(&self, program: u64) -> Option<&Series> {
        self.series.get(&program)
    }

    /// A number by which a program has its letter and colour, small and its own for as long as it is known.
    pub fn slot(&self, program: u64) -> usize {
        self.slots.get(&program).copied().unwrap_or(0)
    }

    /// Events until the shown moment, the latest last.
    pub fn events(&self) -> &[Event] {
        let now_ns = self.view.as_ref().map_or(0, |view| view.now_ns);
        let until = self.events.partition_point(|event| event.at_ns <= now_ns);
        self.events.get(..until).unwrap_or_default()
    }
}

/// Gives a program the first slot that is free.
fn slot(slots: &mut BTreeMap<u64, usize>, program: u64) {
    let taken: BTreeSet<usize> = slots.values().copied().collect();
    let free = (0..).find(|slot| !taken.contains(slot)).unwrap_or(0);
    slots.entry(program).or_insert(free);
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
pub(crate) mod tests;
