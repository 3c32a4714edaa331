//! Every way into a parallel region that gcc knows, under grants of one and of two PUs. Which functions of
//! runtimes the library exports.

use crate::support::{Done, Setup, released, right};
use object::{Object as _, ObjectSymbol as _};
use scaf_functions::runtime::{FUNCTIONS, is_runtimes};
use std::collections::BTreeSet;

/// The lines of constructs.c: name, rounds with a wrong result, largest team, last team.
fn constructs(done: &Done) -> Vec<(&str, [i64; 3])> {
    let numbers = |words: &str| -> Option<[i64; 3]> {
        let numbers: Vec<i64> = words.split(' ').filter_map(|word| word.parse().ok()).collect();
        numbers.try_into().ok()
    };
    let lines = done.out.lines().filter_map(|line| line.strip_prefix("construct="));
    lines
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, rest)| Some((name, numbers(rest)?)))
        .collect()
}

#[test]
fn every_construct_is_right_with_the_team_cut_to_one() {
    let setup = Setup::new("equi");
    let program = setup.program("constructs").threads(3).option("--max", 1).start();
    let seen = program.until_inspected();
    program.until("more rounds", |program| program.regions > seen.regions + 1000);
    let done = program.finish().well();
    let constructs = constructs(&done);
    assert_eq!(constructs.len(), 23);
    for (name, [wrong, largest, last]) in constructs {
        assert!(
            wrong == 0 && largest <= 3 && last <= 1,
            "{name}: {wrong} wrong, teams {largest}, then {last}"
        );
    }
}

#[test]
fn every_construct_is_right_with_the_team_cut_to_two() {
    let setup = Setup::new("equi");
    let program = setup.program("constructs").threads(4).start();
    let seen = program.until_inspected();
    program.until("more rounds", |program| program.regions > seen.regions + 5000);
    let done = program.finish().well();
    for (name, [wrong, largest, last]) in constructs(&done) {
        assert!(
            wrong == 0 && largest <= 4 && last <= 2,
            "{name}: {wrong} wrong, teams {largest}, then {last}"
        );
    }
}

#[test]
fn every_construct_is_right_while_grants_come_and_go() {
    let setup = Setup::new("equi");
    let program = setup.program("constructs").start();
    for _ in 0..10 {
        program.until("it is attached", |program| program.dop.is_some());
        let neighbour = setup.program("loops").start();
        neighbour.until("it is attached", |program| program.regions > 100);
        neighbour.finish().well();
    }
    for (name, [wrong, largest, _]) in constructs(&program.finish().well()) {
        assert!(wrong == 0 && largest <= 2, "{name}: {wrong} wrong, teams {largest}");
    }
}

fn are_right(name: &str, variable: &str, value: &str) -> [Done; 2] {
    [1, 2].map(|max| {
        let setup = Setup::new("equi");
        let program = setup.program(name).threads(2).env(variable, value).option("--max", max).start();
        let seen = program.until_inspected();
        // In steps: nested regions may take their time on a busy machine.
        for more in (200..=1000).step_by(200) {
            program.until("more rounds", |program| program.regions > seen.regions + more);
        }
        let done = program.finish().well();
        assert_eq!(done.number("wrong"), 0);
        done
    })
}

#[test]
fn sections_that_wait_for_each_other_keep_their_team() {
    let setup = Setup::new("equi");
    for form in ["combined", "within"] {
        let program = setup.program("sections").args([form]).threads(2).option("--max", 1).start();
        let seen = program.until_inspected();
        program.until("more rounds", |program| program.regions > seen.regions + 100);
        assert!(program.finish().well().number("rounds") > 100);
    }
}

#[test]
fn the_old_start_entry_points_are_right() {
    for done in are_right("starts", "OMP_DYNAMIC", "false") {
        assert!(done.number("largest") <= 2, "{done:#?}");
    }
}

tests! {
    cancelled_constructs_are_right: are_right("cancel", "OMP_CANCELLATION", "true");
    reductions_over_tasks_are_right: are_right("task_reductions", "OMP_DYNAMIC", "false");
    nested_regions_are_right: are_right("nested", "OMP_MAX_ACTIVE_LEVELS", "2");
    a_league_of_teams_is_right: are_right("teams", "OMP_DYNAMIC", "false");
}

#[test]
fn errno_is_what_it_was_before_a_region() {
    let setup = Setup::new("equi");
    let program = setup.program("errno").start();
    program.until("some rounds", |program| program.regions > 1000);
    assert_eq!(program.finish().well().number("changed"), 0);
    let program = setup.program("errno").start();
    setup.program("loops").run().well();
    program.finish().well();
}

#[test]
fn the_dynamic_linkers_latest_error_is_the_programs() {
    let setup = Setup::new("equi");
    right("without regions", setup.program("linker_error").run());
    let program = setup.program("linker_error_region").start();
    program.until("some rounds", |program| program.regions > 1000);
    right("with regions", program.finish());
}

#[test]
fn what_a_process_does_not_have_is_not_found_and_what_it_has_is() {
    let setup = Setup::new("equi");
    for name in ["absent", "own_names", "own_malloc"] {
        right(name, setup.program(name).unmanaged().run());
        right(name, setup.program(name).run());
    }
    let program = setup.program("present").threads(3).option("--max", 1).start();
    program.until("some rounds", |program| program.regions > 1000);
    right("present", program.finish());
}

#[test]
fn functions_of_the_programs_that_are_called_like_the_c_librarys_arent_called_by_us() {
    let setup = Setup::new("equi");
    let start = || setup.program("own_functions").threads(3);
    right("alone", start().unmanaged().run());
    let program = start().option("--max", 1).start();
    program.until("some rounds", |program| program.regions > 1000);
    right("managed", program.finish());
}

#[test]
fn exports_are_the_rows_with_handlers() {
    let bytes = std::fs::read(released("libscaf.so")).expect("libscaf.so");
    let library = object::File::parse(bytes.as_slice()).expect("ELF");
    let symbols = library.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names = symbols.filter_map(|symbol| symbol.name().ok());
    let exported: BTreeSet<String> =
        names.filter(|name| is_runtimes(name.as_bytes())).map(str::to_owned).collect();
    let rows = FUNCTIONS.iter().filter(|row| row.exported);
    let with_handlers: BTreeSet<String> = rows
        .flat_map(|row| [""].into_iter().chain(row.fortran()).map(|ending| format!("{}{ending}", row.name)))
        .collect();
    let no_row: Vec<_> = exported.difference(&with_handlers).collect();
    assert!(no_row.is_empty(), "exported, but without a row with a handler: {no_row:?}");
    let not_exported: Vec<_> = with_handlers.difference(&exported).collect();
    assert!(not_exported.is_empty(), "with a handler, but not exported: {not_exported:?}");
}
