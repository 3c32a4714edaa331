use super::*;
use proptest::prelude::*;

const TSC: fn() -> Tsc = || Tsc::with_rate(1.0);
const S: u64 = 1_000_000_000;

fn page(slot: SlotCopy) -> (Totals, [Option<SlotCopy>; SLOTS]) {
    let mut slots = [Some(SlotCopy::default()); SLOTS];
    slots[0] = Some(slot);
    (Totals::default(), slots)
}

fn on(p: f64) -> Bounds {
    Bounds { p, cpu_s: None }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn regions_that_were_left_count_with_their_wall_and_useful_time() {
    let mut meter = Meter::new(10 * S);
    let slot =
        SlotCopy { regions: 5, wall: S / 2, useful: S, last_team: 4, entered: 10 * S, ..Default::default() };
    let seen = meter.read(11 * S, &page(slot), on(4.0), &TSC());
    assert!(
        close(seen.interval.parallel_s, 0.5)
            && close(seen.interval.useful_s, 1.0)
            && close(seen.interval.dt_s, 1.0)
    );
    assert_eq!((seen.regions, seen.team, seen.in_region, seen.hostile), (5, 4, false, 0));
    let seen = meter.read(12 * S, &page(slot), on(4.0), &TSC());
    assert_eq!((seen.interval.parallel_s, seen.interval.useful_s), (0.0, 0.0));
}

#[test]
fn a_region_in_flight_counts_so_far() {
    let mut meter = Meter::new(10 * S);
    let slot = SlotCopy { team: 2, entered: 10 * S + S / 2, last_team: 2, ..Default::default() };
    let seen = meter.read(11 * S, &page(slot), on(2.0), &TSC());
    assert!(close(seen.interval.parallel_s, 0.5) && close(seen.interval.useful_s, 1.0));
    assert!(seen.in_region);
    let seen = meter.read(12 * S, &page(slot), on(2.0), &TSC());
    assert!(close(seen.interval.parallel_s, 1.0) && close(seen.interval.useful_s, 2.0));
}

#[test]
fn waits_within_a_region_in_flight_are_not_useful() {
    let mut meter = Meter::new(0);
    let slot = SlotCopy {
        team: 2,
        entered: 0,
        waits: 5 * S + S / 2,
        waits_at_entry: 5 * S,
        last_team: 2,
        ..Default::default()
    };
    assert!(close(meter.read(S, &page(slot), on(2.0), &TSC()).interval.useful_s, 1.5));
}

#[test]
fn what_was_credited_too_much_is_taken_off_later() {
    let mut meter = Meter::new(0);
    let running = SlotCopy { team: 2, entered: 0, last_team: 2, ..Default::default() };
    assert!(close(meter.read(S, &page(running), on(2.0), &TSC()).interval.useful_s, 2.0));
    let left = SlotCopy { regions: 1, wall: S, useful: S, last_team: 2, ..Default::default() };
    assert_eq!(meter.read(2 * S, &page(left), on(2.0), &TSC()).interval.useful_s, 0.0);
    let next = SlotCopy { regions: 2, wall: 2 * S, useful: 3 * S, last_team: 2, ..left };
    assert!(close(meter.read(3 * S, &page(next), on(2.0), &TSC()).interval.useful_s, 1.0));
}

#[test]
fn on_one_context_a_region_is_fully_useful() {
    let mut meter = Meter::new(0);
    let slot = SlotCopy { regions: 1, wall: S, useful: 0, last_team: 1, ..Default::default() };
    assert_eq!(meter.read(S, &page(slot), on(1.0), &TSC()).interval.efficiency(), 1.0);
}

#[test]
fn a_folded_team_is_no_more_useful_than_its_contexts_and_its_cpu_time() {
    let mut meter = Meter::new(0);
    let slot = SlotCopy { team: 8, entered: 0, last_team: 8, ..Default::default() };
    let seen = meter.read(S, &page(slot), Bounds { p: 2.0, cpu_s: Some(1.5) }, &TSC());
    assert!(close(seen.interval.useful_s, 1.5) && seen.team == 8);
    let seen = meter.read(2 * S, &page(slot), on(2.0), &TSC());
    assert!(close(seen.interval.useful_s, 2.0));
}

#[test]
fn a_slot_in_the_middle_of_a_write_is_made_up_for() {
    let mut meter = Meter::new(0);
    let mut busy = page(SlotCopy::default());
    busy.1[0] = None;
    assert_eq!(meter.read(S, &busy, on(2.0), &TSC()).interval.parallel_s, 0.0);
    let slot = SlotCopy { regions: 1, wall: S / 2, useful: S, last_team: 2, ..Default::default() };
    assert!(close(meter.read(2 * S, &page(slot), on(2.0), &TSC()).interval.useful_s, 1.0));
}

#[test]
fn counters_that_run_backwards_or_too_fast_count_for_nothing() {
    let mut meter = Meter::new(0);
    let slot = SlotCopy { regions: 9, wall: S / 2, useful: S, last_team: 2, ..Default::default() };
    meter.read(S, &page(slot), on(2.0), &TSC());
    for bad in [
        SlotCopy { regions: 8, ..slot },
        SlotCopy { wall: 0, ..slot },
        SlotCopy { wall: u64::MAX, ..slot },
        SlotCopy { waits: 0, useful: 0, ..slot },
        SlotCopy { team: 4, entered: u64::MAX, ..slot },
        SlotCopy { team: u32::MAX, ..slot },
    ] {
        let mut meter = meter.clone();
        let seen = meter.read(2 * S, &page(bad), on(2.0), &TSC());
        assert_eq!(
            (seen.hostile, seen.interval.parallel_s, seen.interval.useful_s),
            (1, 0.0, 0.0),
            "{bad:?}"
        );
        let seen = meter.read(3 * S, &page(bad), on(2.0), &TSC());
        assert!(seen.interval.parallel_s <= 1.0);
    }
}

#[test]
fn two_masters_at_a_time_are_one_programs_team() {
    let mut meter = Meter::new(0);
    let mut both = page(SlotCopy { team: 2, entered: 0, last_team: 2, ..Default::default() });
    both.1[1] = both.1[0];
    let seen = meter.read(S, &both, on(8.0), &TSC());
    assert!(seen.team == 4 && close(seen.interval.parallel_s, 1.0) && close(seen.interval.useful_s, 4.0));
}

fn any_slot() -> impl Strategy<Value = SlotCopy> {
    let word = || prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0..3 * S];
    let small = || prop_oneof![Just(0), Just(u32::MAX), any::<u32>(), 0u32..9];
    ((small(), word(), word(), word(), word()), (word(), word(), word(), small(), word())).prop_map(
        |(
            (team, entered, regions, promised, wall),
            (useful, waits, waits_at_entry, last_team, team_since),
        )| SlotCopy {
            team,
            entered,
            regions,
            promised,
            wall,
            capacity: 0,
            useful,
            waits,
            waits_at_entry,
            last_team,
            team_since,
            mechanism: last_team,
        },
    )
}

proptest! {
    #[test]
    fn whatever_is_written_the_interval_is_physically_possible(
        slots in proptest::collection::vec((proptest::option::of(any_slot()), 0u64..2 * S), 1..6),
        p in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), -1.0..1e6f64],
        natural in any::<u32>(),
    ) {
        let mut meter = Meter::new(S);
        let mut now = S;
        for (slot, dt) in slots {
            now += dt;
            let totals = Totals { natural, facts: u32::MAX, modules: u32::MAX, ..Totals::default() };
            let seen = meter.read(now, &(totals, [slot; SLOTS]), Bounds { p, cpu_s: Some(p) }, &TSC());
            let i = seen.interval;
            prop_assert!(i.dt_s >= 0.0 && i.p >= 1.0 && i.p.is_finite());
            prop_assert!(i.parallel_s >= 0.0 && i.parallel_s <= i.dt_s);
            prop_assert!(i.useful_s >= 0.0 && i.useful_s <= i.p * i.parallel_s);
            prop_assert!(seen.team.max(seen.last_team).max(seen.natural) <= MOST_THREADS);
            prop_assert!((S..=now).contains(&seen.team_since));
            let e = i.efficiency();
            prop_assert!(e > 0.0 && e <= 1.0);
        }
    }
}
