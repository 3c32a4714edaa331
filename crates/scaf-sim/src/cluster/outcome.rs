//! What it comes to for all jobs.

use super::{Ended, Job, Setting};
use serde::Serialize;

/// Slowdowns of jobs that are shorter count as if they took this long (Feitelson's bounded slowdown).
const SHORT_S: f64 = 10.0;

/// Numbers of one sharing. A job's *slowdown* is the time from its arrival to its end over its run time
/// alone on what it asked for, at least 1; of jobs under 10 s, over 10 s. Its *stretch* is the same without
/// waiting.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figures {
    /// Jobs that ended.
    pub ended: usize,
    /// Jobs that ended until the last one came, an hour.
    pub jobs_per_h: f64,
    /// Context-hours asked for of what was done until the last job came, an hour.
    pub done_per_h: f64,
    /// From the first arrival to the last end, in hours.
    pub makespan_h: f64,
    /// Contexts that jobs had until the last job came, in percent of all.
    pub busy_pct: f64,
    /// Mean seconds from arrival to start.
    pub wait_mean_s: f64,
    /// Seconds that nine in ten jobs wait at most.
    pub wait_p90_s: f64,
    /// Mean slowdown.
    pub slowdown_mean: f64,
    /// Median slowdown.
    pub slowdown_median: f64,
    /// Mean slowdown of the tenth of jobs with the largest.
    pub slowdown_worst_tenth: f64,
    /// Mean stretch.
    pub stretch_mean: f64,
    /// Mean stretch of the tenth of jobs with the largest.
    pub stretch_worst_tenth: f64,
}

/// The figures of jobs and what became of them, in the same order.
pub fn figures(setting: &Setting, jobs: &[Job], ended: &[Ended]) -> Figures {
    let first_s = jobs.first().map_or(0.0, |job| job.arrives_s);
    let last_s = jobs.last().map_or(0.0, |job| job.arrives_s);
    let hours = ((last_s - first_s) / 3_600.0).max(f64::MIN_POSITIVE);
    let pairs = || jobs.iter().zip(ended);
    // A job's contexts and work are taken to be spread evenly over its time.
    let part = |end: &Ended| {
        let all_s = (end.ended_s - end.started_s).max(f64::MIN_POSITIVE);
        ((last_s - end.started_s) / all_s).clamp(0.0, 1.0)
    };
    let had: f64 = ended.iter().map(|end| end.had * part(end)).sum();
    let asked: f64 = pairs().map(|(job, end)| job.run_s * f64::from(job.asks) * part(end)).sum();
    let all = f64::from(setting.nodes) * f64::from(setting.contexts) * hours * 3_600.0;
    let waits = sorted(pairs().map(|(job, end)| end.started_s - job.arrives_s));
    let slow =
        |(job, end): (&Job, &Ended), from_s: f64| ((end.ended_s - from_s) / job.run_s.max(SHORT_S)).max(1.0);
    let slowdowns = sorted(pairs().map(|pair| slow(pair, pair.0.arrives_s)));
    let stretches = sorted(pairs().map(|pair| slow(pair, pair.1.started_s)));
    Figures {
        ended: ended.len(),
        jobs_per_h: ended.iter().filter(|end| end.ended_s <= last_s).count() as f64 / hours,
        done_per_h: asked / 3_600.0 / hours,
        makespan_h: (ended.iter().map(|end| end.ended_s).fold(first_s, f64::max) - first_s) / 3_600.0,
        busy_pct: 100.0 * had / all,
        wait_mean_s: mean(&waits),
        wait_p90_s: quantile(&waits, 0.9),
        slowdown_mean: mean(&slowdowns),
        slowdown_median: quantile(&slowdowns, 0.5),
        slowdown_worst_tenth: mean(worst_tenth(&slowdowns)),
        stretch_mean: mean(&stretches),
        stretch_worst_tenth: mean(worst_tenth(&stretches)),
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The smallest value that this share of the sorted ones doesn't exceed.
fn quantile(values: &[f64], share: f64) -> f64 {
    let at = (values.len() as f64 * share).ceil() as usize;
    values.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// The largest tenth, rounded up.
fn worst_tenth(values: &[f64]) -> &[f64] {
    &values[values.len() - values.len().div_ceil(10)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_the_worst_tenth_are_those_of_the_definition() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!((quantile(&values, 0.9), quantile(&values, 0.5)), (18.0, 10.0));
        assert_eq!(worst_tenth(&values), [19.0, 20.0]);
        assert_eq!((worst_tenth(&[]).len(), worst_tenth(&[3.0]).len(), mean(&[])), (0, 1, 0.0));
    }
}
