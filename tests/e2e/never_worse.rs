//! Never worse than plain: whatever a program does to itself, it ends as it would without scaf, with the same
//! status and the same words, under `scaf run` and with the client but no daemon.

use crate::support::{By, Running, Setup, Start, compiled, compiled_by, cpus_of, root_user, wait_for};
use std::path::Path;

/// How it ended, and what it wrote.
type Outcome = (Option<i32>, Option<i32>, String, String);

/// A program, started plain, managed, and where there is no daemon: at the same time, for they look at
/// nothing that the others do.
struct Three<'h>([Running<'h>; 3]);

/// Started as `set` says.
fn three<'h>(setup: &'h Setup, program: &Path, set: impl Fn(Start<'h>) -> Start<'h>) -> Three<'h> {
    let start = || set(setup.at(program));
    let alone = start().preloaded().env("SCAF_SOCKET", "/nowhere");
    Three([start().unmanaged(), start(), alone].map(Start::start))
}

impl Three<'_> {
    #[track_caller]
    fn are_the_same(self) -> Outcome {
        self.are_the_same_but(str::to_owned)
    }

    /// The same, but for what `less` leaves out of their words.
    #[track_caller]
    fn are_the_same_but(self, less: impl Fn(&str) -> String) -> Outcome {
        let [plain, managed, alone] = self.0.map(|running| {
            let done = running.finish_by_itself();
            (done.code(), done.ended_by(), less(&done.out), less(&done.err))
        });
        assert_eq!(managed, plain, "managed, and plain");
        assert_eq!(alone, plain, "without a daemon, and plain");
        plain
    }
}

/// The same for a program of tests/programs that takes steps; each of `rows` has some, run at once.
#[track_caller]
fn rows(name: &str, threads: u32, options: &[&str], rows: &[&str]) {
    let setup = Setup::new("equi");
    let start = |row: &&str| {
        three(&setup, &compiled(name), |start| {
            let start = start.args(row.split(' ')).threads(threads);
            options.iter().fold(start, |start, option| start.flag(option))
        })
    };
    let all: Vec<_> = rows.iter().map(start).collect();
    for (row, three) in rows.iter().zip(all) {
        eprintln!("{name} {row}, {threads} threads, {options:?}");
        let outcome = three.are_the_same();
        assert!(outcome.2.contains("wrong=0") || outcome.0 == Some(1), "a test of nothing: {outcome:?}");
    }
}

#[test]
fn a_program_may_put_itself_under_a_filter_of_system_calls() {
    let all = [
        "strict region",
        "strict rounds",
        "strict-by-number region",
        "region strict rounds",
        "region strictest rounds",
        "no-looks rounds",
        "refusing no-looks rounds",
        "region thread rounds",
        "none rounds none",
        "child region",
        "region borrowed region",
    ];
    rows("filters", 2, &[], &all);
    rows("filters", 1, &[], &["strict region", "region strictest rounds", "region child region"]);
}

#[test]
fn a_managed_program_may_put_all_its_threads_under_a_filter() {
    let all = ["region strictest-for-all rounds", "whole strictest whole", "whole strictest-for-all whole"];
    rows("filters", 2, &["--max=1"], &all);
    // libgomp ends a smaller team's other threads. It has them again before none can be started any more.
    for row in ["rounds strictest rounds", "rounds borrowed rounds"] {
        rows("filters", 4, &["--max=2", "--malleable"], &[row]);
    }
}

#[test]
fn a_program_may_begin_under_a_filter() {
    let setup = Setup::new("equi");
    let filters = compiled("filters");
    let itself = filters.to_str().expect("a plain path");
    // It becomes itself again under the filter; or `scaf run` is under it, too.
    three(&setup, &filters, |start| start.args(["no-looks", "exec", itself, "rounds"])).are_the_same();
    three(&setup, &filters, |start| start.args(["region", "no-looks", "exec", itself, "rounds"]))
        .are_the_same();
    for filter in ["no-barriers", "harmless"] {
        three(&setup, &filters, |start| start.under(&[itself, filter, "exec"]).args(["rounds"]))
            .are_the_same();
    }
    let llvms = compiled_by(By::GccForLlvms, "filters");
    three(&setup, &llvms, |start| start.args(["no-looks", "rounds"]).threads(2)).are_the_same();
    three(&setup, &llvms, |start| start.args(["rounds", "no-looks", "rounds"]).threads(2)).are_the_same();
}

/// Containers filter all their programs' calls, and refuse some. That ends nobody.
#[test]
fn a_program_in_a_container_is_managed() {
    let setup = Setup::new("equi");
    let filters = compiled("filters");
    let under = [filters.to_str().expect("a plain path"), "harmless", "exec"];
    let program = setup.at(&filters).under(&under).args(["until-told"]).option("--max", 1);
    let program = program.flag("--malleable").start();
    program.until_resized_to(1);
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn a_call_that_sets_no_filter_changes_nothing() {
    let setup = Setup::new("equi");
    let program =
        setup.program("filters").args(["region", "none", "child", "borrowed", "until-told"]).threads(1);
    let program = program.start();
    program.until("it is attached", |program| program.regions > 1000);
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn a_program_that_puts_itself_under_a_filter_leaves_with_its_affinity() {
    let setup = Setup::new("equi");
    let words = ["whole", "no-barriers", "until-told"];
    let program = setup.program("filters").args(words).threads(2).option("--max", 1).start();
    let pid = program.pid();
    wait_for("it is narrowed", || cpus_of(pid).filter(|cpus| cpus.len() == 1));
    setup.until("it has left", |snapshot| snapshot.programs.is_empty().then_some(()));
    wait_for("both PUs again", || cpus_of(pid).filter(|cpus| cpus.len() == 2));
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn a_program_has_all_its_descriptors() {
    let all = [
        "close-all next-file rounds next-file",
        "region next-file close-all next-file rounds next-file",
        "close-stdio next-file rounds next-file",
        "files-0 rounds next-file files",
        "files-3 rounds next-file files",
        "files-8 rounds next-file files",
        "region files-8 rounds next-file files",
        "close-stdio files-16 rounds next-file files",
        "region unshare-files next-file rounds next-file",
    ];
    rows("plain", 2, &[], &all);
}

#[test]
fn a_program_may_give_up_rights_and_have_little() {
    rows("plain", 2, &[], &["little-memory rounds", "many-threads"]);
    for threads in [1, 2] {
        rows("plain", threads, &[], &["rounds tasks"]);
    }
    needs!(root_user(), "root, for its second half: giving up rights");
    let rounds = ["nobody user rounds next-file", "nobody no-threads region", "jail rounds next-file"];
    rows("plain", 2, &[], &rounds);
    rows("plain", 1, &[], &["nobody no-threads rounds user", "region unshare rounds user"]);
}

#[test]
fn a_program_may_jump_out_of_handlers_fork_and_wait() {
    rows("plain", 2, &[], &["jumps", "waits", "child", "ignore-children rounds wait", "wait"]);
    rows("plain", 1, &[], &["jumps", "region child"]);
}

#[test]
fn a_program_has_streams_and_signals_from_who_started_it() {
    let setup = Setup::new("equi");
    let plain = compiled("plain");
    let itself = plain.to_str().expect("a plain path");
    for odd in ["odd-signals", "close-input"] {
        let steps = ["inherited", "region", "next-file"];
        three(&setup, &plain, |start| start.under(&[itself, odd, "exec"]).args(steps)).are_the_same();
    }
}

#[test]
fn a_program_may_have_another_allocator() {
    let setup = Setup::new("equi");
    for allocator in ["libjemalloc.so.2", "libtcmalloc_minimal.so.4"] {
        for steps in [["child", "jumps"], ["many-threads", "next-file"]] {
            for threads in [1, 2] {
                let three = three(&setup, &compiled("plain"), |start| {
                    start.args(steps).threads(threads).preloading(allocator)
                });
                let outcome = three.are_the_same();
                // The loader complains of a library that isn't there, and goes on.
                assert_eq!(outcome.3, "", "run scripts/setup.sh");
            }
        }
    }
}

/// Addresses and process numbers differ from run to run.
fn without_addresses(words: &str) -> String {
    let hex = |word: &str| word.starts_with("0x") || word.starts_with("==");
    let lines = words.lines().filter(|line| !line.trim_start().starts_with(|c: char| c.is_ascii_hexdigit()));
    lines
        .map(|line| {
            let words: Vec<&str> =
                line.split_whitespace().map(|word| if hex(word) { "N" } else { word }).collect();
            words.join(" ")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_sanitizer_finds_what_it_finds_alone() {
    let setup = Setup::new("equi");
    for kind in ["address", "undefined", "leak", "thread"] {
        let program = compiled(&format!("sanitized_{kind}"));
        for fault in ["none", "overflow", "overrun", "lost"] {
            // With more threads, the thread sanitizer complains of libgomp.
            for threads in if kind == "thread" { 1..=1 } else { 1..=2 } {
                let three = three(&setup, &program, |start| start.args([fault]).threads(threads));
                let outcome = three.are_the_same_but(without_addresses);
                let found = matches!(
                    (kind, fault),
                    ("address", "overrun" | "lost")
                        | ("leak", "lost")
                        | ("undefined", "overflow" | "overrun")
                );
                assert_eq!(outcome.3.is_empty(), !found, "{kind} {fault}: {outcome:?}");
            }
        }
    }
}
