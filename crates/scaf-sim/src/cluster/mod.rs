//! A cluster of like nodes under a batch queue: what it is worth to share nodes, and to divide them by a
//! policy.
//!
//! A *job* is one program on one node; it *asks* for contexts there. Its *run time* is what it takes on
//! the contexts that it asks for, alone. Jobs come as in a published model of supercomputers' logs
//! (`workload`), and their programs have the speedups of published tables ([`programs()`]). The queue is
//! first come, first served with backfilling (`queue`). What differs is the [`Sharing`] of nodes.
//!
//! Assumed: a policy's division is in effect at once and is the one that it settles on (`division`); run
//! times are long against the seconds that this takes. What a job loses by partners' memory traffic is
//! [`Setting::partner_loss`]. Jobs that span nodes are left out.

mod division;
mod engine;
mod outcome;
mod programs;
mod queue;
mod workload;

pub use engine::{Ended, simulate};
pub use outcome::{Figures, figures};
pub use programs::programs;
pub use workload::{Job, jobs};

use scaf_policy::POLICIES;
use std::fmt;

/// The circumstances.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// Nodes, at least 1.
    pub nodes: u32,
    /// Hardware contexts of each node, 2 to 1,024.
    pub contexts: u32,
    /// Jobs, at least 1.
    pub jobs: u32,
    /// Contexts asked for times run time, over contexts times the time in which jobs come; above 0.
    pub load: f64,
    /// Under a policy, a node's jobs ask together for up to so many times its contexts; at least 1.
    pub oversubscription: u32,
    /// A job whose partners have all other contexts takes 1 + this times as long; 0 or more.
    pub partner_loss: f64,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            nodes: 1_000,
            contexts: 24,
            jobs: 100_000,
            load: 0.9,
            oversubscription: 2,
            partner_loss: 0.1,
            seed: 1,
        }
    }
}

/// How a node is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// One job a node, on the contexts that it asks for.
    Exclusive,
    /// One job a node, on all contexts.
    Whole,
    /// Jobs side by side as long as there are contexts; each has what it asks for.
    Packed,
    /// The same, and nobody asks for contexts beyond the knee.
    Knee,
    /// Jobs ask for more than there is, and the policy of that name divides it.
    Policy(&'static str),
}

impl Sharing {
    /// By its name: `exclusive`, `whole`, `packed`, `knee`, or that of a policy that divides a node.
    /// # Errors
    /// There is none; the message names those that there are.
    pub fn named(name: &str) -> Result<Sharing, String> {
        const PLAIN: [Sharing; 4] = [Sharing::Exclusive, Sharing::Whole, Sharing::Packed, Sharing::Knee];
        if let Some(plain) = PLAIN.into_iter().find(|sharing| sharing.to_string() == name) {
            return Ok(plain);
        }
        // The others leave programs alone, take turns, or are for tests.
        let divides = |name: &str| !matches!(name, "unmanaged" | "chaos" | "ta" | "taco");
        let known = || POLICIES.iter().map(|entry| entry.name).filter(|name| divides(name));
        known().find(|known| *known == name).map(Sharing::Policy).ok_or_else(|| {
            let names: Vec<String> =
                PLAIN.iter().map(Sharing::to_string).chain(known().map(str::to_owned)).collect();
            format!("nodes can't be shared by '{name}'; there are {}", names.join(", "))
        })
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sharing::Exclusive => "exclusive",
            Sharing::Whole => "whole",
            Sharing::Packed => "packed",
            Sharing::Knee => "knee",
            Sharing::Policy(name) => name,
        })
    }
}

#[cfg(test)]
mod tests;
