//! What overrules the code analysis of a program: the environment, an earlier `scaf check`, or what was shown
//! elsewhere.

use crate::output::printable;
use crate::profile::Source;
use scaf_memory::Checked;
use scafd::verdicts::Verdicts;
use std::path::Path;

/// What overrules it.
#[derive(Debug, Default)]
pub struct Found {
    /// A sentence for each.
    pub sentences: Vec<String>,
    /// Whether its teams may be resized by that.
    pub permits: bool,
}

/// About a program.
pub fn of(program: &Path) -> Found {
    let dynamic = std::env::var("OMP_DYNAMIC").unwrap_or_default();
    let mut found = Found::default();
    if dynamic.trim().eq_ignore_ascii_case("true") {
        found.permits = true;
        found.sentences.push(
            "OMP_DYNAMIC is true here, so its teams may be resized whatever code analysis finds.".to_owned(),
        );
    }
    let Ok(file) = scaf_inspect::fingerprint(program) else { return found };
    let checked = Source::find().and_then(|mut memory| memory.checked()).unwrap_or_default();
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    if let Some((sentence, permits)) = by_tests(&file, &name, &checked, &Verdicts::here()) {
        found.permits |= permits;
        found.sentences.push(sentence);
    }
    found
}

/// What tests say of the file with this build-id and name, and whether its teams may be resized by that.
fn by_tests(file: &str, name: &str, checked: &[Checked], shown: &Verdicts) -> Option<(String, bool)> {
    let own = checked.iter().find(|it| it.executable == file).filter(|_| !shown.is_admins(file));
    if let Some(known) = own.or_else(|| shown.find(file)) {
        let Checked { date, runs, version, evidence, resizable, .. } = known;
        let [date, version, evidence] = [date, version, evidence].map(|text| printable(text));
        let may = if *resizable { "may" } else { "may not" };
        let said = match evidence.as_str() {
            "" => format!(
                "scaf check found on {date}, by {runs} runs, that the teams of its own code {may} be \
                 resized, and that counts."
            ),
            _ => format!(
                "Shown: the teams of its own code {may} be resized, by {evidence}; {runs} runs on {date} \
                 with this build of {version}."
            ),
        };
        return Some((said, *resizable));
    }
    let other = shown.of_other_build(name)?;
    let version = printable(&other.version);
    let said = format!(
        "It isn't shown: scaf comes with tests of another build, {version}, and code analysis decides. \
         `scaf check` tests this one."
    );
    Some((said, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_holds_for_that_build_and_ones_own_check_counts_for_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("verdicts.toml");
        let text = "[[verdict]]\nexecutable = 'ab12'\nname = 'cg'\nresizable = true\ndate = '2026-11-25'\n\
                    runs = 40\nversion = 'Debian 12, cg 1.2'\nevidence = 'scaf check cg -n 3'\n";
        std::fs::write(&file, text).unwrap();
        let packages = Verdicts::of_package(&file).unwrap();
        let (said, permits) = by_tests("ab12", "cg", &[], &packages).unwrap();
        assert!(permits && said.starts_with("Shown: the teams of its own code may be resized"), "{said}");
        for part in ["scaf check cg -n 3", "40 runs on 2026-11-25", "this build of Debian 12, cg 1.2"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let (said, permits) = by_tests("cd34", "cg", &[], &packages).unwrap();
        assert!(!permits && said.contains("isn't shown") && said.contains("cg 1.2"), "{said}");
        assert!(by_tests("cd34", "mg", &[], &packages).is_none());
        let own = Checked { executable: "ab12".into(), date: "2026-11-28".into(), ..Checked::default() };
        let (said, permits) = by_tests("ab12", "cg", &[own], &packages).unwrap();
        assert!(!permits && said.contains("scaf check found on 2026-11-28"), "{said}");
    }
}
