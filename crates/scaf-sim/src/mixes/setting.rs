use scaf_policy::Settings;
use std::ops::RangeInclusive;

/// The circumstances of mixes.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// Hardware contexts of the machine.
    pub contexts: u32,
    /// Programs in a mix.
    pub sizes: RangeInclusive<u32>,
    /// Decisions a second.
    pub rate_hz: f64,
    /// Length of a run, in seconds.
    pub run_s: f64,
    /// Seconds that a policy may need to settle: "after" means after these.
    pub settle_s: f64,
    /// Relative standard deviation of each measurement.
    pub noise: f64,
    /// The share of its equipartition speedup below which the floored oracle lets no program fall.
    pub floor: f64,
    /// Whether each program comes with its true curve as a profile.
    pub profiled: bool,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            contexts: 24,
            sizes: 2..=4,
            rate_hz: 4.0,
            run_s: 60.0,
            settle_s: 5.0,
            noise: 0.05,
            floor: Settings::default().floor,
            profiled: false,
            seed: 1,
        }
    }
}
