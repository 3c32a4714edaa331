//! Tests of tasks, and of what they depend on.

use super::*;
use proptest::prelude::*;

type Small = TaskTable<64, 64>;
const WORK: Work = Work { body: 1, data: 2, is_final: false, may_drop: true };

fn place(parent: Number, group: Number) -> Place {
    Place { parent, group, own: false }
}

/// Whether the later of two tasks with these dependences waits for the earlier one.
fn conflict(earlier: &[(usize, Kind)], later: &[(usize, Kind)]) -> bool {
    let beside = |a: Kind, b: Kind| a == b && a != Kind::Out;
    earlier.iter().any(|a| later.iter().any(|b| a.0 == b.0 && !beside(a.1, b.1)))
}

fn need() -> impl Strategy<Value = (usize, Kind)> {
    (0usize..4, prop_oneof![Just(Kind::In), Just(Kind::Out), Just(Kind::Set)])
}

proptest! {
    #[test]
    fn a_task_runs_when_all_that_it_depends_on_are_over(
        needs in prop::collection::vec(prop::collection::vec(need(), 0..3), 1..40),
        turns in prop::collection::vec(any::<u8>(), 400),
    ) {
        let mut tasks = Box::new(Small::new());
        let parent = tasks.open().unwrap();
        let (mut created, mut over, mut running) = (0, vec![false; needs.len()], Vec::new());
        for turn in turns.into_iter().chain(std::iter::repeat_n(1, 200)) {
            if turn % 3 == 0 && created < needs.len() {
                let number = tasks.open().unwrap();
                let work = Work { data: created, ..WORK };
                let its = needs[created].iter().copied();
                let waits = needs.iter().zip(&over).take(created)
                    .any(|(earlier, over)| !over && conflict(earlier, &needs[created]));
                prop_assert_eq!(tasks.would_wait(parent, its.clone()), waits);
                let before = tasks.ready();
                if !tasks.defer(number, place(parent, NONE), work, its) {
                    tasks.close(number);
                    continue;
                }
                prop_assert_eq!(tasks.ready() == before, waits);
                created += 1;
            } else if turn % 3 == 1 && !running.is_empty() {
                let (number, which): (Number, usize) = running.remove(turn as usize % running.len());
                if turn % 5 == 0 {
                    tasks.again(number);
                } else {
                    over[which] = true;
                    tasks.finish(number);
                }
            } else {
                let who = if turn % 2 == 0 { For::Team } else { For::Parent(parent) };
                if let Some((number, work, _)) = tasks.take(who) {
                    for earlier in 0..work.data {
                        prop_assert!(over[earlier] || !conflict(&needs[earlier], &needs[work.data]));
                    }
                    running.push((number, work.data));
                }
            }
            let left = over.iter().take(created).filter(|over| !**over).count();
            prop_assert_eq!((tasks.left() as usize, tasks.left_of(parent) as usize), (left, left));
        }
        while created > over.iter().filter(|over| **over).count() {
            let Some((number, work, _)) = tasks.take(For::Team).or_else(|| {
                running.pop().map(|(number, data)| (number, Work { data, ..WORK }, NONE))
            }) else {
                prop_assert!(false, "a task is never ready");
                return Ok(());
            };
            over[work.data] = true;
            tasks.finish(number);
        }
        prop_assert_eq!((tasks.left(), tasks.ready()), (0, 0));
    }
}

#[test]
fn a_task_that_has_ended_keeps_its_record_until_its_children_are_over() {
    let mut tasks = Box::new(Small::new());
    let root = tasks.open().unwrap();
    // Each creates the next and ends: records are used again.
    let mut last = tasks.open().unwrap();
    assert!(tasks.defer(last, place(root, NONE), WORK, std::iter::empty()));
    for _ in 0..1_000 {
        assert_eq!(tasks.take(For::Team), Some((last, WORK, NONE)));
        let next = tasks.open().unwrap();
        assert!(tasks.defer(next, place(last, NONE), WORK, std::iter::empty()));
        tasks.finish(last);
        assert_eq!((tasks.left(), tasks.left_of(last)), (1, 1));
        last = next;
    }
}

#[test]
fn a_task_that_goes_on_does_so_behind_all_others() {
    let mut tasks = Box::new(Small::new());
    let root = tasks.open().unwrap();
    let group = tasks.open_group(NONE).unwrap();
    let [a, b, c] = [(); 3].map(|()| {
        let number = tasks.open().unwrap();
        assert!(tasks.defer(number, place(root, group), WORK, std::iter::empty()));
        number
    });
    for who in [For::Parent(root), For::Group(group)] {
        for task in [c, b, a, c, b, a] {
            assert_eq!(tasks.take(who).map(|(number, ..)| number), Some(task));
            tasks.again(task);
        }
    }
    assert_eq!((tasks.left_of(root), tasks.left_of(group), tasks.ready()), (3, 3, 3));
    for task in [c, b, a] {
        assert_eq!(tasks.take(For::Team).map(|(number, ..)| number), Some(task));
        tasks.finish(task);
    }
    assert_eq!((tasks.left_of(root), tasks.left_of(group), tasks.left()), (0, 0, 0));
}

#[test]
fn groups_and_parents_have_their_own_and_the_newest_first() {
    let mut tasks = Box::new(Small::new());
    let root = tasks.open().unwrap();
    let group = tasks.open_group(NONE).unwrap();
    let mut new = |place| {
        let number = tasks.open().unwrap();
        assert!(tasks.defer(number, place, WORK, std::iter::empty()));
        number
    };
    let [a, b, c] = [place(root, NONE), place(root, group), place(root, group)].map(&mut new);
    let d = new(Place { own: true, ..place(root, group) });
    let mut take = |who| tasks.take(who).map(|(number, _, group)| (number, group));
    assert_eq!(take(For::Group(group)), Some((d, group)));
    assert_eq!(take(For::Team), Some((a, NONE)));
    assert_eq!(take(For::Parent(root)), Some((c, group)));
    assert_eq!(take(For::Group(group)), Some((b, group)));
    assert_eq!([take(For::Group(group)), take(For::Team), take(For::Parent(root))], [None; 3]);
    assert_eq!((tasks.left_of(root), tasks.left_of(group)), (4, 3));
    [a, b, c, d].into_iter().for_each(|number| tasks.finish(number));
    assert_eq!((tasks.left_of(root), tasks.left_of(group), tasks.ready()), (0, 0, 0));
    assert_eq!(tasks.close_group(group), NONE);
}

#[test]
fn a_group_has_the_reductions_of_the_one_around_it_or_its_own() {
    let mut tasks = Box::new(Small::new());
    let outer = tasks.open_group(NONE).unwrap();
    assert_eq!((tasks.reductions(NONE), tasks.reductions(outer)), (0, 0));
    tasks.set_reductions(outer, 8);
    let inner = tasks.open_group(outer).unwrap();
    assert_eq!(tasks.reductions(inner), 8);
    tasks.set_reductions(inner, 9);
    assert_eq!((tasks.reductions(outer), tasks.reductions(inner)), (8, 9));
    assert_eq!(tasks.close_group(inner), outer);
    // The record is used again.
    let other = tasks.open_group(NONE).unwrap();
    assert_eq!((other, tasks.reductions(other)), (inner, 0));
}

#[test]
fn without_room_nothing_is_done() {
    let mut tasks = Box::new(TaskTable::<8, 4>::new());
    let root = tasks.open().unwrap();
    let number = tasks.open().unwrap();
    let many = (0..9).map(|address| (address, Kind::Out));
    assert!(!tasks.defer(number, place(root, NONE), WORK, many));
    assert_eq!((tasks.left(), tasks.left_of(root)), (0, 0));
    assert!(tasks.defer(number, place(root, NONE), WORK, std::iter::empty()));
    assert!(std::iter::from_fn(|| tasks.open()).count() < 8);
}

#[test]
fn a_group_is_cancelled_by_itself() {
    let mut tasks = Box::new(Small::new());
    let around = tasks.open_group(NONE).unwrap();
    let within = tasks.open_group(around).unwrap();
    tasks.cancel(within);
    assert!(tasks.is_cancelled(within) && !tasks.is_cancelled(around) && !tasks.is_cancelled(NONE));
    tasks.cancel(NONE);
    assert_eq!(tasks.close_group(within), around);
    // Its record is used again.
    assert_eq!(tasks.open_group(around), Some(within));
    assert!(!tasks.is_cancelled(within));
}
