//! From a client's measurements to one efficiency a program, SCAF's (section 4.3.2) with *useful* time in
//! place of instructions per cycle: over wall time dt on p contexts E = (useful + serial) / (p dt). It is an
//! upper bound, since it doesn't see memory contention.

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    pub dt_s: f64,
    /// Mean number of contexts granted, at least 1.
    pub p: f64,
    /// Wall time in parallel regions in seconds, at most `dt_s`.
    pub parallel_s: f64,
    /// Useful time in parallel regions in seconds, summed over threads.
    pub useful_s: f64,
}

impl Interval {
    /// The smallest efficiency given: a program that did nothing is nearly, not exactly, worthless.
    pub const MIN: f64 = 1e-6;

    /// The efficiency over this interval, above 0 and at most 1. Fields may come from a hostile client:
    /// values out of range are clamped, and those that are not finite count as 0 (for `p`: 1). An interval
    /// without length is taken for a serial one: 1/p.
    pub fn efficiency(&self) -> f64 {
        let p = finite(self.p).max(1.0);
        let dt = finite(self.dt_s);
        if dt <= 0.0 {
            return (1.0 / p).clamp(Self::MIN, 1.0);
        }
        let parallel = finite(self.parallel_s).min(dt);
        let useful = finite(self.useful_s).min(p * parallel);
        let e = (useful + (dt - parallel)) / (p * dt);
        if e.is_finite() { e.clamp(Self::MIN, 1.0) } else { Self::MIN }
    }
}

/// The value, or 0 if it is negative or not finite.
pub(crate) fn finite(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// SCAF's low-pass filter (section 4.3.2): E <- a x + (1 - a) E with a = dt / (RC + dt); E starts as x.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LowPass {
    rc_s: f64,
    value: Option<f64>,
}

impl LowPass {
    /// A filter with time constant `rc_s` in seconds; 0, negative or non-finite means no smoothing.
    pub fn new(rc_s: f64) -> LowPass {
        LowPass { rc_s: if rc_s.is_finite() { rc_s.max(0.0) } else { 0.0 }, value: None }
    }

    /// Takes in a value that held for the last `dt_s` seconds; gives the smoothed value. A non-finite value
    /// is left out, as is a later one that held for no time; the answer is then the old value, or 0.
    pub fn update(&mut self, dt_s: f64, value: f64) -> f64 {
        if !value.is_finite() {
            return self.value.unwrap_or(0.0);
        }
        let dt = if dt_s.is_finite() { dt_s.max(0.0) } else { 0.0 };
        let new = match self.value {
            None => value,
            Some(old) if dt > 0.0 => {
                let alpha = dt / (self.rc_s + dt);
                alpha * value + (1.0 - alpha) * old
            }
            Some(old) => old,
        };
        self.value = Some(new);
        new
    }

    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// Forgets all values, as when the program's DoP changes.
    pub fn reset(&mut self) {
        self.value = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(dt_s: f64, p: f64, parallel_s: f64, useful_s: f64) -> f64 {
        Interval { dt_s, p, parallel_s, useful_s }.efficiency()
    }

    #[test]
    fn a_perfect_region_is_1_and_a_serial_interval_is_1_over_p() {
        assert_eq!(interval(2.0, 4.0, 2.0, 8.0), 1.0);
        assert_eq!(interval(2.0, 4.0, 0.0, 0.0), 0.25);
    }

    #[test]
    fn serial_and_parallel_parts_are_weighted_by_their_time() {
        // Half the time serial (1/4), half at 3 of 4: (0.25 + 0.75) / 2.
        assert!((interval(2.0, 4.0, 1.0, 3.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn hostile_numbers_give_an_efficiency_all_the_same() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-308, 1.0, 1e308];
        for dt in odd {
            for p in odd {
                for par in odd {
                    for useful in odd {
                        let e = interval(dt, p, par, useful);
                        assert!(e > 0.0 && e <= 1.0, "{dt} {p} {par} {useful} gave {e}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_filter_forgets_with_its_time_constant() {
        let mut filter = LowPass::new(1.0);
        assert_eq!(filter.update(0.25, 1.0), 1.0);
        assert!((filter.update(1.0, 0.0) - 0.5).abs() < 1e-12);
        assert!((filter.update(3.0, 0.0) - 0.125).abs() < 1e-12);
        filter.reset();
        assert_eq!(filter.value(), None);
    }

    #[test]
    fn the_filter_leaves_out_what_is_no_number() {
        let mut filter = LowPass::new(f64::NAN);
        assert_eq!(filter.update(1.0, f64::NAN), 0.0);
        assert_eq!(filter.update(1.0, 0.5), 0.5);
        assert_eq!(filter.update(f64::NAN, 0.9), 0.5);
        assert_eq!(filter.update(1.0, f64::INFINITY), 0.5);
    }
}
