//! `scaf run --background`: a program that has what others leave.

use anyhow::{Result, bail};
use std::io::Error;

/// Puts this process, and what it starts, behind all others: the kernel runs `SCHED_IDLE` where nothing else
/// wants to run, and the daemon counts it as in the background.
/// # Errors
/// A filter of system calls forbids it.
pub fn enter() -> Result<()> {
    let lowest = libc::sched_param { sched_priority: 0 };
    // SAFETY: the kernel reads one sched_param.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const lowest) } != 0 {
        let error = Error::last_os_error();
        bail!("--background: the kernel refuses ({error}); use `nice -n 19 scaf run ...` instead");
    }
    Ok(())
}
