//! Programs don't notice that the client library is there: it has no thread where there is nothing to manage,
//! none that keeps a process alive, takes no library for another one, and doesn't reach programs that can't
//! take it.

use crate::real_programs::python;
use crate::support::{Done, Setup, Start, compiled, released, root_user};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How it ended and what it wrote, plain and managed; with the client and no daemon as well.
#[track_caller]
fn are_the_same<'h>(setup: &'h Setup, program: &Path, set: impl Fn(Start<'h>) -> Start<'h>) -> Done {
    let start = || set(setup.at(program));
    let what = |done: &Done| (done.code(), done.ended_by(), done.out.clone(), done.err.clone());
    let plain = start().unmanaged().start().finish_by_itself();
    let managed = start().start().finish_by_itself();
    assert_eq!(what(&managed), what(&plain), "managed, and plain");
    let alone = start().preloaded().env("SCAF_SOCKET", "/nowhere").start().finish_by_itself();
    assert_eq!(what(&alone), what(&plain), "without a daemon, and plain");
    managed
}

#[test]
fn a_process_whose_main_has_ended_ends_with_its_other_threads() {
    let setup = Setup::new("equi");
    let program = compiled("ends_main");
    for how in [&["pthread_exit"][..], &["pthread_exit", "other"], &["thrd_exit"], &["thrd_exit", "other"]] {
        let done = are_the_same(&setup, &program, |start| start.args(how));
        assert!(done.code() == Some(0) && done.out.contains("wrong=0"), "{how:?}: {done:?}");
    }
    // Nothing of ours is called then.
    let done = are_the_same(&setup, &program, |start| start.args(["cancelled"]));
    assert!(done.out.contains("other=0"), "{done:?}");
}

#[test]
fn mains_of_cpp_and_fortran_may_end_before_their_processes() {
    let setup = Setup::new("equi");
    let done = are_the_same(&setup, &compiled("ends_main_threads"), |start| start);
    assert_eq!(done.out, "first=0\nleft=1\nother=0\n");
    let done = are_the_same(&setup, &compiled("ends_main_fortran"), |start| start);
    assert_eq!(done.number("wrong"), 0);
}

#[test]
fn a_process_whose_main_has_ended_ends_beside_another_one_too() {
    let setup = Setup::new("equi");
    let other = setup.program("loops").start();
    other.until("it is attached", |program| program.regions > 100);
    for how in [&["pthread_exit"][..], &["thrd_exit", "other"], &["cancelled"]] {
        let done = setup.program("ends_main").args(how).start().finish_by_itself();
        assert!(done.code() == Some(0) && done.out.contains("wrong=0"), "{how:?}: {done:?}");
        assert!(done.out.contains("at_end=1"), "{done:?}");
    }
    other.finish().well();
}

#[test]
fn python_with_a_blas_may_end_its_main_thread() {
    let setup = Setup::new("equi");
    let library = compiled("libregions");
    let text = "import ctypes, sys, threading, time
library = ctypes.CDLL(sys.argv[1])
for _ in range(30): library.rounds(20)
print('done', flush=True)
ctypes.CDLL(None).pthread_exit(None)";
    let words = ["-c".as_ref(), text.as_ref(), library.as_os_str()];
    are_the_same(&setup, &python(), |start| start.args(words).threads(2));
}

#[test]
fn a_program_that_has_ended_its_team_has_one_thread() {
    let setup = Setup::new("equi");
    let other = setup.program("loops").start();
    other.until("it is attached", |program| program.regions > 100);
    let done = are_the_same(&setup, &compiled("wants_to_be_alone"), |start| start.args(["at-once"]));
    assert_eq!((done.number("single"), done.number("wrong")), (1, 0));
    other.finish().well();
}

fn copied(program: &Path, to: &Path, mode: u32) -> PathBuf {
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("making a folder");
    std::fs::copy(program, to).expect("copying a program");
    std::fs::set_permissions(to, PermissionsExt::from_mode(mode)).expect("chmod");
    to.to_owned()
}

#[test]
fn a_folder_called_like_a_blas_is_none() {
    let setup = Setup::new("equi");
    let folders = ["publish/lib", "ncbi-blast+", "establish/openblas"];
    for (folder, name) in folders.iter().zip(["libplain.so", "libpublish.so", "libblast.so"]) {
        let library = copied(&compiled("libexp"), &setup.folder().join(folder).join(name), 0o755);
        let program =
            copied(&compiled("wants_to_be_alone"), &setup.folder().join(folder).join("program"), 0o755);
        let library = library.to_str().expect("a plain path");
        let run = |start: Start<'_>| start.args(["none"]).preloading(library).start().finish_by_itself();
        let [plain, there] = [setup.at(&program).unmanaged(), setup.at(&program).preloaded()].map(run);
        assert_eq!((&there.out, there.code()), (&plain.out, plain.code()), "{folder}/{name}");
        assert_eq!((there.number("threads"), there.number("single")), (1, 1), "{folder}/{name}");
    }
}

#[test]
fn a_runtime_with_threads_of_its_own_making_is_none_of_llvms() {
    let setup = Setup::new("equi");
    for name in ["libomp.so", "libbolt.so", "libiomp5.so"] {
        let folder = setup.folder().join(name.replace('.', "-"));
        let library = copied(&compiled("libult"), &folder.join(name), 0o755);
        let program = folder.join("on_ult");
        let source = crate::support::root().join("tests/programs/on_ult.c");
        let mut gcc = Command::new("gcc");
        gcc.arg("-O2").arg(&source).arg("-o").arg(&program).arg(&library);
        gcc.arg(format!("-Wl,-rpath,{}", folder.display()));
        assert!(gcc.status().expect("gcc").success());
        for max in [1, 2] {
            let program = setup.at(&program).option("--max", max).threads(4).start();
            std::thread::sleep(std::time::Duration::from_millis(700));
            assert_eq!(program.finish().well().number("wrong"), 0, "{name}");
        }
    }
}

/// Has a shell, Python, perl and our own program start what the preloaded library doesn't fit.
fn starters(program: &str) -> Vec<(PathBuf, Vec<OsString>)> {
    let py =
        |text: &str| (python(), vec!["-c".into(), text.into(), program.into()]) as (PathBuf, Vec<OsString>);
    let mut all = vec![
        ("/bin/sh".into(), vec!["-c".into(), "\"$0\"; echo status=$?".into(), program.into()]),
        ("/bin/sh".into(), vec!["-c".into(), "exec \"$0\"".into(), program.into()]),
        ("/bin/bash".into(), vec!["-c".into(), "\"$0\" | cat; env -i \"$0\"; \"$0\"".into(), program.into()]),
        ("/usr/bin/env".into(), vec!["A=b".into(), program.into()]),
        py("import subprocess, sys; print(subprocess.run(sys.argv[1:]), flush=True)"),
        py("import os, sys; print(os.system(sys.argv[1]), os.popen(sys.argv[1]).read(), flush=True)"),
        py("import os, sys; os.execv(sys.argv[1], sys.argv[1:])"),
        py("import os, sys; os.execve(sys.argv[1], sys.argv[1:], {'A': 'b', **os.environ})"),
        py("import os, sys; os.execlp(sys.argv[1], sys.argv[1])"),
        py("import os, sys; os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); os.wait()"),
        py("import os, sys; os.execve(os.open(sys.argv[1], os.O_RDONLY), sys.argv[1:], os.environ)"),
    ];
    if Path::new("/usr/bin/perl").exists() {
        all.push((
            "/usr/bin/perl".into(),
            vec!["-e".into(), "print `$ARGV[0]`; exec @ARGV".into(), program.into()],
        ));
    }
    all
}

#[track_caller]
fn starts_as_without_us(setup: &Setup, program: &Path) {
    for (starter, words) in starters(program.to_str().expect("a plain path")) {
        let done = are_the_same(setup, &starter, |start| start.args(&words));
        assert!(!done.err.contains("LD_PRELOAD"), "{starter:?} {words:?}: {done:?}");
        assert!(done.out.contains("ran=1"), "{starter:?} {words:?}: {done:?}");
    }
}

#[test]
fn a_child_with_musl_runs_as_without_us() {
    starts_as_without_us(&Setup::new("equi"), &compiled("musl"));
}

#[test]
fn a_child_whose_file_nobody_can_look_at_runs_as_without_us() {
    let setup = Setup::new("equi");
    let program = compiled("musl");
    let path = program.to_str().expect("a plain path");
    let bash = Path::new("/bin/bash");
    for words in ["ulimit -n 3; \"$0\"", "ulimit -n 3; exec \"$0\"", "ulimit -n 3; A=b exec \"$0\""] {
        let done = are_the_same(&setup, bash, |start| start.args(["-c", words, path]));
        assert!(done.out.contains("ran=1") && done.err.is_empty(), "{words}: {done:?}");
    }
    needs!(root_user(), "root, to become another user");
    let library = copied(&released("libscaf.so"), &setup.folder().join("libscaf.so"), 0o755);
    let closed = copied(&program, &setup.folder().join("closed"), 0o711);
    let path = closed.to_str().expect("a plain path");
    for run in ["\"$0\"", "exec \"$0\"", "PATH=${0%/*}:$PATH; closed", "PATH=${0%/*}:$PATH; exec closed"] {
        let words = format!("setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '{run}' {path}");
        let start = setup.at(bash).args(["-c", &words]).env("SCAF_LIB", library.as_os_str());
        let done = start.run();
        assert_eq!((done.code(), done.out.as_str(), done.err.as_str()), (Some(7), "ran=1\n", ""), "{run}");
    }
}

#[test]
fn a_32_bit_child_runs_as_without_us() {
    let (setup, program) = (Setup::new("equi"), compiled("small_loaded"));
    needs!(Command::new(&program).output().is_ok(), "a kernel and a loader for 32-bit programs");
    starts_as_without_us(&setup, &program);
    starts_as_without_us(&setup, &compiled("small"));
}

#[test]
fn a_script_of_a_program_with_musl_runs_as_without_us() {
    let setup = Setup::new("equi");
    let script = setup.folder().join("script");
    std::fs::write(&script, format!("#! {} word\n", compiled("musl").display())).expect("a script");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("chmod");
    // Python closes the file that it has open.
    let by_path = |words: &[OsString]| !words.iter().any(|word| word.to_string_lossy().contains("O_RDONLY"));
    for (starter, words) in
        starters(script.to_str().expect("a path")).iter().filter(|(_, words)| by_path(words))
    {
        let done = are_the_same(&setup, starter, |start| start.args(words));
        assert!(!done.err.contains("LD_PRELOAD") && done.out.contains("ran=1"), "{words:?}: {done:?}");
    }
}

#[test]
fn others_preloaded_libraries_stay() {
    let setup = Setup::new("equi");
    let shows = setup.folder().join("shows");
    let mut gcc = Command::new("musl-gcc");
    let source = setup.folder().join("shows.c");
    let text = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n\
        const char *value = getenv(\"LD_PRELOAD\"); puts(value ? value : \"none\"); }\n";
    std::fs::write(&source, text).expect("a source");
    gcc.args(["-static", "-o"]).arg(&shows).arg(&source);
    assert!(gcc.status().expect("musl-gcc").success());
    let plain = compiled("libexp");
    let shown = |start: Start<'_>| start.args(["-c", shows.to_str().expect("a path")]).run().well().out;
    assert_eq!(shown(setup.at(Path::new("/bin/sh"))), "none\n");
    let other = plain.to_str().expect("a plain path");
    assert_eq!(shown(setup.at(Path::new("/bin/sh")).env("LD_PRELOAD", other)), format!("{other}\n"));
}

/// A folder to be the root of: a program, and the libraries that it needs.
fn new_root(setup: &Setup, programs: &[&Path]) -> PathBuf {
    let root = setup.folder().join("root");
    for program in programs {
        let inside = |path: &Path| root.join(path.strip_prefix("/").expect("an absolute path"));
        copied(program, &inside(program), 0o755);
        let out = Command::new("ldd").arg(program).output().expect("ldd").stdout;
        for word in String::from_utf8_lossy(&out).split_whitespace().filter(|word| word.starts_with('/')) {
            copied(Path::new(word), &inside(Path::new(word)), 0o755);
        }
    }
    root
}

#[test]
fn a_program_under_another_root_runs_as_without_us() {
    needs!(root_user(), "root, to change the root folder");
    let setup = Setup::new("equi");
    let (sh, echo) = (Path::new("/bin/sh"), Path::new("/bin/echo"));
    let root = new_root(&setup, &[sh, echo]);
    let inside = root.to_str().expect("a plain path");
    let words = ["-c", "chroot \"$0\" /bin/echo ran=1", inside];
    let done = are_the_same(&setup, sh, |start| start.args(words));
    assert_eq!((done.out.as_str(), done.err.as_str()), ("ran=1\n", ""));
    are_the_same(&setup, Path::new("/usr/sbin/chroot"), |start| {
        start.args([inside, "/bin/sh", "-c", "echo a; /bin/echo b"])
    });
    let py = "import os, subprocess, sys
os.chroot(sys.argv[1]); os.chdir('/')
print(os.system('/bin/echo ran=1'), os.popen('/bin/echo ran=2').read(), flush=True)
subprocess.run(['/bin/echo', 'ran=3']); os.execv('/bin/echo', ['echo', 'ran=4'])";
    let done = are_the_same(&setup, &python(), |start| start.args(["-c", py, inside]));
    assert!(done.err.is_empty() && done.out.contains("ran=4"), "{done:?}");
}

#[test]
fn a_program_that_another_user_runs_can_do_without_the_library() {
    needs!(root_user(), "root, to become another user");
    let setup = Setup::new("equi");
    // Nobody else may look into this folder.
    let hidden = setup.folder().join("hidden");
    let library = copied(&released("libscaf.so"), &hidden.join("libscaf.so"), 0o755);
    std::fs::set_permissions(&hidden, PermissionsExt::from_mode(0o700)).expect("chmod");
    let words =
        ["-c", "setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'echo ran=1; /bin/echo ran=2'"];
    let start = |start: Start<'_>| start.args(words).env("SCAF_LIB", library.as_os_str()).run();
    let done = start(setup.at(Path::new("/bin/sh")));
    assert_eq!((done.code(), done.out.as_str(), done.err.as_str()), (Some(0), "ran=1\nran=2\n", ""));
    // A program that becomes another user by itself.
    let changes = setup.folder().join("changes");
    copied(Path::new("/bin/echo"), &changes, 0o4755);
    std::os::unix::fs::chown(&changes, Some(65_534), None).expect("chown");
    std::fs::set_permissions(&changes, PermissionsExt::from_mode(0o4755)).expect("chmod");
    let words = ["-c", "\"$0\" ran=1; \"$0\" ran=2", changes.to_str().expect("a plain path")];
    let done = are_the_same(&setup, Path::new("/bin/sh"), |start| start.args(words));
    assert_eq!((done.out.as_str(), done.err.as_str()), ("ran=1\nran=2\n", ""));
}
