//! A day on a made-up machine of 32 cores, for pictures: programs come and go, and the policy `curve` decides
//! by their speedups, as the daemon would have it do.

use crate::fake::{Fake, program, snapshot};
use scaf_policy::{Dop, Machine, ProgramId, Pu, Settings, Topology, allocate, by_name, fusion};
use scafd::control::{CurvePoint, Mechanism, Program, Snapshot};

/// A name, when it comes and goes in moments, and the part of its work that is serial.
const CAST: [(&str, u64, u64, f64); 7] = [
    ("train.py", 1, 99_999, 0.012),
    ("lu.C", 100, 99_999, 0.11),
    ("Solver", 260, 930, 0.04),
    ("ft.C", 480, 760, 0.25),
    ("mg.C", 905, 99_999, 0.06),
    ("report.R", 1_010, 1_100, 0.5),
    ("faiss", 1_060, 99_999, 0.03),
];
const CORES: u32 = 32;

fn speedup(serial: f64, dop: u32) -> f64 {
    1.0 / (serial + (1.0 - serial) / f64::from(dop))
}

fn machine() -> Topology {
    let pu = |os: u32| Pu { os, core: os, l3: os / 8, numa: os / 16, package: os / 16, class: 0 };
    Topology { pus: (0..CORES).map(pu).collect() }
}

/// What the policy is told of a program.
fn claim(id: u64, serial: f64, dop: u32) -> scaf_policy::Program {
    let point = |dop| fusion::Measured {
        dop,
        speedup: scaf_policy::estimate::Estimate { value: speedup(serial, dop), error: 0.03 },
    };
    let curve = [1, 2, 4, 8, 12, 16, 24, 32].map(point).to_vec();
    let now = speedup(serial, dop) / f64::from(dop);
    scaf_policy::Program {
        dop,
        curve,
        efficiency: Some(now),
        ..scaf_policy::Program::new(ProgramId(id), CORES)
    }
}

fn curve(serial: f64, ran: &[u32], at: u64) -> Vec<CurvePoint> {
    let point = |dop: &u32| {
        let measured = ran.contains(dop);
        let value = speedup(serial, *dop);
        CurvePoint {
            dop: *dop,
            speedup: value,
            error_ratio: if *dop == 1 {
                0.0
            } else if measured {
                0.03
            } else {
                0.18
            },
            observed: measured.then_some(value * (1.0 + 0.004 * ((at + u64::from(*dop)) % 5) as f64)),
            sources: if measured { vec![fusion::Source::Curve] } else { vec![fusion::Source::Useful] },
        }
    };
    let mut dops: Vec<u32> = ran.iter().copied().chain([1, 2, 32]).collect();
    dops.sort_unstable();
    dops.dedup();
    dops.iter().map(point).collect()
}

/// The daemon of that machine.
pub fn begin() -> Fake {
    let mut policy = by_name("curve", &Settings::default()).unwrap();
    let mut had: Vec<Program> = Vec::new();
    let mut ran = [const { Vec::<u32>::new() }; CAST.len()];
    let tell = move |at: u64, _: u32| -> Snapshot {
        let there: Vec<usize> = (0..CAST.len()).filter(|i| (CAST[*i].1..CAST[*i].2).contains(&at)).collect();
        let dop_of = |id: u64| had.iter().find(|it| it.id == id).and_then(|it| it.dop);
        let claims: Vec<scaf_policy::Program> = there
            .iter()
            .map(|i| claim(*i as u64 + 1, CAST[*i].3, dop_of(*i as u64 + 1).unwrap_or(CORES)))
            .collect();
        let shares = allocate(policy.as_mut(), &Machine::new(CORES, at as f64 / 4.0), &claims).shares;
        let mut first = 0;
        let programs: Vec<Program> = there
            .iter()
            .zip(&shares)
            .map(|(i, share)| {
                let (name, came, _, serial) = CAST[*i];
                let Dop::Contexts(dop) = share.dop else { panic!("{share:?}") };
                if !ran[*i].contains(&dop) {
                    ran[*i].push(dop);
                }
                let pus = (first..first + dop).collect();
                first += dop;
                let now = speedup(serial, dop) * (1.0 + 0.01 * ((at / 4 + *i as u64) % 3) as f64);
                Program {
                    name: name.into(),
                    uid: if *i % 3 == 1 { 1 } else { 0 },
                    mechanism: if *i % 2 == 0 { Mechanism::Gather } else { Mechanism::Resize },
                    attached_ns: came * 250_000_000,
                    dop: Some(dop),
                    natural: CORES,
                    pus,
                    efficiency: Some(now / f64::from(dop)),
                    speedup: Some(now),
                    curve: curve(serial, &ran[*i], at),
                    reason: share.reason.clone(),
                    regions: 40 * (at - came),
                    ..program(*i as u64 + 1, at)
                }
            })
            .collect();
        had.clone_from(&programs);
        Snapshot {
            policy: "curve".into(),
            scope: "system".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            capacity: CORES,
            pus: (0..CORES).collect(),
            programs,
            ..snapshot(at, 0)
        }
    };
    Fake::telling(0, machine(), Box::new(tell))
}
