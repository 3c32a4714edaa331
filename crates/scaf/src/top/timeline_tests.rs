use super::*;
use crate::ps::tests::{program, snapshot};
use scafd::control::Program;

/// A moment with programs of these numbers and contexts.
pub(crate) fn moment(at_ns: u64, programs: &[(u64, u32)]) -> Snapshot {
    let made = |&(id, dop): &(u64, u32)| Program {
        id,
        pid: 1000 + id as u32,
        name: format!("p{id}"),
        dop: Some(dop),
        ..program()
    };
    Snapshot { now_ns: at_ns, ..snapshot(programs.iter().map(made).collect()) }
}

fn answer(history: &History, after: u64) -> Answer {
    history.since(after, None)
}

#[test]
fn what_a_daemon_tells_is_followed_and_can_be_gone_through() {
    let mut history = History::default();
    let mut timeline = Timeline::new();
    for at in 1..=20u64 {
        history.keep(moment(at * 1_000_000_000, &[(1, at as u32), (2, 1)][..if at > 5 { 2 } else { 1 }]));
        timeline.take(answer(&history, timeline.latest()));
        assert_eq!(timeline.view().map(|it| it.moment), Some(at));
    }
    timeline.step(-1);
    assert_eq!((timeline.view().unwrap().moment, timeline.follows()), (19, false));
    timeline.travel(-10_000_000_000);
    assert_eq!((timeline.view().unwrap().moment, timeline.view().unwrap().programs[0].dop), (9, Some(9)));
    timeline.step(-100);
    assert_eq!((timeline.view().unwrap().moment, timeline.view().unwrap().programs.len()), (1, 1));
    timeline.step(7);
    assert_eq!(timeline.view().unwrap().programs.len(), 2);
    history.keep(moment(21_000_000_000, &[(2, 8)]));
    timeline.take(answer(&history, timeline.latest()));
    assert_eq!(timeline.view().unwrap().moment, 8);
    timeline.follow();
    assert_eq!(timeline.view().unwrap().programs[0].id, 2);
    assert_eq!(timeline.series(1).map(|it| [4, 12, 21].map(|s| it.at(s * 1_000_000_000))), Some([4, 12, 0]));
    let happened: Vec<&What> = timeline.events().iter().map(|event| &event.what).collect();
    assert_eq!(happened, [&What::Arrival(2, "p2".into()), &What::Departure(1, "p1".into())]);
}

#[test]
fn another_daemon_begins_anew() {
    let mut history = History::default();
    (1..=5).for_each(|at| history.keep(moment(at, &[(1, 2)])));
    let mut timeline = Timeline::new();
    timeline.take(answer(&history, 0));
    let other = Answer { daemon: 1, ..answer(&history, 5) };
    assert!(timeline.take(other));
    assert_eq!(timeline.latest(), 0);
    timeline.take(Answer { daemon: 1, ..answer(&history, 0) });
    assert_eq!(timeline.view().map(|it| it.moment), Some(5));
}

#[test]
fn a_recording_is_looked_at_from_its_beginning() {
    let moments = (0..4000u64).map(|at| moment(at * 1_000_000_000, &[(1, 1 + (at % 3) as u32)]));
    let mut timeline = Timeline::recorded(moments);
    assert_eq!((timeline.view().unwrap().moment, timeline.latest()), (1, 4000));
    timeline.go_to_time(3_000_500_000_000);
    assert_eq!(timeline.view().unwrap().now_ns, 3_000_000_000_000);
}
