//! Where binaries are, and compiling the small programs.
//!
//! A source in tests/programs says in its first line how it is built: `/* build: gcc -O2 -fopenmp */`. One that is
//! called `lib*.c` becomes a shared library. Each is compiled once, and again when it or test.h has changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"))
}

/// A file of the release build: beside the folder of the test executable.
pub fn released(name: &str) -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_else(|e| panic!("where this test executable is: {e}"));
    let folder = exe.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let path = folder.join(name);
    assert!(path.is_file(), "{} is missing: run `cargo build --release` first", path.display());
    path
}

/// One of the kernels.
pub fn kernel(name: &str) -> PathBuf {
    let path = root().join("build/kernels").join(name);
    assert!(path.is_file(), "{} is missing: run `make kernels` first", path.display());
    path
}

/// Where compiled libraries are.
pub fn library_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|about| about.modified()).ok()
}

/// A program of tests/programs, compiled from the one source of that name (`.c` or `.f90`).
pub fn compiled(name: &str) -> PathBuf {
    static DONE: Mutex<Option<HashSet<String>>> = Mutex::new(None);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    let sources = root().join("tests/programs");
    let source = ["c", "f90"]
        .map(|kind| sources.join(name).with_extension(kind))
        .into_iter()
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("there is no source of {name} in {}", sources.display()));
    let library = name.starts_with("lib");
    let program = library_folder().join(if library { format!("{name}.so") } else { name.to_owned() });
    let newest = changed(&source).max(changed(&sources.join("test.h")));
    if done.get_or_insert_default().insert(name.to_owned()) && changed(&program) <= newest {
        compile(&source, &program, library);
    }
    program
}

fn compile(source: &Path, program: &Path, library: bool) {
    let text = std::fs::read_to_string(source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
    let first = text.lines().next().unwrap_or_default();
    let words: Vec<&str> = first
        .split_once("build:")
        .unwrap_or_else(|| panic!("{}: the first line doesn't say how it is built", source.display()))
        .1
        .split_whitespace()
        .take_while(|word| *word != "*/")
        .collect();
    let [compiler, flags @ ..] = words.as_slice() else { panic!("{}: no compiler", source.display()) };
    let mut command = Command::new(compiler);
    command.arg(source).arg("-o").arg(program).args(flags);
    if compiler == &"gcc" {
        command.args(["-Wall", "-Wextra", "-Werror"]);
    }
    if library {
        command.args(["-shared", "-fPIC"]);
    }
    let output = command.output().unwrap_or_else(|e| panic!("{compiler}: {e}; run scripts/setup.sh"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
