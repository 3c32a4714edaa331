//! Serialises mechanisms by their names.

use scaf_team::choice::Mechanism;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes one.
pub fn serialize<S: Serializer>(mechanism: &Mechanism, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(mechanism.name())
}

/// Reads one.
pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Mechanism, D::Error> {
    named(&String::deserialize(from)?)
}

fn named<E: Error>(name: &str) -> Result<Mechanism, E> {
    Mechanism::from_name(name).ok_or_else(|| E::custom(format_args!("there is no mechanism '{name}'")))
}

/// The same for the mechanisms of many programs.
pub mod of_programs {
    use super::*;
    use std::collections::BTreeMap;

    /// Writes them.
    pub fn serialize<S: Serializer>(all: &BTreeMap<u64, Mechanism>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(all.iter().map(|(id, mechanism)| (id, mechanism.name())))
    }

    /// Reads them.
    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<BTreeMap<u64, Mechanism>, D::Error> {
        let names = BTreeMap::<u64, String>::deserialize(from)?;
        names.into_iter().map(|(id, name)| Ok((id, named(&name)?))).collect()
    }
}
