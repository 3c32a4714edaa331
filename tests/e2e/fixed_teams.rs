//! Programs that fix the size of their teams, or count on it, always find it, whatever the grant.

use crate::support::Setup;
use scafd::control::Mechanism;

/// Runs a program with a grant of one PU and a team of 3 of its own; returns what it said in the end.
fn kept(name: &str, argument: &str) -> crate::support::Done {
    let setup = Setup::new("equi");
    let program = setup.program(name).args([argument]).threads(3).option("--max", 1).start();
    let seen = program.until("its team is kept", |program| {
        let kept = matches!(program.mechanism, Mechanism::Fold | Mechanism::Gather);
        kept && program.dop == Some(1) && program.effective_ns.is_some()
    });
    assert!(!seen.mechanism_reason.is_empty());
    program.until("a thousand rounds", |program| program.regions > seen.regions + 1000);
    let done = program.finish();
    assert_eq!(done.number("smallest"), 3, "{done:#?}");
    done.well()
}

tests! {
    a_num_threads_clause_is_kept: kept("promises", "clause");
    omp_set_num_threads_is_kept: kept("set_only", "set");
    omp_set_dynamic_off_is_kept: kept("set_only", "dynamic");
    omp_set_num_threads_in_fortran_is_kept: kept("fortran", "set");
    omp_set_dynamic_off_in_fortran_is_kept: kept("fortran", "dynamic");
}

#[test]
fn eight_byte_integers_of_fortran_are_understood() {
    kept("fortran_8", "set");
    kept("fortran_8", "dynamic");
}

tests! {
    threadprivate_data_keep_their_team: kept("promises", "private");
    a_program_that_divides_work_by_the_team_size_keeps_its_team: kept("promises", "size");
}

#[test]
fn a_clause_binds_its_own_region_only() {
    let setup = Setup::new("equi");
    let program = setup.program("clause_only").option("--max", 1).start();
    let seen = program.until_inspected();
    let seen = program.until("more rounds", |program| program.regions > seen.regions + 1000);
    assert!(seen.promised_regions > 0);
    let done = program.finish().well();
    assert_eq!((done.number("smallest"), done.number("free_last")), (3, 1));
}

/// Each thread has work of its own, a number that it drew, or a state that it goes on from: nothing of that
/// asks for the team's size.
#[test]
fn work_for_each_thread_is_done_by_as_many_as_without_scaf() {
    let setup = Setup::new("equi");
    for name in ["each_samples", "each_draws", "each_carries"] {
        let program = setup.program(name).threads(3).option("--max", 1).start();
        let seen = program.until(&format!("{name}'s team is kept"), |program| {
            matches!(program.mechanism, Mechanism::Fold | Mechanism::Gather) && program.dop == Some(1)
        });
        program.until("a thousand rounds", |program| program.regions > seen.regions + 1000);
        assert_eq!(program.finish().well().number("wrong"), 0, "{name}");
    }
}
