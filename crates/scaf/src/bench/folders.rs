//! Where the benchmark programs are, and what {kernels}, {python} and {bench} in a mix's commands mean.

use crate::target;
use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Folders {
    pub bench: PathBuf,
    pub kernels: PathBuf,
    pub python: PathBuf,
}

impl Folders {
    /// Finds the folders: the bench folder is the nearest one around `near` (a mix), the working folder or
    /// the running executable. The others are beside it unless given.
    pub fn find(near: Option<&Path>, kernels: Option<&Path>, python: Option<&Path>) -> Folders {
        let starts = [
            near.and_then(|path| path.canonicalize().ok()),
            std::env::current_dir().ok(),
            std::env::current_exe().ok(),
        ];
        let bench =
            starts.iter().flatten().find_map(|start| bench_around(start)).unwrap_or_else(|| "bench".into());
        let root = bench.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
        let venv = root.join(".venv/bin/python");
        let fallback = || if venv.is_file() { venv } else { "python3".into() };
        Folders {
            kernels: kernels.map_or_else(|| root.join("build/kernels"), Path::to_owned),
            python: python.map_or_else(fallback, Path::to_owned),
            bench,
        }
    }

    /// The file of a kernel; if it isn't built, the error says how to build it.
    pub fn kernel(&self, name: &str) -> Result<PathBuf> {
        let path = self.kernels.join(name);
        if !path.is_file() {
            bail!(
                "{} isn't there; build the kernels: make -C {}/kernels",
                path.display(),
                self.bench.display()
            );
        }
        Ok(path)
    }

    /// A mix's command as executable and arguments; if there is no such file, the error says what to do.
    pub fn command(&self, words: &[String]) -> Result<(PathBuf, Vec<OsString>)> {
        let mut words = words.iter().map(|word| self.expand(word));
        let program = words.next().context("an empty command")?;
        if let Ok(name) = Path::new(&program).strip_prefix(&self.kernels) {
            self.kernel(&name.to_string_lossy())?;
        }
        Ok((target::resolve(OsStr::new(&program))?, words.map(OsString::from).collect()))
    }

    fn expand(&self, word: &str) -> String {
        let all = [("{kernels}", &self.kernels), ("{python}", &self.python), ("{bench}", &self.bench)];
        all.iter().fold(word.to_owned(), |word, (mark, path)| word.replace(mark, &path.to_string_lossy()))
    }
}

fn bench_around(start: &Path) -> Option<PathBuf> {
    start.ancestors().flat_map(|folder| [folder.to_owned(), folder.join("bench")]).find(|folder| {
        folder.file_name().is_some_and(|name| name == "bench") && folder.join("kernels").is_dir()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> (tempfile::TempDir, Folders) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("bench/kernels")).unwrap();
        std::fs::create_dir_all(root.path().join("bench/mixes")).unwrap();
        std::fs::create_dir_all(root.path().join("build/kernels")).unwrap();
        let mix = root.path().join("bench/mixes/a.toml");
        std::fs::write(&mix, "").unwrap();
        let found = Folders::find(Some(&mix), None, None);
        (root, found)
    }

    #[test]
    fn everything_is_found_around_a_mix() {
        let (root, found) = folders();
        let root = root.path().canonicalize().unwrap();
        assert_eq!(found.bench, root.join("bench"));
        assert_eq!(found.kernels, root.join("build/kernels"));
        assert_eq!(found.python, Path::new("python3"));
    }

    #[test]
    fn a_kernel_that_isnt_built_says_how_to_build_it() {
        let (_root, found) = folders();
        let error = found.command(&["{kernels}/cg".into()]).unwrap_err().to_string();
        assert!(error.contains("make -C") && error.contains("build/kernels/cg"), "{error}");
    }

    #[test]
    fn marks_are_replaced_and_other_braces_left() {
        let (_root, found) = folders();
        let (program, arguments) =
            found.command(&["sh".into(), "-c".into(), "{bench}/x {y} ${z}".into()]).unwrap();
        assert!(program.is_absolute());
        assert_eq!(arguments[1].to_string_lossy(), format!("{}/x {{y}} ${{z}}", found.bench.display()));
    }
}
