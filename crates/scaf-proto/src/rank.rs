//! The part of the report page by which a rank of an MPI job says that it waits for others. The client
//! writes, the daemon reads, and believes it only about the user's own programs.

use crate::sync::{AtomicU64, Ordering};

/// What a rank of an MPI job says.
#[repr(C)]
pub struct Rank {
    job: AtomicU64,
    waits: AtomicU64,
}

impl Rank {
    /// Client: the label of its job, not 0. Ranks of one job on one machine have the same; a program that
    /// isn't started by MPI has that of whatever its parent started.
    pub fn set_job(&self, label: u64) {
        self.job.store(label, Ordering::Relaxed);
    }

    /// The label of its job; `None` for a client that says nothing about it.
    pub fn job(&self) -> Option<u64> {
        Some(self.job.load(Ordering::Relaxed)).filter(|label| *label != 0)
    }

    /// Client: it waits in MPI for others, outside of parallel regions, or no longer.
    pub fn set_waits(&self, waits: bool) {
        self.waits.store(u64::from(waits), Ordering::Release);
    }

    /// Whether it waits in MPI for others, outside of parallel regions.
    pub fn waits(&self) -> bool {
        self.waits.load(Ordering::Acquire) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_mpi_has_no_job_and_does_not_wait() {
        let rank = Rank { job: AtomicU64::new(0), waits: AtomicU64::new(0) };
        assert!(rank.job().is_none() && !rank.waits());
        rank.set_job(7);
        rank.set_waits(true);
        assert!(rank.job() == Some(7) && rank.waits());
        rank.set_waits(false);
        assert!(!rank.waits());
    }
}
