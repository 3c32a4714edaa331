/// Sets of registers, by the decoder's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct RegisterSet([u64; 4]);

impl RegisterSet {
    /// Adds a register. Numbers from 256 on, of which there are none, count as the last one.
    pub fn insert(&mut self, register: usize) {
        let register = register.min(255);
        self.0[register / 64] |= 1 << (register % 64);
    }

    pub fn extend(&mut self, others: RegisterSet) {
        self.0.iter_mut().zip(others.0).for_each(|(word, other)| *word |= other);
    }

    pub fn contains(&self, register: usize) -> bool {
        let register = register.min(255);
        self.0[register / 64] & 1 << (register % 64) != 0
    }

    pub fn is_disjoint(&self, others: &RegisterSet) -> bool {
        self.0.iter().zip(others.0).all(|(word, other)| word & other == 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        (0..4).flat_map(move |word| {
            let mut rest = words[word];
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(word * 64 + bit)
            })
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
        fn it_is_a_set(a in proptest::collection::btree_set(0usize..256, 0..20),
                       b in proptest::collection::btree_set(0usize..256, 0..20)) {
            let of = |numbers: &BTreeSet<usize>| {
                let mut set = RegisterSet::default();
                numbers.iter().for_each(|number| set.insert(*number));
                set
            };
            prop_assert_eq!(of(&a).iter().collect::<BTreeSet<_>>(), a.clone());
            prop_assert_eq!(of(&a).is_disjoint(&of(&b)), a.is_disjoint(&b));
            prop_assert!((0..256).all(|number| of(&a).contains(number) == a.contains(&number)));
            let mut both = of(&a);
            both.extend(of(&b));
            prop_assert_eq!(both, of(&a.union(&b).copied().collect()));
        }
    }
}
