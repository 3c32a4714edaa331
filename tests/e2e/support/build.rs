//! Where binaries are, and compiling the small programs. The first line of a source in tests/programs says
//! how it is built: `/* build: gcc -O2 -fopenmp */`, with folders relative to the repository. `lib*` becomes
//! a shared library. A source is compiled again when it or a header has changed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

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

pub fn clang_kernel(name: &str) -> PathBuf {
    kernel(&format!("clang/{name}"))
}

pub fn kernel(name: &str) -> PathBuf {
    let path = root().join("build/kernels").join(name);
    assert!(path.is_file(), "{} is missing: run `make kernels` first", path.display());
    path
}

pub fn library_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|about| about.modified()).ok()
}

/// Who compiles a program, and whose runtime it is linked with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// Whoever its source names, mostly gcc, and libgomp.
    Itself,
    Clang,
    GccForLlvms,
}

/// A program of tests/programs, compiled from the one source of that name (`.c`, `.cpp` or `.f90`).
pub fn compiled(name: &str) -> PathBuf {
    compiled_by(By::Itself, name)
}

pub fn compiled_by(by: By, name: &str) -> PathBuf {
    compiled_in("tests/programs", by, name)
}

pub fn example(name: &str) -> PathBuf {
    compiled_in("examples", By::Itself, name)
}

fn compiled_in(folder: &str, by: By, name: &str) -> PathBuf {
    static DONE: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    let sources = root().join(folder);
    let source = ["c", "cpp", "f90"]
        .map(|kind| sources.join(name).with_extension(kind))
        .into_iter()
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("there is no source of {name} in {}", sources.display()));
    let library = name.starts_with("lib");
    let kind = match by {
        By::Itself => "",
        By::Clang => ".clang",
        By::GccForLlvms => ".gcc-llvm",
    };
    let program = library_folder().join(format!("{name}{kind}{}", if library { ".so" } else { "" }));
    let headers = [
        "tests/programs/test.h",
        "tests/programs/test.inc",
        "tests/programs/region.h",
        "tests/programs/small.c",
        "tests/programs/fortran.f90",
        "tests/programs/midway.c",
        "tests/programs/sanitized.c",
        "tests/programs/gathered_spins.c",
        "tests/programs/gathered_waiting.cpp",
        "include/scaf.h",
    ];
    let headers = headers.map(|header| changed(&root().join(header)));
    let newest = headers.into_iter().fold(changed(&source), Option::max);
    if done.get_or_insert_default().insert(program.clone()) && changed(&program) <= newest {
        compile(by, &source, &program, library);
    }
    program
}

fn compile(by: By, source: &Path, program: &Path, library: bool) {
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
    let flags = flags
        .iter()
        .map(|flag| if by == By::Clang && *flag == "-fopenmp" { "-fopenmp=libomp" } else { flag });
    let object = program.with_added_extension("o");
    let clang = if source.extension().is_some_and(|kind| kind == "cpp") { "clang++" } else { "clang" };
    let mut command = Command::new(if by == By::Clang { clang } else { compiler });
    command.current_dir(root()).arg(source);
    match by {
        // Told to link, gcc would take libgomp.
        By::GccForLlvms => command.args(["-fPIC", "-c", "-o"]).arg(&object),
        _ => command.arg("-o").arg(program),
    };
    command.args(flags);
    if compiler == &"gfortran" {
        command.arg("-J").arg(library_folder());
    }
    if by != By::Clang && compiler == &"gcc" {
        command.args(["-Wall", "-Wextra", "-Werror"]);
    }
    if library && by != By::GccForLlvms {
        command.args(["-shared", "-fPIC"]);
    }
    run(&mut command);
    if by == By::GccForLlvms {
        let mut command = Command::new(clang);
        command.arg("-fopenmp=libomp").arg(&object).arg("-o").arg(program).arg("-lm");
        if library {
            command.arg("-shared");
        }
        run(&mut command);
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; run scripts/setup.sh"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
