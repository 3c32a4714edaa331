use super::*;
use proptest::prelude::*;

const TRACE: &str = include_str!("../../../fixtures/counters/triad_model.csv");
const BUSY: Interval = Interval { dt_s: 1.0, p: 4.0, parallel_s: 1.0, useful_s: 3.6 };

fn counted(cpu_s: f64, events: &[(Event, f64)]) -> Counts {
    let mut counts = Counts::default();
    for (event, count) in events {
        counts.0[*event as usize] = Some(Counted { count: *count, cpu_s, share: 1.0 });
    }
    counts
}

fn ipc(cpu_s: f64, ipc: f64) -> Counts {
    counted(cpu_s, &[(Event::Instructions, ipc * 1e9), (Event::Cycles, 1e9)])
}

/// Counts of 1e9 cycles a second of CPU time; `llc` and `memory` are the stalls and the hit ratio before.
fn stalls(cpu_s: f64, llc: (f64, f64), memory: (f64, f64)) -> Counts {
    let (l2_hits, llc_hits) = (llc.1, memory.1);
    let cycles = cpu_s * 1e9;
    let llc_accesses = 1e6 * (1.0 - l2_hits);
    counted(
        cpu_s,
        &[
            (Event::Cycles, cycles),
            (Event::StallsL2Miss, cycles * (llc.0 + memory.0)),
            (Event::StallsLlcMiss, cycles * memory.0),
            (Event::L2Accesses, 1e6),
            (Event::LlcAccesses, llc_accesses),
            (Event::LlcMisses, llc_accesses * (1.0 - llc_hits)),
        ],
    )
}

#[test]
fn events_stand_in_the_order_of_their_numbers() {
    assert!(Event::ALL.iter().enumerate().all(|(at, event)| *event as usize == at));
}

#[test]
fn a_count_is_scaled_by_the_time_that_it_was_not_counted() {
    let earlier = Reading { count: 100, enabled_ns: 1_000, running_ns: 1_000 };
    let now = Reading { count: 160, enabled_ns: 3_000, running_ns: 1_500 };
    let counted = now.since(earlier).unwrap();
    assert_eq!((counted.count, counted.share), (240.0, 0.25));
    assert!((counted.cpu_s - 2e-6).abs() < 1e-15);
}

#[test]
fn an_event_that_never_ran_is_absent_and_not_zero() {
    let earlier = Reading { count: 100, enabled_ns: 1_000, running_ns: 500 };
    assert_eq!(Reading { enabled_ns: 2_000, ..earlier }.since(earlier), None);
    // One that ran and saw nothing is zero.
    let quiet = Reading { enabled_ns: 2_000, running_ns: 1_500, ..earlier };
    assert_eq!(quiet.since(earlier).map(|counted| counted.count), Some(0.0));
    // New counters are not compared with old ones.
    assert_eq!(Reading::default().since(earlier), None);
}

#[test]
fn equations_6_to_9_hold_at_their_extremes() {
    let contend = |stalls, hit_before| contention(&[Level { stalls, hit_before }]);
    // SCALO, section 2.1: without hits before it, no stall is contention; with only hits, all are.
    assert_eq!((contend(8.0, 0.0), contend(8.0, 1.0), contend(8.0, 0.25)), (0.0, 8.0, 2.0));
    // Equation 8 is the sum of 6 and 7.
    let both = [Level { stalls: 2.0, hit_before: 0.5 }, Level { stalls: 4.0, hit_before: 0.75 }];
    assert_eq!(contention(&both), 4.0);
    assert_eq!(contention(&[]), 0.0);
}

#[test]
fn contention_is_taken_off_the_useful_time_and_serial_time_stays() {
    // Equation 4: (3.6 - 1.6) / 1.
    assert!((less_contention(&BUSY, 1.6) - 2.0).abs() < 1e-12);
    assert!((less_contention(&BUSY, 0.0) - 3.6).abs() < 1e-12);
    // Equation 5: (0.5 + (1.8 - 0.8)) / (0.5 + 0.5).
    let half = Interval { parallel_s: 0.5, useful_s: 1.8, ..BUSY };
    assert!((less_contention(&half, 0.8) - 1.5).abs() < 1e-12);
}

#[test]
fn ipc_is_scafs_efficiency_where_all_threads_work() {
    let mut counters = Counters::new(1.0);
    let all = Interval { useful_s: 4.0, ..BUSY };
    counters.add(4, &all, &ipc(4.0, 0.9));
    assert_eq!(counters.by_ipc(), None);
    counters.add(1, &Interval { p: 1.0, useful_s: 1.0, ..BUSY }, &ipc(1.0, 1.2));
    // E = P_parallel / P(S) = 0.75, so that the speedup is 3.
    let (dop, speedup) = counters.by_ipc().unwrap();
    assert!(dop == 4 && (speedup.value - 3.0).abs() < 1e-9, "{speedup:?}");
}

#[test]
fn time_that_others_take_from_it_is_no_speedup_and_no_slowdown() {
    let mut counters = Counters::new(1.0);
    // At either DoP it has half of its contexts; its own report doesn't tell at DoP 1.
    counters.add(1, &Interval { p: 1.0, useful_s: 1.0, ..BUSY }, &ipc(0.5, 1.2));
    counters.add(4, &Interval { useful_s: 2.0, ..BUSY }, &ipc(2.0, 0.9));
    let (_, speedup) = counters.by_ipc().unwrap();
    assert!((speedup.value - 3.0).abs() < 1e-9, "{speedup:?}");
}

#[test]
fn a_serial_experiment_takes_the_place_of_an_interval_at_one_context() {
    let mut counters = Counters::new(1.0);
    counters.add(4, &BUSY, &ipc(3.6, 0.5));
    counters.serial_experiment(Estimate { value: 1.0, error: 0.05 });
    let (_, speedup) = counters.speedup().unwrap();
    assert!((speedup.value - 1.8).abs() < 1e-9, "{speedup:?}");
    counters.serial_experiment(Estimate { value: f64::NAN, error: 0.05 });
    assert_eq!(counters.speedup(), None);
}

#[test]
fn threads_that_spin_make_the_ipc_less_sure() {
    let error = |cpu_s: f64| {
        let mut counters = Counters::new(0.0);
        counters.add(1, &Interval { p: 1.0, ..BUSY }, &ipc(1.0, 1.0));
        counters.add(4, &BUSY, &ipc(cpu_s, 1.0));
        counters.by_ipc().unwrap().1.error
    };
    // With 3.6 s of CPU time all of it is work; with 4 a tenth is waits.
    assert!(error(4.0) > error(3.6) + 0.02, "{} {}", error(4.0), error(3.6));
}

#[test]
fn a_serial_rate_grows_old() {
    let mut counters = Counters::new(1.0);
    counters.add(1, &Interval { p: 1.0, ..BUSY }, &ipc(1.0, 1.0));
    for _ in 0..10 {
        counters.add(4, &BUSY, &ipc(3.6, 0.5));
    }
    let young = counters.by_ipc().unwrap().1;
    for _ in 0..100 {
        counters.add(4, &BUSY, &ipc(3.6, 0.5));
    }
    let old = counters.by_ipc().unwrap().1;
    assert!(old.error > young.error + 0.1 && (old.value - young.value).abs() < 1e-9, "{young:?} {old:?}");
}

#[test]
fn another_dop_starts_anew_and_a_step_to_one_context_does_not() {
    let mut counters = Counters::new(10.0);
    counters.add(4, &BUSY, &stalls(3.6, (0.0, 0.5), (0.5, 0.5)));
    assert_eq!(counters.by_stalls().map(|found| found.0), Some(4));
    counters.add(1, &Interval { p: 1.0, ..BUSY }, &stalls(1.0, (0.0, 0.5), (0.1, 0.5)));
    assert_eq!(counters.by_stalls().map(|found| found.0), Some(4));
    counters.add(2, &Interval { p: 2.0, useful_s: 2.0, ..BUSY }, &stalls(2.0, (0.0, 0.5), (0.0, 0.5)));
    let (dop, speedup) = counters.by_stalls().unwrap();
    assert!(dop == 2 && (speedup.value - 2.0).abs() < 1e-9, "{speedup:?}");
}

#[test]
fn both_terms_of_equation_8_count_and_only_in_parallel_regions() {
    let speedup = |interval: &Interval, counts: &Counts| {
        let mut counters = Counters::new(0.0);
        counters.add(4, interval, counts);
        counters.by_stalls().unwrap().1.value
    };
    // 3.6 - 3.6 * (0.2 * 0.5 + 0.4 * 0.75)
    let counts = stalls(3.6, (0.2, 0.5), (0.4, 0.75));
    assert!((speedup(&BUSY, &counts) - 3.6 * 0.6).abs() < 1e-6, "{}", speedup(&BUSY, &counts));
    // Half of the time serial: of 2.4 s of work 1.8 were parallel, so three quarters of the stalls count.
    let half = Interval { dt_s: 1.2, parallel_s: 0.6, useful_s: 1.8, ..BUSY };
    let counts = stalls(2.4, (0.0, 0.5), (0.5, 0.5));
    let expected = (0.6 + 1.8 - 2.4 * 0.25 * 0.75) / 1.2;
    assert!((speedup(&half, &counts) - expected).abs() < 1e-6, "{}", speedup(&half, &counts));
}

#[test]
fn without_stalls_for_memory_or_hit_ratios_there_is_no_correction() {
    let mut counters = Counters::new(1.0);
    counters.add(4, &BUSY, &ipc(3.6, 0.5));
    assert_eq!((counters.by_stalls(), counters.speedup()), (None, None));
    let latest = counters.latest().unwrap();
    assert_eq!((latest.ipc, latest.stall_ratio, latest.llc_hit_ratio), (Some(0.5), None, None));
    counters.add(4, &BUSY, &Counts::default());
    assert_eq!(counters.latest().unwrap().ipc, None);
}

/// Replays the trace; `each` gets an interval's end in seconds, its DoP and the counters.
fn replay(mut each: impl FnMut(f64, u32, &Counters)) {
    let mut counters = Counters::new(1.0);
    let mut last: Option<(f64, Readings)> = None;
    for line in TRACE.lines().filter(|line| !line.starts_with(['#', 't'])) {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [t_s, dop, parallel_s, useful_s] = fields[..4] else { panic!("{line}") };
        let mut readings = Readings::default();
        for (at, three) in fields[4..].chunks_exact(3).enumerate() {
            let [count, enabled_ns, running_ns] = [0, 1, 2].map(|field| three[field] as u64);
            readings[at] = Some(Reading { count, enabled_ns, running_ns });
        }
        if let Some((before_s, earlier)) = last {
            let interval = Interval { dt_s: t_s - before_s, p: dop, parallel_s, useful_s };
            counters.add(dop as u32, &interval, &Counts::between(&readings, &earlier));
            each(t_s, dop as u32, &counters);
        }
        last = Some((t_s, readings));
    }
}

#[test]
fn the_traces_speedup_is_found_by_stalls_alone_and_by_ipc_once_it_was_serial() {
    let mut intervals = 0;
    replay(|t_s, dop, counters| {
        intervals += 1;
        let (at, by_stalls) = counters.by_stalls().unwrap();
        assert!(at == 4 && (by_stalls.value - 2.2).abs() < 0.1, "{t_s}: {by_stalls:?}");
        assert_eq!(counters.by_ipc().is_some(), t_s > 2.1, "{t_s}");
        if let Some((at, by_ipc)) = counters.by_ipc() {
            assert!(at == 4 && (by_ipc.value / 2.2 - 1.0).abs() < 0.03, "{t_s}: {by_ipc:?}");
            let both = counters.speedup().unwrap().1;
            assert!(both.error < by_ipc.error && both.error < by_stalls.error, "{both:?}");
        }
        let latest = counters.latest().unwrap();
        let expected = if dop == 1 { 1.2 } else { 0.677 };
        assert!((latest.ipc.unwrap() - expected).abs() < 0.03, "{t_s}: {latest:?}");
        assert_eq!(latest.llc_hit_ratio.is_none(), (t_s - 5.5).abs() < 1e-6, "{t_s}");
        assert!((latest.counted_ratio - 0.8).abs() < 1e-6, "{t_s}: {latest:?}");
    });
    assert_eq!(intervals, 24);
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![proptest::num::f64::ANY, 0.0f64..10.0, Just(0.0), Just(f64::INFINITY), Just(f64::NAN)]
}

fn any_counts() -> impl Strategy<Value = Counts> {
    let number = || prop_oneof![any::<u64>(), 0u64..1000, Just(u64::MAX)];
    let reading = move || {
        proptest::option::of((number(), number(), number())).prop_map(|it| {
            it.map(|(count, enabled_ns, running_ns)| Reading { count, enabled_ns, running_ns })
        })
    };
    let seven = move || proptest::collection::vec(reading(), EVENTS);
    (seven(), seven()).prop_map(|(now, earlier)| {
        let array = |list: Vec<Option<Reading>>| Readings::try_from(list).unwrap();
        Counts::between(&array(now), &array(earlier))
    })
}

fn any_interval() -> impl Strategy<Value = Interval> {
    (any_number(), any_number(), any_number(), any_number())
        .prop_map(|(dt_s, p, parallel_s, useful_s)| Interval { dt_s, p, parallel_s, useful_s })
}

fn sound_interval() -> impl Strategy<Value = Interval> {
    (0.01f64..10.0, 1.0f64..1000.0, 0.0f64..=1.0, 0.0f64..=1.0).prop_map(|(dt_s, p, parallel, useful)| {
        Interval { dt_s, p, parallel_s: dt_s * parallel, useful_s: dt_s * parallel * p * useful }
    })
}

proptest! {
    #[test]
    fn whatever_is_counted_an_estimate_is_a_number(
        spells in proptest::collection::vec((0u32..5, any_interval(), any_counts()), 1..20),
        experiment in proptest::option::of((any_number(), any_number())),
    ) {
        let mut counters = Counters::new(1.0);
        for (dop, interval, counts) in spells {
            counters.add(dop, &interval, &counts);
            if let Some((value, error)) = experiment {
                counters.serial_experiment(Estimate { value, error });
            }
            for (dop, found) in [counters.by_ipc(), counters.by_stalls(), counters.speedup()].into_iter()
                .flatten() {
                prop_assert!(dop > 1 && found.value.is_finite() && found.value > 0.0, "{found:?}");
                prop_assert!(found.error.is_finite() && found.error > 0.0, "{found:?}");
            }
            let ratios = counters.latest().into_iter().flat_map(|latest| {
                [latest.stall_ratio, latest.l2_hit_ratio, latest.llc_hit_ratio, latest.contention_ratio]
            });
            prop_assert!(ratios.flatten().all(|ratio| (0.0..=1.0).contains(&ratio)));
        }
    }

    #[test]
    fn contention_only_lowers_the_speedup_and_never_below_zero(
        interval in sound_interval(), less in 0.0f64..100.0, more in 0.0f64..100.0,
    ) {
        let all = interval.efficiency() * interval.p;
        let (one, other) = (less_contention(&interval, less), less_contention(&interval, less + more));
        prop_assert!(other <= one && one <= all + 1e-9 && other > 0.0, "{all} {one} {other}");
    }

    #[test]
    fn more_stalls_and_more_hits_before_them_are_more_contention(
        stalls in 0.0f64..1e9, hit_before in 0.0f64..=1.0, more in 0.0f64..1e9, further in 0.0f64..=1.0,
    ) {
        let of = |stalls, hit_before| contention(&[Level { stalls, hit_before }]);
        prop_assert!(of(stalls + more, hit_before) >= of(stalls, hit_before));
        prop_assert!(of(stalls, (hit_before + further).min(1.0)) >= of(stalls, hit_before));
        prop_assert!(of(stalls, hit_before) <= stalls);
    }

    #[test]
    fn the_less_an_event_is_counted_the_less_it_is_believed(part in 1u64..1000) {
        let error = |running_ns: u64| {
            let reading = |count| Reading { count, enabled_ns: 1_000_000, running_ns };
            let mut readings = Readings::default();
            readings[0] = Some(reading(1_000));
            readings[1] = Some(reading(1_000));
            let counts = Counts::between(&readings, &[Some(Reading::default()); EVENTS]);
            let mut counters = Counters::new(1.0);
            counters.add(1, &Interval { p: 1.0, ..BUSY }, &ipc(1.0, 1.0));
            counters.add(4, &BUSY, &counts);
            counters.by_ipc().unwrap().1.error
        };
        prop_assert!(error(part * 1_000 - 999) > error(1_000_000));
    }
}
