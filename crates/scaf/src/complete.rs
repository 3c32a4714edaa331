//! Shell completions and man pages, from the clap definitions.

use crate::cli::Cli;
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::path::Path;
use std::process::ExitCode;

/// Carries out `scaf completions`.
/// # Errors
/// Standard output can't be written.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "scaf", &mut script);
    crate::output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Carries out `scaf man`: one page for each command that help shows, and for the daemon.
/// # Errors
/// The folder can't be made or written.
pub fn man(folder: &Path) -> Result<ExitCode> {
    std::fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))?;
    clap_mangen::generate_to(Cli::command(), folder)
        .with_context(|| format!("can't write man pages into {}", folder.display()))?;
    let path = folder.join("scafd.8");
    let mut page = Vec::new();
    clap_mangen::Man::new(scafd::cli()).section("8").render(&mut page).context("man page of scafd")?;
    std::fs::write(&path, page).with_context(|| format!("can't write {}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        man(folder.path()).unwrap();
        let bench = ["scaf-bench.1", "scaf-bench-mix.1"];
        let others = ["scaf.1", "scaf-run.1", "scaf-advise.1", "scafd.8"];
        for page in bench.into_iter().chain(others) {
            let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
            assert!(text.contains(".TH"), "{page}");
        }
        assert!(!folder.path().join("scaf-man.1").exists());
    }
}
