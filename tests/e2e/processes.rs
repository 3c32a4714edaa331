//! What processes do to themselves: fork, exec, spawn, change user, close files, exit within a region.

use crate::support::{Running, Setup, cpus_of, root_user, wait_for};

fn narrowed<'h>(setup: &'h Setup, how: &str) -> Running<'h> {
    let program = setup.program("processes").args([how]).option("--max", 1);
    // In a forked child, libgomp waits for ever for the threads of its parent's teams: there must be none.
    let program = if how.starts_with("fork") { program.threads(1) } else { program }.start();
    program.until("one PU", |program| program.dop == Some(1) && program.effective_ns.is_some());
    wait_for("its affinity", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    program
}

fn acting<'h>(setup: &'h Setup, how: &str) -> Running<'h> {
    let program = narrowed(setup, how);
    program.signal(libc::SIGUSR1);
    program
}

fn printed(program: &Running, key: &str) -> u32 {
    wait_for(&format!("it prints {key}"), || {
        let printed = program.printed();
        let line =
            printed.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))?;
        line.parse().ok()
    })
}

fn until_it_has_both_pus(pid: u32) {
    wait_for("its affinity is the original one again", || cpus_of(pid).filter(|cpus| cpus.len() == 2));
}

#[test]
fn a_forked_child_is_a_program_of_its_own_on_its_own_affinity() {
    let setup = Setup::new("equi");
    let program = acting(&setup, "fork");
    let child = printed(&program, "child");
    assert_eq!(printed(&program, "child_cpus"), 2);
    setup.until("parent and child are both there", |snapshot| {
        let there = |pid| snapshot.programs.iter().any(|program| program.pid == pid && program.regions > 100);
        (there(program.pid()) && there(child)).then_some(())
    });
    let done = program.finish().well();
    assert_eq!(done.number("wrong"), 0);
    setup.until("both are gone", |snapshot| snapshot.programs.is_empty().then_some(()));
}

#[test]
fn a_thread_that_is_to_be_cancelled_gets_through_its_region_first() {
    let setup = Setup::new("equi");
    let program = setup.program("cancelled").start();
    program.until("it is attached", |program| program.regions > 100);
    let done = program.finish().well();
    assert_eq!((done.number("missed"), done.number("team")), (0, 2), "{done:#?}");
}

#[test]
fn a_parents_death_is_noticed_while_its_children_live() {
    let setup = Setup::new("equi");
    let program = acting(&setup, "fork-twice");
    let child = printed(&program, "child");
    setup.until("all three are there", |snapshot| (snapshot.programs.len() == 3).then_some(()));
    let parent = program.pid();
    program.signal(libc::SIGKILL);
    setup.until("the parent is gone, its children are not", |snapshot| {
        let pids: Vec<u32> = snapshot.programs.iter().map(|program| program.pid).collect();
        (!pids.contains(&parent) && pids.contains(&child) && pids.len() == 2).then_some(())
    });
    assert_eq!(program.finish().ended_by(), Some(libc::SIGKILL));
    setup.until("its children end", |snapshot| snapshot.programs.is_empty().then_some(()));
}

#[test]
fn a_program_that_becomes_another_one_is_attached_again_and_its_affinity_is_not_lost() {
    let setup = Setup::new("equi");
    let program = narrowed(&setup, "exec");
    let first = program.seen().map_or(0, |program| program.id);
    program.signal(libc::SIGUSR1);
    let again = program.until("it is attached anew", |program| program.id > first && program.dop == Some(1));
    assert_eq!(again.pid, program.pid());
    wait_for("it is narrowed again", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    // What the daemon takes for its own affinity shows when the guardian gives it back.
    crate::support::kill(setup.daemon());
    until_it_has_both_pus(program.pid());
    program.finish().well();
}

#[test]
fn a_program_that_becomes_one_without_openmp_has_its_affinity_back() {
    let setup = Setup::new("equi");
    let program = acting(&setup, "exec-sleep");
    until_it_has_both_pus(program.pid());
    setup.until("nobody is attached", |snapshot| snapshot.programs.is_empty().then_some(()));
    program.signal(libc::SIGTERM);
    assert_eq!(program.finish().ended_by(), Some(libc::SIGTERM));
}

#[test]
fn spawned_programs_have_the_original_affinity() {
    let setup = Setup::new("equi");
    let program = acting(&setup, "spawn");
    let children = [printed(&program, "child"), printed(&program, "second")];
    children.into_iter().for_each(until_it_has_both_pus);
    assert_eq!(cpus_of(program.pid()).map(|cpus| cpus.len()), Some(1));
    children.into_iter().for_each(crate::support::kill);
    program.finish().well();
}

#[test]
fn what_a_spawned_shell_starts_has_the_original_affinity() {
    let setup = Setup::new("equi");
    let program = acting(&setup, "spawn-by-shell");
    let (shell, child) = (printed(&program, "shell"), printed(&program, "child"));
    until_it_has_both_pus(shell);
    until_it_has_both_pus(child);
    [child, shell].into_iter().for_each(crate::support::kill);
    program.finish().well();
}

#[test]
fn a_program_that_gives_up_its_rights_stays_attached() {
    needs!(root_user(), "root, to give it up");
    let setup = Setup::new("equi");
    let program = acting(&setup, "setuid");
    printed(&program, "acted");
    let seen = program.seen().expect("it is attached");
    program.until("more rounds", |program| program.id == seen.id && program.regions > seen.regions + 1000);
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn a_program_may_exit_or_die_within_a_region() {
    let setup = Setup::new("equi");
    let other = setup.program("loops").start();
    let exits = setup.program("processes").args(["exit-in-region"]).start();
    exits.until("it is attached", |program| program.regions > 10);
    exits.signal(libc::SIGUSR1);
    assert_eq!(exits.finish_by_itself().code(), Some(7));
    let dies = setup.program("processes").args(["die-in-region"]).start();
    dies.until("it is attached", |program| program.regions > 10);
    dies.signal(libc::SIGUSR1);
    assert_eq!(dies.finish_by_itself().ended_by(), Some(libc::SIGKILL));
    setup.until("their shares are free", |snapshot| {
        let [only] = snapshot.programs.as_slice() else { return None };
        (only.pid == other.pid() && only.dop == Some(snapshot.capacity.min(2))).then_some(())
    });
    other.finish().well();
}

#[test]
fn a_program_that_closes_all_files_is_attached_again_and_its_own_files_are_left_alone() {
    let setup = Setup::new("equi");
    let program = setup.program("processes").args(["close"]).option("--max", 1).start();
    let before = program.until("it is attached", |program| program.regions > 10);
    program.signal(libc::SIGUSR1);
    let after =
        program.until("it is attached anew", |program| program.id > before.id && program.regions > 10);
    program.until("it stays so", |program| program.id == after.id && program.regions > after.regions + 5000);
    let done = program.finish().well();
    assert_eq!((done.number("touched"), done.number("wrong")), (0, 0));
}

#[test]
fn a_program_whose_main_thread_ends_goes_on() {
    let setup = Setup::new("equi");
    let program = setup.program("processes").args(["leave-main"]).option("--max", 1).start();
    program.until("it is attached", |program| program.regions > 10);
    program.signal(libc::SIGUSR1);
    let before = program.until("it is attached", |program| program.regions > 10);
    program.until("more rounds", |program| program.regions > before.regions + 10_000);
    assert_eq!(program.finish().well().number("wrong"), 0);
}
