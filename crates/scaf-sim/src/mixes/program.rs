use super::curves::Curve;
use super::setting::Setting;
use rand::Rng;
use scaf_policy::efficiency::LowPass;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::{Program, ProgramId};
use std::collections::{BTreeMap, VecDeque};

/// Measurements remembered at each DoP, as in the daemon.
const SAMPLES: usize = 32;
/// The daemon's smoothing of efficiencies, in seconds.
const RC_S: f64 = 1.0;
/// The least error of a point, and what few measurements add, as in the daemon.
const LEAST_ERROR: f64 = 0.01;
const FEW: f64 = 0.1;
/// Fewest measurements whose spread means something.
const ENOUGH: usize = 4;

pub(super) struct Running<'a> {
    pub curve: &'a Curve,
    pub seen: Program,
    samples: BTreeMap<u32, VecDeque<f64>>,
    efficiency: LowPass,
}

impl<'a> Running<'a> {
    pub fn new(id: u64, curve: &'a Curve, setting: &Setting) -> Running<'a> {
        let contexts = setting.contexts;
        let exact = |dop| Measured { dop, speedup: Estimate { value: curve.at(dop), error: 0.0 } };
        let profile = if setting.profiled { (2..=contexts).map(exact).collect() } else { Vec::new() };
        Running {
            curve,
            seen: Program { profile, ..Program::new(ProgramId(id), contexts) },
            samples: BTreeMap::new(),
            efficiency: LowPass::new(RC_S),
        }
    }

    /// Runs on `dop` contexts for `dt_s` seconds, measured with a relative standard deviation of `noise`.
    pub fn run(&mut self, dop: u32, dt_s: f64, noise: f64, rng: &mut impl Rng) {
        let measured = (self.curve.at(dop) * (1.0 + noise * normal(rng))).max(1e-3);
        if self.seen.dop != dop {
            self.efficiency.reset();
            self.seen.dop = dop;
        }
        let efficiency = self.efficiency.update(dt_s, measured / f64::from(dop.max(1)));
        self.seen.efficiency = Some(efficiency.min(1.0));
        // At 1 the speedup is 1, whatever is measured.
        if dop > 1 {
            let samples = self.samples.entry(dop).or_default();
            samples.push_back(measured);
            if samples.len() > SAMPLES {
                samples.pop_front();
            }
        }
        let point =
            |(dop, samples): (&u32, &VecDeque<f64>)| Measured { dop: *dop, speedup: estimate(samples) };
        self.seen.curve = self.samples.iter().map(point).collect();
    }
}

fn estimate(samples: &VecDeque<f64>) -> Estimate {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let spread = if samples.len() < ENOUGH { 0.0 } else { variance.sqrt() / mean };
    Estimate { value: mean, error: (spread / n.sqrt()).max(LEAST_ERROR) + FEW / n }
}

/// A number from the standard normal distribution (Box and Muller's method).
pub(super) fn normal(rng: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}
