//! Process trees: the programs of one (joblib's workers, `xargs -P`, MPI's ranks) are decided about as one
//! program, which has the sum of their speedups. What it gets is divided among them in equal parts.
//!
//! Rigid programs need all their contexts at once, so each stays by itself, with its part of the tree's
//! weight ([`crate::users`]).

use crate::policies::Equi;
use crate::{Allocation, Dop, Machine, Policy, Pool, Program, ProgramId, Share};
use std::collections::BTreeMap;

/// Numbers of joined programs begin here. A tree's is the same for as long as several of its programs run,
/// and another one for another user.
const FIRST: u64 = 1 << 62;
/// Where the user is in them: the daemon's numbers of trees are smaller.
const USER_AT: u32 = 42;

/// Programs, those of each tree joined.
pub(super) struct Joined {
    pub programs: Vec<Program>,
    /// The members of those that stand for several, by these.
    members: BTreeMap<ProgramId, Vec<Program>>,
}

/// `None` where no two programs that aren't rigid are of the same tree.
pub(super) fn join(machine: &Machine, programs: &[Program]) -> Option<Joined> {
    let mut trees: BTreeMap<(u32, u64), Vec<&Program>> = BTreeMap::new();
    for program in programs.iter().filter(|program| program.tree != 0 && !program.rigid) {
        trees.entry((program.user, program.tree)).or_default().push(program);
    }
    trees.retain(|_, members| members.len() > 1);
    if trees.is_empty() {
        return None;
    }
    let is_joined = |it: &&Program| !it.rigid && trees.contains_key(&(it.user, it.tree));
    let mut joined = Joined {
        programs: programs.iter().filter(|it| !is_joined(it)).cloned().collect(),
        members: BTreeMap::new(),
    };
    for members in trees.into_values() {
        let program = joined_program(machine, &members);
        joined.members.insert(program.id, members.into_iter().cloned().collect());
        joined.programs.push(program);
    }
    Some(joined)
}

/// The program that stands for these.
fn joined_program(machine: &Machine, members: &[&Program]) -> Program {
    let all = |is: fn(&Program) -> bool| members.iter().all(|it| is(it));
    let sum = |of: fn(&Program) -> u32| members.iter().map(|it| of(it)).fold(0, u32::saturating_add);
    let serial = all(|it| it.serial);
    let measured = members.iter().filter_map(|it| Some((f64::from(it.dop), it.efficiency?)));
    let (dops, speedups) = measured.fold((0.0, 0.0), |(dops, sum), (dop, e)| (dops + dop, sum + e * dop));
    // Where they are more than the contexts, each has had less than its DoP, and how much isn't known.
    let is_known = dops > 0.0 && sum(|it| it.dop) <= machine.capacity;
    let (user, tree) = members.first().map_or((0, 0), |it| (it.user, it.tree));
    Program {
        // Each of those that compute on one thread needs a context.
        min: if serial {
            sum(Program::floor)
        } else {
            members.iter().map(|it| it.floor()).max().unwrap_or(1)
        },
        max: members.iter().map(|it| it.max).max().unwrap_or(u32::MAX),
        weight: members.iter().map(|it| it.sane_weight()).fold(0.0, f64::max),
        natural: sum(Program::cap),
        dop: sum(|it| it.dop).min(machine.capacity),
        efficiency: is_known.then(|| (speedups / dops).min(1.0)),
        serial,
        idle: all(|it| it.idle),
        background: all(|it| it.background),
        user,
        tree,
        ..Program::new(ProgramId(FIRST | ((u64::from(user) << USER_AT) % FIRST) ^ tree), 1)
    }
}

impl Joined {
    /// The allocation for all programs, in the order of these, from that for the joined ones. If the policy
    /// `lends`, members in a serial phase leave their part to the others.
    pub fn apart(
        self,
        (machine, lends): (&Machine, bool),
        mut allocation: Allocation,
        programs: &[Program],
    ) -> Allocation {
        let mut shares: BTreeMap<ProgramId, Share> =
            allocation.shares.drain(..).map(|share| (share.id, share)).collect();
        for (id, members) in &self.members {
            let Some(share) = shares.get(id).cloned() else { continue };
            let Dop::Contexts(capacity) = share.dop else {
                shares.extend(members.iter().map(|it| (it.id, Share { id: it.id, ..share.clone() })));
                continue;
            };
            let lend = lends && members.iter().any(|it| !it.serial);
            let able = |it: &Program| match lend && it.serial {
                true => Program { max: it.floor(), ..it.clone() },
                false => it.clone(),
            };
            let able: Vec<Program> = members.iter().map(able).collect();
            for mut own in Equi.allocate(&Machine { capacity, ..machine.clone() }, &able).shares {
                own.reason = format!("{}; within its process tree {}", share.reason, own.reason);
                shares.insert(own.id, own);
            }
            let ids = || members.iter().map(|it| it.id);
            for turn in &mut allocation.turns {
                replace(&mut turn.members, *id, ids());
            }
            let mut is_in_pool = false;
            for pool in &mut allocation.pools {
                is_in_pool |= replace(&mut pool.members, *id, ids());
            }
            if !is_in_pool && members.len() as u64 > u64::from(capacity) {
                allocation.pools.push(Pool { contexts: capacity, members: ids().collect() });
            }
            allocation.keeps.retain(|(kept, _)| kept != id);
        }
        allocation.shares = programs.iter().filter_map(|program| shares.remove(&program.id)).collect();
        allocation
    }
}

/// Puts `by` in the place of `id` in an ordered list. Whether that was in it.
fn replace(list: &mut Vec<ProgramId>, id: ProgramId, by: impl Iterator<Item = ProgramId>) -> bool {
    let is_in = list.contains(&id);
    if is_in {
        list.retain(|it| *it != id);
        list.extend(by);
        list.sort_unstable();
    }
    is_in
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gang, POLICIES, Settings, allocate, by_name};
    use proptest::prelude::*;

    fn of(tree: u64, id: u64) -> Program {
        Program { tree, ..Program::new(ProgramId(id), 16) }
    }

    fn under(policy: &str, capacity: u32, programs: &[Program]) -> Allocation {
        let machine = Machine { gang: Gang::Spinning, ..Machine::new(capacity, 0.0) };
        allocate(by_name(policy, &Settings::default()).unwrap().as_mut(), &machine, programs)
    }

    fn contexts(allocation: &Allocation, ids: std::ops::RangeInclusive<u64>) -> Vec<u32> {
        ids.map(|id| allocation.contexts(ProgramId(id)).unwrap()).collect()
    }

    #[test]
    fn a_tree_has_the_part_of_one_program() {
        let mut programs: Vec<Program> = (1..=4).map(|id| of(7, id)).collect();
        programs.extend([of(0, 5), of(8, 6)]);
        for policy in ["scaf", "curve", "offline", "logm", "spdp", "equi"] {
            let allocation = under(policy, 12, &programs);
            assert_eq!(contexts(&allocation, 1..=6), [1, 1, 1, 1, 4, 4], "{policy}");
            assert!(allocation.shares[0].reason.contains("within its process tree"));
            assert!(!allocation.shares[4].reason.contains("process tree"));
        }
    }

    #[test]
    fn members_that_are_more_than_their_contexts_share_them() {
        let mut programs: Vec<Program> = (1..=4).map(|id| of(7, id)).collect();
        programs.push(of(0, 5));
        let allocation = under("scaf", 2, &programs);
        assert_eq!(contexts(&allocation, 1..=5), [1; 5]);
        let ids: Vec<ProgramId> = (1..=4).map(ProgramId).collect();
        assert_eq!(allocation.pools, [Pool { contexts: 1, members: ids.clone() }]);
        // Another user's is in that user's part.
        programs.iter_mut().take(4).for_each(|program| program.user = 3);
        assert_eq!(under("scaf", 2, &programs).pools, [Pool { contexts: 1, members: ids }]);
    }

    #[test]
    fn two_users_trees_are_two_even_by_one_number() {
        let of_user = |user, id| Program { user, ..of(7, id) };
        let programs = [of_user(1, 1), of_user(1, 2), of_user(2, 3), of_user(2, 4)];
        let allocation = under("equi", 16, &programs);
        assert_eq!(contexts(&allocation, 1..=4), [4; 4], "{allocation:?}");
    }

    #[test]
    fn its_weight_and_its_limits_count_once() {
        let limited = |id| Program { max: 3, weight: 2.0, ..of(7, id) };
        assert_eq!(contexts(&under("equi", 12, &[limited(1), limited(2), of(0, 3)]), 1..=3), [2, 1, 9]);
        let heavy = |id| Program { weight: 2.0, ..of(7, id) };
        assert_eq!(contexts(&under("equi", 12, &[heavy(1), heavy(2), of(0, 3)]), 1..=3), [4, 4, 4]);
    }

    #[test]
    fn trees_take_turns_as_one_and_rigid_members_each() {
        let rigid = |tree, id| Program { rigid: true, ..of(tree, id) };
        let allocation = under("equi", 16, &[of(7, 1), of(7, 2), rigid(0, 3)]);
        assert_eq!(contexts(&allocation, 1..=3), [8, 8, 16]);
        assert!((allocation.time_share(ProgramId(1)) - 0.5).abs() < 1e-9);
        assert_eq!(allocation.time_share(ProgramId(1)), allocation.time_share(ProgramId(2)));
        let allocation = under("equi", 16, &[rigid(7, 1), rigid(7, 2), rigid(0, 3)]);
        assert!((allocation.time_share(ProgramId(3)) - 0.5).abs() < 0.02, "{allocation:?}");
        let allocation = under("taco", 16, &[of(7, 1), of(7, 2), of(7, 3), of(0, 4)]);
        assert_eq!(contexts(&allocation, 4..=4), [8], "{allocation:?}");
    }

    #[test]
    fn a_users_rigid_tree_has_as_much_time_as_another_users_program() {
        let rigid = |user, tree, id| Program { user, rigid: true, ..of(tree, id) };
        let programs: Vec<Program> = (1..=4).map(|id| rigid(1, 7, id)).chain([rigid(2, 8, 5)]).collect();
        let share = under("equi", 16, &programs).time_share(ProgramId(5));
        assert!((share - 0.5).abs() < 0.03, "{share}");
    }

    #[test]
    fn members_in_a_serial_phase_have_a_context_each_and_lend_the_rest() {
        let serial = |id| Program { serial: true, ..of(7, id) };
        let all: Vec<Program> = (1..=4).map(serial).collect();
        let allocation = under("curve", 16, &all);
        assert!(contexts(&allocation, 1..=4) == [1; 4] && allocation.pools.is_empty(), "{allocation:?}");
        let allocation = under("curve", 16, &[serial(1), of(7, 2), of(7, 3)]);
        assert_eq!(contexts(&allocation, 1..=3), [1, 8, 7], "{allocation:?}");
    }

    #[test]
    fn what_is_known_of_some_members_counts_for_all() {
        let measured = |id, dop, efficiency| Program { dop, efficiency, ..of(7, id) };
        let members = [measured(1, 4, Some(0.5)), measured(2, 2, None), measured(3, 2, Some(0.8))];
        let joined = |capacity| join(&Machine::new(capacity, 0.0), &members).unwrap().programs.remove(0);
        assert_eq!((joined(16).dop, joined(16).efficiency), (8, Some(0.6)));
        assert_eq!((joined(6).dop, joined(6).efficiency), (6, None), "some shared contexts");
    }

    proptest! {
        #[test]
        fn nobody_is_forgotten_and_the_machine_is_enough(
            trees in prop::collection::vec((0u64..4, 0u32..3, any::<bool>(), any::<bool>(), 1u32..9), 1..9),
            capacity in 1u32..20, policy in 0..POLICIES.len(),
        ) {
            let program = |(at, (tree, user, idle, rigid, natural)): (usize, &(u64, u32, bool, bool, u32))|
                Program {
                    user: *user, idle: *idle, rigid: *rigid, natural: *natural, ..of(*tree, at as u64)
                };
            let programs: Vec<Program> = trees.iter().enumerate().map(program).collect();
            let allocation = under(POLICIES[policy].name, capacity, &programs);
            let ids: Vec<ProgramId> = allocation.shares.iter().map(|share| share.id).collect();
            prop_assert_eq!(ids, programs.iter().map(|it| it.id).collect::<Vec<_>>());
            let members = allocation.pools.iter().flat_map(|it| it.members.clone());
            let in_pools: Vec<ProgramId> = members.collect();
            let distinct: std::collections::BTreeSet<_> = in_pools.iter().collect();
            prop_assert_eq!(distinct.len(), in_pools.len(), "nobody is in two pools");
            let apart = |id| !in_pools.contains(&id) && !allocation.idle.contains(&id);
            let alone: u32 = programs.iter().filter(|it| apart(it.id) && !it.rigid)
                .filter_map(|it| allocation.contexts(it.id)).sum();
            let pools: u32 = allocation.pools.iter().map(|pool| pool.contexts).sum();
            let name = POLICIES[policy].name;
            let in_space = ["scaf", "curve", "offline", "logm", "spdp", "equi"].contains(&name);
            prop_assert!(!in_space || programs.len() as u32 > capacity || alone + pools <= capacity,
                "{:?}", allocation);
        }
    }
}
