use super::*;
use crate::generated::{between, same};
use crate::ps::tests::{program, snapshot};
use crate::top::past::Past;
use crate::top::state::Key;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use scaf_policy::{Pu, Topology};
use scafd::control::{CurvePoint, Program, Snapshot};

const ASCII: Look = Look { utf8: false, colour: false };
const FULL: Look = Look { utf8: true, colour: true };

fn machine(packages: u32, cores: u32) -> Topology {
    let pu = |os: u32| Pu {
        os,
        core: os / 2,
        l3: os / 8,
        numa: os / (cores * 2),
        package: os / (cores * 2),
        class: 0,
    };
    Topology { pus: (0..packages * cores * 2).map(pu).collect() }
}

fn curve(points: &[(u32, f64, f64)]) -> Vec<CurvePoint> {
    let point = |&(dop, speedup, error_ratio): &(u32, f64, f64)| CurvePoint {
        dop,
        speedup,
        error_ratio,
        observed: Some(speedup),
        sources: vec![],
    };
    points.iter().map(point).collect()
}

fn some(id: u64, name: &str, pus: std::ops::Range<u32>, curve: Vec<CurvePoint>) -> Program {
    let dop = pus.end - pus.start;
    let speedup = curve.iter().find(|it| it.dop == dop).map(|it| it.speedup);
    Program {
        id,
        pid: 4000 + id as u32,
        job: None,
        uid: 1000 + (id % 2) as u32,
        name: name.into(),
        dop: Some(dop),
        pus: pus.collect(),
        natural: 32,
        effective_ns: Some(1),
        efficiency: speedup.map(|it| it / f64::from(dop)),
        speedup,
        curve,
        permission: String::new(),
        reason: format!("{dop} of 30: the last context brings 0.21, one more 0.19"),
        mechanism_reason: String::new(),
        mechanism: scafd::control::Mechanism::Gather,
        ..program()
    }
}

/// Two NUMA nodes with three programs, of which the last came 20 s ago, and a minute of it.
fn example() -> State {
    let good = curve(&[(1, 1.0, 0.0), (4, 3.9, 0.05), (16, 13.8, 0.05), (18, 15.2, 0.04), (32, 22.0, 0.2)]);
    let bad = curve(&[(1, 1.0, 0.0), (6, 2.9, 0.1), (16, 3.2, 0.1), (32, 3.3, 0.4)]);
    let at = |s: u64| {
        let programs = if s < 40 {
            vec![some(1, "train.py", 0..16, good.clone()), some(2, "lu.C.x", 16..30, bad.clone())]
        } else {
            vec![
                some(1, "train.py", 0..18, good.clone()),
                some(2, "lu.C.x", 18..24, bad.clone()),
                some(3, "Solver", 24..30, curve(&[(1, 1.0, 0.0), (6, 4.2, 0.3)])),
            ]
        };
        Snapshot {
            now_ns: s * 1_000_000_000,
            pus: (0..31).collect(),
            capacity: 30,
            policy: "curve".into(),
            decisions: s * 4,
            ..snapshot(programs)
        }
    };
    let mut past = Past::recorded((1..=60).map(at));
    past.follow();
    let mut state = State::new(past, Source::Daemon);
    (state.machine, state.plays) = (machine(2, 8), false);
    state.users = [(1000, "ann".to_owned()), (1001, "bob".to_owned())].into();
    state
}

fn shown(state: &mut State, width: u16, height: u16, look: Look) -> Terminal<TestBackend> {
    state.page = Layout::of(state, width, height).page();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            let area = frame.area();
            draw(frame.buffer_mut(), area, state, look);
        })
        .unwrap();
    terminal
}

fn text(state: &mut State, width: u16, height: u16, look: Look) -> String {
    let terminal = shown(state, width, height, look);
    let buffer = terminal.backend().buffer();
    let line = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

#[test]
fn the_picture_in_the_manual_is_what_it_shows_in_80x24_and_ascii() {
    let picture = text(&mut example(), 80, 24, ASCII);
    assert!(picture.is_ascii());
    same("guide/top.md", |page| between(page, "```text\n", "```", &picture));
}

#[test]
fn programs_have_their_pus_in_the_map_and_their_history_beside_them() {
    let picture = text(&mut example(), 80, 24, ASCII);
    let line = |start: &str| picture.lines().find(|line| line.starts_with(start)).unwrap_or("").to_owned();
    assert_eq!(line("P0"), "P0 aaaaaaaa aaaaaaaa");
    assert_eq!(line("P1"), "P1 aabbbbbb cccccc.-");
    assert!(picture.contains("STP 22.30, with equal parts"), "{picture}");
    let row = line("a ");
    assert!(row.contains("train.py") && row.contains("18/32") && row.contains("15.20"), "{row}");
    assert!(picture.contains("why: 18 of 30"), "{picture}");
    assert!(picture.contains('@') && picture.contains('o'), "{picture}");
}

#[test]
fn utf8_and_colours_are_used_where_there_are_any_and_only_there() {
    let coloured = |look: Look| {
        let terminal = shown(&mut example(), 100, 30, look);
        let cells = terminal.backend().buffer().content().to_vec();
        cells.iter().any(|cell| cell.fg != ratatui::style::Color::Reset)
    };
    assert!(coloured(FULL) && !coloured(ASCII));
    assert!(text(&mut example(), 100, 30, FULL).contains('█'));
    assert!(text(&mut example(), 100, 30, ASCII).is_ascii());
}

#[test]
fn help_lists_events_and_the_past_are_shown() {
    let mut state = example();
    state.key(Key::Char('?'));
    assert!(text(&mut state, 80, 24, ASCII).contains("scaf top: keys"));
    state.key(Key::Esc);
    state.key(Key::Tab);
    assert!(text(&mut state, 80, 24, ASCII).contains("20.0 s ago  Solver came"));
    state.key(Key::Char('p'));
    assert!(text(&mut state, 80, 24, ASCII).contains("Policy"));
    state.key(Key::Esc);
    (0..30).for_each(|_| _ = state.key(Key::Left));
    let past = text(&mut state, 80, 24, ASCII);
    assert!(past.contains("30.0 s ago, of 59 s") && !past.contains("Solver"), "{past}");
    state.key(Key::Char('t'));
    assert!(text(&mut state, 80, 24, ASCII).contains("ann: 1 programs, 14 contexts"));
}

#[test]
fn a_machine_that_is_larger_than_its_part_of_the_screen_is_drawn_smaller() {
    let mut state = example();
    state.machine = machine(8, 64);
    let picture = text(&mut state, 80, 24, ASCII);
    assert!(picture.lines().any(|line| line.starts_with("P0 ")), "{picture}");
    let row = picture.lines().position(|line| line.contains("CONTEXTS")).unwrap();
    assert!(row <= 3 + 4, "{picture}");
}

#[test]
fn without_a_topology_contexts_are_counted() {
    let mut state = example();
    state.machine = Topology::default();
    assert!(text(&mut state, 80, 24, ASCII).contains("contexts aaaaaaaaaaaaaaaaaabbbbbbcccccc\n"));
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => proptest::sample::select("q?hp/\\t<>s,.rIumMw []{}l+-kj0159aé\u{7}".chars().collect::<Vec<_>>())
            .prop_map(Key::Char),
        3 => (0u8..14).prop_map(Key::F),
        6 => proptest::sample::select(vec![
            Key::Up, Key::Down, Key::Left, Key::Right, Key::PageUp, Key::PageDown, Key::Home, Key::End,
            Key::Enter, Key::Esc, Key::Backspace, Key::Tab,
        ]),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..40.0f64,
        1 => proptest::sample::select(vec![f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, f64::MIN_POSITIVE]),
    ]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0u32..80, 1 => proptest::sample::select(vec![0, 1, 65_535, u32::MAX])]
}

fn any_program() -> impl Strategy<Value = Program> {
    let curve = proptest::collection::vec((count(), number(), number()), 0..5);
    let numbers = (proptest::option::of(number()), proptest::option::of(number()), number());
    (1u64..40, proptest::option::of(count()), count(), count(), curve, numbers, "\\PC{0,20}").prop_map(
        |(id, dop, natural, first, points, (efficiency, speedup, weight), name)| Program {
            id,
            uid: (id % 3) as u32,
            name,
            dop,
            natural,
            min: first,
            pus: (0..dop.unwrap_or(0).min(64)).map(|pu| pu + first % 100).collect(),
            curve: curve_of(points),
            efficiency,
            speedup,
            weight,
            quota: None,
            ..program()
        },
    )
}

fn curve_of(points: Vec<(u32, f64, f64)>) -> Vec<CurvePoint> {
    curve(&points)
}

fn any_moments() -> impl Strategy<Value = Vec<Snapshot>> {
    let moment = (proptest::collection::vec(any_program(), 0..12), any::<u64>(), count(), any::<bool>());
    proptest::collection::vec(moment, 1..6).prop_map(|moments| {
        let made = |(mut programs, now_ns, capacity, other): (Vec<Program>, u64, u32, bool)| {
            programs.sort_by_key(|program| program.id);
            programs.dedup_by_key(|program| program.id);
            let policy = if other { "curve" } else { "equi" };
            Snapshot { now_ns, capacity, policy: policy.into(), ..snapshot(programs) }
        };
        moments.into_iter().map(made).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_keys_on_no_moments_on_no_screen_are_too_much(
        moments in any_moments(),
        keys in proptest::collection::vec(key(), 0..60),
        (width, height) in (0u16..140, 0u16..50),
        packages in 0u32..5,
        recorded in any::<bool>(),
        look in prop_oneof![Just(ASCII), Just(FULL)],
    ) {
        let source = if recorded { Source::Recording("x".into()) } else { Source::Daemon };
        let mut state = State::new(Past::recorded(moments.into_iter()), source);
        state.machine = machine(packages, 4);
        text(&mut state, width, height, look);
        for key in keys {
            state.key(key);
            text(&mut state, width, height, look);
        }
        text(&mut State::new(Past::new(), Source::Lost("gone".into())), width, height, look);
    }
}
