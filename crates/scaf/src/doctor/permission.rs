//! What overrules the code analysis of a program: the environment, or an earlier `scaf check`.

use crate::output::printable;
use crate::profile::Source;
use std::path::Path;

/// A sentence for each.
pub fn of(program: &Path) -> Vec<String> {
    let dynamic = std::env::var("OMP_DYNAMIC").unwrap_or_default();
    let mut all = Vec::new();
    if dynamic.trim().eq_ignore_ascii_case("true") {
        all.push(
            "OMP_DYNAMIC is true here, so its teams may be resized whatever code analysis finds.".to_owned(),
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
