//! What was shown of executables and libraries by trying: the verdicts that come with scaf's package, and an
//! admin's, from the file that the configuration's key `verdicts` names. Both are written as `scaf check
//! --export` writes its results. They count for all users. An admin's come before a user's own results of
//! `scaf check`, and those before the package's.
//!
//! Files are known by their build-ids: another build of a program isn't shown, and code analysis decides.

use crate::config::{Config, Error};
use crate::log::warning;
use crate::paths;
use scaf_inspect::Origin;
use scaf_memory::Checked;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// By the files' build-ids, or hashes of those without one.
type ByFile = BTreeMap<String, Checked>;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verdicts {
    admins: ByFile,
    packages: ByFile,
}

impl Verdicts {
    /// The admin's from that file, and the package's. A package's that can't be read are left out: nobody
    /// here wrote them.
    /// # Errors
    /// Of the admin's file: it can't be read, or is no list of verdicts.
    pub fn all(admins: Option<&Path>) -> Result<Verdicts, Error> {
        let packages = packaged().map(|file| Verdicts::of_package(&file)).transpose();
        let packages = packages.unwrap_or_else(|error| {
            warning!("the verdicts that come with scaf are left out: {error}");
            None
        });
        let admins = admins.map(load).transpose()?.unwrap_or_default();
        Ok(Verdicts { admins, ..packages.unwrap_or_default() })
    }

    /// Those in the file that comes with scaf.
    /// # Errors
    /// It can't be read, or is no list of verdicts.
    pub fn of_package(file: &Path) -> Result<Verdicts, Error> {
        Ok(Verdicts { packages: load(file)?, admins: ByFile::new() })
    }

    /// Those of a daemon with the configuration of this machine, as far as they can be read.
    pub fn here() -> Verdicts {
        let admins = Config::load(Path::new(paths::CONFIG)).ok().and_then(|config| config.verdicts);
        Verdicts::all(admins.as_deref()).or_else(|_| Verdicts::all(None)).unwrap_or_default()
    }

    /// Whether an admin said something of that file.
    pub fn is_admins(&self, file: &str) -> bool {
        self.admins.contains_key(file)
    }

    /// What is known of that file.
    pub fn find(&self, file: &str) -> Option<&Checked> {
        self.admins.get(file).or_else(|| self.packages.get(file))
    }

    /// What is known of a process's executable and libraries.
    pub fn about(&self, origin: &Origin) -> Vec<Checked> {
        let libraries = origin.modules.iter().map(|module| module.fingerprint.as_str());
        let files = libraries.filter(|file| *file != origin.executable);
        files.chain([origin.executable.as_str()]).filter_map(|file| self.find(file)).cloned().collect()
    }

    /// What came with scaf about another build of a file of that name.
    pub fn of_other_build(&self, name: &str) -> Option<&Checked> {
        self.packages.values().find(|known| known.name == name)
    }
}

/// The file that came with scaf: beside the running executable or in `../lib/scaf`.
fn packaged() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let folders = [exe.parent()?.to_owned(), exe.parent()?.join("../lib/scaf")];
    folders.into_iter().map(|folder| folder.join("verdicts.toml")).find(|file| file.is_file())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    verdict: Vec<Spanned<Checked>>,
}

/// Reads a file; the error of invalid TOML, another key or a second verdict about an executable names the
/// line.
/// # Errors
/// As said.
pub fn load(path: &Path) -> Result<ByFile, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<ByFile, Error> {
    let error = |at: usize, why: String| Error::at(path, text, at, why);
    let file: File =
        toml::from_str(text).map_err(|e| error(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
    let mut verdicts = ByFile::new();
    for verdict in file.verdict {
        let (at, verdict) = (verdict.span().start, verdict.into_inner());
        let executable = verdict.executable.clone();
        if executable.is_empty() || !executable.bytes().all(|byte| byte.is_ascii_graphic()) {
            let why = "executable has to be what `scaf check --export` writes: a build-id, or file-HASH";
            return Err(error(at, why.into()));
        }
        if verdicts.insert(executable, verdict).is_some() {
            return Err(error(at, "a second verdict about the same file; leave one of them".into()));
        }
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<ByFile, String> {
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
    fn a_library_and_the_evidence_may_be_named() {
        let more = "version = 'Debian 12, x 1.2'\nevidence = 'its own tests'\n";
        let found = parsed(&format!("{}{more}", ONE.replace("executable", "library"))).unwrap();
        let text = found["ab12"].text();
        assert!(text.starts_with("shown for cg of Debian 12, x 1.2 by its own tests: 10 runs"), "{text}");
        let text = parsed(ONE).unwrap()["ab12"].text();
        assert!(text.starts_with("scaf check: 10 runs on 2026-11-25 with teams"), "{text}");
    }

    #[test]
    fn what_an_admin_says_comes_before_what_comes_with_scaf() {
        let packages = parsed(&format!("{ONE}{}", ONE.replace("ab12", "cd34"))).unwrap();
        let admins = parsed(&ONE.replace("resizable = true", "resizable = false")).unwrap();
        let verdicts = Verdicts { admins, packages };
        assert!(verdicts.is_admins("ab12") && !verdicts.is_admins("cd34"));
        let [ab, cd, ef] = ["ab12", "cd34", "ef56"].map(|file| verdicts.find(file).map(|it| it.resizable));
        assert_eq!((ab, cd, ef), (Some(false), Some(true), None));
        let loaded =
            |name: &str| scaf_inspect::Loaded { fingerprint: name.into(), start: 0, end: 0, bias: 0 };
        let modules = vec![loaded("ab12"), loaded("ef56"), loaded("cd34")];
        let origin = Origin { executable: "ab12".into(), arguments: 0, modules };
        assert_eq!(verdicts.about(&origin).len(), 2);
    }

    #[test]
    fn what_comes_with_scaf_says_how_it_was_shown() {
        let text = include_str!("../../../packaging/verdicts.toml");
        let all = parse(Path::new("verdicts.toml"), text).unwrap();
        assert!(!all.is_empty());
        for known in all.values() {
            assert!(known.runs >= 10 && known.date.len() == 10, "{known:?}");
            assert!(!known.version.is_empty() && !known.evidence.is_empty(), "{known:?}");
        }
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
