//! Facts about whole programs, and verdicts about running ones.

use scaf_inspect::{Error, ModuleCache, ProcessFacts, ProgramKind, Resizable, module, process, program};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn built(folder: &Path, source: &str, flags: &[&str]) -> PathBuf {
    let (code, out) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&code, source).unwrap();
    let done =
        Command::new("gcc").arg("-fopenmp").arg("-o").arg(&out).arg(&code).args(flags).status().unwrap();
    assert!(done.success());
    out
}

fn judged_running(program: &Path) -> (ProcessFacts, u32) {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let facts = process(child.id(), Path::new("/proc"), &mut ModuleCache::default()).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    (facts, child.id())
}

const LOOP: &str = r#"
#include <stdio.h>
int main(void)
{
    static double a[1000];
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) a[i] = i;
    puts("ready");
    fflush(stdout);
    return getchar() == (int)a[1];
}
"#;

#[test]
fn a_program_with_gccs_loops_may_be_resized() {
    let folder = tempfile::tempdir().unwrap();
    let facts = program(&built(folder.path(), LOOP, &["-O2"])).unwrap();
    assert_eq!(facts.resizable, Resizable::Yes);
    assert!(facts.manageable);
}

#[test]
fn a_static_program_runs_unmanaged() {
    let folder = tempfile::tempdir().unwrap();
    let out = built(folder.path(), "int main(void) { return 0; }", &["-static"]);
    let facts = program(&out).unwrap();
    assert!(!facts.manageable && facts.verdict[0].contains("statically linked"), "{facts:?}");
}

#[test]
fn a_setuid_program_runs_unmanaged() {
    let folder = tempfile::tempdir().unwrap();
    let out = built(folder.path(), LOOP, &["-O2"]);
    std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let facts = program(&out).unwrap();
    assert!(!facts.manageable && matches!(facts.resizable, Resizable::No { .. }), "{facts:?}");
}

#[test]
fn a_script_is_told_by_its_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("train.py");
    std::fs::write(&script, "#!/usr/bin/env python3\nprint()\n").unwrap();
    let facts = program(&script).unwrap();
    assert_eq!(facts.program, ProgramKind::Script { interpreter: "/usr/bin/env python3".into() });
}

#[test]
fn a_missing_file_is_named_and_a_folder_is_no_program() {
    let error = program(Path::new("/nowhere/at/all")).unwrap_err();
    assert!(matches!(error, Error::Read { .. }) && error.to_string().contains("/nowhere/at/all"));
    assert!(matches!(module(Path::new("/")), Err(Error::NotElf { .. })));
}

#[test]
fn a_running_program_is_judged_by_the_modules_that_use_openmp() {
    let folder = tempfile::tempdir().unwrap();
    let by_number = "a[i] = i;
        extern int omp_get_max_threads(void), omp_get_thread_num(void);
        double *b = a;
    #pragma omp parallel
        b[omp_get_thread_num()] = 1;";
    let depends = LOOP.replace("a[i] = i;", by_number);
    for (source, expected) in [(LOOP, true), (depends.as_str(), false)] {
        let out = built(folder.path(), source, &["-O2"]);
        let (facts, _) = judged_running(&out);
        assert_eq!(facts.resizable() == Resizable::Yes, expected, "{facts:?}");
        assert_eq!(facts.modules.len(), 1, "{facts:?}");
        let executable = facts.origin.map(|origin| origin.executable);
        assert!(facts.objections.iter().all(|it| it.is_own && it.module == executable));
    }
}

#[test]
fn a_program_that_makes_code_while_it_runs_keeps_its_team_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let mapped = |access: &str| {
        let map = format!(
            "extern void *mmap(void *, unsigned long, int, int, int, long);\n    \
             if (mmap(0, 4096, {access}, 0x22, -1, 0) == (void *)-1) return 2;\n    puts(\"ready\");"
        );
        LOOP.replace("puts(\"ready\");", &map)
    };
    for (access, expected) in [("1 | 2", true), ("1 | 4", false)] {
        let out = built(folder.path(), &mapped(access), &["-O2"]);
        let (facts, pid) = judged_running(&out);
        assert_eq!(facts.resizable() == Resizable::Yes, expected, "{facts:?}");
        if let Resizable::No { why } = facts.resizable() {
            assert!(why.contains(&pid.to_string()) && why.contains("anonymous memory"), "{why}");
        }
    }
}
