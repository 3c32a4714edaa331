//! Who overrules the judge of code about a program: the environment, or what `scaf check` found out.

use crate::output::printable;
use crate::profile::Source;
use std::path::Path;

/// A sentence about each.
pub fn of(program: &Path) -> Vec<String> {
    let said = std::env::var("OMP_DYNAMIC").unwrap_or_default();
    let mut all = Vec::new();
    if said.trim().eq_ignore_ascii_case("true") {
        all.push(
            "OMP_DYNAMIC is true here, so its teams may be resized whatever its code looks like.".to_owned(),
        );
    }
    let executable = scaf_inspect::fingerprint(program).ok();
    let checked = Source::find().and_then(|mut memory| memory.checked()).unwrap_or_default();
    if let Some(found) = checked.iter().find(|found| Some(&found.executable) == executable.as_ref()) {
        let may = if found.resizable { "may" } else { "may not" };
        all.push(format!(
            "scaf check found on {}, by {} runs, that the teams of its own code {may} be resized, and that \
             counts.",
            printable(&found.date),
            found.runs
        ));
    }
    all
}
