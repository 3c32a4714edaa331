use super::*;
use crate::control::{CurvePoint, Mechanism};
use proptest::prelude::*;

fn program(id: u64, dop: u32) -> Program {
    Program {
        id,
        pid: 100 + id as u32,
        uid: 1000 + (id % 3) as u32,
        name: format!("cg{id}"),
        attached_ns: id,
        mechanism: Mechanism::Fold,
        mechanism_reason: "it keeps its teams".into(),
        dop: Some(dop).filter(|dop| *dop > 0),
        granted_ns: 5,
        effective_ns: Some(6),
        pus: (0..dop).collect(),
        team: dop,
        in_region: true,
        natural: 8,
        min: 1,
        weight: 1.0,
        efficiency: Some(0.5),
        speedup: Some(f64::from(dop) / 2.0),
        curve: vec![point(1, 1.0), point(8, 4.0)],
        regions: 1,
        reason: format!("half of it: {dop}"),
        ..Program::default()
    }
}

fn point(dop: u32, speedup: f64) -> CurvePoint {
    CurvePoint { dop, speedup, error_ratio: 0.1, observed: None, sources: vec![] }
}

fn snapshot(now_ns: u64, programs: Vec<Program>) -> Snapshot {
    Snapshot {
        version: "1".into(),
        pid: 7,
        scope: "system".into(),
        now_ns,
        policy: "equi".into(),
        pus: (0..8).collect(),
        capacity: 8,
        unmanaged_load: 0.5,
        decisions: now_ns,
        decision_ns: 1000,
        programs,
        ..Snapshot::default()
    }
}

/// What may happen at a moment: who is there with how many contexts, how long it lasts, and the policy.
type Step = (BTreeMap<u64, u32>, u64, bool);

fn step() -> impl Strategy<Value = Step> {
    let programs = proptest::collection::btree_map(0u64..12, 0u32..8, 0..8);
    (programs, prop_oneof![1 => 0u64..400_000_000, 1 => 0u64..400_000_000_000], any::<bool>())
}

fn moments(steps: &[Step]) -> Vec<Snapshot> {
    let mut now_ns = 1;
    let mut made = Vec::new();
    // Who comes again has another number.
    let mut times: BTreeMap<u64, (bool, u64)> = BTreeMap::new();
    for (programs, lasts_ns, other) in steps {
        now_ns += lasts_ns;
        for seat in 0..12 {
            let (there, time) = times.entry(seat).or_default();
            let comes = !*there && programs.contains_key(&seat);
            (*there, *time) = (programs.contains_key(&seat), *time + u64::from(comes));
        }
        let number = |seat: &u64| seat + 12 * times.get(seat).map_or(0, |it| it.1);
        let mut programs: Vec<Program> =
            programs.iter().map(|(seat, dop)| program(number(seat), *dop)).collect();
        programs.sort_by_key(|program| program.id);
        let policy = if *other { "curve" } else { "equi" };
        made.push(Snapshot { policy: policy.into(), ..snapshot(now_ns, programs) });
    }
    made
}

fn viewed(history: &History, uid: Option<u32>) -> Vec<Snapshot> {
    let mut known: Vec<Snapshot> = Vec::new();
    loop {
        let moment = known.last().map_or(0, |it| it.moment);
        let told = history.since(moment, uid);
        if let Some(base) = told.base {
            assert!(known.is_empty(), "told anew");
            known.push(*base);
        }
        for frame in &told.frames {
            let mut next = known.last().unwrap().clone();
            next.advance(frame);
            known.push(next);
        }
        if known.last().is_none_or(|it| it.moment == told.latest) {
            return known;
        }
        assert!(!told.frames.is_empty(), "nothing more is told");
    }
}

/// The parts that are kept at once.
fn grants(of: &Snapshot) -> Vec<(u64, u32, Option<u32>)> {
    of.programs.iter().map(|it| (it.id, it.uid, it.dop)).collect()
}

proptest! {
    #[test]
    fn a_viewer_sees_each_moment_in_order_as_it_was(steps in proptest::collection::vec(step(), 1..40)) {
        let all = moments(&steps);
        let mut history = History::default();
        all.iter().for_each(|now| history.keep(now.clone()));
        let seen = viewed(&history, None);
        prop_assert_eq!(seen.len(), history.frames().len() + 1);
        prop_assert_eq!(seen.last(), history.latest());
        let kept = &all[all.len() - seen.len()..];
        for (seen, was) in seen.iter().zip(kept) {
            prop_assert_eq!((seen.now_ns, &seen.policy), (was.now_ns, &was.policy));
            prop_assert_eq!(grants(seen), grants(was));
        }
        prop_assert!(seen.windows(2).all(|two| two[0].moment + 1 == two[1].moment));
        let oldest_ns = history.frames().next().map_or(u64::MAX, |frame| frame.now_ns);
        prop_assert!(all.last().unwrap().now_ns.saturating_sub(oldest_ns) <= KEPT_NS);
    }

    #[test]
    fn a_user_sees_the_own_programs_and_of_others_how_many_there_are(
        steps in proptest::collection::vec(step(), 1..20), uid in 1000u32..1004,
    ) {
        let mut history = History::default();
        moments(&steps).into_iter().for_each(|now| history.keep(now));
        let (whole, part) = (viewed(&history, None), viewed(&history, Some(uid)));
        prop_assert_eq!(whole.len(), part.len());
        for (whole, part) in whole.into_iter().zip(part) {
            prop_assert!(part.programs.iter().all(|it| it.uid == uid));
            prop_assert_eq!(whole.seen_by(uid), part);
        }
        let text = serde_json::to_string(&history.since(0, Some(uid))).unwrap();
        let strange = |id: u64| 1000 + (id % 3) as u32 != uid && text.contains(&format!("\"cg{id}\""));
        prop_assert!(!(0..600).any(strange), "{text}");
    }

    #[test]
    fn whoever_has_a_moment_is_told_only_what_came_after_it(
        steps in proptest::collection::vec(step(), 1..30), after in 0u64..40,
    ) {
        let mut history = History::default();
        moments(&steps).into_iter().for_each(|now| history.keep(now));
        let told = history.since(after, None);
        let known = (told.oldest..=told.latest).contains(&after);
        prop_assert_eq!(told.base.is_none(), known);
        let first = if known { after } else { told.oldest };
        let numbers: Vec<u64> = told.frames.iter().map(|frame| frame.moment).collect();
        prop_assert!(numbers.iter().copied().eq(first + 1..=first + numbers.len() as u64));
        prop_assert!(!numbers.is_empty() || first == told.latest);
    }
}

#[test]
fn memory_is_bounded_and_fewer_minutes_are_kept_where_much_changes() {
    let mut history = History::default();
    let many = |at: u64| (0..256).map(|id| program(id, 1 + ((at + id) % 7) as u32)).collect();
    for at in 0..600 {
        history.keep(snapshot(at * 250_000_000, many(at)));
        assert!(history.bytes <= MOST_BYTES);
    }
    let sum: usize = history.kept.iter().map(|kept| kept.bytes).sum();
    assert_eq!(sum, history.bytes);
    assert!((20..600).contains(&history.kept.len()), "{}", history.kept.len());
    assert_eq!(history.owners.len(), 256);
    let told = history.since(0, None);
    assert!(told.oldest > 1 && told.base.is_some_and(|base| base.moment == told.oldest));
    let text = serde_json::to_vec(&told.frames).unwrap();
    assert!(text.len() < 4 * TOLD_BYTES, "{}", text.len());
}

#[test]
fn of_256_programs_that_compute_steadily_ten_minutes_fit() {
    let mut history = History::default();
    for at in 0..2500u64 {
        // A third of the efficiencies move each time.
        let does = |id: u64| Program {
            efficiency: Some(0.5 + 0.01 * ((at + id) / 3 % 2) as f64),
            regions: at,
            ..program(id, 4)
        };
        history.keep(snapshot(at * 250_000_000, (0..256).map(does).collect()));
    }
    let first = history.frames().next().unwrap().now_ns;
    assert!(2499 * 250_000_000 - first > KEPT_NS / 2, "{} s", (2499 * 250_000_000 - first) / 1_000_000_000);
}

#[test]
fn programs_that_have_left_are_forgotten_with_their_last_moment() {
    let mut history = History::default();
    for at in 0..10_000u64 {
        history.keep(snapshot(at * 250_000_000, vec![program(at, 1)]));
    }
    assert!(history.owners.len() <= history.kept.len() + 1);
}

#[test]
fn moments_are_kept_at_ticks_and_soon_after_what_happened() {
    let mut history = History::default();
    assert!(history.is_due(0, false));
    history.keep(snapshot(1_000_000_000, vec![]));
    assert!(!history.is_due(1_100_000_000, true) && history.is_due(1_250_000_000, true));
    assert!(!history.is_due(9_000_000_000, false) && history.deadline_ns().is_none());
    history.ask();
    assert!(!history.is_due(1_040_000_000, false) && history.is_due(1_050_000_000, false));
    assert_eq!(history.deadline_ns(), Some(1_050_000_000));
    history.keep(snapshot(1_100_000_000, vec![]));
    assert!(history.deadline_ns().is_none());
}

#[test]
fn what_moves_a_little_is_kept_now_and_then() {
    let mut history = History::default();
    let at = |at: u64, efficiency: f64, reason: &str| {
        let program = Program { efficiency: Some(efficiency), reason: reason.into(), ..program(1, 4) };
        snapshot(at * 250_000_000, vec![program])
    };
    history.keep(at(0, 0.5, "so"));
    history.keep(at(1, 0.501, "other"));
    assert_eq!(history.frames().last().map(|frame| frame.numbers.len() + frame.grants.len()), Some(0));
    history.keep(at(2, 0.51, "other"));
    assert_eq!(history.frames().last().map(|frame| frame.numbers.len()), Some(1));
    (3..30).for_each(|it| history.keep(at(it, 0.51, "other")));
    assert_eq!(history.latest().map(|it| it.programs[0].reason.as_str()), Some("other"));
    let slow: usize = history.frames().map(|frame| frame.grants.len()).sum();
    assert_eq!(slow, 1);
}

#[test]
fn frames_out_of_order_are_refused() {
    let mut history = History::default();
    assert!(!history.add(Frame::default()));
    history.keep(snapshot(1, vec![]));
    let next = Frame { moment: 2, ..Frame::default() };
    assert!(!history.add(Frame { moment: 3, ..Frame::default() }) && history.add(next.clone()));
    assert!(!history.add(next));
}
