//! Ranks of MPI jobs, by the real Open MPI and MPICH: while one waits in MPI, the others have its contexts.
//! Skipped, with the reason, where one of them isn't installed.

use crate::support::{Done, Running, Setup, Start, compiled, kernel, root_user, skip, wait_for};
use scafd::control::Program;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An MPI, by the name of its launcher; what `ranks.c` is called that was compiled for it, and the kernel.
struct Mpi {
    launcher: &'static str,
    ranks: &'static str,
    zones: &'static str,
    options: &'static [&'static str],
}

const OPEN_MPI: Mpi = Mpi {
    launcher: "/usr/bin/mpirun.openmpi",
    ranks: "ranks",
    zones: "zones",
    options: &["--bind-to", "none", "--oversubscribe"],
};
const MPICH: Mpi = Mpi {
    launcher: "/usr/bin/mpirun.mpich",
    ranks: "ranks_mpich",
    zones: "mpich/zones",
    options: &["-bind-to", "none"],
};

/// Those that are there. Their compilers, too: what is compiled is kept, and may be there without them.
fn here() -> impl Iterator<Item = Mpi> {
    [OPEN_MPI, MPICH].into_iter().filter(|mpi| {
        let compiler = mpi.launcher.replace("mpirun", "mpicc");
        let missing = [mpi.launcher, &compiler].into_iter().find(|file| !Path::new(file).exists());
        if let Some(missing) = missing {
            skip::skipped(&format!("{missing} (scripts/setup.sh tests)"));
        }
        missing.is_none()
    })
}

impl Mpi {
    /// So many ranks of two threads each, under `scaf run`, which the launcher passes on.
    fn job<'h>(&self, setup: &'h Setup, ranks: u32, program: &Path, words: &[&str]) -> Start<'h> {
        let mut start = setup.at(Path::new(self.launcher)).args(self.options);
        start = start.args(["-n", &ranks.to_string()]).args([program]).args(words).threads(2);
        if root_user() {
            for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
                start = start.env(name, "1");
            }
        }
        start
    }

    fn zones(&self) -> PathBuf {
        kernel(self.zones)
    }
}

const QUIET: &str = "count_load = false\ngang = 'off'\n";

fn borrows(program: &Program) -> bool {
    program.dop == Some(2) && program.reason.contains("borrowed from program")
}

/// Waits until one of two has the other's context.
fn until_lent(setup: &Setup) {
    setup.until("one rank has the other's context", |snapshot| {
        let lends = |program: &Program| program.dop == Some(1) && program.reason.contains("lent to program");
        let [one, other] = &snapshot.programs[..] else { return None };
        (borrows(one) && lends(other) || borrows(other) && lends(one)).then_some(())
    });
}

fn right(done: Done) {
    assert_eq!(done.well().number("wrong"), 0);
}

#[test]
fn a_rank_that_waits_by_any_call_lends_its_contexts_and_gets_what_it_waits_for() {
    for mpi in here() {
        for way in ["barrier", "fortran", "recv", "wait", "sendrecv", "allreduce"] {
            let setup = Setup::configured("equi", QUIET);
            let job = mpi.job(&setup, 2, &compiled(mpi.ranks), &[way]).start();
            until_lent(&setup);
            right(job.finish());
        }
    }
}

#[test]
fn when_the_wait_is_over_everybody_has_what_the_policy_gives() {
    let Some(mpi) = here().next() else { return };
    let setup = Setup::configured("equi", QUIET);
    let job = mpi.job(&setup, 2, &compiled(mpi.ranks), &["barrier"]).start();
    until_lent(&setup);
    let other = setup.program("loops").threads(2).start();
    other.until("its part", |program| program.dop.is_some());
    right(job.finish());
    other.until_resized_to(2);
    right(other.finish());
    setup.until("nobody is left", |snapshot| snapshot.programs.is_empty().then_some(()));
}

#[test]
fn mpi_that_only_a_library_calls_is_seen() {
    if here().all(|mpi| mpi.ranks != OPEN_MPI.ranks) {
        return;
    }
    let setup = Setup::configured("equi", QUIET);
    let library = compiled("librank");
    let words = [library.to_str().expect("a plain path")];
    let job = OPEN_MPI.job(&setup, 2, &compiled("rank_behind"), &words).start();
    until_lent(&setup);
    right(job.finish());
}

#[test]
fn an_mpi_that_a_library_brings_for_itself_is_the_one_that_it_calls() {
    let setup = Setup::configured("equi", QUIET);
    let library = compiled("libmpi_of_one");
    let done = setup.program("mpi_of_one").args([&library]).run().well();
    assert_eq!(done.number("right"), 2);
}

fn is_verified(done: Done, value: &str) {
    let done = done.well();
    let line = done.json();
    assert!(line["verified"] == true && line["value"] == value, "{line}");
}

/// What any number of ranks and threads computes (bench/kernels/zones.c).
const VALUE_S: &str = "704.72099939238683";
const VALUE_W: &str = "25279.666996822998";

#[test]
fn ranks_compute_the_same_whoever_has_which_contexts() {
    for mpi in here() {
        for ranks in [2, 3, 4] {
            let setup = Setup::chaos(u64::from(ranks));
            is_verified(mpi.job(&setup, ranks, &mpi.zones(), &["--class=S", "--repeat=5"]).run(), VALUE_S);
        }
    }
}

fn is_lending(setup: &Setup, job: &mut Running<'_>) -> bool {
    let mut seen = false;
    wait_for("a loan, or its end", || {
        seen = setup.snapshot().programs.iter().any(borrows);
        (seen || job.has_ended()).then_some(())
    });
    seen
}

#[test]
fn a_daemon_killed_while_contexts_are_lent_harms_no_rank() {
    for mpi in here() {
        let setup = Setup::configured("equi", QUIET);
        let words = ["--class=W", "--repeat=8"];
        let mut job = mpi.job(&setup, 2, &mpi.zones(), &words).start();
        let mut kills = 0;
        while kills < 3 && is_lending(&setup, &mut job) {
            setup.end_daemon(libc::SIGKILL);
            std::thread::sleep(Duration::from_millis(50));
            setup.start_daemon();
            kills += 1;
        }
        assert!(kills > 0);
        is_verified(job.finish_by_itself(), VALUE_W);
    }
}
