//! A program and what it starts have one share of the machine together.

use crate::support::{Setup, kernel, kill};
use scafd::control::Snapshot;
use std::collections::BTreeSet;
use std::path::Path;

fn is_one(pus: &str) -> bool {
    pus.parse::<u32>().is_ok()
}

/// A shell with three kernels beside one, and what becomes of their PUs.
fn three_beside_one(options: &[&str], what: &str, look: impl Fn(&[String], &str) -> bool) {
    let setup = Setup::new("equi");
    let cg = kernel("cg");
    let words = ["--class=W", "--repeat=1000000"];
    let one = format!("{} {} >/dev/null &", cg.display(), words.join(" "));
    let text = format!("{one} {one} {one} wait");
    let shell = setup.at(Path::new("/bin/sh")).args(["-c", &text]);
    let shell = options.iter().fold(shell, |shell, option| shell.flag(option)).start();
    let single = setup.at(&cg).args(words).start();
    let of_shell = |snapshot: &Snapshot| {
        let started = snapshot.programs.iter().filter(|program| program.pid != single.pid());
        started.map(|program| (program.pid, program.pus.to_string())).collect::<Vec<_>>()
    };
    let pids = setup.until(what, |snapshot| {
        let its = snapshot.programs.iter().find(|program| program.pid == single.pid())?.pus.to_string();
        let (pids, pus): (Vec<u32>, Vec<String>) = of_shell(snapshot).into_iter().unzip();
        (pids.len() == 3 && look(&pus, &its)).then_some(pids)
    });
    pids.into_iter().for_each(kill);
    shell.finish_by_itself();
    single.signal(libc::SIGKILL);
    single.finish_by_itself();
}

#[test]
fn three_programs_of_a_shell_share_the_part_of_one() {
    three_beside_one(&[], "the three are on one PU, and the single one has the other", |pus, its| {
        pus.iter().all(|pu| pu == &pus[0] && is_one(pu) && pu != its) && is_one(its)
    });
}

#[test]
fn each_of_them_is_a_program_by_itself_if_its_user_says_so() {
    three_beside_one(&["--each"], "four programs on two PUs, two on each", |pus, its| {
        let used: BTreeSet<&str> = pus.iter().map(String::as_str).chain([its]).collect();
        let with_it = pus.iter().filter(|pu| *pu == its).count();
        used.len() == 2 && used.iter().all(|pu| is_one(pu)) && with_it == 1
    });
}
