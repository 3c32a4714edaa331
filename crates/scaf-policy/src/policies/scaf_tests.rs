use super::scaf::Scaf;
use crate::{Dop, Machine, Policy, Program, ProgramId, Share};

fn program(id: u64, dop: u32, e: impl Into<Option<f64>>) -> Program {
    Program { dop, efficiency: e.into(), ..Program::new(ProgramId(id), 16) }
}

fn shares(policy: &mut Scaf, programs: &[Program]) -> Vec<Share> {
    policy.allocate(&Machine::new(16, 0.0), programs).shares
}

fn contexts(share: Share) -> u32 {
    match share.dop {
        Dop::Contexts(dop) => dop,
        Dop::Unmanaged => unreachable!("this policy manages everyone"),
    }
}

fn dops(policy: &mut Scaf, programs: &[Program]) -> Vec<u32> {
    shares(policy, programs).into_iter().map(contexts).collect()
}

#[test]
fn the_paper_s_example_is_divided_as_in_the_paper() {
    let programs = [program(1, 12, 2.0 / 3.0), program(2, 4, 3.0 / 8.0)];
    assert_eq!(dops(&mut Scaf::default(), &programs), [14, 2]);
    let reason = &shares(&mut Scaf::default(), &programs)[0].reason;
    assert_eq!(reason, "C 2.82 of 3.18 (from E 0.67 on 12), of 16 contexts 14.18, rounded to 14");
}

#[test]
fn a_newcomer_gets_an_equal_part_until_it_has_been_measured() {
    let mut policy = Scaf::default();
    let old = [program(1, 12, 2.0 / 3.0), program(2, 4, 3.0 / 8.0)];
    dops(&mut policy, &old);
    let with_new = [old[0].clone(), old[1].clone(), program(3, 0, None)];
    assert_eq!(dops(&mut policy, &with_new), [10, 1, 5]);
    assert!(
        shares(&mut policy, &with_new)[2].reason.starts_with("nothing measured yet, an equal part of 16")
    );
}

#[test]
fn what_was_known_of_a_program_holds_while_its_new_dop_is_not_measured() {
    let mut policy = Scaf::default();
    dops(&mut policy, &[program(1, 8, 0.9), program(2, 8, 0.2)]);
    let given = dops(&mut policy, &[program(1, 8, 0.9), program(2, 8, 0.2)]);
    let settling = [program(1, given[0], None), program(2, given[1], None)];
    assert_eq!(dops(&mut policy, &settling), given);
}

#[test]
fn a_program_that_lost_by_parallelism_keeps_one_context_and_the_rest_is_used() {
    assert_eq!(dops(&mut Scaf::default(), &[program(1, 8, 0.9), program(2, 8, 0.05)]), [15, 1]);
}

#[test]
fn a_program_that_was_serial_when_last_seen_is_looked_at_again() {
    let mut policy = Scaf::default();
    let mut programs = vec![program(1, 0, None), program(2, 0, None)];
    let mut looks = Vec::new();
    for decision in 0..400 {
        let machine = Machine::new(16, 0.25 * f64::from(decision));
        let given = policy.allocate(&machine, &programs).shares.into_iter().map(contexts);
        for (p, dop) in programs.iter_mut().zip(given) {
            // Program 2 reads its input for a minute, and then scales as well as the other.
            let serial = p.id == ProgramId(2) && decision < 240;
            p.efficiency = Some(if serial { 1.0 / f64::from(dop) } else { 0.95 });
            p.dop = dop;
        }
        if programs[1].dop > 1 {
            looks.push(decision);
        }
    }
    // Ever later while it is serial, and as soon as it is seen to scale it has its part.
    let (serial, scales): (Vec<i32>, Vec<i32>) = looks.iter().partition(|decision| **decision <= 240);
    let begins: Vec<i32> = serial.iter().copied().filter(|look| !serial.contains(&(look - 1))).collect();
    let waits: Vec<i32> = begins.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits.is_sorted() && begins[1] < 10 && (5..=9).contains(&begins.len()), "{serial:?}");
    assert!(scales.len() > 80, "{scales:?}");
    assert!((6..=10).contains(&programs[1].dop), "{}", programs[1].dop);
}

#[test]
fn small_gains_are_left_alone_and_the_reason_says_so() {
    let programs = [program(1, 9, 0.80), program(2, 7, 0.82)];
    let mut policy = Scaf::default();
    assert_eq!(dops(&mut policy, &programs), [9, 7]);
    let near = [program(1, 9, 0.80), program(2, 7, 0.86)];
    let shares = shares(&mut policy, &near);
    assert!(shares[0].reason.starts_with("9 kept: 8 instead would gain"), "{}", shares[0].reason);
}

#[test]
fn a_departure_frees_its_contexts_at_once() {
    let mut policy = Scaf::default();
    dops(&mut policy, &[program(1, 8, 0.9), program(2, 8, 0.9)]);
    assert_eq!(dops(&mut policy, &[program(1, 8, 0.9)]), [16]);
}

#[test]
fn a_user_s_minimum_and_maximum_hold_against_the_model() {
    let bounded = [
        Program { max: 6, ..program(1, 8, 0.95) },
        Program { min: 4, ..program(2, 8, 0.1) },
        program(3, 8, 0.5),
    ];
    assert_eq!(dops(&mut Scaf::default(), &bounded), [6, 4, 6]);
}
