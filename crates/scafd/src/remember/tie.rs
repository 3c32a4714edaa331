//! What ties a program that runs to its earlier and later runs: which program it is, and where its regions are in this one.
//!
//! A program's rows name regions by where their functions are in its memory ([`scaf_proto::rows`]); a memory names them by
//! module and place in the file.

use scaf_inspect::Origin;
use scaf_memory::{Key, Profile, Recalled, Region, RegionKey};
use scaf_policy::observed::Observed;
use scaf_policy::past::Past;
use scaf_proto::rows::Key as Row;

/// Longest name of a file's code that is believed, in bytes: a build-id of 32 bytes has 64 digits.
const MOST_NAME: usize = 80;

/// Regions that take less of the time aren't kept.
const LEAST_SHARE: f64 = 1e-5;

/// Set in the numbers of regions whose module isn't loaded (yet). No address is that large.
const ELSEWHERE: u64 = 1 << 63;

/// See the module's page.
#[derive(Clone, Debug, Default)]
pub struct Tie {
    origin: Option<Origin>,
    key: Option<Key>,
    /// Whether the memory has answered: before, what it knows would be overwritten with less.
    answered: bool,
    recalled: Option<Box<Recalled>>,
    kept: bool,
}

impl Tie {
    /// Takes in what an inspection found; the key to ask the memory for, the first time.
    pub fn met(&mut self, origin: Origin, machine: &str) -> Option<Key> {
        let names = origin.modules.iter().map(|module| &module.fingerprint).chain([&origin.executable]);
        if names.into_iter().any(|name| name.is_empty() || name.len() > MOST_NAME) {
            return None;
        }
        let key = Key {
            machine: machine.to_owned(),
            executable: origin.executable.clone(),
            arguments: origin.arguments,
        };
        self.origin = Some(origin);
        if self.key.is_some() {
            return None;
        }
        self.key = Some(key.clone());
        Some(key)
    }

    /// Takes in the memory's answer.
    pub fn answered(&mut self, recalled: Option<Box<Recalled>>) {
        self.answered = true;
        self.recalled = recalled;
    }

    /// Earlier runs of the program with the same arguments, else with others.
    pub fn earlier_runs(&self) -> u32 {
        self.recalled.as_ref().map_or(0, |recalled| recalled.profile.runs)
    }

    /// What is remembered, by this run's numbers of its regions.
    pub fn past(&self) -> Option<Past> {
        let here = |at: usize, key: &RegionKey| self.number(key).unwrap_or(ELSEWHERE | at as u64);
        Some(self.recalled.as_ref()?.past(here))
    }

    /// What is to be remembered, if there is anything, and whether that is this run's first.
    pub fn profile(&mut self, name: &str, observed: &Observed, now_s: u64) -> Option<(Profile, bool)> {
        let key = self.key.clone().filter(|_| self.answered)?;
        let past = observed.past();
        let regions: Vec<Region> = past
            .regions
            .iter()
            .filter(|(_, region)| {
                let longest = region.points.values().map(|point| point.value).fold(0.0, f64::max);
                region.runs_per_s * longest > LEAST_SHARE
            })
            .filter_map(|(number, region)| Some(Region::of(self.key_of(*number)?, region)))
            .collect();
        if regions.is_empty() {
            return None;
        }
        let fresh = !std::mem::replace(&mut self.kept, true);
        let (serial, other) = (past.mix.serial, past.mix.other);
        Some((Profile { key, name: name.to_owned(), runs: 1, seen_s: now_s, serial, other, regions }, fresh))
    }

    /// A region's number in this run; `None` if its module isn't loaded.
    fn number(&self, key: &RegionKey) -> Option<u64> {
        let modules = &self.origin.as_ref()?.modules;
        let module = modules.iter().find(|module| module.fingerprint == key.module)?;
        let address = key.address.wrapping_add(module.bias);
        let here = (module.start..module.end).contains(&address).then_some(address as usize)?;
        Some(if key.marks { Row::marks(here, 0) } else { Row::new(here, 0) }.region())
    }

    fn key_of(&self, number: u64) -> Option<RegionKey> {
        if number & ELSEWHERE != 0 {
            let at = (number & !ELSEWHERE) as usize;
            return Some(self.recalled.as_ref()?.profile.regions.get(at)?.key.clone());
        }
        let (address, marks) = Row::of_region(number);
        let modules = &self.origin.as_ref()?.modules;
        let module = modules.iter().find(|module| (module.start..module.end).contains(&address))?;
        let address = address.wrapping_sub(module.bias);
        Some(RegionKey { module: module.fingerprint.clone(), address, marks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_inspect::Loaded;
    use scaf_policy::observed::{Runs, Spell};

    fn origin(names: &[&str], at: u64) -> Origin {
        let modules = names.iter().zip(0u64..).map(|(name, i)| Loaded {
            fingerprint: (*name).to_owned(),
            start: at + (i << 20),
            end: at + (i << 20) + 0x10000,
            bias: at + (i << 20) - 0x1000,
        });
        Origin { executable: "exe".into(), arguments: 7, modules: modules.collect() }
    }

    fn ran(observed: &mut Observed, address: u64, marks: bool) {
        let address = address as usize;
        let key = if marks { Row::marks(address, 2) } else { Row::new(address, 2) };
        let runs = [Runs { region: key.region(), dop: 2, runs: 10.0, count: 10.0, wall_s: 0.2 }];
        observed.add(&Spell { dop: 2, dt_s: 0.25, parallel_s: 0.2, runs: &runs });
    }

    fn first_run(tie: &mut Tie, at: u64) -> Profile {
        assert!(tie.met(origin(&["a", "b"], at), "m").is_some());
        tie.answered(None);
        let mut observed = Observed::default();
        ran(&mut observed, at + 0x20, false);
        ran(&mut observed, at + (1 << 20) + 0x30, true);
        // Nobody's code.
        ran(&mut observed, 0x30, false);
        tie.profile("p", &observed, 5).unwrap().0
    }

    #[test]
    fn regions_are_found_again_wherever_their_modules_are() {
        let kept = first_run(&mut Tie::default(), 0x5555_0000_0000);
        let addresses: Vec<_> =
            kept.regions.iter().map(|it| (it.key.module.as_str(), it.key.address, it.key.marks)).collect();
        assert_eq!(addresses, [("a", 0x1020, false), ("b", 0x1030, true)]);
        let mut next = Tie::default();
        let at = 0x7f00_0000_0000;
        assert_eq!(next.met(origin(&["a"], at), "m"), Some(kept.key.clone()));
        next.answered(Some(Box::new(Recalled { profile: kept.clone(), same: true })));
        let numbers: Vec<u64> = next.past().unwrap().regions.into_keys().collect();
        assert_eq!(numbers, [Row::new(at as usize + 0x20, 0).region(), ELSEWHERE | 1]);
        // What this run didn't meet isn't lost, and a module that it loads later is known then.
        let mut observed = Observed::default();
        observed.remember(next.past().unwrap());
        assert_eq!(next.profile("p", &observed, 6).unwrap().0.regions.len(), 2);
        assert_eq!(next.met(origin(&["a", "b"], at), "m"), None);
        assert!(next.past().unwrap().regions.keys().all(|number| number & ELSEWHERE == 0));
    }

    #[test]
    fn a_run_counts_once_and_nothing_is_kept_before_the_memory_has_answered() {
        let mut tie = Tie::default();
        let mut observed = Observed::default();
        ran(&mut observed, 0x5555_0000_0020, false);
        assert!(tie.profile("p", &observed, 5).is_none());
        tie.met(origin(&["a"], 0x5555_0000_0000), "m");
        assert!(tie.profile("p", &observed, 5).is_none());
        tie.answered(None);
        assert!(tie.profile("p", &Observed::default(), 5).is_none());
        assert!(tie.profile("p", &observed, 5).unwrap().1);
        assert!(!tie.profile("p", &observed, 5).unwrap().1);
    }

    #[test]
    fn names_that_no_linker_writes_are_not_believed() {
        let mut tie = Tie::default();
        assert_eq!(tie.met(Origin { executable: "x".repeat(81), ..origin(&["a"], 1 << 40) }, "m"), None);
        assert_eq!(tie.met(origin(&[""], 1 << 40), "m"), None);
    }
}
