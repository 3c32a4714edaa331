use super::grant::LONG_REGION_NS;
use super::*;
use crate::apply::MASKS;
use crate::control::Mechanism;
use crate::estimate::Seen;
use crate::inspect::Verdict;
use crate::observe::cgroup::Cgroup;
use crate::observe::priority::Priority;
use crate::paths::Scope;
use scaf_policy::efficiency::Interval;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::observed::{Runs, Spell};

fn set(text: &str) -> PuSet {
    text.parse().unwrap()
}

pub(crate) fn program(id: u64) -> Program {
    let identity = Identity {
        id: ProgramId(id),
        pid: 1000 + id as u32,
        starttime: 0,
        uid: 0,
        owner: 0,
        gid: 0,
        number: 1,
        name: "p".into(),
        executable: "/p".into(),
        step: None,
        tree: 0,
        attached_ns: 0,
    };
    let limits = Limits { natural: 8, min: 1, max: 0, weight: 1.0 };
    let (own, usable) = (set("0-7"), set("0-3"));
    let reach = Reach {
        own,
        usable,
        cgroup: Cgroup::default(),
        alone: None,
        stranded: false,
        binding: Binding::Unbound,
        priority: Priority::default(),
    };
    let code = Code::pending(1, false, None);
    let (grant, evidence) = (Grant::before(None, 1), Evidence::new(0, 0, 1.0, None));
    Program { identity, limits, reach, code, grant, evidence, phase: Phase::default() }
}

pub(crate) fn seen(team: u32, promised: u64) -> Seen {
    Seen {
        interval: Interval { dt_s: 1.0, p: 2.0, parallel_s: 1.0, useful_s: 1.0 },
        team,
        in_region: true,
        last_team: team,
        team_since: 0,
        regions: 9,
        promised,
        progress: 0,
        natural: 0,
        mechanism: None,
        permission: None,
        ungathered: None,
        forbids: [0; 32],
        yields: false,
        hostile: 0,
    }
}

pub(crate) fn grant(p: &mut Program, dop: u32, at_ns: u64) {
    assert!(p.regrant(Some(dop), (0..dop).collect(), "so".into(), at_ns));
    p.grant.affinity_ns = Some(at_ns + 1);
}

#[test]
fn policies_are_told_of_a_team_that_is_kept_but_not_while_its_code_is_inspected() {
    let mut p = program(1);
    grant(&mut p, 3, 10);
    let gathered = Seen { mechanism: Some(Mechanism::Gather), natural: 4, ..seen(3, 0) };
    let told = |p: &mut Program| {
        (0..4).for_each(|_| p.measured(gathered, false));
        p.request().fixed_team
    };
    assert_eq!(told(&mut p), 0, "it may turn out to be resizable");
    p.code.teams = Teams::Fixed("it depends on their size".into());
    assert_eq!(told(&mut p), 4);
    p.code.find_rigid("it spins".into());
    assert_eq!(p.request().fixed_team, 0);
    p.code.yields();
    p.ungrant("alone".into(), 20);
    assert_eq!(p.request().fixed_team, 0);
}

#[test]
fn what_a_team_of_before_does_is_not_measured_as_the_larger_dop_that_was_granted() {
    let mut p = program(1);
    grant(&mut p, 1, 10);
    // The first interval has its start in it.
    (0..2).for_each(|_| p.measured(seen(1, 0), false));
    assert_eq!(p.evidence.efficiency().map(|(dop, _)| dop), Some(1));
    grant(&mut p, 4, 20);
    p.measured(seen(1, 0), false);
    p.measured(Seen { regions: 10, ..seen(4, 0) }, false);
    assert_eq!(p.evidence.efficiency().map(|(dop, _)| dop), Some(1));
    p.measured(Seen { regions: 11, ..seen(4, 0) }, false);
    assert_eq!(p.evidence.efficiency().map(|(dop, _)| dop), Some(4));
    grant(&mut p, 2, 30);
    grant(&mut p, 3, 40);
    p.measured(Seen { regions: 12, ..seen(2, 0) }, false);
    assert_eq!(p.evidence.efficiency().map(|(dop, _)| dop), Some(3));
}

#[test]
fn what_a_program_does_before_its_first_region_is_forgotten_when_that_begins() {
    let mut p = program(1);
    grant(&mut p, 4, 10);
    let reading = Interval { parallel_s: 0.0, useful_s: 0.0, ..seen(0, 0).interval };
    let reading = Seen { interval: reading, in_region: false, ..seen(0, 0) };
    for _ in 0..3 {
        p.measured(reading, false);
        p.ran(&[]);
    }
    assert_eq!(p.request().efficiency, Some(0.5));
    p.evidence.seen = Some(seen(4, 0));
    p.measured(seen(4, 0), false);
    p.ran(&[]);
    p.know();
    assert_eq!((p.request().efficiency, p.request().curve), (None, vec![]));
    let useful = Interval { useful_s: 2.0, ..seen(4, 0).interval };
    p.measured(Seen { interval: useful, regions: 10, ..seen(4, 0) }, false);
    p.ran(&[]);
    assert_eq!(p.request().efficiency, Some(1.0));
    assert_eq!(p.evidence.observed.past().mix.serial, 0.0);
}

#[test]
fn a_program_is_no_wider_than_its_usable_pus() {
    let mut p = program(1);
    assert_eq!(p.natural(), 4);
    p.evidence.seen = Some(Seen { natural: 2, ..seen(0, 0) });
    assert_eq!(p.natural(), 2);
    p.reach.usable = PuSet::new();
    assert_eq!(p.natural(), 1);
}

#[test]
fn no_limit_is_no_limit_for_the_policy() {
    assert_eq!(program(1).request().max, u32::MAX);
}

/// What a program taught whose one region takes 1 s on one context and `four_s` on four.
fn past(four_s: f64, error: f64) -> scaf_policy::earlier_runs::EarlierRuns {
    let point = |value| Estimate { value, error };
    let points = [(1, point(1.0)), (4, point(four_s))].into();
    let region = scaf_policy::earlier_runs::EarlierRegion { runs_per_s: 1.0, points, same: true };
    scaf_policy::earlier_runs::EarlierRuns { regions: [(4096, region)].into(), mix: Default::default() }
}

#[test]
fn a_policy_is_told_what_earlier_runs_promise_until_something_is_measured() {
    let mut p = program(1);
    assert_eq!((p.request().dop, p.request().efficiency), (0, None));
    p.remember(past(0.5, 0.02));
    let asked = p.request();
    assert_eq!(asked.dop, 4);
    assert!((asked.efficiency.unwrap() - 0.5).abs() < 1e-9, "{asked:?}");
    grant(&mut p, 1, 10);
    assert_eq!(p.request().dop, 4);
    let points: Vec<_> = p.snapshot().curve.iter().map(|it| (it.dop, it.observed)).collect();
    assert_eq!(points, [(1, Some(1.0)), (4, Some(2.0))]);
    grant(&mut p, 2, 20);
    (0..2).for_each(|_| p.measured(seen(2, 0), false));
    let asked = p.request();
    assert_eq!((asked.dop, p.evidence.efficiency().map(|(_, e)| e)), (2, Some(0.5)));
    assert!((0.5..0.56).contains(&asked.efficiency.unwrap()), "{asked:?}");
}

#[test]
fn what_is_hardly_known_is_not_told() {
    let mut p = program(1);
    p.remember(past(0.5, 0.6));
    assert_eq!((p.request().dop, p.request().efficiency), (0, None));
    p.limits.natural = 1;
    p.remember(past(0.5, 0.02));
    assert_eq!(p.request().efficiency, None);
}

#[test]
fn the_first_decision_is_a_change_and_the_same_again_is_none() {
    let mut p = program(1);
    grant(&mut p, 2, 10);
    let epoch = p.grant.epoch;
    assert!(!p.regrant(Some(2), set("0-1"), "other words".into(), 20));
    assert_eq!((p.grant.epoch, p.grant.granted_ns, p.grant.reason.as_str()), (epoch, 10, "other words"));
    assert!(p.regrant(Some(2), set("2-3"), "moved".into(), 30));
    assert_eq!((p.grant.epoch, p.grant.granted_ns), (epoch + 1, 10));
}

#[test]
fn the_word_says_what_is_granted_and_nothing_while_unmanaged() {
    let mut p = program(1);
    assert_eq!(p.word().dop(), None);
    grant(&mut p, 3, 10);
    assert_eq!((p.word().dop(), p.word().resizable(), p.word().folded()), (Some(3), false, false));
    (p.code.teams, p.code.inspected) = (Teams::Resizable, 2);
    p.grant.set = Some(set("0-2"));
    assert_eq!((p.word().inspected(), p.word().resizable(), p.word().folded()), (2, true, true));
    p.regrant(None, set("0-7"), "policy".into(), 20);
    assert_eq!((p.word().dop(), p.word().inspected(), p.word().resizable()), (None, 0, false));
}

#[test]
fn a_program_that_was_left_alone_for_its_loops_shares_again_once_they_yield() {
    let mut p = program(1);
    (p.code.inspected, p.code.spins) = (2, Some("here".into()));
    p.code.find_rigid("it waits for itself".into());
    p.reach.alone = Some("it waits for itself".into());
    assert_eq!((p.word().dop(), p.word().inspected(), p.word().spins()), (None, 2, true));
    p.evidence.seen = Some(seen(4, 0));
    assert!(!p.learn_yields() && p.reach.alone.is_some() && p.code.rigid().is_some());
    p.evidence.seen = Some(Seen { yields: true, ..seen(4, 0) });
    assert!(p.learn_yields() && p.reach.alone.is_none() && p.code.rigid().is_none());
    assert!(!p.learn_yields() && !p.word().spins());
    p.code.find_rigid("it waits for itself".into());
    p.reach.alone = Some("it is bound".into());
    assert!(p.learn_yields() && p.reach.alone.is_some());
}

#[test]
fn whoever_spins_in_loops_that_do_not_yield_shares_with_a_context_for_each_thread() {
    let verdict = |spins: bool, marked: bool| Verdict {
        spins: spins.then(|| "here".into()),
        spins_itself: spins,
        marks: marked.then(Vec::new),
        ..Verdict::default()
    };
    let mut p = program(1);
    assert!(!p.shares(2), "nothing is known of it");
    for (spins, marked, shares) in [(false, true, true), (true, true, true), (true, false, false)] {
        p.code.inspected(&verdict(spins, marked), 1, vec![]);
        assert_eq!((p.shares(2), p.code.spins_itself()), (shares, spins));
    }
    p.evidence.seen = Some(Seen { natural: 2, ..seen(2, 0) });
    assert!(p.shares(2) && !p.shares(1));
    p.code.find_rigid("it waits for itself".into());
    assert!(!p.shares(2));
}

#[test]
fn an_efficiency_keeps_the_dop_that_it_was_measured_at() {
    let mut p = program(1);
    grant(&mut p, 2, 10);
    (0..2).for_each(|_| p.measured(seen(2, 0), false));
    assert_eq!((p.request().dop, p.request().efficiency), (2, Some(0.5)));
    grant(&mut p, 4, 20);
    assert_eq!((p.request().dop, p.request().efficiency), (2, Some(0.5)));
    p.measured(Seen { interval: Interval { p: 4.0, ..seen(4, 0).interval }, ..seen(4, 0) }, false);
    assert_eq!((p.request().dop, p.request().efficiency), (4, Some(0.25)));
    assert_eq!(p.snapshot().speedup, Some(1.0));
}

#[test]
fn a_fixed_program_has_its_grant_with_its_affinity() {
    let mut p = program(1);
    p.code.teams = Teams::Fixed("why".into());
    grant(&mut p, 2, 10);
    p.settle(99, 200);
    assert_eq!(p.grant.effective_ns, Some(11));
    assert_eq!(p.mechanism(), (Mechanism::Fold, "why".into()));
}

#[test]
fn a_program_without_a_team_has_its_grant_with_its_affinity() {
    let mut p = program(1);
    p.code.teams = Teams::Resizable;
    grant(&mut p, 4, 10);
    p.settle(50, 200);
    assert_eq!(p.grant.effective_ns, Some(11));
}

#[test]
fn a_resized_program_has_a_smaller_grant_with_its_first_smaller_team() {
    let mut p = program(1);
    p.code.teams = Teams::Resizable;
    grant(&mut p, 4, 10);
    p.evidence.seen = Some(seen(8, 0));
    p.settle(50, 200);
    assert_eq!(p.grant.effective_ns, None);
    p.evidence.seen = Some(seen(4, 0));
    p.settle(50, 200);
    assert_eq!(p.grant.effective_ns, Some(50));
    grant(&mut p, 2, 100);
    p.settle(50, 200);
    assert_eq!(p.grant.effective_ns, None);
    assert_eq!(p.mechanism().0, Mechanism::Fold);
    p.evidence.seen = Some(seen(2, 0));
    p.settle(150, 200);
    assert_eq!((p.grant.effective_ns, p.mechanism().0), (Some(150), Mechanism::Resize));
}

#[test]
fn a_long_region_has_a_smaller_grant_with_its_affinity() {
    let mut p = program(1);
    p.code.teams = Teams::Resizable;
    grant(&mut p, 4, 10);
    p.evidence.seen = Some(Seen { in_region: true, ..seen(4, 0) });
    grant(&mut p, 2, 100);
    p.settle(50, 100 + LONG_REGION_NS);
    assert_eq!(p.grant.effective_ns, None);
    p.settle(50, 102 + LONG_REGION_NS);
    assert_eq!((p.grant.effective_ns, p.mechanism().0), (Some(101), Mechanism::Fold));
}

#[test]
fn a_larger_grant_is_in_effect_with_the_first_larger_team() {
    let mut p = program(1);
    p.code.teams = Teams::Resizable;
    grant(&mut p, 2, 10);
    p.evidence.seen = Some(seen(2, 0));
    grant(&mut p, 4, 100);
    p.settle(50, 200);
    assert_eq!(p.grant.effective_ns, None);
    p.evidence.seen = Some(seen(4, 0));
    p.settle(160, 200);
    assert_eq!(p.grant.effective_ns, Some(160));
}

#[test]
fn a_program_that_promises_its_teams_has_its_grant_with_its_affinity() {
    let mut p = program(1);
    p.code.teams = Teams::Resizable;
    grant(&mut p, 2, 10);
    p.evidence.seen = Some(seen(4, 3));
    p.settle(50, 200);
    assert_eq!(p.grant.effective_ns, Some(11));
}

#[test]
fn a_program_that_is_left_alone_says_why() {
    let mut p = program(1);
    p.reach.alone = Some("it is bound".into());
    p.regrant(None, p.reach.own.clone(), "it is bound".into(), 10);
    assert_eq!(p.snapshot().mechanism_reason, "it is bound");
    assert_eq!(p.snapshot().dop, None);
}

#[test]
fn an_affinity_of_ours_is_recognised_in_children() {
    let mut registry = Registry::default();
    let mut parent = program(1);
    parent.grant.remember(&set("1"));
    parent.grant.remember(&set("3"));
    registry.attach(parent);
    registry.attach(program(2));
    assert_eq!(registry.inherited([7, 1001].into_iter(), &set("1")), Some((set("0-7"), set("1"))));
    assert_eq!(registry.inherited([7, 1001].into_iter(), &set("2")), None);
    assert_eq!(registry.inherited([1002].into_iter(), &set("1")), None);
    assert_eq!(registry.detach(ProgramId(1)).unwrap().identity.pid, 1001);
    assert!(
        registry.detach(ProgramId(1)).is_none() && registry.by_pid(1001).is_none() && !registry.is_empty()
    );
}

#[test]
fn only_root_may_put_a_program_before_other_users() {
    let greedy = Limits { natural: 8, min: 4, max: 6, weight: 100.0 };
    let plain = Limits { natural: 8, min: 1, max: 6, weight: 1.0 };
    assert_eq!(greedy.clone().permitted(Scope::System, 1000), plain);
    assert_eq!(greedy.clone().permitted(Scope::System, 0), greedy);
    assert_eq!(greedy.clone().permitted(Scope::Session, 1000), greedy);
    let modest = Limits { min: 1, max: 2, weight: 0.5, ..greedy };
    assert_eq!(modest.clone().permitted(Scope::System, 1000), modest);
}

#[test]
fn the_latest_affinities_are_remembered_each_once() {
    let mut grant = Grant::default();
    for text in ["0", "1", "0"] {
        grant.remember(&set(text));
    }
    assert_eq!(grant.masks, [set("1"), set("0")]);
    for pu in 2..40 {
        grant.remember(&set(&pu.to_string()));
    }
    assert_eq!(grant.masks.len(), MASKS);
    assert_eq!(grant.masks.last(), Some(&set("39")));
}

const MS: u64 = 1_000_000;

/// In a region with four threads on two contexts, in loops that may spin.
fn folded_in_loops_that_may_spin() -> Program {
    let mut p = program(1);
    p.code.teams = Teams::Fixed("so".into());
    p.code.spins = Some("f+0x10".into());
    grant(&mut p, 2, 0);
    p.grant.set = Some(set("0-1"));
    p.evidence.seen = Some(seen(4, 0));
    p
}

#[test]
fn a_folded_program_that_burns_its_contexts_and_finishes_nothing_is_stuck() {
    let folded = || {
        let mut p = folded_in_loops_that_may_spin();
        assert!(!p.is_stuck((0, 0), false, |_| 0));
        p
    };
    let at = |p: &mut Program, ms: u64, cpu_ms: u64| p.is_stuck((cpu_ms * MS, ms * MS), false, |_| 2);
    let mut p = folded();
    assert!(!at(&mut p, 50, 100));
    assert!(at(&mut p, 60, 120));
    for (cpu_ms, stuck) in [(20, true), (0, false)] {
        assert_eq!(folded().is_stuck((cpu_ms * MS, 10 * MS), true, |_| 2), stuck);
    }
    assert!(!at(&mut folded(), 60, 60));
    let mut p = folded();
    p.evidence.seen = Some(Seen { progress: 1, ..seen(4, 0) });
    assert!(!at(&mut p, 60, 120) && !at(&mut p, 110, 220) && at(&mut p, 120, 240));
    let mut p = folded();
    p.grant.set = None;
    assert!(!at(&mut p, 1_000, 4_000));
    p.grant.set = Some(set("0-1"));
    assert!(!at(&mut p, 2_000, 8_000) && at(&mut p, 2_060, 8_120));
    let mut cases = [folded(), folded(), folded(), folded()];
    cases[0].code.spins = None;
    cases[1].evidence.seen = Some(seen(2, 0));
    cases[2].evidence.seen = Some(Seen { in_region: false, ..seen(4, 0) });
    cases[3].code.teams = Teams::Resizable;
    for p in &mut cases {
        assert!(!at(p, 60, 120));
    }
    cases[3].evidence.seen = Some(seen(4, 7));
    assert!(!at(&mut cases[3], 100, 200) && at(&mut cases[3], 160, 320), "a team that was promised");
}

#[test]
fn a_folded_program_from_which_others_take_its_contexts_is_stuck_if_it_wants_them_all_the_time() {
    let mut p = folded_in_loops_that_may_spin();
    let mut at = |ms: u64, threads: usize| {
        p.is_stuck((ms * MS * 3 / 5, ms * MS), false, |most| {
            assert_eq!(most, 3);
            threads
        })
    };
    assert!(!at(0, 4) && !at(60, 4) && !at(75, 4), "it may just have got too little to finish anything");
    assert!(!at(141, 4) && !at(156, 4) && !at(171, 4));
    assert!(!at(172, 4), "too soon after the last look");
    assert!(!at(186, 2), "others wait for it, not it for them");
    assert!(!at(201, 3) && !at(216, 3) && !at(231, 3) && at(246, 3));
}

#[test]
fn a_policy_is_told_the_dops_that_were_had_and_a_profile_that_does_not_change() {
    let mut p = program(1);
    assert_eq!(p.request().curve, []);
    p.remember(past(0.5, 0.02));
    let dops = |curve: &[Measured]| curve.iter().map(|point| point.dop).collect::<Vec<_>>();
    let asked = p.request();
    assert_eq!((dops(&asked.curve), dops(&asked.profile)), (vec![1, 4], vec![1, 4]));
    assert_eq!(asked.profile[0].speedup, Estimate { value: 1.0, error: 0.0 });
    assert!((asked.profile[1].speedup.value - 2.0).abs() < 1e-9, "{asked:?}");
    let runs =
        |dop, one_s: f64| [Runs { region: 4096, dop, runs: 1.0 / one_s, count: 1.0 / one_s, wall_s: 1.0 }];
    grant(&mut p, 4, 10);
    for _ in 0..8 {
        p.measured(seen(4, 0), false);
        p.ran(&runs(4, 1.0));
        p.evidence.observed.add(&Spell { dop: 1, dt_s: 1.0, parallel_s: 1.0, runs: &runs(1, 1.0) });
    }
    grant(&mut p, 2, 20);
    p.measured(seen(2, 0), false);
    p.know();
    assert_eq!((dops(&p.request().curve), p.request().profile), (vec![1, 2, 4], asked.profile));
    assert!(p.request().curve[2].speedup.value < 1.7, "{:?}", p.request().curve);
    assert_eq!(p.evidence.known[0].sources, []);
}

#[test]
fn a_profile_that_was_given_counts_more_than_what_is_remembered() {
    let given = vec![Measured { dop: 8, speedup: Estimate { value: 3.0, error: 0.05 } }];
    let mut p = Program { evidence: Evidence::new(0, 0, 1.0, Some(given.clone())), ..program(1) };
    p.remember(past(0.5, 0.02));
    assert_eq!(p.request().profile, given);
}

#[test]
fn programs_of_one_user_and_name_are_numbered_and_other_users_do_not_count() {
    let mut registry = Registry::default();
    let mut of = |id: u64, uid: u32, number: u32| {
        let mut program = program(id);
        (program.identity.uid, program.identity.number) = (uid, number);
        program.identity.name = "cg".into();
        let shown = program.identity.shown();
        registry.attach(program);
        shown
    };
    assert_eq!([of(1, 7, 1), of(2, 7, 2), of(3, 8, 1)], ["cg", "cg#2", "cg"]);
    assert_eq!((registry.number_for(7, "cg"), registry.number_for(8, "cg")), (3, 2));
    assert_eq!((registry.number_for(9, "cg"), registry.number_for(7, "lu")), (1, 1));
    registry.detach(ProgramId(1));
    assert_eq!(registry.number_for(7, "cg"), 1);
}

#[test]
fn bound_threads_keep_their_pus_for_their_turns_until_they_need_none() {
    let pus = |list: &str| list.parse::<PuSet>().unwrap();
    let kept = |own: &str, masks: &[&str]| {
        let mut p = program(1);
        p.reach.own = pus(own);
        p.reach.usable = pus(own);
        p.reach.binding = Binding::Own;
        p.reach.alone = Some("it binds its threads itself".into());
        let masks: Vec<PuSet> = masks.iter().map(|mask| pus(mask)).collect();
        let can_be = p.reach.keep(&masks, &pus("0-7"));
        assert_eq!(can_be, p.reach.alone.is_none());
        (can_be, p)
    };
    // A main thread that isn't bound needs a PU more.
    assert_eq!(kept("0-7", &["0-7", "1", "2"]).1.reach.usable, pus("0-2"));
    assert_eq!(kept("0-7", &["3", "1", "2"]).1.reach.usable, pus("1-3"));
    // One that is bound.
    assert_eq!(kept("0", &["0", "1"]).1.reach.usable, pus("0-1"));
    assert!(!kept("0-7", &["0-7", "0-7"]).0 && !kept("0-9", &["8", "9"]).0);
    let mut p = kept("0-7", &["1", "2"]).1;
    p.reach.follow(&pus("0-1"), false, |_| None);
    assert_eq!(p.reach.usable, pus("1"));
    p.code.find_rigid("it spins".into());
    p.evidence.seen = Some(Seen { yields: true, ..seen(0, 0) });
    assert!(p.learn_yields());
    assert!(p.reach.binding == Binding::Own && p.reach.alone.is_some());
}
