//! What a barrier and an empty region cost a team that keeps its size and is granted less: by members that
//! change in user mode, and by threads that take turns through the kernel.

use super::super::child::{Child, Recipe};
use super::super::folders::Folders;
use super::super::interrupt::Interrupt;
use super::super::private::Private;
use super::super::progress::Progress;
use super::super::stats::median;
use crate::environment::Change;
use crate::{host, output};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

pub const PROBE: &str = "members";
const CAP_S: f64 = 120.0;
/// Members and contexts of each row, and whether the members are threads by turns instead.
const ROWS: [(u32, u32, bool); 6] =
    [(2, 1, false), (3, 1, false), (8, 1, false), (8, 2, false), (2, 1, true), (8, 1, true)];

/// One row: medians over the repetitions, in nanoseconds.
#[derive(Serialize)]
pub struct ByMembers {
    members: u32,
    contexts: u32,
    /// `gather` or `fold`.
    mechanism: &'static str,
    barrier_ns: f64,
    region_ns: f64,
}

#[derive(Deserialize)]
struct Probe {
    region_ns: f64,
    barrier_ns: f64,
}

/// Rows for as many contexts as there are.
/// # Errors
/// The probe isn't built or fails, no daemon, or an interrupt.
pub fn run(
    folders: &Folders,
    repetitions: u32,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Vec<ByMembers>> {
    let path = folders.kernel(PROBE)?;
    let mut rows = Vec::new();
    for (members, contexts, folds) in ROWS {
        if contexts > host::machine().pus {
            continue;
        }
        progress.at(format!("{members} members on {contexts}"));
        let mechanism = if folds { "fold" } else { "gather" };
        let mut found: [Vec<f64>; 2] = Default::default();
        for _ in 0..repetitions {
            let private = Private::configured("equi", "count_load = false", interrupt)?;
            let mut recipe = Recipe::new(path.clone(), vec![members.to_string().into()]);
            let changes: [Change; 2] =
                [("SCAF_MAX", Some(contexts.to_string().into())), ("SCAF_GATHER", folds.then(|| "0".into()))];
            recipe.environment = private.environment(PROBE, 1);
            recipe.environment.extend(changes);
            let outcome = Child::start(&recipe)?.success(&recipe.program, CAP_S, interrupt)?;
            let line = outcome.stdout.trim();
            let probe: Probe =
                serde_json::from_str(line).with_context(|| format!("{PROBE} printed '{line}'"))?;
            found[0].push(probe.barrier_ns);
            found[1].push(probe.region_ns);
        }
        let of = |values: &[f64]| median(values).context("no runs");
        let (barrier_ns, region_ns) = (of(&found[0])?, of(&found[1])?);
        rows.push(ByMembers { members, contexts, mechanism, barrier_ns, region_ns });
    }
    Ok(rows)
}

/// The rows as a table.
pub fn table(rows: &[ByMembers]) -> String {
    let mut table = output::plain_table(&["MEMBERS", "CONTEXTS", "MECHANISM", "BARRIER NS", "REGION NS"]);
    for row in rows {
        table.add_row([
            row.members.to_string(),
            row.contexts.to_string(),
            row.mechanism.to_owned(),
            format!("{:.0}", row.barrier_ns),
            format!("{:.0}", row.region_ns),
        ]);
    }
    output::align_right(&mut table, &[0, 1, 3, 4]);
    output::trimmed(&table)
}
