//! An admin's verdicts for the daemons of the tests: programs of ours that compute the same with teams of any
//! size, though nobody can prove it, mostly since they count their teams, which is what the tests look at.

use super::{By, compiled_by, kernel};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

const KERNELS: [&str; 15] = [
    "cg",
    "ep",
    "ft",
    "lu",
    "phases",
    "zones",
    "clang/cg",
    "clang/empty",
    "clang/ep",
    "clang/ft",
    "clang/is",
    "clang/lu",
    "clang/mg",
    "clang/phases",
    "clang/triad",
];
const PROGRAMS: [&str; 19] = [
    "cancel",
    "cancelled",
    "clause_only",
    "constructs",
    "ends_main",
    "exact_blocks",
    "files",
    "fortran",
    "fortran_8",
    "gathered_objects",
    "long_tasks",
    "loops",
    "nested",
    "one_clause",
    "sections",
    "set_only",
    "starts",
    "threads_of_its_own",
    "turns",
];
/// Programs that are compiled by others, too.
const BY_OTHERS: [(By, &str); 11] = [
    (By::Clang, "clause_only"),
    (By::Clang, "loops"),
    (By::Clang, "micro"),
    (By::Clang, "nested"),
    (By::Clang, "one_clause"),
    (By::Clang, "starts"),
    (By::Clang, "task_reductions"),
    (By::Clang, "teams"),
    (By::GccForLlvms, "loops"),
    (By::GccForLlvms, "nested"),
    (By::GccForLlvms, "starts"),
];

/// The line of a daemon's configuration that names the file with them, which is written once.
pub fn verdicts() -> &'static str {
    static LINE: OnceLock<String> = OnceLock::new();
    LINE.get_or_init(|| {
        let itself = PROGRAMS.iter().map(|name| compiled_by(By::Itself, name));
        let by_others = BY_OTHERS.iter().map(|(by, name)| compiled_by(*by, name));
        let kernels = KERNELS.iter().map(|name| kernel(name));
        let mut text = String::new();
        kernels.chain(itself).chain(by_others).for_each(|file| add(&mut text, &file));
        let file = super::library_folder().join("verdicts.toml");
        // Another run of the tests may read it.
        let new = file.with_extension(std::process::id().to_string());
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &file));
        written.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        format!("verdicts = {:?}\n", file.to_str().expect("a plain path"))
    })
}

fn add(text: &mut String, file: &Path) {
    let print = scaf_inspect::fingerprint(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let name = file.file_name().and_then(|name| name.to_str()).expect("a plain name");
    write!(text, "[[verdict]]\nexecutable = '{print}'\nname = '{name}'\nresizable = true\n")
        .and_then(|()| write!(text, "date = '2026-11-29'\nruns = 1\nevidence = 'the tests'\n"))
        .expect("text");
}
