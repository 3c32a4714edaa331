//! A mix's TOML file. Unknown keys are refused with their line.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::path::Path;

/// Longest run of a program, in seconds, unless the mix says otherwise.
const DEFAULT_CAP_S: f64 = 60.0;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixFile {
    pub name: String,
    /// What the mix is to show, in a sentence.
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default, rename = "program")]
    pub programs: Vec<ProgramSpec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    pub name: String,
    /// Executable and arguments, in which {kernels}, {python} and {bench} are replaced.
    pub command: Vec<String>,
    /// Arrival, in seconds after the co-run's start; at least 0.
    #[serde(default)]
    pub start_s: f64,
    #[serde(default)]
    pub result: Check,
    /// Longest run, in seconds; the program is killed then.
    #[serde(default = "default_cap")]
    pub cap_s: f64,
    /// Whether the program starts again after its end, so that the others never run alone. By default, only
    /// those do that start at 0: a late program arrives and departs once.
    pub restart: Option<bool>,
}

fn default_cap() -> f64 {
    DEFAULT_CAP_S
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The last line of its output is JSON with `"verified": true`.
    #[default]
    JsonLine,
    /// Its output is the same as alone on the machine, with one thread or with all.
    StdoutHash,
}

impl ProgramSpec {
    pub fn restarts(&self) -> bool {
        self.restart.unwrap_or(self.start_s == 0.0)
    }
}

impl MixFile {
    pub fn has_late(&self) -> bool {
        self.programs.iter().any(|program| program.start_s > 0.0)
    }

    /// Reads a mix; the error has the line of an unknown key.
    pub fn read(path: &Path) -> Result<MixFile> {
        let text = std::fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
        MixFile::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<MixFile> {
        let mix: MixFile = toml::from_str(text)?;
        if mix.programs.is_empty() {
            bail!("no programs; add one with [[program]]");
        }
        for (index, program) in mix.programs.iter().enumerate() {
            program.check().with_context(|| format!("program '{}'", program.name))?;
            ensure!(
                mix.programs[..index].iter().all(|other| other.name != program.name),
                "two programs are called '{}'; the daemon tells them apart by name",
                program.name
            );
        }
        if mix.programs.iter().all(|program| program.start_s > 0.0) {
            bail!("no program starts at 0; give one start_s = 0");
        }
        Ok(mix)
    }
}

impl ProgramSpec {
    fn check(&self) -> Result<()> {
        ensure!((1..=63).contains(&self.name.len()), "name takes 1 to 63 bytes");
        ensure!(!self.command.is_empty(), "command is empty");
        ensure!((0.0..=86_400.0).contains(&self.start_s), "start_s takes 0 to 86400");
        ensure!(self.cap_s > 0.0 && self.cap_s <= 86_400.0, "cap_s takes more than 0, up to 86400");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "name = 'a+b'\n[[program]]\nname = 'a'\ncommand = ['{kernels}/cg', '--class=W']\n\
                       [[program]]\nname = 'b'\ncommand = ['ls']\nstart_s = 1\nresult = \
                       'stdout-hash'\ncap_s = 9.5\n";

    fn error(text: &str) -> String {
        format!("{:#}", MixFile::parse(text).unwrap_err())
    }

    #[test]
    fn what_isnt_said_has_a_default() {
        let mix = MixFile::parse(TWO).unwrap();
        let [a, b] = &mix.programs[..] else { panic!("two programs") };
        assert_eq!((a.start_s, a.result, a.cap_s, a.restarts()), (0.0, Check::JsonLine, 60.0, true));
        assert_eq!((b.start_s, b.result, b.cap_s, b.restarts()), (1.0, Check::StdoutHash, 9.5, false));
        assert!(mix.description.is_empty() && mix.tags.is_empty());
    }

    #[test]
    fn a_key_that_isnt_known_is_refused_with_its_line() {
        let text = TWO.replace("start_s = 1", "starts = 1");
        let said = error(&text);
        assert!(said.contains("line 8") && said.contains("starts"), "{said}");
        assert!(error("nme = 'x'\n").contains("line 1"));
    }

    #[test]
    fn values_out_of_range_name_the_program() {
        let said = error(&TWO.replace("cap_s = 9.5", "cap_s = 0"));
        assert!(said.contains("'b'") && said.contains("cap_s"), "{said}");
        let said = error(&TWO.replace("start_s = 1", "start_s = -1"));
        assert!(said.contains("start_s"), "{said}");
        assert!(error(&TWO.replace("start_s = 1", "start_s = nan")).contains("start_s"));
        assert!(error(&TWO.replace("'b'", "'a'")).contains("two programs"));
        assert!(error("name = 'x'\n").contains("[[program]]"));
    }

    #[test]
    fn somebody_has_to_be_there_from_the_start() {
        let text = TWO.replace("name = 'a'\n", "name = 'a'\nstart_s = 2\n");
        assert!(error(&text).contains("start_s = 0"));
    }
}
