//! Metrics in a file for node_exporter's textfile collector: always a whole one, gone when we end.

use super::live::Live;
use super::metrics::Format;
use crate::bench::interrupt::{Interrupt, is_interrupt};
use anyhow::{Context, Result};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Writes metrics each so many seconds, until the user interrupts.
/// # Errors
/// The file can't be written.
pub fn run(live: &Live, file: &Path, every: Duration) -> Result<ExitCode> {
    let interrupt = Interrupt::install()?;
    let mut known = None;
    let end = loop {
        write(file, &live.metrics(Format::Classic)?)?;
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
    // What isn't brought up to date any more is worse than nothing.
    std::fs::remove_file(file).with_context(|| file.display().to_string())?;
    end
}

/// Puts a whole file in the place of the one that is there. Its name before that doesn't end in `.prom`, by
/// which the collector chooses files.
fn write(file: &Path, text: &str) -> Result<()> {
    let about = || file.display().to_string();
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new =
        tempfile::Builder::new().prefix(".scaf-").suffix(".new").tempfile_in(folder).with_context(about)?;
    new.write_all(text.as_bytes()).with_context(about)?;
    new.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).with_context(about)?;
    new.persist(file).with_context(about)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_all_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scaf.prom");
        write(&file, "a 1\n").unwrap();
        write(&file, "b 2\n").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "b 2\n");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
