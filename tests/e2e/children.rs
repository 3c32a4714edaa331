//! Children of a narrowed program have the CPUs that they would have without scaf, from their first
//! instruction; and nobody who asks sees that it is narrowed.

use crate::real_programs::python;
use crate::support::{Running, Setup, compiled, cpus_of, wait_for};
use std::path::Path;

fn narrowed<'h>(setup: &'h Setup, start: crate::support::Start<'h>) -> Running<'h> {
    let program = start.option("--max", 1).start();
    until_narrow(setup, &program);
    program
}

fn until_narrow(setup: &Setup, program: &Running) {
    setup.until("it is there", |snapshot| {
        snapshot.programs.iter().any(|it| it.pid == program.pid() && it.dop == Some(1)).then_some(())
    });
    wait_for("its affinity", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
}

/// The latest number that it printed under this name.
fn number(text: &str, key: &str) -> Option<i64> {
    let is_it = |line: &str| line.strip_prefix(key)?.strip_prefix('=')?.parse().ok();
    text.lines().rev().find_map(is_it)
}

/// Has it start a child, or ask; what it says then.
fn says(program: &mut Running, what: &str, key: &str) -> i64 {
    let before = program.printed().len();
    program.write(&format!("{what}\n"));
    let new = || program.printed().get(before..).map(str::to_owned);
    wait_for(&format!("{what} is done"), || {
        let new = new()?;
        // The line after the answer is whole when the one behind it has begun.
        number(&new, "then")?;
        number(&new, key)
    })
}

#[test]
fn children_are_born_with_the_programs_own_affinity_however_they_are_started() {
    let setup = Setup::new("equi");
    let mut program = narrowed(&setup, setup.program("children"));
    for how in [
        "posix_spawn",
        "posix_spawnp",
        "system",
        "popen",
        "fork",
        "_Fork",
        "by_number",
        "vfork",
        "vfork_twice",
        "fork_exec",
        "clone",
        "clone_vfork",
        "small_stack",
    ] {
        assert_eq!(says(&mut program, how, how), 2, "{how}");
        // It is narrow again itself.
        assert_eq!(says(&mut program, "asks", "then"), 1, "after {how}");
    }
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn a_program_that_executes_itself_begins_with_its_own_affinity() {
    let setup = Setup::new("equi");
    let mut program = narrowed(&setup, setup.program("children"));
    let before = program.printed().len();
    program.write("itself\n");
    let born = wait_for("it begins anew", || number(program.printed().get(before..)?, "born"));
    assert_eq!(born, 2);
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn whoever_asks_for_an_affinity_gets_the_programs_own() {
    let setup = Setup::new("equi");
    let mut program = narrowed(&setup, setup.program("children"));
    for key in ["asked", "asked_of_thread", "asked_by_number"] {
        assert_eq!(says(&mut program, "asks", key), 2, "{key}");
    }
    // A child asks for its parent's, which the daemon knows.
    assert_eq!(says(&mut program, "parent", "parent"), 2);
    program.finish().well();
    // One that it or its user has chosen is told as it is.
    let mut program = setup.program("children").start();
    program.until("it is attached", |program| program.dop == Some(2) && program.regions > 100);
    let bind = setup.at(Path::new("/usr/bin/taskset")).unmanaged();
    let first = setup.snapshot().pus.iter().next().expect("a PU").to_string();
    bind.args(["-a", "-c", "-p", &first, &program.pid().to_string()]).run();
    assert_eq!(says(&mut program, "asks", "asked"), 1);
    assert_eq!(says(&mut program, "parent", "parent"), 1);
    program.finish().well();
}

/// What a thread is bound to may be the very PUs that its program is folded onto.
#[test]
fn a_program_may_bind_itself_to_the_pus_that_it_is_folded_onto() {
    let setup = Setup::new("equi");
    for how in ["binds", "binds_thread", "binds_by_number"] {
        let mut program = narrowed(&setup, setup.program("children"));
        assert_eq!(says(&mut program, how, how), 1, "{how}");
        assert_eq!(says(&mut program, "popen", "popen"), 1, "a child of one that {how}");
        let seen = program.until("it is left alone", |program| program.dop.is_none());
        assert_eq!(seen.mechanism_reason, "it binds its threads itself");
        // Whatever would have been moved, has been.
        std::thread::sleep(std::time::Duration::from_secs(2));
        assert_eq!(says(&mut program, "asks", "asked"), 1, "{how}, and later");
        assert_eq!(says(&mut program, "asks", "then"), 1, "{how}, and later");
        assert_eq!(says(&mut program, "unbinds", "unbinds"), 2);
        until_narrow(&setup, &program);
        assert_eq!(says(&mut program, "popen", "popen"), 2, "a child of one that isn't bound any more");
        program.finish().well();
    }
}

#[test]
fn a_child_may_be_bound_to_the_pus_that_its_parent_is_folded_onto() {
    let setup = Setup::new("equi");
    let mut program = narrowed(&setup, setup.program("children"));
    assert_eq!(says(&mut program, "taskset", "taskset"), 1);
    assert_eq!(says(&mut program, "asks", "then"), 1);
    program.finish().well();
}

const PYTHON: &str = "
import ctypes, os, subprocess, sys
library = ctypes.CDLL(sys.argv[1])
ways = {
    'run': lambda: int(subprocess.run(['nproc'], capture_output=True, text=True).stdout),
    'shell': lambda: int(subprocess.check_output('nproc', shell=True)),
    'session': lambda: int(subprocess.check_output(['nproc'], start_new_session=True, close_fds=False)),
    'preexec': lambda: int(subprocess.check_output(['nproc'], preexec_fn=lambda: None)),
    'popen': lambda: int(os.popen('nproc').read()),
    'spawn': lambda: os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn('/bin/sh',
        ['sh', '-c', 'exit $(nproc)'], os.environ), 0)[1]),
    'system': lambda: os.waitstatus_to_exitcode(os.system('exit $(nproc)')),
    'spawnlp': lambda: os.spawnlp(os.P_WAIT, 'sh', 'sh', '-c', 'exit $(nproc)'),
    'asked': lambda: len(os.sched_getaffinity(0)),
}
print('ready=1', flush=True)
while True:
    library.rounds(50)
    with open('/proc/self/status') as status:
        now = next(line for line in status if line.startswith('Cpus_allowed_list')).split()[1]
    if ',' not in now and '-' not in now:
        break
for name, way in ways.items():
    print(f'{name}={way()}', flush=True)
sys.stdin.read()
";

#[test]
fn children_of_python_count_all_their_cpus() {
    let setup = Setup::new("equi");
    let library = compiled("libregions");
    let start = setup.at(&python()).args(["-c".as_ref(), PYTHON.as_ref(), library.as_os_str()]);
    let program = start.option("--max", 1).start();
    wait_for("it has asked", || number(&program.printed(), "asked"));
    let done = program.finish().well();
    for way in ["run", "shell", "session", "preexec", "popen", "spawn", "system", "spawnlp", "asked"] {
        assert_eq!(done.number(way), 2, "{way}: {done:#?}");
    }
}

#[test]
fn children_of_threads_in_cpp_count_all_their_cpus() {
    let setup = Setup::new("equi");
    let program = setup.program("children_of_threads").option("--max", 1).start();
    wait_for("it has asked", || number(&program.printed(), "children"));
    let done = program.finish().well();
    assert!(done.number("children") >= 20 && done.number("narrow") == 0, "{done:#?}");
}

#[test]
fn children_are_wide_while_grants_come_and_go() {
    let setup = Setup::chaos(7);
    let program = setup.program("children_of_threads").args(["without-system"]).start();
    wait_for("it has asked", || number(&program.printed(), "children"));
    let done = program.finish().well();
    assert!(done.number("children") >= 20 && done.number("narrow") == 0, "{done:#?}");
}
