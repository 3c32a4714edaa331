//! A daemon that is made up: so many programs on 1,024 PUs that all change all the time.

use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::{Decision, Dop, Machine, ProgramId, Pu, Share, Topology};
use scafd::control::{CHUNK_BYTES, Decisions, Program, Reply, Request, Snapshot};
use scafd::history::History;
use scafd::journal::Entry;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A daemon that only tells.
pub struct Fake {
    pub folder: tempfile::TempDir,
    ends: Arc<AtomicBool>,
    /// How many programs there are from now on.
    pub programs: Arc<AtomicU32>,
}

pub fn program(id: u64, at: u64) -> Program {
    let first = (id as u32 * 4 + at as u32 / 8) % 1020;
    let efficiency = 0.5 + 0.01 * ((id + at) % 40) as f64;
    let text = format!(
        r#"{{"id":{id},"pid":{},"uid":0,"name":"made-up-{id}","attached_ns":0,"mechanism":"gather",
        "mechanism_reason":"","dop":4,"granted_ns":0,"effective_ns":1,"pus":"{first}-{}","team":4,
        "in_region":true,"natural":64,"min":1,"max":0,"weight":1.0,"efficiency":{efficiency},
        "speedup":{},"curve":[{{"dop":1,"speedup":1.0,"error_ratio":0.0,"observed":null,"sources":[]}},
        {{"dop":4,"speedup":3.5,"error_ratio":0.1,"observed":3.4,"sources":["curve"]}}],
        "earlier_runs":0,"counters":null,"experiments":{{"made":0,"measured":0,"latest":""}},"regions":{at},
        "promised_regions":0,"reason":"4 of 1024: S 3.50"}}"#,
        10_000 + id,
        first + 3,
        efficiency * 4.0
    );
    serde_json::from_str(&text).unwrap()
}

pub fn snapshot(at: u64, programs: u32) -> Snapshot {
    Snapshot {
        version: "0.0.1".into(),
        pid: 1,
        scope: "system".into(),
        now_ns: at * 250_000_000,
        policy: "equi".into(),
        pus: (0..1024).collect(),
        capacity: 1024,
        unmanaged_load: 0.25,
        decisions: at,
        decision_ns: 500_000,
        programs: (1..=u64::from(programs)).map(|id| program(id, at)).collect(),
        ..Snapshot::default()
    }
}

fn machine() -> Topology {
    let pu = |os: u32| Pu { os, core: os / 2, l3: os / 16, numa: os / 128, package: os / 256, class: 0 };
    Topology { pus: (0..1024).map(pu).collect() }
}

/// The one decision that is kept: half of eight contexts for each of two programs.
fn decision() -> Decisions {
    let claim = |id, speedups: [f64; 4]| {
        let point = |(dop, value)| Measured { dop, speedup: Estimate { value, error: 0.02 } };
        let curve = [1, 2, 4, 8].into_iter().zip(speedups).map(point).collect();
        scaf_policy::Program { dop: 4, curve, ..scaf_policy::Program::new(ProgramId(id), 8) }
    };
    let programs = vec![claim(1, [1.0, 2.0, 4.0, 8.0]), claim(2, [1.0, 1.2, 1.3, 1.3])];
    let share = |id| Share { id: ProgramId(id), dop: Dop::Contexts(4), reason: "half".into() };
    let (machine, allocation) = (Machine::new(8, 1.0), vec![share(1), share(2)].into());
    let decided = Decision { number: 1, policy: "equi".into(), machine, programs, allocation };
    let names = [(1, "good".to_owned()), (2, "bad".to_owned())].into();
    let entries = vec![Entry { names, ..Entry::of(decided) }];
    Decisions { daemon: 1, oldest: 1, latest: 1, entries }
}

/// What there is at a moment, given its number and how many programs there are.
pub type Tell = Box<dyn FnMut(u64, u32) -> Snapshot + Send>;

impl Fake {
    pub fn start(programs: u32) -> Fake {
        Fake::telling(programs, machine(), Box::new(snapshot))
    }

    /// One that tells something else.
    pub fn telling(programs: u32, machine: Topology, mut tell: Tell) -> Fake {
        let folder = tempfile::tempdir().unwrap();
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None).unwrap();
        rustix::net::bind(&socket, &SocketAddrUnix::new(folder.path().join("s")).unwrap()).unwrap();
        rustix::net::listen(&socket, 16).unwrap();
        let (ends, programs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(programs)));
        let history = Arc::new(Mutex::new(History::default()));
        let (kept, number, over) = (Arc::clone(&history), Arc::clone(&programs), Arc::clone(&ends));
        // The last five minutes are there.
        (1..1200).for_each(|at| kept.lock().unwrap().keep(tell(at, number.load(Ordering::Relaxed))));
        std::thread::spawn(move || {
            for at in 1200.. {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let now = tell(at, number.load(Ordering::Relaxed));
                kept.lock().unwrap().keep(now);
                std::thread::sleep(Duration::from_millis(250));
            }
        });
        let over = Arc::clone(&ends);
        std::thread::spawn(move || {
            let mut packet = vec![0; 4096];
            while !over.load(Ordering::Relaxed) {
                // A program started meanwhile mustn't hold the connection open.
                let Ok(client) = rustix::net::accept_with(&socket, flags) else { continue };
                let flags = rustix::net::RecvFlags::empty();
                let Ok((length, _)) = rustix::net::recv(&client, &mut packet[..], flags) else { continue };
                let reply = match serde_json::from_slice(&packet[..length]) {
                    Ok(Request::History(after)) => {
                        Reply::History(Box::new(history.lock().unwrap().since(after, None)))
                    }
                    Ok(Request::Machine) => Reply::Machine(Box::new(machine.clone())),
                    Ok(Request::Decision(_)) => Reply::Decisions(Box::new(decision())),
                    Ok(Request::SetPolicy(name)) => Reply::Error(format!("you may not have {name}")),
                    _ => continue,
                };
                for chunk in serde_json::to_vec(&reply).unwrap().chunks(CHUNK_BYTES) {
                    let _ = rustix::net::send(&client, chunk, SendFlags::NOSIGNAL);
                }
            }
        });
        Fake { folder, ends, programs }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}
