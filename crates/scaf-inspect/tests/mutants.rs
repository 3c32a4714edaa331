//! Programs that are let through, with one instruction changed: whatever of that is let through as well has
//! to compute the same at any size of its teams. Each number, register and operation behind where a share
//! is found is changed, one at a time.

use scaf_inspect::module;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [&str; 4] = ["1", "2", "3", "7"];
const PATIENCE: Duration = Duration::from_secs(5);
const REGISTERS: [&str; 4] = ["ax", "cx", "dx", "si"];

#[test]
fn mutants_that_are_let_through_compute_the_same_at_any_size() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["rows", "stencil", "cube"] {
        let text = assembly(name, folder.path());
        let program = assembled(&text.join("\n"), folder.path()).unwrap();
        assert!(is_let_through(&program), "{name} is refused");
        let (mut passed, mut wrong) = (0, String::new());
        for (number, line) in mutations(&text) {
            let mut mutant = text.clone();
            let was = std::mem::replace(&mut mutant[number], line.clone());
            let Some(program) = assembled(&mutant.join("\n"), folder.path()) else { continue };
            if !is_let_through(&program) {
                continue;
            }
            passed += 1;
            let printed: BTreeSet<Option<String>> = SIZES.map(|size| run(&program, size)).into();
            if printed.len() > 1 && !printed.contains(&None) {
                wrong += &format!("{number}: {was} -> {line}: {printed:?}\n");
            }
        }
        assert!(wrong.is_empty(), "{name}:\n{wrong}");
        assert!(passed > 0, "{name}: no mutant was let through");
    }
}

fn assembly(name: &str, folder: &Path) -> Vec<String> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/samples/mutated_{name}.c"));
    let to = folder.join("whole.s");
    let mut gcc = Command::new("gcc");
    let done = gcc.args(["-O2", "-fopenmp", "-S", "-o"]).arg(&to).arg(sample).status().unwrap();
    assert!(done.success(), "{name} isn't compiled");
    std::fs::read_to_string(to).unwrap().lines().map(str::to_owned).collect()
}

fn assembled(text: &str, folder: &Path) -> Option<PathBuf> {
    let (from, to) = (folder.join("mutant.s"), folder.join("mutant"));
    std::fs::write(&from, text).unwrap();
    let mut gcc = Command::new("gcc");
    let done = gcc.args(["-fopenmp", "-o"]).arg(&to).arg(&from).stderr(Stdio::null()).status().unwrap();
    done.success().then_some(to)
}

fn is_let_through(program: &Path) -> bool {
    module(program).is_ok_and(|facts| facts.size_use.is_harmless() && !facts.thread_local)
}

/// What it prints with teams of that size; nothing if it doesn't end or crashes.
fn run(program: &Path, size: &str) -> Option<String> {
    let mut command = Command::new(program);
    let mut child = command.env("OMP_NUM_THREADS", size).stdout(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let done = child.wait_with_output().unwrap();
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Changed lines of the region behind where arrays are first named, which is where iterations begin.
fn mutations(text: &[String]) -> Vec<(usize, String)> {
    let region = text.iter().position(|line| line.contains("_omp_fn.0:")).unwrap();
    let end = region + text[region..].iter().position(|line| line.contains(".cfi_endproc")).unwrap();
    let begin = region + text[region..end].iter().position(|line| line.contains("(%rip)")).unwrap();
    let steps = (begin..end).filter(|at| text[*at].starts_with('\t') && !text[*at].starts_with("\t."));
    steps.flat_map(|at| of_line(&text[at]).into_iter().map(move |line| (at, line))).collect()
}

fn of_line(line: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([String::new()]);
    for (one, other) in [("addl", "subl"), ("addsd", "subsd"), ("\tjne\t", "\tje\t"), ("\tje\t", "\tjne\t")] {
        found.insert(line.replacen(one, other, 1));
    }
    found.insert(line.replacen("\t(%r", "\t8(%r", 1));
    // Numbers, of which those that belong to a register's name have a letter before.
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_number = length > 0 && !bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'.';
        if is_number {
            let number: i64 = line[at..at + length].parse().unwrap();
            for other in [number + 1, number - 1, number * 2, number + 8, 0] {
                found.insert(format!("{}{other}{}", &line[..at], &line[at + length..]));
            }
        }
        at += length.max(1);
    }
    for one in REGISTERS {
        for other in REGISTERS {
            for width in ["%r", "%e"] {
                found.insert(line.replacen(&format!("{width}{one}"), &format!("{width}{other}"), 1));
            }
        }
    }
    found.remove(line);
    found
}
