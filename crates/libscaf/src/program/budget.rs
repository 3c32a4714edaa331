//! One budget for all runtimes of the process: what part of the DoP each may use now, by who is running
//! ([`scaf_team::split`]). OpenMP's regions take what they are granted; other runtimes say here what they
//! run. Work called from within a region's threads gets what there is for one of them.

use crate::link::{attachment, grant, pages};
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::split;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Tbb,
    /// The last one, by which they are counted: others stand before it.
    Blas,
}

const COUNT: usize = Who::Blas as usize + 1;
/// Threads that each runtime has at work; 0 if it doesn't run.
static RUNNING: [AtomicU32; COUNT] = [const { AtomicU32::new(0) }; COUNT];

pub fn runs(who: Who, threads: u32) {
    if let Some(running) = RUNNING.get(who as usize) {
        running.store(threads, Ordering::Relaxed);
    }
    if who == Who::Blas {
        attachment::set_at_work(threads > 1);
    }
}

pub fn runs_more(who: Who, threads: i32) {
    if let Some(running) = RUNNING.get(who as usize) {
        running.fetch_add(threads as u32, Ordering::Relaxed);
    }
}

pub fn running(who: Who) -> u32 {
    RUNNING.get(who as usize).map_or(0, |running| running.load(Ordering::Relaxed))
}

/// Contexts that the runtime may use now, at least 1; while unmanaged, a share of the process's own PUs.
pub fn share(who: Who) -> u32 {
    let mut wants = [0; COUNT];
    let mut others = 0;
    for (at, (want, running)) in wants.iter_mut().zip(&RUNNING).enumerate() {
        let threads = running.load(Ordering::Relaxed);
        others += threads;
        // The asking runtime is about to run.
        *want = if at == who as usize { u32::MAX } else { threads };
    }
    let (teams, _) = regions(others);
    split::shares(grant::dop(), teams, wants).get(who as usize).map_or(1, |share| (*share).max(1))
}

/// Threads of OpenMP regions that run now, and regions that have ended, by the report page. `others` of the
/// page's threads aren't OpenMP's.
pub fn regions(others: u32) -> (u32, u64) {
    let Some((_, slots)) = pages::report().read() else { return (0, 0) };
    let slots = || slots.iter().flatten();
    let threads: u32 = slots().map(|slot| slot.team).fold(0, u32::saturating_add);
    (threads.saturating_sub(others), slots().map(|slot| slot.regions).fold(0, u64::wrapping_add))
}
