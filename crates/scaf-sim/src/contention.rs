//! What programs take from each other: turns on contexts, and memory bandwidth.
//!
//! Turns: a context that L threads want gives each of them 1/L of its time, less what taking turns costs. Bandwidth: where the
//! programs on a NUMA node want more than it can deliver, all that want any are slowed in proportion. A program's own
//! saturation is in its speedup curve, so alone on a node it never counts for more than the node can deliver.

use crate::running::Running;
use crate::scenario::{Contention, Mechanisms};
use scaf_policy::Topology;
use std::collections::BTreeMap;

/// The speeds of programs at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speeds {
    /// Work a second of each.
    pub speeds: Vec<f64>,
    /// Contexts that are busy.
    pub busy: f64,
}

/// The machine as contention sees it.
pub(crate) struct Shared<'a> {
    contention: &'a Contention,
    mechanisms: &'a Mechanisms,
    /// NUMA node of each context, from 0.
    node: Vec<usize>,
    nodes: usize,
}

impl<'a> Shared<'a> {
    pub fn new(topology: &Topology, contention: &'a Contention, mechanisms: &'a Mechanisms) -> Shared<'a> {
        let mut numbers = BTreeMap::new();
        let node = topology.pus.iter().map(|pu| {
            let next = numbers.len();
            *numbers.entry(pu.numa).or_insert(next)
        });
        let node = node.collect();
        Shared { contention, mechanisms, node, nodes: numbers.len() }
    }

    /// How fast everybody is at `now_s`.
    pub fn speeds(&self, now_s: f64, programs: &[Running]) -> Speeds {
        let mut load = vec![0.0f64; self.node.len()];
        for program in programs {
            let each = f64::from(program.width()) / program.pus.len().max(1) as f64;
            program.pus.iter().for_each(|pu| load[*pu] += each);
        }
        let alone = |program: &Running| {
            let (speed, traffic) = program.alone(now_s, self.mechanisms, self.contention.spin_loss);
            let turns = self.turns(program, &load);
            (speed * turns, traffic * turns)
        };
        let wanted: Vec<(f64, f64)> = programs.iter().map(alone).collect();
        let slowed = self.slowed(programs, &wanted);
        let speeds = wanted.iter().zip(slowed).map(|((speed, _), by)| speed * by).collect();
        Speeds { speeds, busy: load.iter().map(|l| l.min(1.0)).sum() }
    }

    /// The share of its speed that a program has by the load of its contexts.
    fn turns(&self, program: &Running, load: &[f64]) -> f64 {
        let loss =
            self.contention.slice_loss + if program.spec.spins { self.contention.spin_loss } else { 0.0 };
        let of = |l: f64| if l > 1.0 + 1e-9 { 1.0 / (l * (1.0 + loss * (l - 1.0))) } else { 1.0 };
        let sum: f64 = program.pus.iter().map(|pu| of(load[*pu])).sum();
        sum / program.pus.len().max(1) as f64
    }

    /// What remains of each program's speed once memory is shared.
    fn slowed(&self, programs: &[Running], wanted: &[(f64, f64)]) -> Vec<f64> {
        let Some(most) = self.contention.node_bandwidth else { return vec![1.0; programs.len()] };
        let parts: Vec<Vec<f64>> = programs.iter().map(|program| self.parts(program)).collect();
        let mut sum = vec![0.0; self.nodes];
        for (parts, (_, traffic)) in parts.iter().zip(wanted) {
            parts.iter().zip(&mut sum).for_each(|(part, sum)| *sum += (part * traffic).min(most));
        }
        let speed = |(parts, (_, traffic)): (&Vec<f64>, &(f64, f64))| {
            if *traffic <= 0.0 {
                return 1.0;
            }
            parts.iter().zip(&sum).map(|(part, sum)| part * (most / sum).min(1.0)).sum()
        };
        parts.iter().zip(wanted).map(speed).collect()
    }

    /// The shares of a program's contexts that lie on each node.
    fn parts(&self, program: &Running) -> Vec<f64> {
        let mut parts = vec![0.0; self.nodes];
        let each = 1.0 / program.pus.len().max(1) as f64;
        program.pus.iter().for_each(|pu| parts[self.node[*pu]] += each);
        parts
    }
}
