//! Figures that judge workloads. Values that aren't finite and positive are left out; an empty list gives 0.

fn sane(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    values.iter().copied().filter(|v| v.is_finite() && *v > 0.0)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = values.fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
    if n > 0.0 { sum / n } else { 0.0 }
}

/// System throughput: the sum of the programs' speedups, each over one thread alone on the machine.
pub fn stp(speedups: &[f64]) -> f64 {
    sane(speedups).sum()
}

/// Average normalised turnaround time: the mean slowdown (turnaround shared / alone; less is better).
pub fn antt(slowdowns: &[f64]) -> f64 {
    mean(sane(slowdowns))
}

/// How evenly the programs suffer: the smallest slowdown over the largest, 0 to 1, where 1 is fair.
pub fn fairness(slowdowns: &[f64]) -> f64 {
    let (low, high) = sane(slowdowns).fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    if high > 0.0 { low / high } else { 0.0 }
}

pub fn geomean(ratios: &[f64]) -> f64 {
    if sane(ratios).next().is_none() { 0.0 } else { mean(sane(ratios).map(f64::ln)).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_is_the_sum_of_speedups() {
        // SCAF's slides, SP + LU under the smart partition.
        assert!((stp(&[1.26, 4.81]) - 6.07).abs() < 1e-12);
    }

    #[test]
    fn slowdowns_average_and_compare() {
        assert_eq!(antt(&[1.0, 2.0, 3.0]), 2.0);
        assert_eq!(fairness(&[1.0, 2.0, 4.0]), 0.25);
        assert!((geomean(&[2.0, 0.5]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn failed_measurements_are_left_out() {
        assert_eq!(stp(&[f64::NAN, 2.0, -1.0, f64::INFINITY]), 2.0);
        for metric in [stp, antt, fairness, geomean] {
            assert_eq!(metric(&[]), 0.0);
            assert_eq!(metric(&[f64::NAN]), 0.0);
        }
    }
}
