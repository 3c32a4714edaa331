//! Each user is due as much time as any other: the weights of a user's programs are scaled to add up to that
//! of the heaviest. Ten programs of weight 1 beside another user's one have a twentieth of the time each. So
//! are those of a process tree that aren't joined ([`crate::allocate`]), the rigid ones.

use crate::{Program, Users};
use std::collections::BTreeMap;

/// The programs' scaled weights, with the sum that they had; unscaled with one user, or if users don't count.
pub(crate) fn weights(among: Users, programs: &[&Program]) -> Vec<f64> {
    scaled(among, programs, Program::sane_weight)
}

/// The same as [`weights`] if all programs weighed alike.
pub(crate) fn heads(among: Users, programs: &[&Program]) -> Vec<f64> {
    scaled(among, programs, |_| 1.0)
}

fn scaled(among: Users, programs: &[&Program], weight: impl Fn(&Program) -> f64) -> Vec<f64> {
    let mut trees: BTreeMap<(u32, u64), (f64, f64)> = BTreeMap::new();
    for program in programs.iter().filter(|program| program.tree != 0) {
        let (most, sum) = trees.entry((program.user, program.tree)).or_default();
        *most = weight(program).max(*most);
        *sum += weight(program);
    }
    let in_tree = |program: &Program| {
        let (most, sum) = trees.get(&(program.user, program.tree)).copied().unwrap_or((1.0, 1.0));
        weight(program) * (most / sum)
    };
    // Each user's heaviest weight and the sum of weights.
    let mut users: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for program in programs {
        let (most, sum) = users.entry(program.user).or_default();
        *most = weight(program).max(*most);
        *sum += in_tree(program);
    }
    if users.len() < 2 || among == Users::ByProgram {
        return programs.iter().map(|program| in_tree(program)).collect();
    }
    let (most, sum) = users.values().fold((0.0, 0.0), |(a, b), (most, sum)| (a + most, b + sum));
    let scale = |program: &&Program| {
        let (own_most, own_sum) = users.get(&program.user).copied().unwrap_or((1.0, 1.0));
        in_tree(program) * own_most / own_sum * (sum / most)
    };
    programs.iter().map(scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProgramId;

    fn of(all: &[(u32, f64)]) -> Vec<f64> {
        let program = |(id, (user, weight)): (usize, &(u32, f64))| Program {
            user: *user,
            weight: *weight,
            ..Program::new(ProgramId(id as u64), 4)
        };
        let programs: Vec<Program> = all.iter().enumerate().map(program).collect();
        weights(Users::Equal, &programs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn one_users_programs_weigh_what_they_do() {
        assert_eq!(of(&[(7, 0.3), (7, 2.0)]), [0.3, 2.0]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn each_user_weighs_as_much_as_his_heaviest_program() {
        let three = of(&[(1, 1.0), (1, 1.0), (2, 1.0)]);
        assert_eq!(three, [0.75, 0.75, 1.5]);
        // The light program takes from its own user only.
        let light = of(&[(1, 1.0), (1, 0.25), (2, 1.0)]);
        assert!((light[0] + light[1] - light[2]).abs() < 1e-12 && light[0] == 4.0 * light[1], "{light:?}");
        let back = of(&[(1, 0.5), (1, 0.5), (2, 1.0)]);
        assert!((back[0] + back[1] - back[2] / 2.0).abs() < 1e-12, "{back:?}");
    }
}
