/// Sets of registers, by numbers below [`MOST`](RegisterSet::MOST).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct RegisterSet(u64);

impl RegisterSet {
    pub const MOST: usize = 64;

    /// Adds a register. Numbers that are too large count as the last one.
    pub fn insert(&mut self, register: usize) {
        self.0 |= 1 << register.min(Self::MOST - 1);
    }

    pub fn extend(&mut self, others: RegisterSet) {
        self.0 |= others.0;
    }

    pub fn contains(self, register: usize) -> bool {
        self.0 & 1 << register.min(Self::MOST - 1) != 0
    }

    pub fn is_disjoint(self, others: RegisterSet) -> bool {
        self.0 & others.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(a in proptest::collection::btree_set(0..RegisterSet::MOST, 0..20),
                       b in proptest::collection::btree_set(0..RegisterSet::MOST, 0..20)) {
            let of = |numbers: &BTreeSet<usize>| {
                let mut set = RegisterSet::default();
                numbers.iter().for_each(|number| set.insert(*number));
                set
            };
            prop_assert_eq!(of(&a).iter().collect::<BTreeSet<_>>(), a.clone());
            prop_assert_eq!(of(&a).is_disjoint(of(&b)), a.is_disjoint(&b));
            prop_assert!((0..RegisterSet::MOST).all(|number| of(&a).contains(number) == a.contains(&number)));
            let mut both = of(&a);
            both.extend(of(&b));
            prop_assert_eq!(both, of(&a.union(&b).copied().collect()));
        }
    }
}
