use scaf_policy::Settings;

/// The circumstances of these mixes.
#[derive(Clone, PartialEq, Debug)]
pub struct TeamSetting {
    /// How many mixes.
    pub mixes: u64,
    /// Length of a run, in seconds.
    pub run_s: f64,
    /// Looks and decisions a second.
    pub rate_hz: f64,
    /// Time constant of the efficiency's filter, in seconds.
    pub rc_s: f64,
    /// Relative standard deviation of each measurement.
    pub noise: f64,
    /// The share of its equipartition speedup below which the floored best lets no program fall, 0 to 1.
    pub floor: f64,
    /// Whether policies are told which teams are kept.
    pub steps: bool,
    /// Whether each program's true curve is its profile from the first measurement on: what a policy could do
    /// that learns everything at once.
    pub profiled: bool,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Default for TeamSetting {
    fn default() -> TeamSetting {
        TeamSetting {
            mixes: 1_000,
            run_s: 60.0,
            rate_hz: 4.0,
            rc_s: 1.0,
            noise: 0.05,
            floor: Settings::default().floor,
            steps: true,
            profiled: false,
            seed: 1,
        }
    }
}
