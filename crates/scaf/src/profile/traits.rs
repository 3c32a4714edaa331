//! An executable's profiles for job schedulers: how many contexts are worth asking for, and what partners may
//! cost it. All its arguments count together. What wasn't measured is unknown.
//!
//! - *Knee*: the fewest contexts with 95% of the best speedup that was seen. It is known only if the program
//!   was also seen with more, and measured there to 10%; else it may well use more. Of several arguments, the
//!   largest knee.
//! - *Memory*: profiles hold times, which don't say why a speedup falls short. If nine tenths of it are there
//!   on the most contexts seen, memory wasn't full; else it is unknown.
//! - *Partners*: what of its speedup at the knee is left on half as many contexts. What partners' memory
//!   traffic costs isn't kept.

use super::curve::{self, Curve};
use crate::output::{align_right, plain_table, printable, trimmed};
use scaf_memory::Profile;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Largest relative error of the speedup beyond the knee.
const SURE: f64 = 0.1;
/// Efficiency at which memory can't be full.
const FREE: f64 = 0.9;
const UNKNOWN: &str = "unknown";

#[derive(Serialize, Clone, Debug)]
pub struct Traits {
    pub name: String,
    /// Its build-id, else a hash of it.
    pub executable: String,
    /// The kind of machine on which that was seen.
    pub machine: String,
    /// Profiles that this rests on, one for each list of arguments.
    pub profiles: usize,
    pub runs: u64,
    /// Of the profile with the largest knee; `None` if each was seen at one DoP only.
    #[serde(flatten)]
    pub scaling: Scaling,
}

#[derive(Serialize, Clone, Debug, Default, PartialEq)]
pub struct Scaling {
    pub knee: Option<u32>,
    /// If the knee isn't known: the fewest contexts with 95% of the best speedup so far; more may help.
    pub knee_at_least: Option<u32>,
    pub best_speedup: Option<f64>,
    /// The most contexts that it was seen on.
    pub most_contexts: Option<u32>,
    /// Share of the speedup that is missing there; memory can't have cost it more.
    pub lost_ratio: Option<f64>,
    /// `false` if that is a tenth or less, else unknown.
    pub memory_bound: Option<bool>,
    /// Speedup on half of the knee's contexts, over that at the knee.
    pub halved_ratio: Option<f64>,
    /// What partners' memory traffic leaves of its speed. Profiles don't know it.
    pub partner_memory_ratio: Option<f64>,
}

impl Scaling {
    fn of(curve: &Curve) -> Scaling {
        let Some(most) = curve.points.iter().rfind(|point| point.measured) else { return Scaling::default() };
        let at = |dop: u32| curve.points.iter().find(|point| point.dop == dop).map(|point| point.speedup);
        let sure = curve.knee < most.dop && most.error_ratio <= SURE;
        let lost = (1.0 - most.speedup / f64::from(most.dop)).clamp(0.0, 1.0);
        let half = if curve.knee > 1 { at(curve.knee / 2).zip(at(curve.knee)) } else { None };
        Scaling {
            knee: sure.then_some(curve.knee),
            knee_at_least: (!sure).then_some(curve.knee),
            best_speedup: Some(curve.best),
            most_contexts: Some(most.dop),
            lost_ratio: Some(lost),
            memory_bound: (1.0 - lost >= FREE && most.error_ratio <= SURE).then_some(false),
            halved_ratio: half.map(|(half, whole)| half / whole),
            partner_memory_ratio: None,
        }
    }

    /// Order by knee; of two equal ones, an unknown knee, which may be larger, ranks higher.
    fn rank(&self) -> (u32, bool) {
        (self.knee.or(self.knee_at_least).unwrap_or(0), self.knee.is_none())
    }
}

/// By executable and machine, in the order in which they were seen last.
pub fn of(profiles: &[Profile]) -> Vec<Traits> {
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut groups: BTreeMap<(&str, &str), Vec<&Profile>> = BTreeMap::new();
    for profile in profiles {
        let key = (profile.key.executable.as_str(), profile.key.machine.as_str());
        if !groups.contains_key(&key) {
            order.push(key);
        }
        groups.entry(key).or_default().push(profile);
    }
    order.into_iter().map(|key| together(&groups[&key])).collect()
}

fn together(profiles: &[&Profile]) -> Traits {
    let scalings = profiles.iter().filter_map(|profile| Some(Scaling::of(&curve::of(profile)?)));
    Traits {
        name: profiles[0].name.clone(),
        executable: profiles[0].key.executable.clone(),
        machine: profiles[0].key.machine.clone(),
        profiles: profiles.len(),
        runs: profiles.iter().map(|profile| u64::from(profile.runs)).sum(),
        scaling: scalings.max_by_key(Scaling::rank).unwrap_or_default(),
    }
}

pub fn table(list: &[Traits]) -> String {
    let mut table = plain_table(&[
        "NAME",
        "RUNS",
        "KNEE",
        "BEST",
        "SEEN TO",
        "LOST",
        "MEMORY",
        "HALVED",
        "PARTNERS' MEMORY",
    ]);
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.into());
    let percent = |ratio: Option<f64>| or_unknown(ratio.map(|ratio| format!("{:.0}%", 100.0 * ratio)));
    for Traits { name, runs, scaling, .. } in list {
        let least = scaling.knee_at_least.map(|knee| format!("{knee} or more"));
        table.add_row([
            printable(name),
            runs.to_string(),
            or_unknown(scaling.knee.map(|knee| knee.to_string()).or(least)),
            or_unknown(scaling.best_speedup.map(|best| format!("{best:.2}"))),
            or_unknown(scaling.most_contexts.map(|most| most.to_string())),
            percent(scaling.lost_ratio),
            or_unknown(scaling.memory_bound.map(|_| "not full".into())),
            percent(scaling.halved_ratio),
            percent(scaling.partner_memory_ratio),
        ]);
    }
    align_right(&mut table, &[1, 2, 3, 4, 5, 6, 7, 8]);
    trimmed(&table) + "\n"
}

/// Known knees for packaging/slurm/job_submit.lua: knee, name and executable, parted by tabs.
pub fn knees(list: &[Traits]) -> String {
    let mut text = "# knee\tname\texecutable (scaf profile export --format knees)\n".to_owned();
    for Traits { name, executable, scaling, .. } in list {
        if let Some(knee) = scaling.knee {
            let _ = writeln!(text, "{knee}\t{}\t{}", printable(name), printable(executable));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::curve::tests::profile;

    fn traits(seconds: &[(u32, f64)]) -> Traits {
        of(&[profile(seconds)]).remove(0)
    }

    #[test]
    fn a_knee_is_known_if_more_was_tried_and_brought_little() {
        let flat = traits(&[(1, 1.0), (4, 0.25), (8, 0.24)]).scaling;
        assert_eq!((flat.knee, flat.knee_at_least, flat.most_contexts), (Some(4), None, Some(8)));
        assert!((flat.halved_ratio.unwrap() - 0.5).abs() < 0.01, "{flat:?}");
        assert_eq!((flat.memory_bound, flat.partner_memory_ratio), (None, None));
        assert!((flat.lost_ratio.unwrap() - (1.0 - 1.0 / 0.24 / 8.0)).abs() < 0.01);
        let rising = traits(&[(1, 1.0), (8, 0.13)]).scaling;
        assert_eq!((rising.knee, rising.knee_at_least, rising.memory_bound), (None, Some(8), Some(false)));
    }

    #[test]
    fn what_was_seen_on_one_dop_is_unknown() {
        let one = traits(&[(4, 0.25)]);
        assert_eq!(one.scaling, Scaling::default());
        assert_eq!(table(std::slice::from_ref(&one)).matches(UNKNOWN).count(), 7);
        assert_eq!(knees(&[one]).lines().count(), 1);
    }

    #[test]
    fn a_rough_measurement_says_nothing_sure() {
        let mut rough = profile(&[(1, 1.0), (4, 0.25), (8, 0.24)]);
        rough.regions[0].points[2].error_ratio = 0.4;
        let scaling = of(&[rough]).remove(0).scaling;
        assert_eq!((scaling.knee, scaling.knee_at_least), (None, Some(4)));
    }

    #[test]
    fn of_several_arguments_the_largest_knee_counts_and_machines_stay_apart() {
        let (small, mut large) =
            (profile(&[(1, 1.0), (2, 0.5), (8, 0.5)]), profile(&[(1, 1.0), (4, 0.25), (8, 0.24)]));
        large.key.arguments = 2;
        let mut elsewhere = small.clone();
        elsewhere.key.machine = "other".into();
        let list = of(&[small, large, elsewhere]);
        let knees: Vec<_> = list.iter().map(|one| (one.profiles, one.scaling.knee)).collect();
        assert_eq!(knees, [(2, Some(4)), (1, Some(2))]);
        assert!(super::knees(&list).contains("4\tp\te\n"));
    }
}
