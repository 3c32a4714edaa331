//! Kinds of programs that resizing, gathering or folding would make wrong, hang or crash, each in several
//! languages. They compute the same with one context, beside another program, and while grants come and go.

use crate::support::{Setup, right};
use scafd::control::Mechanism;

/// Threads of those whose teams have as many as OpenMP promises.
const THREADS: u32 = 3;

/// Each alone; then with one context until its code has been inspected and for many regions more; then beside
/// another one, with grants that change all the time.
fn computed_the_same(names: &[&str]) {
    for name in names {
        let setup = Setup::new("equi");
        let start = || setup.program(name).threads(THREADS);
        right(name, start().unmanaged().run());
        let program = start().option("--max", 1).start();
        let seen = program.until("narrow", |program| {
            program.dop == Some(1)
                && matches!(program.mechanism, Mechanism::Fold | Mechanism::Gather | Mechanism::Park)
                && !program.mechanism_reason.contains("is being inspected")
                && !program.ungathered.contains("still looked at")
        });
        program.until("many regions", |program| program.regions > seen.regions + 100);
        right(name, program.finish());
        drop(setup);
        let setup = Setup::chaos(1);
        let neighbour = setup.program("loops").start();
        let program = setup.program(name).threads(THREADS).start();
        let seen = program.until_inspected();
        program.until("more regions", |program| program.regions > seen.regions + 200);
        right(name, program.finish());
        neighbour.finish().well();
    }
}

tests! {
    threads_that_are_known_by_something_else_than_their_number:
        computed_the_same(&["which_address", "which_name", "which_thread", "which_fortran"]);
    threads_that_wait_for_each_other_by_memory:
        computed_the_same(&["waits_queue", "waits_barrier", "waits_fortran", "spins_unseen"]);
    state_that_is_carried_over_iterations:
        computed_the_same(&["carried_private", "carried_engine", "each_carries"]);
    what_belongs_to_the_kernels_thread:
        computed_the_same(&["owned_timer", "owned_mutex", "bound_owner", "bound_stopping", "bound_fortran"]);
    threads_that_are_signalled_between_regions: computed_the_same(&["stops_between"]);
    limits_of_stacks_that_threads_note: computed_the_same(
        &["limit_noted", "limit_name", "limit_depth", "limit_guard", "limit_own"],
    );
    handlers_of_timers_signals: computed_the_same(&["alarm_flag", "alarm_name"]);
    first_threads_that_round_otherwise:
        computed_the_same(&["words_denormal", "words_rounding", "words_fortran"]);
    first_threads_with_smaller_stacks:
        computed_the_same(&["stack_thread", "stack_setting", "stack_limit"]);
    exceptions_of_numbers_that_the_first_thread_looks_for:
        computed_the_same(&["flags_tested", "flags_asked", "flags_raised"]);
    exceptions_and_handlers_on_other_stacks: computed_the_same(&["lands", "alternate", "alternate_kept"]);
}
