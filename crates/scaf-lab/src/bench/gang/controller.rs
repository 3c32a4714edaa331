//! The CPU time of the thread that switches, on a machine of eight partitions with two alternating programs
//! each: sixteen processes are stopped and continued, on however few cores there are.

use anyhow::{Context, Result};
use scaf_cli::bench::child::{Child, Recipe};
use scaf_cli::bench::clock;
use scaf_cli::bench::interrupt::Interrupt;
use scafd::apply::gang::stop::Way;
use scafd::apply::gang::{Gangs, Member, Turn};
use scafd::apply::guardian::Guardian;
use scafd::observe::proc_pid::Process;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

const PARTITIONS: usize = 8;
const SECONDS: f64 = 4.0;

#[derive(Serialize)]
pub struct Cost {
    pub partitions: usize,
    pub slice_ms: f64,
    /// CPU time over wall time, in percent.
    pub core_pct: f64,
    /// CPU time per switch of all partitions, polling included, in microseconds.
    pub switch_us: f64,
}

pub fn cost(
    probe: &Path,
    interrupt: &Interrupt,
    (way, slice_ms): (Way, u32),
    guardian: &Guardian,
) -> Result<Cost> {
    let end_ns = clock::now_ns() + ((SECONDS + 4.0) * 1e9) as u64;
    let words = ["spin".into(), "0".into(), end_ns.to_string().into()];
    let recipe =
        Recipe::new(probe.to_owned(), words.to_vec()).with(vec![("OMP_NUM_THREADS", Some("1".into()))], None);
    let children = (0..2 * PARTITIONS).map(|_| Child::start(&recipe)).collect::<Result<Vec<_>>>()?;
    let member = |child: &Child| {
        let starttime = Process::new(Path::new("/"), child.pid()).stat()?.starttime;
        Ok(Member { pid: child.pid(), starttime })
    };
    let members = children.iter().map(member).collect::<Result<Vec<_>>>()?;
    let turn = |members: &[Member]| Turn { slices: 1, members: members.to_vec() };
    let mut gangs = Gangs::new(way, Duration::from_millis(slice_ms.into()), guardian.stops());
    gangs.take(members.chunks(PARTITIONS).map(turn).collect());
    // Slices have reached their length by then.
    interrupt.wait(&[], Duration::from_millis(2500))?;
    let (before_ns, began_ns) = (used_ns()?, clock::now_ns());
    interrupt.wait(&[], Duration::from_secs_f64(SECONDS))?;
    let (used_ns, wall_ns) = ((used_ns()? - before_ns) as f64, (clock::now_ns() - began_ns) as f64);
    let slice_s = gangs.slice().as_secs_f64();
    gangs.end();
    drop(children);
    let switches = wall_ns * 1e-9 / slice_s;
    Ok(Cost {
        partitions: PARTITIONS,
        slice_ms: slice_s * 1e3,
        core_pct: 100.0 * used_ns / wall_ns,
        switch_us: used_ns * 1e-3 / switches,
    })
}

/// CPU time of our thread `scafd-gang`.
fn used_ns() -> Result<u64> {
    for entry in std::fs::read_dir("/proc/self/task").context("/proc/self/task")?.flatten() {
        let read = |file: &str| std::fs::read_to_string(entry.path().join(file)).unwrap_or_default();
        if read("comm").trim() == "scafd-gang" {
            let schedstat = read("schedstat");
            return schedstat
                .split(' ')
                .next()
                .and_then(|ns| ns.parse().ok())
                .context("schedstat isn't understood");
        }
    }
    anyhow::bail!("the thread that switches has ended")
}
