use super::*;
use crate::{Dop, Machine, POLICIES, Program, Settings, by_name};
use proptest::prelude::*;

fn claim(id: u64, share: f64, team: u32) -> Claim {
    Claim { id: ProgramId(id), share, floor: 1, cap: if team == 0 { 64 } else { team.min(64) }, team }
}

fn contexts(capacity: u32, claims: &[Claim]) -> Vec<u32> {
    apportion(capacity, claims).iter().map(|part| part.contexts).collect()
}

fn of_teams(capacity: u32, teams: &[u32]) -> Vec<u32> {
    let claims: Vec<Claim> = teams.iter().zip(1..).map(|(team, id)| claim(id, 1.0, *team)).collect();
    contexts(capacity, &claims)
}

#[test]
fn what_a_kept_team_cannot_use_goes_to_those_who_can() {
    assert_eq!(of_teams(16, &[0, 0, 0]), [6, 5, 5]);
    assert_eq!(of_teams(14, &[16, 0]), [6, 8], "7 would be no better than 6");
    assert_eq!(of_teams(16, &[16, 16, 16]), [6, 6, 4], "5 each are no better than 4");
    assert_eq!(of_teams(24, &[16, 16]), [16, 8], "12 each are no better than 8");
    assert_eq!(of_teams(24, &[4, 16, 0]), [4, 8, 12]);
    assert_eq!(of_teams(13, &[16, 16]), [6, 6], "one context is of use to nobody");
}

#[test]
fn a_kept_team_that_is_near_its_next_step_has_it() {
    let of = |share| contexts(16, &[claim(1, share, 16), claim(2, 16.0 - share, 0)]);
    assert_eq!([of(7.4), of(6.6), of(8.6)], [[8, 8], [6, 10], [8, 8]]);
    let near = [claim(1, 9.0, 16), claim(2, 7.0, 16)];
    assert_eq!(contexts(16, &near), [8, 8], "SCAF's loop between two alike, one of them favoured by noise");
}

#[test]
fn a_minimum_that_is_no_step_is_kept() {
    let asked = Claim { floor: 7, ..claim(1, 0.01, 16) };
    assert_eq!(contexts(16, &[asked, claim(2, 1.0, 0)]), [7, 9]);
    assert_eq!(contexts(16, &[asked, claim(2, 1.0, 16)]), [8, 8]);
}

prop_compose! {
    fn any_program()(
        team in prop_oneof![Just(0u32), 1u32..40], natural in 1u32..40, min in 0u32..5, weight in 0.1..9.0f64,
        seen in proptest::option::of((1u32..40, 0.0..1.0f64)),
    ) -> Program {
        Program {
            fixed_team: team,
            min,
            weight,
            dop: seen.map_or(0, |(dop, _)| dop),
            efficiency: seen.map(|(_, efficiency)| efficiency),
            ..Program::new(ProgramId(0), natural)
        }
    }
}

fn numbered(mut programs: Vec<Program>) -> Vec<Program> {
    programs.iter_mut().zip(1..).for_each(|(program, id)| program.id = ProgramId(id));
    programs
}

/// Policies that divide in space.
fn in_space() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|entry| entry.name).filter(|name| !["chaos", "unmanaged", "taco"].contains(name))
}

fn divided(policy: &str, capacity: u32, programs: &[Program]) -> Vec<u32> {
    let mut policy = by_name(policy, &Settings::default()).unwrap();
    let shares = policy.allocate(&Machine::new(capacity, 0.0), programs).shares;
    let dops = shares.iter().map(|share| match share.dop {
        Dop::Contexts(dop) => dop,
        Dop::Unmanaged => 0,
    });
    dops.collect()
}

proptest! {
    #[test]
    fn under_every_policy_in_space_steps_are_kept_and_what_is_left_helps_nobody(
        programs in prop::collection::vec(any_program(), 1..9), capacity in 1u32..90,
        turn in any::<prop::sample::Index>(),
    ) {
        let programs = numbered(programs);
        let floors: u32 = programs.iter().map(Program::floor).sum();
        for name in in_space() {
            let dops = divided(name, capacity, &programs);
            let mut turned = programs.clone();
            turned.rotate_left(turn.index(programs.len()));
            let mut again: Vec<(u64, u32)> =
                turned.iter().map(|it| it.id.0).zip(divided(name, capacity, &turned)).collect();
            again.sort_unstable();
            prop_assert_eq!(again.into_iter().map(|it| it.1).collect::<Vec<_>>(), dops.clone(), "{}", name);
            if floors >= capacity {
                continue;
            }
            let sum: u32 = dops.iter().sum();
            prop_assert!(sum <= capacity, "{name}: {dops:?}");
            let useless = |(program, dop): (&Program, &u32)| {
                *dop > program.floor() && steps::useful(program.fixed_team, *dop) < *dop
            };
            for (program, dop) in programs.iter().zip(&dops) {
                prop_assert!((program.floor()..=program.cap()).contains(dop), "{name}: {dops:?}");
                prop_assert!(!useless((program, dop)), "{name}: {dops:?}");
            }
            // `curve` and `offline` leave contexts to nobody that bring nothing, or wait for measurements.
            if ["curve", "offline"].contains(&name) {
                continue;
            }
            for (program, dop) in programs.iter().zip(&dops) {
                let next = steps::next(program.fixed_team, *dop).filter(|next| *next <= program.cap());
                prop_assert!(next.is_none_or(|next| next - dop > capacity - sum), "{name}: {dops:?}");
            }
        }
    }
}

/// Of many programs each policy decides, and nobody is left out; `scaf-lab bench decide` says how fast.
#[test]
fn ten_thousand_programs_have_their_steps() {
    let program = |id: u64| Program {
        fixed_team: [0, 16, 64, 100][id as usize % 4],
        dop: 1 + id as u32 % 16,
        efficiency: Some(1.0 / (1.0 + (id % 7) as f64)),
        ..Program::new(ProgramId(id), 128)
    };
    let programs: Vec<Program> = (1..=10_000).map(program).collect();
    for name in in_space() {
        let dops = divided(name, 65_536, &programs);
        let sum: u32 = dops.iter().sum();
        assert!(dops.len() == 10_000 && sum > 60_000 && sum <= 65_536, "{name}: {sum}");
        let useful = |(program, dop): (&Program, &u32)| steps::useful(program.fixed_team, *dop) == *dop;
        assert!(programs.iter().zip(&dops).all(useful), "{name}");
    }
}
