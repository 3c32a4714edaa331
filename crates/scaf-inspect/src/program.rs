//! The facts about a program that is not running, for `scaf doctor PROGRAM`.

use crate::decode::abi;
use crate::error::Error;
use crate::module::{MAX_FILE, ModuleFacts, module};
use crate::process::Resizable;
use crate::size_use::Spins;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

/// Bytes of a script's first line that the kernel reads (BINPRM_BUF_SIZE).
const SCRIPT_LINE: u64 = 256;

/// What kind of file it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProgramKind {
    /// Compiled.
    Elf {
        /// The facts about the file, without its libraries; see [`crate::process()`] for those.
        facts: ModuleFacts,
    },
    /// A script: its interpreter and that one's libraries decide.
    Script {
        /// What its first line names, with arguments.
        interpreter: String,
    },
}

/// What is known of a program that doesn't run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Its kind.
    pub program: ProgramKind,
    /// Whether `scaf run` can preload its library into the program.
    pub manageable: bool,
    /// Whether the team sizes of its own regions may be changed.
    pub resizable: Resizable,
    /// The verdict in sentences, most important first.
    pub verdict: Vec<String>,
}

/// Inspects the program at `path`: an ELF file or a script.
pub fn program(path: &Path) -> Result<ProgramFacts, Error> {
    if let Some(interpreter) = interpreter(path)? {
        return Ok(script(path, interpreter));
    }
    let facts = module(path)?;
    let manageable = facts.machine_supported && !facts.statically_linked && !facts.setuid;
    let mut verdict = Vec::new();
    let name = path.display();
    if !facts.machine_supported {
        verdict.push(format!("{name} is not {} code and runs unmanaged.", abi::NAME));
    } else if facts.statically_linked {
        verdict.push(format!(
            "{name} is statically linked, so nothing can be preloaded: it runs unmanaged. \
             Link it dynamically."
        ));
    } else if facts.setuid {
        verdict.push(format!(
            "{name} is setuid or setgid, so the system ignores preloaded libraries: it runs unmanaged."
        ));
    }
    let resizable = match facts.objection() {
        _ if !manageable => Resizable::No { why: "it runs unmanaged".into() },
        Some(why) => Resizable::No { why },
        None => Resizable::Yes,
    };
    if manageable {
        verdict.extend(sentences(&facts, &resizable));
    }
    Ok(ProgramFacts { program: ProgramKind::Elf { facts }, manageable, resizable, verdict })
}

fn sentences(facts: &ModuleFacts, resizable: &Resizable) -> Vec<String> {
    let mut said = Vec::new();
    if facts.starts_regions() {
        said.push(match (facts.imports_gomp, facts.imports_kmp) {
            (true, false) => "It starts parallel regions through libgomp.".to_owned(),
            (false, _) => "It starts parallel regions through LLVM's runtime.".to_owned(),
            _ => "It starts parallel regions through libgomp and through LLVM's runtime.".to_owned(),
        });
        said.push(match resizable {
            Resizable::Yes => "Its teams may be resized.".to_owned(),
            Resizable::No { why } => {
                format!("Its teams keep their size, only their processors change: {why}.")
            }
        });
    }
    if let Some(Spins { place, .. }) = &facts.spins {
        said.push(format!(
            "Its threads wait by spinning on memory, at {place}: a team that is larger than the grant \
             would wait for itself."
        ));
    }
    let needs = |name: &str| facts.runtimes_needed.iter().any(|needed| needed.starts_with(name));
    if needs("libomp") && needs("libiomp5") {
        said.push(
            "It needs both libomp and libiomp5, two copies of one runtime: each has threads of its own, and \
             which one a region gets depends on the order in which they were linked. Link it with one."
                .to_owned(),
        );
    }
    if !facts.starts_regions() {
        said.push(match facts.runtimes_needed.as_slice() {
            [] => "It starts no parallel regions itself; libraries that it loads may.".to_owned(),
            needed => format!("It starts no parallel regions itself, but needs {}.", needed.join(", ")),
        });
    }
    said
}

fn script(path: &Path, interpreter: String) -> ProgramFacts {
    let verdict = vec![format!(
        "{} is a script for `{interpreter}`: what can be managed shows when that has loaded its libraries.",
        path.display()
    )];
    let why = "it is a script, and says nothing about the libraries it loads".into();
    let (program, resizable) = (ProgramKind::Script { interpreter }, Resizable::No { why });
    ProgramFacts { program, manageable: true, resizable, verdict }
}

fn interpreter(path: &Path) -> Result<Option<String>, Error> {
    let failed = |e| Error::read(path, e);
    let meta = std::fs::metadata(path).map_err(failed)?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return Ok(None);
    }
    let mut first = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(SCRIPT_LINE).read_to_end(&mut first).map_err(failed)?;
    let Some(rest) = first.strip_prefix(b"#!") else { return Ok(None) };
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(Some(String::from_utf8_lossy(line).trim().to_owned()))
}
