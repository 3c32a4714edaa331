//! Divides contexts among users first, and each user's part among its programs by a policy of that user's
//! own (docs/internals/policies.md). Policies that make turns divide time instead ([`crate::users`]).

use crate::apportion::{Claim, apportion};
use crate::{Allocation, Machine, Policy, Pool, Program, ProgramId, Share, Users};
use std::collections::BTreeMap;

pub(crate) struct ByUser {
    new: Box<dyn Fn() -> Box<dyn Policy> + Send>,
    of: BTreeMap<u32, Box<dyn Policy>>,
    /// For all programs together.
    whole: Box<dyn Policy>,
}

impl ByUser {
    /// Divides each user's part by a policy that `new` makes.
    pub fn new(new: impl Fn() -> Box<dyn Policy> + Send + 'static) -> ByUser {
        ByUser { of: BTreeMap::new(), whole: new(), new: Box::new(new) }
    }

    /// Divides in space, whatever the policy is.
    pub fn divide(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        if let [first, others @ ..] = programs
            && others.iter().all(|other| other.user == first.user)
        {
            self.of.retain(|user, _| *user == first.user);
            return self.of.entry(first.user).or_insert_with(&self.new).allocate(machine, programs);
        }
        let mut users: BTreeMap<u32, Vec<Program>> = BTreeMap::new();
        for program in programs {
            users.entry(program.user).or_default().push(program.clone());
        }
        self.of.retain(|user, _| users.contains_key(user));
        let claims: Vec<Claim> = users.values().map(|programs| self.claim(programs)).collect();
        let parts = apportion(machine.capacity, &claims);
        let mut shares: BTreeMap<ProgramId, Share> = BTreeMap::new();
        let mut pools = Vec::new();
        for ((user, programs), part) in users.iter().zip(parts) {
            let capacity = part.contexts;
            let policy = self.of.entry(*user).or_insert_with(&self.new);
            let given = policy.allocate(&Machine { capacity, ..machine.clone() }, programs);
            for mut share in given.shares {
                share.reason = format!("{}; its user has {capacity} of {}", share.reason, machine.capacity);
                shares.insert(share.id, share);
            }
            if programs.len() as u64 > u64::from(capacity) {
                let members = programs.iter().map(|program| program.id).collect();
                pools.push(Pool { contexts: capacity, members });
            }
        }
        let shares = programs.iter().filter_map(|program| shares.remove(&program.id)).collect();
        Allocation { shares, pools, ..Allocation::default() }
    }

    fn claim(&self, programs: &[Program]) -> Claim {
        let can_use = |program: &Program| match program.serial && self.whole.lends() {
            true => program.floor(),
            false => program.cap(),
        };
        Claim {
            // Ties go to the first.
            id: programs.iter().map(|program| program.id).min().unwrap_or(ProgramId(0)),
            share: programs.iter().map(Program::sane_weight).fold(1e-3, f64::max),
            floor: 1,
            cap: programs.iter().map(can_use).fold(0, u32::saturating_add).max(1),
            team: if let [alone] = programs { alone.fixed_team } else { 0 },
        }
    }
}

impl Policy for ByUser {
    fn name(&self) -> &'static str {
        self.whole.name()
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        let in_space = self.whole.divides() && !self.whole.makes_turns();
        if !in_space || machine.users == Users::ByProgram || programs.is_empty() {
            return self.whole.allocate(machine, programs);
        }
        self.divide(machine, programs)
    }

    fn rate_hz(&self) -> Option<f64> {
        self.whole.rate_hz()
    }

    fn lends(&self) -> bool {
        self.whole.lends()
    }

    fn divides(&self) -> bool {
        self.whole.divides()
    }

    fn makes_turns(&self) -> bool {
        self.whole.makes_turns()
    }

    fn scatter(&mut self) -> Option<u64> {
        self.whole.scatter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dop, Settings, allocate, by_name};

    fn of(user: u32, id: u64) -> Program {
        Program { user, ..Program::new(ProgramId(id), 16) }
    }

    fn under(policy: &str, machine: &Machine, programs: &[Program]) -> Allocation {
        allocate(by_name(policy, &Settings::default()).unwrap().as_mut(), machine, programs)
    }

    fn contexts(allocation: &Allocation, id: u64) -> u32 {
        allocation.contexts(ProgramId(id)).unwrap()
    }

    #[test]
    fn fifteen_programs_of_one_user_take_half_of_the_machine_under_every_policy() {
        let mut programs: Vec<Program> = (1..=15).map(|id| of(7, id)).collect();
        programs.push(of(8, 16));
        for policy in ["scaf", "curve", "offline", "logm", "spdp", "equi", "ta", "taco"] {
            // Without turns, as for all users.
            let machine = Machine { gang: crate::Gang::Off, ..Machine::new(16, 0.0) };
            let allocation = under(policy, &machine, &programs);
            assert_eq!(contexts(&allocation, 16), 8, "{policy}: {allocation:?}");
            assert_eq!(allocation.pools.len(), 1, "{policy}");
            assert_eq!((allocation.pools[0].contexts, allocation.pools[0].members.len()), (8, 15));
            let by_program = Machine { users: Users::ByProgram, ..machine };
            let allocation = under(policy, &by_program, &programs);
            assert_eq!(contexts(&allocation, 16), 1, "{policy}: {allocation:?}");
            assert!(allocation.pools.is_empty());
        }
    }

    #[test]
    fn a_users_minimum_takes_from_the_same_users_programs_only() {
        let greedy = Program { min: 15, ..of(1, 1) };
        let allocation = under("equi", &Machine::new(16, 0.0), &[greedy, of(1, 2), of(2, 3)]);
        assert_eq!([1, 2, 3].map(|id| contexts(&allocation, id)), [7, 1, 8]);
    }

    #[test]
    fn a_user_weighs_as_much_as_its_heaviest_program_and_leaves_what_it_cannot_use() {
        let heavy = Program { weight: 3.0, ..of(1, 1) };
        let allocation = under("equi", &Machine::new(16, 0.0), &[heavy.clone(), of(1, 2), of(2, 3)]);
        assert_eq!([1, 2, 3].map(|id| contexts(&allocation, id)), [9, 3, 4]);
        let small = Program { natural: 2, ..of(2, 3) };
        let allocation = under("equi", &Machine::new(16, 0.0), &[of(1, 1), small]);
        assert_eq!([1, 3].map(|id| contexts(&allocation, id)), [14, 2]);
    }

    #[test]
    fn what_a_serial_program_lends_goes_to_others_too() {
        let serial = Program { serial: true, ..of(1, 1) };
        let allocation = under("curve", &Machine::new(16, 0.0), &[serial, of(2, 2)]);
        assert_eq!([1, 2].map(|id| contexts(&allocation, id)), [1, 15]);
    }

    #[test]
    fn programs_that_do_nothing_have_no_part() {
        let idle = |id| Program { idle: true, ..of(7, id) };
        let mut programs: Vec<Program> = (1..=15).map(idle).collect();
        programs.insert(3, of(8, 16));
        for policy in ["scaf", "curve", "equi", "ta", "taco"] {
            let allocation = under(policy, &Machine::new(16, 0.0), &programs);
            assert_eq!((contexts(&allocation, 16), contexts(&allocation, 1)), (16, 1), "{policy}");
            assert_eq!(allocation.idle.len(), 15);
            assert!(allocation.shares.iter().zip(&programs).all(|(share, program)| share.id == program.id));
            // Nobody needs what they would leave.
            programs[3].idle = true;
            assert!(under(policy, &Machine::new(16, 0.0), &programs).idle.is_empty());
            programs[3].idle = false;
        }
        let allocation = under("unmanaged", &Machine::new(16, 0.0), &programs);
        assert!(allocation.shares.iter().all(|share| share.dop == Dop::Unmanaged));
    }
}
