//! The best that could have been done, by trying all; it knows the true curves and shares no policy's code.

use super::curves::Curve;

/// The largest sum of speedups on `contexts` contexts, at least 1 for each program, with no speedup below the
/// program's number in `floors` (0 where missing). 0 where these don't fit.
pub fn best(contexts: u32, curves: &[&Curve], floors: &[f64]) -> f64 {
    // After each program, the most that c contexts can bring, for every c.
    let mut most = vec![0.0f64; contexts as usize + 1];
    for (i, curve) in curves.iter().enumerate() {
        let floor = floors.get(i).copied().unwrap_or(0.0);
        let speedup = |p: usize| Some(curve.at(p as u32)).filter(|s| *s >= floor);
        let with = |c: usize| {
            let sums = (1..=c).filter_map(|p| Some(most[c - p] + speedup(p)?));
            sums.fold(f64::NEG_INFINITY, f64::max)
        };
        most = (0..most.len()).map(with).collect();
    }
    most.last().copied().unwrap_or(0.0).max(0.0)
}
