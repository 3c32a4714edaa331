//! The fault campaign: whoever takes part is killed, stopped or refused what it asks the system for, at each
//! of the daemon's system calls and at random moments, while real programs run. After each fault all results
//! are right, all affinities are the programs' own within the lease, and nothing is left.
//!
//! `SCAF_FAULTS` says how many faults, 10,000 for all of them (`make faults`), by default a few of each kind.

mod daemon;
mod packets;
mod programs;
mod ptrace;
mod random_faults;
mod resources;
mod short_lived;
mod syscall_faults;

use std::collections::BTreeMap;

/// All of them: the random ones, and one at each system call.
const ALL: u64 = 10_000;

/// Faults wanted; `few` in an ordinary run of the tests.
fn faults(few: u64) -> u64 {
    let wanted = std::env::var("SCAF_FAULTS").ok();
    wanted.map_or(few, |wanted| wanted.parse().expect("SCAF_FAULTS: a number"))
}

/// What a campaign draws its numbers from. `SCAF_SEED` begins it elsewhere.
struct Dice(u64);

impl Dice {
    fn new(salt: u64) -> Dice {
        let seed = std::env::var("SCAF_SEED").ok().map_or(1, |seed| seed.parse().expect("SCAF_SEED"));
        Dice(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) | 1)
    }

    fn next(&mut self) -> u64 {
        // xorshift64*, after Marsaglia and Vigna.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, most: u64) -> u64 {
        (self.next() >> 11) % most
    }
}

/// How often what was done; printed at the end, for the table in docs/internals/security.md.
#[derive(Default)]
struct Tally(BTreeMap<String, u64>);

impl Tally {
    fn add(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    fn tell(&self, title: &str) {
        println!("campaign: {title}");
        for (what, times) in &self.0 {
            println!("campaign: {times:>9} {what}");
        }
    }
}
