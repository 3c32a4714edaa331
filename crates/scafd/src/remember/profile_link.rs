//! Links a running program to its profile in the database: its key, and the addresses of its regions. Report
//! pages name regions by addresses ([`scaf_proto::rows`]); profiles, by module and address in the file.

use scaf_inspect::Origin;
use scaf_memory::{Key, Profile, ProfiledRegion, Recalled, RegionKey};
use scaf_policy::earlier_runs::EarlierRuns;
use scaf_policy::observed::Observed;
use scaf_proto::rows::Key as Row;

/// Longest fingerprint of a file, in bytes: a build-id of 32 bytes has 64 digits.
const MOST_NAME: usize = 80;
/// Most modules of a program with a profile, some 80 bytes each.
const MOST_MODULES: usize = 1024;
/// Regions with a smaller share of the time aren't saved.
const LEAST_SHARE: f64 = 1e-5;
/// Set in the numbers of regions whose module isn't loaded (yet). No address is that large.
const ELSEWHERE: u64 = 1 << 63;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ProfileLink {
    origin: Option<Origin>,
    key: Option<Key>,
    asked: bool,
    answered: bool,
    recalled: Option<Box<Recalled>>,
    kept: bool,
}

impl ProfileLink {
    /// Assumes that key until an inspection confirms or replaces it.
    pub fn guess(&mut self, key: Key) {
        self.key = Some(key);
    }

    /// Takes what an inspection found. False if it is implausible.
    pub fn met(&mut self, origin: Origin, machine: &str) -> bool {
        if origin.modules.len() > MOST_MODULES {
            return false;
        }
        let names = origin.modules.iter().map(|module| &module.fingerprint).chain([&origin.executable]);
        if names.into_iter().any(|name| name.is_empty() || name.len() > MOST_NAME) {
            return false;
        }
        let key = Key {
            machine: machine.to_owned(),
            executable: origin.executable.clone(),
            arguments: origin.arguments,
        };
        self.origin = Some(origin);
        if self.key.as_ref() != Some(&key) {
            *self = ProfileLink { key: Some(key), origin: self.origin.take(), ..ProfileLink::default() };
        }
        true
    }

    /// The key to recall, if that hasn't been requested.
    pub fn question(&self) -> Option<&Key> {
        self.key.as_ref().filter(|_| !self.asked)
    }

    pub fn asked(&mut self) {
        self.asked = true;
    }

    /// Takes the answer, unless the key has changed since.
    pub fn answered(&mut self, key: &Key, recalled: Option<Box<Recalled>>) {
        if self.key.as_ref() == Some(key) {
            self.answered = true;
            self.recalled = recalled;
        }
    }

    /// Earlier runs of the program with the same arguments, else with others.
    pub fn earlier_runs(&self) -> u32 {
        self.recalled.as_ref().map_or(0, |recalled| recalled.profile.runs)
    }

    /// The recalled profile, by this run's region numbers.
    pub fn past(&self) -> Option<EarlierRuns> {
        let here = |at: usize, key: &RegionKey| self.number(key).unwrap_or(ELSEWHERE | at as u64);
        Some(self.recalled.as_ref()?.past(here))
    }

    /// The profile to save, if there is any, and whether it is this run's first.
    pub fn profile(&self, name: &str, observed: &Observed, now_s: u64) -> Option<(Profile, bool)> {
        let key = self.key.clone().filter(|_| self.answered && self.origin.is_some())?;
        let past = observed.past();
        let regions: Vec<ProfiledRegion> = past
            .regions
            .iter()
            .filter(|(_, region)| {
                let longest = region.points.values().map(|point| point.value).fold(0.0, f64::max);
                region.runs_per_s * longest > LEAST_SHARE
            })
            .filter_map(|(number, region)| Some(ProfiledRegion::of(self.key_of(*number)?, region)))
            .collect();
        if regions.is_empty() {
            return None;
        }
        let fresh = !self.kept;
        let (serial, other) = (past.mix.serial, past.mix.other);
        Some((Profile { key, name: name.to_owned(), runs: 1, seen_s: now_s, serial, other, regions }, fresh))
    }

    pub fn kept(&mut self) {
        self.kept = true;
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

    fn answer(link: &mut ProfileLink, recalled: Option<Box<Recalled>>) {
        let key = link.question().cloned().unwrap();
        link.asked();
        link.answered(&key, recalled);
    }

    #[test]
    fn a_guess_is_asked_at_once_and_an_inspection_may_say_otherwise() {
        let kept = first_run(&mut ProfileLink::default(), 0x5555_0000_0000);
        let recalled = || Some(Box::new(Recalled { profile: kept.clone(), same: true }));
        let mut link = ProfileLink::default();
        link.guess(kept.key.clone());
        answer(&mut link, recalled());
        assert!(link.past().unwrap().regions.keys().all(|number| number & ELSEWHERE != 0));
        assert!(link.met(origin(&["a"], 1 << 40), "m") && link.question().is_none());
        assert_eq!(link.past().unwrap().regions.len(), 2);
        assert!(link.met(Origin { executable: "other".into(), ..origin(&["a"], 1 << 40) }, "m"));
        assert!(link.past().is_none() && link.question().is_some());
        link.answered(&kept.key, recalled());
        assert!(link.past().is_none());
    }

    fn first_run(link: &mut ProfileLink, at: u64) -> Profile {
        assert!(link.met(origin(&["a", "b"], at), "m"));
        answer(link, None);
        let mut observed = Observed::default();
        ran(&mut observed, at + 0x20, false);
        ran(&mut observed, at + (1 << 20) + 0x30, true);
        ran(&mut observed, 0x30, false);
        link.profile("p", &observed, 5).unwrap().0
    }

    #[test]
    fn regions_are_found_again_wherever_their_modules_are() {
        let kept = first_run(&mut ProfileLink::default(), 0x5555_0000_0000);
        let addresses: Vec<_> =
            kept.regions.iter().map(|it| (it.key.module.as_str(), it.key.address, it.key.marks)).collect();
        assert_eq!(addresses, [("a", 0x1020, false), ("b", 0x1030, true)]);
        let mut next = ProfileLink::default();
        let at = 0x7f00_0000_0000;
        assert!(next.met(origin(&["a"], at), "m") && next.question() == Some(&kept.key));
        answer(&mut next, Some(Box::new(Recalled { profile: kept.clone(), same: true })));
        let numbers: Vec<u64> = next.past().unwrap().regions.into_keys().collect();
        assert_eq!(numbers, [Row::new(at as usize + 0x20, 0).region(), ELSEWHERE | 1]);
        let mut observed = Observed::default();
        observed.remember(next.past().unwrap());
        assert_eq!(next.profile("p", &observed, 6).unwrap().0.regions.len(), 2);
        assert!(next.met(origin(&["a", "b"], at), "m") && next.question().is_none());
        assert!(next.past().unwrap().regions.keys().all(|number| number & ELSEWHERE == 0));
    }

    #[test]
    fn a_run_counts_once_and_nothing_is_kept_before_the_memory_has_answered() {
        let mut link = ProfileLink::default();
        let mut observed = Observed::default();
        ran(&mut observed, 0x5555_0000_0020, false);
        assert!(link.profile("p", &observed, 5).is_none());
        link.met(origin(&["a"], 0x5555_0000_0000), "m");
        assert!(link.profile("p", &observed, 5).is_none());
        answer(&mut link, None);
        assert!(link.profile("p", &Observed::default(), 5).is_none());
        assert!(link.profile("p", &observed, 5).unwrap().1);
        link.kept();
        assert!(!link.profile("p", &observed, 5).unwrap().1);
    }

    #[test]
    fn names_that_no_linker_writes_are_not_believed() {
        let mut link = ProfileLink::default();
        assert!(!link.met(Origin { executable: "x".repeat(81), ..origin(&["a"], 1 << 40) }, "m"));
        assert!(!link.met(origin(&[""], 1 << 40), "m"));
        assert!(!link.met(origin(&["a"; MOST_MODULES + 1], 1 << 40), "m"));
        assert_eq!(link.question(), None);
    }
}
