use super::*;
use proptest::prelude::*;
use scaf_policy::estimate::Estimate;
use scaf_policy::{Machine, ProgramId};

/// Decision `number`, which gives program 1 `dop` contexts; program 2 is another user's.
fn entry(number: u64, dop: u32) -> Entry {
    let share = |id, dop| Share { id: ProgramId(id), dop: Dop::Contexts(dop), reason: "so".into() };
    let point = Measured { dop, speedup: Estimate { value: 0.1 + 0.2, error: 0.1 } };
    let programs = [1, 2].map(|id| Program { curve: vec![point], ..Program::new(ProgramId(id), 8) }).to_vec();
    Entry {
        names: [(1, "cg".to_owned()), (2, "their \"ep\"\n".to_owned())].into(),
        since: 1,
        mechanisms: [(1, Mechanism::Resize)].into(),
        sources: [(1, vec![vec![Source::Useful, Source::Curve]])].into(),
        steps: [(1, 1)].into(),
        ..Entry::of(Decision {
            number,
            policy: "equi".into(),
            machine: Machine::new(8, 1e9 / 3.0),
            programs,
            allocation: vec![share(1, dop), share(2, 3)].into(),
        })
    }
}

fn owners() -> BTreeMap<u64, u32> {
    [(1, 1000), (2, 1001)].into()
}

fn steady(number: u64) -> Entry {
    Entry { steps: BTreeMap::new(), ..entry(number, 4) }
}

#[test]
fn a_line_is_read_as_it_was_written_and_as_a_plain_decision() {
    for entry in [entry(7, 4), Entry::of(entry(8, 5).decision)] {
        let line = serde_json::to_string(&entry).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Entry>(&line).unwrap(), entry);
        let plain: Decision = serde_json::from_str(&line).unwrap();
        assert_eq!(plain, entry.decision);
        let bare = serde_json::to_string(&plain).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&bare).unwrap(), Entry::of(plain));
    }
}

#[test]
fn the_latest_are_all_kept_and_of_the_older_ones_those_that_changed_something() {
    let mut journal = Journal::default();
    for number in 1..=5_000 {
        let dop = if number % 100 == 50 { 5 } else { 4 };
        journal.add(Entry { steps: BTreeMap::new(), ..entry(number, dop) }, owners());
    }
    assert_eq!((journal.kept.len(), journal.span().1), (MOST, 5_000));
    let numbers: Vec<u64> = journal.kept.iter().map(Kept::number).collect();
    let whole = numbers.len() - WHOLE;
    assert!(numbers[whole..].iter().copied().eq(4_751..=5_000));
    assert_eq!(numbers[..4], [1, 50, 51, 150]);
}

#[test]
fn a_step_or_another_policy_is_a_change_and_the_same_again_is_none() {
    let mut journal = Journal::default();
    let mut other = steady(5);
    other.decision.policy = "scaf".into();
    for entry in [steady(1), steady(2), entry(3, 4), steady(4), other] {
        journal.add(entry, owners());
    }
    let changed: Vec<bool> = journal.kept.iter().map(|kept| kept.changed).collect();
    assert_eq!(changed, [true, false, true, true, true]);
}

#[test]
fn memory_is_bounded_and_the_latest_is_always_there() {
    let mut journal = Journal::default();
    for number in 1..=20 {
        let mut large = steady(number);
        large.decision.allocation.shares[0].reason = "x".repeat(MOST_BYTES / 4);
        journal.add(large, owners());
        assert!(journal.bytes <= MOST_BYTES && journal.span().1 == number);
    }
    let mut huge = steady(21);
    huge.decision.allocation.shares[0].reason = "x".repeat(2 * MOST_BYTES);
    journal.add(huge, owners());
    assert_eq!(journal.span(), (21, 21));
    assert_eq!(journal.after(20, None).len(), 1);
}

#[test]
fn following_page_by_page_misses_nothing_and_doubles_nothing() {
    let mut journal = Journal::default();
    (1..=200).for_each(|number| {
        let mut long = steady(number);
        long.decision.allocation.shares[0].reason = "x".repeat(ANSWER_BYTES / 7);
        journal.add(long, owners());
    });
    let (mut after, mut told) = (12, Vec::new());
    loop {
        let page = journal.after(after, None);
        let Some(last) = page.last() else { break };
        after = last.decision.number;
        assert!(page.len() < 8);
        told.extend(page.into_iter().map(|entry| entry.decision.number));
    }
    assert!(told.into_iter().eq(13..=200));
    assert_eq!(journal.one(None, None).map(|entry| entry.decision.number), Some(200));
    assert_eq!(journal.one(Some(12), None).map(|entry| entry.decision.number), Some(12));
    assert_eq!(journal.one(Some(201), None), None);
}

#[test]
fn of_other_users_programs_nothing_is_told() {
    let mut journal = Journal::default();
    journal.add(entry(1, 4), owners());
    let told = journal.one(None, Some(1000)).unwrap();
    assert_eq!((told.hidden, told.names.len(), told.decision.programs.len()), (1, 1, 1));
    let line = serde_json::to_string(&journal.one(None, Some(1001)).unwrap()).unwrap();
    assert!(!line.contains("cg") && !line.contains("\"id\":1,") && !line.contains("useful"), "{line}");
    let none = journal.after(0, Some(0)).remove(0);
    assert_eq!((none.hidden, none.decision.allocation.shares.len()), (2, 0));
    let mut turns = entry(2, 4);
    turns.decision.allocation.turns = [&[1, 2][..], &[2]]
        .map(|ids| Turn { slices: 1, members: ids.iter().copied().map(ProgramId).collect() })
        .into();
    journal.add(turns, owners());
    let told = journal.one(None, Some(1000)).unwrap().decision.allocation.turns;
    assert_eq!(told, [Turn { slices: 1, members: vec![ProgramId(1)] }]);
}

proptest! {
    #[test]
    fn the_journal_stays_in_order_and_within_its_bounds(
        dops in proptest::collection::vec(1u32..4, 1..1_500)
    ) {
        let mut journal = Journal::default();
        for (number, dop) in (1u64..).zip(&dops) {
            journal.add(Entry { steps: BTreeMap::new(), ..entry(number, *dop) }, owners());
        }
        prop_assert!(journal.kept.len() <= MOST);
        prop_assert!(journal.kept.iter().map(Kept::number).is_sorted());
        prop_assert_eq!(journal.bytes, journal.kept.iter().map(|kept| kept.bytes).sum::<usize>());
        prop_assert_eq!(journal.span().1, dops.len() as u64);
    }

    #[test]
    fn any_text_is_a_line_or_none(text in ".{0,200}") {
        let _ = serde_json::from_str::<Entry>(&text);
    }
}
