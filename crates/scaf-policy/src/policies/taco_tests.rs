use super::*;

/// Two sockets of two cores: figure 1 of the paper.
const TWO_BY_TWO: [u32; 3] = [1, 2, 4];

fn machine(capacity: u32, units: &[u32], now_s: f64) -> Machine {
    Machine { units: units.to_vec(), ..Machine::new(capacity, now_s) }
}

fn programs(count: u64, natural: u32) -> Vec<Program> {
    (1..=count).map(|id| Program::new(ProgramId(id), natural)).collect()
}

/// Contexts of each program and the turns as (slices, members), under a fresh policy.
fn settled(machine: &Machine, programs: &[Program]) -> (Vec<u32>, Vec<(u32, Vec<u64>)>) {
    in_brief(&Taco::default().allocate(machine, programs), programs)
}

fn in_brief(allocation: &Allocation, programs: &[Program]) -> (Vec<u32>, Vec<(u32, Vec<u64>)>) {
    let contexts = programs.iter().map(|program| allocation.contexts(program.id).unwrap()).collect();
    let turn = |turn: &Turn| (turn.slices, turn.members.iter().map(|id| id.0).collect());
    (contexts, allocation.turns.iter().map(turn).collect())
}

#[test]
fn one_to_eight_programs_are_scheduled_as_in_figure_2() {
    let schedule = |count| settled(&machine(4, &TWO_BY_TWO, 0.0), &programs(count, 4));
    assert_eq!(schedule(1), (vec![4], vec![]));
    assert_eq!(schedule(2), (vec![2, 2], vec![]));
    assert_eq!(schedule(3), (vec![2, 2, 4], vec![(1, vec![3]), (2, vec![1, 2])]));
    assert_eq!(schedule(4), (vec![1, 1, 1, 1], vec![]));
    assert_eq!(schedule(5), (vec![1, 1, 1, 1, 4], vec![(1, vec![5]), (4, vec![1, 2, 3, 4])]));
    assert_eq!(schedule(6), (vec![1, 1, 1, 1, 2, 2], vec![(1, vec![5, 6]), (2, vec![1, 2, 3, 4])]));
    assert_eq!(
        schedule(7),
        (vec![1, 1, 1, 1, 2, 2, 4], vec![(1, vec![7]), (2, vec![5, 6]), (4, vec![1, 2, 3, 4])])
    );
    assert_eq!(schedule(8), (vec![1; 8], vec![(1, vec![1, 2, 3, 4]), (1, vec![5, 6, 7, 8])]));
}

#[test]
fn levels_of_the_paper_s_machine_are_those_of_its_section_4_2_and_one_for_twelve() {
    let least = |count| settled(&machine(24, &[6, 24], 0.0), &programs(count, 24)).0.into_iter().min();
    for (counts, contexts) in [(1..=1, 24), (2..=3, 12), (4..=7, 6), (8..=11, 3), (12..=23, 2), (24..=60, 1)]
    {
        counts.into_iter().for_each(|count| assert_eq!(least(count), Some(contexts), "{count}"));
    }
}

#[test]
fn a_finer_level_is_taken_after_a_second_and_a_coarser_one_at_once() {
    let mut taco = Taco::default();
    let mut at = |now_s: f64, count: u64| {
        let programs = programs(count, 24);
        in_brief(&taco.allocate(&machine(24, &[6, 24], now_s), &programs), &programs)
    };
    assert_eq!(at(0.0, 3).0, [12, 12, 24]);
    // The newcomer is an odd one at first, and nobody is resized.
    assert_eq!(at(5.0, 4), (vec![12; 4], vec![(1, vec![1, 2]), (1, vec![3, 4])]));
    assert_eq!(at(5.9, 4).0, [12; 4]);
    assert_eq!(at(6.0, 4), (vec![6; 4], vec![]));
    assert_eq!(at(6.1, 3).0, [12, 12, 24]);
    assert_eq!(at(7.0, 4).0, [12; 4]);
    assert_eq!(at(7.5, 3).0, [12, 12, 24]);
    assert_eq!(at(8.3, 4).0, [12; 4]);
}

#[test]
fn rigid_programs_take_turns_on_partitions_of_their_size_and_others_fill_them_up() {
    let mut all = programs(3, 2);
    all[0].rigid = true;
    all[1].rigid = true;
    // Two that need both contexts, and one that could do with one: a third of the time each.
    let schedule = settled(&machine(2, &[1, 2], 0.0), &all);
    assert_eq!(schedule, (vec![2, 2, 2], vec![(1, vec![1]), (1, vec![2]), (1, vec![3])]));

    // An equal part is 2.4 contexts. The rigid one stands on a node, with an odd one on another.
    let mut all = programs(10, 24);
    all[0] = Program { rigid: true, max: 5, ..all[0].clone() };
    let (contexts, turns) = settled(&machine(24, &[6, 24], 0.0), &all);
    assert_eq!(contexts, [5, 3, 3, 3, 3, 3, 3, 3, 3, 6]);
    assert_eq!(turns, [(1, vec![1, 10]), (2, (2..=9).collect())]);
}

#[test]
fn who_can_use_less_than_an_equal_part_runs_all_the_time_beside_the_turns() {
    let mut all = programs(4, 24);
    all[1].max = 4;
    let (contexts, turns) = settled(&machine(24, &[6, 24], 0.0), &all);
    assert_eq!((contexts, turns), (vec![10, 4, 10, 20], vec![(1, vec![4]), (2, vec![1, 3])]));
    let mut all = programs(2, 24);
    all[0].min = 18;
    assert_eq!(settled(&machine(24, &[6, 24], 0.0), &all), (vec![18, 6], vec![]));
}

#[test]
fn who_needs_the_whole_machine_has_it_for_himself_by_turns() {
    let mut all = programs(2, 24);
    all[0].rigid = true;
    all[1].max = 4;
    let schedule = settled(&machine(24, &[6, 24], 0.0), &all);
    assert_eq!(schedule, (vec![24, 4], vec![(1, vec![1]), (1, vec![2])]));
}

#[test]
fn heavier_programs_have_longer_turns() {
    let mut all = programs(3, 4);
    all[2].weight = 2.0;
    // The heaviest is the odd one: twice the slice.
    let (contexts, turns) = settled(&machine(4, &TWO_BY_TWO, 0.0), &all);
    assert_eq!((contexts, turns), (vec![2, 2, 4], vec![(1, vec![3]), (1, vec![1, 2])]));
}

#[test]
fn threads_that_are_too_many_keep_their_partition_until_the_program_has_adapted() {
    let mut taco = Taco::default();
    let mut all = programs(2, 4);
    let at = |taco: &mut Taco, now_s: f64, all: &[Program]| {
        let allocation = taco.allocate(&machine(4, &TWO_BY_TWO, now_s), all);
        let dops: Vec<Dop> = allocation.shares.iter().map(|share| share.dop).collect();
        (in_brief(&allocation, all), dops)
    };
    // The first is in a region of four threads when the second comes: turns, with its DoP already reduced.
    all[0].team = 4;
    let ((contexts, turns), dops) = at(&mut taco, 0.0, &all);
    assert_eq!((contexts, turns), (vec![4, 4], vec![(1, vec![1]), (1, vec![2])]));
    assert_eq!(dops, [Dop::Contexts(2), Dop::Contexts(2)]);
    all[0].team = 2;
    assert_eq!(at(&mut taco, 0.1, &all).0, (vec![2, 2], vec![]));
    // One that doesn't adapt is folded in the end.
    all[0].team = 4;
    assert_eq!(at(&mut taco, 1.0, &all).0.0, [4, 4]);
    assert_eq!(at(&mut taco, 2.9, &all).0.0, [4, 4]);
    assert_eq!(at(&mut taco, 3.0, &all).0.0, [2, 2]);
}

#[test]
fn rounds_stay_short_on_large_machines() {
    let (_, turns) = settled(&machine(1024, &[16, 64, 1024], 0.0), &programs(513, 1024));
    let slices: u32 = turns.iter().map(|(slices, _)| slices).sum();
    assert_eq!((turns.len(), slices), (2, 33), "one of 513 stands on a 16th of the machine");
}

#[test]
fn odd_weights_make_no_long_rounds() {
    let mut all = programs(3, 4);
    all[0].weight = 1.01;
    all[1].weight = 1.01;
    let (_, turns) = settled(&machine(4, &TWO_BY_TWO, 0.0), &all);
    let of = |turns: &[(u32, Vec<u64>)]| turns.iter().map(|(slices, _)| *slices).collect::<Vec<_>>();
    assert_eq!(of(&turns), [1, 2], "within a hundredth");
    // 13.7 times the weight, beside four that have four slices for each of its.
    let mut all = programs(5, 24);
    all[4].weight = 13.7;
    let (_, turns) = settled(&machine(24, &[6, 24], 0.0), &all);
    let lengths = of(&turns);
    assert!(lengths.iter().sum::<u32>() <= 64, "{lengths:?}");
    let ratio = f64::from(lengths[0]) / f64::from(lengths[1]);
    assert!((ratio / (13.7 / 4.0) - 1.0).abs() < 0.02, "{lengths:?}");
}

#[test]
fn turns_have_lengths_in_proportion_and_at_least_a_slice_each() {
    assert_eq!(lengths(&[1.0, 4.0], 64), [1, 4]);
    assert_eq!(lengths(&[24.0, 24.0, 8.0], 64), [3, 3, 1]);
    assert_eq!(lengths(&[0.001, 1.0], 64), [1, 64]);
    assert_eq!(lengths(&[1.0; 300], 64), [1; 300]);
}
