//! What the timings of decisions share: their report, and pseudo-random numbers.

use scaf_cli::bench::Header;
use scaf_policy::Program;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use serde::Serialize;

/// The report about cases of one kind.
#[derive(Serialize)]
pub struct Report<C> {
    #[serde(flatten)]
    /// The fields of every report.
    pub header: Header,
    /// The results.
    pub cases: Vec<C>,
}

/// Points of a curve that are remembered.
pub const POINTS: usize = 6;

/// An xorshift generator: the same numbers in each run of the benchmark.
pub struct Noise(pub u64);

impl Noise {
    /// Between -1 and 1.
    pub fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Lets the program be seen at `dop`, with a speedup by Amdahl's law that is up to 5% off.
    pub fn observe(&mut self, program: &mut Program, dop: u32) {
        let serial = 0.002 * (1 + program.id.0 % 97) as f64;
        let p = f64::from(dop);
        let speedup = p / (1.0 + serial * (p - 1.0)) * (1.0 + 0.05 * self.number());
        program.dop = dop;
        program.efficiency = Some((speedup / p).min(1.0));
        program.curve.retain(|point| point.dop != dop);
        if program.curve.len() >= POINTS {
            program.curve.remove(0);
        }
        let at = program.curve.partition_point(|point| point.dop < dop);
        program.curve.insert(at, Measured { dop, speedup: Estimate { value: speedup, error: 0.05 } });
    }
}
