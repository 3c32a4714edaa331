//! Jobs after Lublin and Feitelson, "The workload on parallel supercomputers: modeling the characteristics of
//! rigid jobs", Journal of Parallel and Distributed Computing 63(11), 2003, pages 1105 to 1122. The
//! parameters are those of the authors' program (m_lublin99 in the Parallel Workloads Archive) for batch and
//! interactive jobs together.
//!
//! - *Size*: 1 with a probability; else 2 to the power of a number from two uniform distributions, rounded to
//!   a whole power with another probability.
//! - *Run time*: its natural logarithm is from one of two gamma distributions, the second likelier for larger
//!   jobs.
//! - *Arrivals*: the logarithm of the gap is gamma-distributed; gaps are stretched by the time of the day.
//!
//! Ours are three things. The largest size is a node's contexts. Gaps are scaled so that the load is the one
//! asked for. Each job's program is any of the tables' with the same probability.

use super::Setting;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, GammaError};

/// Probability of a size of 1, and of a power of two.
const SERIAL: f64 = 0.244;
const POWER_OF_TWO: f64 = 0.576;
/// The uniform distributions' lower end, how far their border is below the largest size (1.5 to 3.5 in
/// the authors' program, whose own is 2.5), and the probability of the lower; all logarithms to base 2.
const LOW: f64 = 0.8;
const MIDDLE_BELOW_HIGH: f64 = 1.5;
const LOWER: f64 = 0.86;
/// The gamma distributions (shape, scale) of a run time's logarithm, and the probability of the first by
/// size.
const RUN_SHORT: (f64, f64) = (4.2, 0.94);
const RUN_LONG: (f64, f64) = (312.0, 0.03);
const SHORT_BY_SIZE: f64 = -0.0054;
const SHORT: f64 = 0.78;
/// Run times above e^12 s (45 hours) and gaps above e^13 are drawn anew.
const LONGEST_RUN: f64 = 12.0;
const LONGEST_GAP: f64 = 13.0;
/// The gap's logarithm: its shape is that of rush hours times their ratio to all hours.
const GAP: (f64, f64) = (10.2303 * 1.0225, 0.4871);
/// The daily cycle: 48 half hours, weighted by a gamma distribution over a day that begins at the 11th.
const HALF_HOURS: usize = 48;
const HALF_HOUR_S: f64 = 1_800.0;
const DAY_BEGINS: usize = 11;
const DAY: (f64, f64) = (8.1737, 3.9631);

/// A job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// When it comes, in seconds from midnight.
    pub arrives_s: f64,
    /// Contexts that it asks for, 1 to those of a node.
    pub asks: u32,
    /// Seconds that it takes on these, alone; 1 to e^12.
    pub run_s: f64,
    /// Its program's place among [`super::programs`].
    pub program: usize,
}

/// The jobs in the order of their arrivals, for `programs` many programs.
pub fn jobs(setting: &Setting, programs: usize) -> Vec<Job> {
    let mut rng = ChaCha8Rng::seed_from_u64(setting.seed);
    let Ok(draws) = Draws::new(setting.contexts) else { return Vec::new() };
    let mut jobs: Vec<Job> = Vec::new();
    let mut gaps: Vec<f64> = Vec::new();
    for _ in 0..setting.jobs {
        let asks = draws.size(&mut rng);
        let run_s = draws.run_s(&mut rng, asks);
        let program = rng.random_range(0..programs.max(1));
        jobs.push(Job { arrives_s: 0.0, asks, run_s, program });
        gaps.push(below(&draws.gap, LONGEST_GAP, &mut rng).exp());
    }
    let asked: f64 = jobs.iter().map(|job| job.run_s * f64::from(job.asks)).sum();
    let span_s = asked / (f64::from(setting.nodes) * f64::from(setting.contexts) * setting.load);
    let mut clock = Clock { now_s: 0.0, weights: weights() };
    let scale = clock.gap_until(span_s) / gaps.iter().sum::<f64>();
    for (job, gap) in jobs.iter_mut().zip(gaps) {
        job.arrives_s = clock.after(gap * scale);
    }
    jobs
}

struct Draws {
    high: f64,
    contexts: u32,
    short: Gamma<f64>,
    long: Gamma<f64>,
    gap: Gamma<f64>,
}

impl Draws {
    fn new(contexts: u32) -> Result<Draws, GammaError> {
        Ok(Draws {
            high: f64::from(contexts).log2(),
            contexts,
            short: Gamma::new(RUN_SHORT.0, RUN_SHORT.1)?,
            long: Gamma::new(RUN_LONG.0, RUN_LONG.1)?,
            gap: Gamma::new(GAP.0, GAP.1)?,
        })
    }

    fn size(&self, rng: &mut impl Rng) -> u32 {
        let kind: f64 = rng.random();
        if kind < SERIAL {
            return 1;
        }
        let middle = (self.high - MIDDLE_BELOW_HIGH).max(LOW);
        let (from, to) =
            if rng.random::<f64>() < LOWER { (LOW, middle) } else { (middle, self.high.max(middle)) };
        let log = from + (to - from) * rng.random::<f64>();
        let log = if kind < SERIAL + POWER_OF_TWO { log.round() } else { log };
        (log.exp2().round() as u32).clamp(1, self.contexts)
    }

    fn run_s(&self, rng: &mut impl Rng, size: u32) -> f64 {
        let short = (SHORT_BY_SIZE * f64::from(size) + SHORT).clamp(0.0, 1.0);
        loop {
            let gamma = if rng.random::<f64>() < short { &self.short } else { &self.long };
            let log = gamma.sample(rng);
            if log <= LONGEST_RUN {
                return log.exp();
            }
        }
    }
}

fn below(gamma: &Gamma<f64>, most: f64, rng: &mut impl Rng) -> f64 {
    loop {
        let value = gamma.sample(rng);
        if value <= most {
            return value;
        }
    }
}

/// Seconds of a gap that pass in a second of each half hour; 1 in the mean.
fn weights() -> [f64; HALF_HOURS] {
    const STEPS: usize = 50;
    let density = |x: f64| x.powf(DAY.0 - 1.0) * (-x / DAY.1).exp();
    let mut weights = [0.0; HALF_HOURS];
    for i in DAY_BEGINS..HALF_HOURS + DAY_BEGINS {
        let at = |step: usize| i as f64 - 0.5 + (step as f64 + 0.5) / STEPS as f64;
        weights[(i - 1) % HALF_HOURS] = (0..STEPS).map(|step| density(at(step))).sum();
    }
    let mean = weights.iter().sum::<f64>() / HALF_HOURS as f64;
    weights.map(|weight| weight / mean)
}

struct Clock {
    now_s: f64,
    weights: [f64; HALF_HOURS],
}

impl Clock {
    /// Seconds of gaps that pass from midnight until then.
    fn gap_until(&self, end_s: f64) -> f64 {
        let half_hours = (end_s / HALF_HOUR_S).floor() as usize;
        let whole: f64 = (0..half_hours).map(|i| self.weights[i % HALF_HOURS]).sum();
        whole * HALF_HOUR_S + (end_s % HALF_HOUR_S) * self.weights[half_hours % HALF_HOURS]
    }

    /// The time after a gap of so many seconds of a half hour of weight 1.
    fn after(&mut self, mut gap_s: f64) -> f64 {
        loop {
            let half_hour = (self.now_s / HALF_HOUR_S).floor();
            let weight = self.weights[half_hour as usize % HALF_HOURS];
            let end_s = (half_hour + 1.0) * HALF_HOUR_S;
            let room = (end_s - self.now_s) * weight;
            if gap_s < room {
                self.now_s += gap_s / weight;
                return self.now_s;
            }
            gap_s -= room;
            self.now_s = end_s;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_run_times_and_load_are_those_of_the_model() {
        let setting = Setting { jobs: 40_000, ..Setting::default() };
        let jobs = jobs(&setting, 18);
        let share = |of: &dyn Fn(&Job) -> bool| jobs.iter().filter(|job| of(job)).count() as f64 / 40_000.0;
        // Some of those that aren't rounded to a power of two come to one all the same.
        assert!((share(&|job| job.asks == 1) - SERIAL).abs() < 0.01);
        assert!((share(&|job| job.asks.is_power_of_two()) - 0.87).abs() < 0.05);
        assert!(
            jobs.iter().all(|job| (1..=24).contains(&job.asks) && (1.0..=162_755.0).contains(&job.run_s))
        );
        // The mixture's mean logarithm: 0.75 of 4.2 x 0.94 and 0.25 of 312 x 0.03.
        let logs: f64 = jobs.iter().map(|job| job.run_s.ln()).sum::<f64>() / 40_000.0;
        assert!((logs - (0.75 * 3.95 + 0.25 * 9.36)).abs() < 0.15, "{logs}");
        let asked: f64 = jobs.iter().map(|job| job.run_s * f64::from(job.asks)).sum();
        let span = jobs.last().unwrap().arrives_s;
        let load = asked / (24_000.0 * span);
        assert!((load / setting.load - 1.0).abs() < 1e-6, "{load}");
        assert!(jobs.windows(2).all(|pair| pair[0].arrives_s <= pair[1].arrives_s));
    }

    #[test]
    fn most_jobs_come_in_the_afternoon_and_a_day_s_weights_have_a_mean_of_1() {
        let weights = weights();
        assert!((weights.iter().sum::<f64>() - 48.0).abs() < 1e-9);
        let most = (0..48).max_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap();
        let least = (0..48).min_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap();
        assert!((24..34).contains(&most) && (4..16).contains(&least), "{most} {least}");
    }

    #[test]
    fn the_clock_goes_by_the_weights() {
        let mut weights = [1.0; HALF_HOURS];
        weights[0] = 0.5;
        let mut clock = Clock { now_s: 0.0, weights };
        assert_eq!(clock.after(450.0), 900.0);
        assert_eq!(clock.after(500.0), 1_850.0);
        assert_eq!([900.0, 1_850.0, 86_400.0].map(|s| clock.gap_until(s)), [450.0, 950.0, 85_500.0]);
    }
}
