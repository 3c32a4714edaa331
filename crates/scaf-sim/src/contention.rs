//! What programs take from each other: turns on contexts, and memory bandwidth. A context that L threads want
//! gives each of them 1/L of its time, less what taking turns costs. Where programs on a NUMA node want more
//! bandwidth than it can deliver, each context there gets an equal part, and what some don't need the others
//! get. A program's own saturation is in its speedup curve.
//!
//! A curve is that of contexts close together. Spread over more nodes than it needs, a program that slow
//! memory holds back (`waits` below 1) has more memory: each node adds what the curve has for its contexts.

use crate::running::Running;
use crate::scenario::{Contention, Mechanisms};
use scaf_policy::Topology;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Speeds {
    pub speeds: Vec<f64>,
    pub busy: f64,
}

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

    pub fn speeds(&self, now_s: f64, programs: &[Running]) -> Speeds {
        let mut load = vec![0.0f64; self.node.len()];
        for program in programs {
            let each = f64::from(program.width()) / program.pus.len().max(1) as f64;
            program.pus.iter().for_each(|pu| load[*pu] += each);
        }
        let parts: Vec<Vec<f64>> = programs.iter().map(|program| self.parts(program)).collect();
        let alone = |(program, parts): (&Running, &Vec<f64>)| {
            let (speed, traffic) = program.alone(now_s, self.mechanisms, self.contention.spin_loss);
            let factor = self.turns(program, &load) * self.spread(program, parts);
            (speed * factor, traffic * factor)
        };
        let wanted: Vec<(f64, f64)> = programs.iter().zip(&parts).map(alone).collect();
        let slowed = self.slowed(programs, &parts, &wanted);
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

    /// By how much a program is faster than on contexts close together.
    fn spread(&self, program: &Running, parts: &[f64]) -> f64 {
        let Some(region) = program.region().filter(|region| region.waits < 1.0 && self.nodes > 1) else {
            return 1.0;
        };
        let width = f64::from(program.width());
        let size = (self.node.len() / self.nodes).max(1) as f64;
        let there: f64 = parts.iter().map(|part| region.speedup.part(width * part)).sum();
        let full = (width / size).floor();
        let close = full * region.speedup.part(size) + region.speedup.part(width - full * size);
        (1.0 + (1.0 - region.waits) * (there / close - 1.0)).max(1.0)
    }

    /// What remains of each program's speed once memory is shared.
    fn slowed(&self, programs: &[Running], parts: &[Vec<f64>], wanted: &[(f64, f64)]) -> Vec<f64> {
        let Some(most) = self.contention.node_bandwidth else { return vec![1.0; parts.len()] };
        let remains: Vec<Vec<f64>> = (0..self.nodes)
            .map(|node| {
                let wants: Vec<(f64, f64)> = (0..programs.len())
                    .map(|i| {
                        let contexts = parts[i][node] * f64::from(programs[i].width());
                        ((parts[i][node] * wanted[i].1).min(most), contexts)
                    })
                    .collect();
                let level = level(most, &wants);
                let remains = |(want, contexts): &(f64, f64)| {
                    if *want > level * contexts { level * contexts / want } else { 1.0 }
                };
                wants.iter().map(remains).collect()
            })
            .collect();
        let speed = |(i, (parts, (_, traffic))): (usize, (&Vec<f64>, &(f64, f64)))| {
            if *traffic <= 0.0 {
                return 1.0;
            }
            parts.iter().zip(&remains).map(|(part, remains)| part * remains[i]).sum()
        };
        parts.iter().zip(wanted).enumerate().map(speed).collect()
    }

    fn parts(&self, program: &Running) -> Vec<f64> {
        let mut parts = vec![0.0; self.nodes];
        let each = 1.0 / program.pus.len().max(1) as f64;
        program.pus.iter().for_each(|pu| parts[self.node[*pu]] += each);
        parts
    }
}

/// What each context gets of a node that delivers `most`, by (traffic, contexts); infinite for no limit.
fn level(most: f64, wants: &[(f64, f64)]) -> f64 {
    if wants.iter().map(|(want, _)| want).sum::<f64>() <= most {
        return f64::INFINITY;
    }
    let mut wants: Vec<(f64, f64)> = wants.iter().copied().filter(|(want, _)| *want > 0.0).collect();
    wants.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let (mut left, mut contexts) = (most, wants.iter().map(|(_, contexts)| contexts).sum::<f64>());
    for (want, of) in &wants {
        // From here on nobody wants less than an equal part.
        if want / of >= left / contexts {
            break;
        }
        left -= want;
        contexts -= of;
    }
    left / contexts
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn what_some_do_not_need_others_get() {
        assert_eq!(level(2.0, &[(1.0, 1.0), (0.5, 4.0)]), f64::INFINITY);
        assert!((level(1.0, &[(0.9, 1.0), (0.2, 1.0), (0.6, 1.0)]) - 0.4).abs() < 1e-12);
        assert!((level(1.0, &[(1.0, 3.0), (1.0, 1.0)]) - 0.25).abs() < 1e-12);
    }
}
