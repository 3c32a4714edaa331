//! The policies, one file each, and the registry that names them.

mod by_user;
mod chaos;
mod curve;
#[cfg(test)]
mod curve_tests;
mod deviation;
mod divide;
mod equi;
mod fits;
mod in_order;
mod known_curve;
mod logm;
mod offline;
mod partitions;
mod scaf;
#[cfg(test)]
mod scaf_tests;
mod spdp;
pub(crate) mod ta;
mod taco;
mod unmanaged;

pub(crate) use by_user::ByUser;
pub(crate) use equi::Equi;

use crate::{Policy, Settings};

pub struct PolicyEntry {
    /// Its name in the configuration and on the command line.
    pub name: &'static str,
    /// One line for lists and help texts.
    pub description: &'static str,
    /// Makes a policy without memory.
    pub new: fn(&Settings) -> Box<dyn Policy>,
}

/// Every policy. A new one is a file beside this one and a line here.
#[rustfmt::skip]
pub const POLICIES: &[PolicyEntry] = &[
    PolicyEntry { name: "scaf", description: "contexts in proportion to how well each program scales \
        (SCAF's feedback loop)", new: |_| Box::new(scaf::Scaf::default()) },
    PolicyEntry { name: "curve", description: "the best division by observed speedup curves, tried out \
        where they aren't known", new: |settings| Box::new(curve::Curve::new(settings)) },
    PolicyEntry { name: "offline", description: "the best division by saved or given speedup curves \
        (SCALO's OPPTS)", new: |settings| Box::new(offline::Offline::new(settings)) },
    PolicyEntry { name: "logm", description: "the best division by a logarithm through the latest speedup \
        (SCALO)", new: |_| Box::new(logm::LogM::new()) },
    PolicyEntry { name: "spdp", description: "contexts in proportion to the latest speedups \
        (SCALO)", new: |_| Box::new(spdp::Spdp) },
    PolicyEntry { name: "equi", description: "the same number of contexts for everyone, as far as they can \
        use them", new: |_| Box::new(equi::Equi) },
    PolicyEntry { name: "ta", description: "nearly equal partitions along the topology, side by side (TACO \
        without taking turns)", new: |_| Box::new(ta::Ta) },
    PolicyEntry { name: "taco", description: "equal partitions along the topology, by turns where programs \
        don't come out even", new: |_| Box::new(taco::Taco::default()) },
    PolicyEntry { name: "chaos", description: "any number at any moment: for tests of scaf \
        itself", new: |_| Box::new(chaos::Chaos::new(0)) },
    PolicyEntry { name: "unmanaged", description: "leave every program alone, and only \
        watch", new: |_| Box::new(unmanaged::Unmanaged) },
];

/// Into how many equal partitions a machine with units of these sizes ([`crate::Topology::units`]; `capacity`
/// if none) can be cut, fewest first: whole units, or fractions without remainder (TACO, section 2.1).
pub fn partition_counts(units: &[u32], capacity: u32) -> Vec<u32> {
    partitions::counts(units, capacity)
}

pub fn chaos(seed: u64) -> Box<dyn Policy> {
    Box::new(chaos::Chaos::new(seed))
}

/// A fresh policy of that name, for several users ([`crate::Users`]), or `None` where [`POLICIES`] has none.
pub fn by_name(name: &str, settings: &Settings) -> Option<Box<dyn Policy>> {
    let entry = POLICIES.iter().find(|entry| entry.name == name)?;
    let settings = *settings;
    Some(Box::new(ByUser::new(move || (entry.new)(&settings))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_found_under_the_name_it_gives_itself() {
        for entry in POLICIES {
            assert_eq!(by_name(entry.name, &Settings::default()).unwrap().name(), entry.name);
        }
        assert!(by_name("no such policy", &Settings::default()).is_none());
    }
}
