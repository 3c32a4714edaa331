//! An admin's verdicts about executables, from the file that the configuration's key `verdicts` names, as
//! written by `scaf check --export`. They count for all users, before a user's own results of `scaf check`.

use crate::config::Error;
use scaf_memory::Checked;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// Verdicts by the executables' build-ids, or hashes of those without one.
pub type Verdicts = BTreeMap<String, Checked>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    verdict: Vec<Spanned<Checked>>,
}

/// Reads a file; the error of invalid TOML, another key or a second verdict about an executable names the
/// line.
pub fn load(path: &Path) -> Result<Verdicts, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<Verdicts, Error> {
    let error = |at: usize, why: String| Error::at(path, text, at, why);
    let file: File =
        toml::from_str(text).map_err(|e| error(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
    let mut verdicts = Verdicts::new();
    for verdict in file.verdict {
        let (at, verdict) = (verdict.span().start, verdict.into_inner());
        let executable = verdict.executable.clone();
        if executable.is_empty() || !executable.bytes().all(|byte| byte.is_ascii_graphic()) {
            let why = "executable has to be what `scaf check --export` writes: a build-id, or file-HASH";
            return Err(error(at, why.into()));
        }
        if verdicts.insert(executable, verdict).is_some() {
            return Err(error(at, "a second verdict about the same executable; leave one of them".into()));
        }
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Verdicts, String> {
        parse(Path::new("/etc/scaf/verdicts.toml"), text).map_err(|e| e.to_string())
    }

    const ONE: &str = "[[verdict]]\nexecutable = 'ab12'\nname = 'cg'\nresizable = true\ndate = \
                       '2026-11-25'\nruns = 10\n";

    #[test]
    fn verdicts_are_found_by_executable() {
        let found = parsed(&format!("# ours\n{ONE}\n{}", ONE.replace("ab12", "cd34"))).unwrap();
        assert_eq!((found.len(), found["ab12"].runs, found["cd34"].resizable), (2, 10, true));
        assert!(parsed("").unwrap().is_empty());
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, line) in [
            (format!("{ONE}{ONE}"), ":7: a second verdict"),
            (ONE.replace("ab12", ""), ":1: executable has to be"),
            (ONE.replace("runs", "rums"), "unknown field `rums`"),
            ("verdict = 7".into(), "verdicts.toml:1: invalid type"),
        ] {
            let said = parsed(&text).unwrap_err();
            assert!(said.contains(line), "{said}");
        }
    }
}
