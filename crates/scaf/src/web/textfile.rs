//! Metrics in a file for node_exporter's textfile collector: always a whole one, gone when we end.

use super::metrics::Format;
use super::poller::Poller;
use crate::bench::interrupt::{Interrupt, is_interrupt};
use crate::whole_file;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Writes metrics each so many seconds, until the user interrupts.
/// # Errors
/// The file can't be written.
pub fn run(live: &Poller, file: &Path, every: Duration) -> Result<ExitCode> {
    let interrupt = Interrupt::install()?;
    let mut known = None;
    let end = loop {
        // The collector chooses files by `.prom`.
        let written = live
            .metrics(Format::Classic)
            .and_then(|text| whole_file::replace(file, &text).with_context(|| file.display().to_string()));
        if let Err(error) = written {
            break Err(error);
        }
        let lost = live.lost();
        if lost != known {
            eprintln!("scaf web: {}", lost.as_deref().unwrap_or("the daemon answers again"));
            known = lost;
        }
        match interrupt.wait(&[], every) {
            Err(error) if error.chain().any(is_interrupt) => break Ok(ExitCode::SUCCESS),
            Err(error) => break Err(error),
            Ok(()) => {}
        }
    };
    // Removed, because stale metrics are worse than none.
    let removed = std::fs::remove_file(file).with_context(|| file.display().to_string());
    end.and_then(|status| removed.map(|()| status))
}
