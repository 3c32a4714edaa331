//! Random mixes: how many contexts, who comes when, and how fast each is.

use super::setting::TeamSetting;
use crate::mixes::curves::{Curve, Family};
use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Machines, in contexts.
const MACHINES: [u32; 10] = [16, 24, 32, 48, 64, 96, 128, 256, 512, 1024];
/// Contexts on which the curves were measured or made.
pub const MEASURED: u32 = 24;
/// How long a short program stays, and is away before another one comes, in seconds.
const SHORT_S: Range<f64> = 0.3..3.0;
/// How long a region takes on an equal part, in seconds: by logarithm evenly.
const REGION_S: Range<f64> = 0.000_2..0.05;

/// One program, from its arrival to its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Visit {
    /// Its true speedup on 1 to all contexts, by the team that it keeps.
    pub curve: Curve,
    /// Members of the team that it keeps; 0 if its teams follow the DoP.
    pub team: u32,
    /// When it comes, in seconds.
    pub from_s: f64,
    /// When it goes, in seconds.
    pub to_s: f64,
    /// Work of one run of its region, in seconds on one context.
    pub region_s: f64,
}

/// A machine and its programs.
#[derive(Clone, PartialEq, Debug)]
pub struct TeamMix {
    /// The machine's contexts.
    pub contexts: u32,
    /// Whether short programs come and go.
    pub short: bool,
    /// In the order of arrivals.
    pub visits: Vec<Visit>,
}

/// The mix of that number. Half of a mix's programs come from `table`, the others from the families.
pub fn draw(number: u64, table: &[Curve], families: &[Family], setting: &TeamSetting) -> TeamMix {
    let mut rng = ChaCha8Rng::seed_from_u64(setting.seed);
    rng.set_stream(number);
    let contexts = MACHINES[rng.random_range(0..MACHINES.len())];
    let programs: u32 = rng.random_range(2..=8);
    let short = number % 2 == 1;
    let mut visits = Vec::new();
    for place in 0..programs {
        // One stays from the beginning to the end, and one doesn't.
        let stays = !short || place == 0 || (place > 1 && rng.random());
        if stays {
            visits.push(visit((0.0, setting.run_s), (contexts, programs), (table, families), &mut rng));
            continue;
        }
        let mut from_s = rng.random_range(0.0..SHORT_S.end);
        while from_s < setting.run_s {
            let to_s = (from_s + rng.random_range(SHORT_S)).min(setting.run_s);
            visits.push(visit((from_s, to_s), (contexts, programs), (table, families), &mut rng));
            from_s = to_s + rng.random_range(SHORT_S);
        }
    }
    visits.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    TeamMix { contexts, short, visits }
}

fn visit(
    (from_s, to_s): (f64, f64),
    (contexts, programs): (u32, u32),
    (table, families): (&[Curve], &[Family]),
    rng: &mut impl Rng,
) -> Visit {
    let curves = match rng.random() {
        true => table,
        false => &families[rng.random_range(0..families.len())].curves,
    };
    let measured = &curves[rng.random_range(0..curves.len())];
    // As large as the machine, as half of it, or of any size by `num_threads`; half of the programs.
    let team = match rng.random_range(0..8) {
        0 | 1 => contexts,
        2 => contexts / 2,
        3 => rng.random_range(2..=contexts),
        _ => 0,
    };
    let curve = of_team(measured, team, contexts);
    let (low, high) = (REGION_S.start.ln(), REGION_S.end.ln());
    let region_s = rng.random_range(low..high).exp() * curve.at((contexts / programs).max(1));
    Visit { curve, team, from_s, to_s, region_s }
}

/// A curve that was measured on [`MEASURED`] contexts, stretched to so many, for a team that is kept.
pub fn of_team(measured: &Curve, team: u32, contexts: u32) -> Curve {
    let stretch = f64::from(MEASURED) / f64::from(contexts);
    let name = if team == 0 { measured.name.clone() } else { format!("{}, team of {team}", measured.name) };
    Curve::of(name, contexts, |p| {
        let members = f64::from(team);
        let used = if team == 0 { p } else { members / (members / p.min(members)).ceil() };
        between(measured, used * stretch) / between(measured, stretch)
    })
}

/// Straight lines between whole contexts, from 0 on none.
fn between(curve: &Curve, contexts: f64) -> f64 {
    let below = contexts.floor();
    let (low, high) = (curve.at(below as u32), curve.at(below as u32 + 1));
    low + (high - low) * (contexts - below)
}
