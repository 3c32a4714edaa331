//! Gathered teams whose members cancel constructs.

use crate::support::{By, Setup, Start, compiled_by, right};
use scafd::control::Mechanism;

/// What is cancelled, as far as each compiler and runtime gets it right by itself. LLVM's runtime waits for
/// ever behind sections of gcc's code, and behind chunks of clang's.
const KINDS: [(By, &[&str]); 3] = [
    (By::Itself, &["loop", "chunks", "sections", "region", "ahead", "group", "tasks", "nesting"]),
    (By::GccForLlvms, &["loop", "chunks", "region", "group", "tasks"]),
    (By::Clang, &["loop", "sections", "region", "group", "tasks"]),
];

fn cancelling<'h>(setup: &'h Setup) -> impl Iterator<Item = (String, Start<'h>)> {
    KINDS.into_iter().flat_map(move |(by, kinds)| {
        let program = move || setup.at(&compiled_by(by, "gathered_cancelled"));
        let start = move |kind: &str| program().args([kind]).env("OMP_CANCELLATION", "true");
        kinds.iter().map(move |kind| (format!("{kind} by {by:?}"), start(kind)))
    })
}

/// On one carrier, and on two where on a busy machine the team may be folded.
#[test]
fn gathered_members_cancel() {
    let setup = Setup::new("equi");
    for carriers in [1, 2] {
        for (what, start) in cancelling(&setup) {
            let program = start.option("--max", carriers).start();
            if carriers == 1 {
                program.until(&format!("{what} gathered"), |program| {
                    program.mechanism == Mechanism::Gather && program.dop == Some(1)
                });
            }
            let seen = program.until("rounds", |program| program.regions > 20);
            program.until("more rounds", |program| program.regions > seen.regions + 500);
            right(&what, program.finish());
        }
    }
}

#[test]
fn a_grant_that_changes_all_the_time_changes_nothing_of_what_is_cancelled() {
    let setup = Setup::chaos(2);
    for (what, start) in cancelling(&setup) {
        let program = start.start();
        program.until("rounds", |program| program.regions > 500);
        right(&what, program.finish());
    }
}
