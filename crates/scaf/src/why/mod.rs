//! `scaf why`: one decision from the daemon's journal, and whether it can be made again.

pub mod replay;
pub mod text;

use crate::{cli, daemon};
use anyhow::{Result, anyhow, bail};
use replay::Replay;
use scafd::control::Request;
use scafd::journal::Entry;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

#[derive(Serialize)]
struct Output<'a> {
    decision: &'a Entry,
    replay: &'a Replay,
}

/// Carries out `scaf why`.
/// # Errors
/// No daemon, no such program or decision, or one that is kept no more.
pub fn run(flags: &cli::Why) -> Result<ExitCode> {
    let socket = daemon::require()?;
    let entry = find(&socket, flags)?;
    let before = between(&socket, entry.since.saturating_sub(1), entry.decision.number)?;
    let replay = replay::of(&entry, &before);
    let program = flags.program.as_deref();
    let text = if flags.json {
        serde_json::to_string_pretty(&Output { decision: &entry, replay: &replay })? + "\n"
    } else {
        text::text(&entry, program) + &replay.text()
    };
    crate::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn find(socket: &Path, flags: &cli::Why) -> Result<Entry> {
    let asked = daemon::decisions(socket, &Request::Decision(flags.at))?;
    let (oldest, latest) = (asked.oldest, asked.latest);
    let concerns =
        |entry: &Entry| flags.program.as_deref().is_none_or(|program| !text::ids(entry, program).is_empty());
    let found = asked.entries.into_iter().next();
    match (found, flags.at, &flags.program) {
        _ if latest == 0 => bail!("nothing was decided yet; start a program with: scaf run PROGRAM"),
        (None, Some(at), _) => bail!(
            "decision {at} isn't kept: there are some from {oldest} to {latest}, of the older ones those \
             that changed something"
        ),
        (Some(entry), _, _) if concerns(&entry) => Ok(entry),
        (_, Some(at), Some(program)) => {
            bail!("decision {at} wasn't about a program '{program}'; `scaf why --at {at}` shows about which")
        }
        (_, _, program) => {
            let all = between(socket, 0, latest)?;
            let program = program.as_deref().unwrap_or_default();
            all.into_iter().rfind(concerns).ok_or_else(|| {
                anyhow!(
                    "no decision that is kept was about a program '{program}'; `scaf ps` lists those that run"
                )
            })
        }
    }
}

/// The kept decisions after number `after` and up to `last`.
fn between(socket: &Path, mut after: u64, last: u64) -> Result<Vec<Entry>> {
    let mut all = Vec::new();
    while after < last {
        let page = daemon::decisions(socket, &Request::Decisions(after))?.entries;
        let Some(end) = page.last() else { break };
        after = end.decision.number;
        all.extend(page.into_iter().filter(|entry| entry.decision.number <= last));
    }
    Ok(all)
}
