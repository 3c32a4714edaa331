//! A program is granted CPUs of its own affinity only, and threads that are bound stay where they are.

use crate::support::{By, Setup, compiled, compiled_by, cpus_of, threads_of, wait_for};

#[test]
fn a_program_is_never_placed_outside_its_own_affinity() {
    let setup = Setup::new("equi");
    let free = setup.program("loops").start();
    free.until("it is attached", |program| program.dop.is_some());
    let all = setup.snapshot().pus;
    let second = all.iter().nth(1).expect("two PUs").to_string();
    let bound = setup.program("loops").under(&["taskset", "-c", &second]).start();
    let seen = bound.until("it is attached", |program| program.dop == Some(1) && program.regions > 100);
    assert_eq!((seen.pus.to_string(), seen.natural), (second.clone(), 1));
    let elsewhere =
        free.until("it makes room", |program| program.dop == Some(1) && program.effective_ns.is_some());
    assert_ne!(elsewhere.pus.to_string(), second);
    assert_eq!(cpus_of(bound.pid()).map(|cpus| cpus.len()), Some(1));
    free.finish().well();
    bound.until("more rounds", |program| program.regions > seen.regions + 1000);
    assert_eq!(bound.seen().map(|program| program.pus.to_string()), Some(second));
    bound.finish().well();
}

#[test]
fn threads_that_the_runtime_bound_have_the_grant() {
    let setup = Setup::new("equi");
    let bindings = [
        (By::Itself, "OMP_PROC_BIND", "true"),
        (By::Itself, "OMP_PROC_BIND", "spread"),
        (By::Itself, "OMP_PLACES", "cores"),
        (By::Itself, "GOMP_CPU_AFFINITY", "0-1"),
        (By::Clang, "OMP_PROC_BIND", "close"),
        (By::Clang, "KMP_AFFINITY", "compact"),
    ];
    for (by, variable, value) in bindings {
        // A team of a fixed size is folded; the others are resized.
        for fixed in [false, true] {
            let start = setup.at(&compiled_by(by, "placed")).args(if fixed { &["fixed"][..] } else { &[] });
            let program = start.env(variable, value).option("--max", 1).start();
            let seen = program.until("regions", |it| it.dop == Some(1) && it.regions > 100);
            let granted: Vec<u32> = seen.pus.iter().collect();
            wait_for(&format!("all threads there, {variable}={value}"), || {
                let all = threads_of(program.pid());
                all.iter().all(|tid| cpus_of(*tid).is_none_or(|cpus| cpus == granted)).then_some(())
            });
            program.finish().well();
        }
    }
}

#[test]
fn two_programs_whose_first_threads_are_bound_to_one_cpu_run_on_two() {
    let setup = Setup::new("equi");
    let start = || {
        let program = setup.at(&compiled("placed")).threads(1).env("OMP_PROC_BIND", "close");
        program.start()
    };
    let programs = [start(), start()];
    wait_for("they are apart", || {
        let [one, other] = programs.each_ref().map(|program| cpus_of(program.pid()));
        (one.as_ref()?.len() == 1 && one != other).then_some(())
    });
    for program in programs {
        program.until("regions", |program| program.regions > 100);
        program.finish().well();
    }
}

#[test]
fn a_kernel_with_more_possible_cpus_than_a_mask_has_is_asked_with_a_larger_one() {
    let setup = Setup::new("equi");
    let filters = compiled("filters");
    let under = [filters.to_str().expect("a plain path"), "large-sets", "exec"];
    // It counts its CPUs before its first region, and waits there.
    let program = setup.program("before_regions").args(["sleeps"]).under(&under).start();
    let seen = program.until("it is attached", |_| true);
    assert_eq!(seen.natural, 2);
    program.signal(libc::SIGUSR1);
    program.until("its regions", |program| program.regions > 10);
    program.finish().well();
    let program = setup.program("loops").under(&under).option("--max", 1).start();
    program.until("it is narrowed", |program| program.dop == Some(1) && program.regions > 100);
    wait_for("its affinity", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    program.finish().well();
}

#[test]
fn a_program_that_binds_itself_is_left_alone() {
    let setup = Setup::new("equi");
    let pus: Vec<String> = setup.snapshot().pus.iter().map(|pu| pu.to_string()).collect();
    let program = setup.program("loops").start();
    program.until("it is attached", |program| program.dop.is_some());
    let moved = setup.at("/usr/bin/taskset".as_ref()).unmanaged();
    let pid = program.pid().to_string();
    moved.args(["-a", "-c", "-p", &pus[1], &pid]).run();
    wait_for("it has moved", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    let neighbour = setup.program("loops").start();
    neighbour.until("it is attached", |program| program.regions > 100);
    assert_eq!(cpus_of(program.pid()).map(|cpus| cpus[0].to_string()), Some(pus[1].clone()));
    neighbour.finish().well();
    program.finish().well();
}
