//! A copy of the daemon's history, updated by requests for what is new.

use scafd::control::{Frame, History as Answer, Snapshot};
use scafd::history::History;

/// The moments of one daemon.
#[derive(Debug, Default)]
pub struct Feed {
    history: History,
    daemon: u32,
}

impl Feed {
    /// The daemon's process id: another daemon numbers its moments anew. 0 before any is known.
    pub fn daemon(&self) -> u32 {
        self.daemon
    }

    /// Number of the latest moment that is known, to ask for those after it.
    pub fn moment(&self) -> u64 {
        self.latest().map_or(0, |latest| latest.moment)
    }

    /// The latest moment.
    pub fn latest(&self) -> Option<&Snapshot> {
        self.history.latest()
    }

    /// Adds a daemon's answer, and passes each new frame to `look`, with the state before it. True if there
    /// is more to ask for.
    pub fn take(&mut self, answer: Answer, mut look: impl FnMut(&Snapshot, &Frame)) -> bool {
        let another = answer.daemon != self.daemon && self.daemon != 0;
        self.daemon = answer.daemon;
        match answer.base {
            Some(base) => self.history.begin(*base),
            // Another daemon numbers its moments anew: ask for all of them.
            None if another => {
                self.history = History::default();
                return true;
            }
            None => {}
        }
        for frame in answer.frames {
            match self.latest() {
                Some(latest) if latest.moment + 1 == frame.moment => look(latest, &frame),
                _ => continue,
            }
            self.history.add(frame);
        }
        self.moment() < answer.latest
    }

    /// As many moments as are sent at once after that moment of that daemon.
    pub fn since(&self, daemon: u32, moment: u64) -> Answer {
        let known = if daemon == self.daemon { moment } else { 0 };
        Answer { daemon: self.daemon, ..self.history.since(known, None) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ps::tests::{program, snapshot};
    use scafd::control::Program;

    /// The answer of a daemon whose moments are a quarter of a second apart, with so many contexts at each.
    pub(crate) fn answer(daemon: u32, dops: &[u32]) -> Answer {
        let mut history = History::default();
        for (at, dop) in dops.iter().enumerate() {
            let cg = Program { name: "cg".into(), dop: Some(*dop), ..program() };
            let now_ns = 250_000_000 * at as u64;
            history.keep(Snapshot { now_ns, decisions: at as u64, ..snapshot(vec![cg]) });
        }
        Answer { daemon, ..history.since(0, None) }
    }

    #[test]
    fn what_was_received_is_passed_on() {
        let mut feed = Feed::default();
        let mut seen = Vec::new();
        let more = feed.take(answer(7, &[1, 2, 3]), |before, frame| seen.push((before.moment, frame.moment)));
        assert!(!more);
        assert_eq!((feed.moment(), seen), (3, vec![(1, 2), (2, 3)]));
        assert_eq!(feed.since(0, 0), answer(7, &[1, 2, 3]));
        let rest = feed.since(7, 2);
        assert_eq!((rest.base, rest.frames.len()), (None, 1));
        // Another daemon's numbers mean nothing here.
        assert!(feed.since(6, 2).base.is_some());
    }

    #[test]
    fn of_another_daemon_all_is_asked_for_anew() {
        let mut feed = Feed::default();
        feed.take(answer(7, &[1, 2, 3]), |_, _| {});
        let news = Answer { base: None, ..answer(8, &[4, 5]) };
        assert!(feed.take(news, |_, _| panic!("frames of another history")));
        assert_eq!((feed.moment(), feed.daemon()), (0, 8));
        assert!(!feed.take(answer(8, &[4, 5]), |_, _| {}));
        assert_eq!(feed.latest().unwrap().programs[0].dop, Some(5));
    }
}
