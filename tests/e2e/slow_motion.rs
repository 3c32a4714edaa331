//! Slow motion: contexts that are control groups.

use crate::support::{Setup, kernel, root_user, skip, wait_for};
use scaf_lab::slow::SlowMachine;
use scafd::observe::cgroup::cpu_group;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TINY: &str = "name = 'tiny'\n\
    [[program]]\nname = 'ep'\ncommand = ['{kernels}/ep', '--class=S']\n\
    [[program]]\nname = 'phases'\n\
    command = ['{kernels}/phases', '--serial-us=1000', '--parallel-us=9000', '--iterations=20']\n";

/// Whether there can be contexts; says so where groups have no quotas.
fn can_be_slow() -> bool {
    let can = root_user() && cpu_group(Path::new("/")).is_some();
    if !can {
        skip::skipped("root, and the cpu controller of control groups");
    }
    can
}

/// `scaf bench mix` of tiny programs with four contexts; `None` where there can be none.
fn bench(setup: &Setup) -> Option<Command> {
    can_be_slow().then_some(())?;
    let mix = setup.folder().join("tiny.toml");
    std::fs::write(&mix, TINY).expect("a mix");
    let kernels = kernel("ep").parent().map(Path::to_owned).unwrap_or_default();
    let mut command = setup.bench();
    command.arg("mix").arg(mix).arg("--kernels").arg(kernels);
    command.args(["--contexts", "4", "--repetitions", "1", "--json"]);
    command.args(["--configs", "unmanaged,pinned,equi,scaf"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

fn groups(maker: u32) -> Vec<PathBuf> {
    let Some((parent, _)) = cpu_group(Path::new("/")) else { return Vec::new() };
    let ours = format!("scaf-slow-{maker}-");
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().contains(&ours)).collect()
}

fn threads(group: &Path) -> usize {
    let files =
        ["tasks", "cgroup.threads"].map(|file| std::fs::read_to_string(group.join(file)).unwrap_or_default());
    files.iter().map(|text| text.lines().count()).max().unwrap_or(0)
}

#[test]
fn a_mix_in_slow_motion_verifies_and_leaves_no_group_behind() {
    let setup = Setup::without_daemon("equi");
    let Some(mut command) = bench(&setup) else { return };
    let child = command.spawn().expect("scaf starts");
    let maker = child.id();
    wait_for("threads on several contexts at once", || {
        let folder = groups(maker).pop()?;
        let busy = (0..4).filter(|context| threads(&folder.join(context.to_string())) > 0).count();
        (busy > 1).then_some(())
    });
    let done = child.wait_with_output().expect("scaf ends");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(said.contains("slow motion: 4 contexts") && said.contains("can't show"), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(report["slow_motion"]["contexts"], 4);
    let configs = report["configs"].as_array().expect("configurations");
    assert_eq!(configs.len(), 4);
    for config in configs {
        for program in config["programs"].as_array().expect("programs") {
            assert_eq!(program["verified"], true, "{config}");
            assert!(program["completions"].as_u64() > Some(0), "{config}");
        }
    }
    assert_eq!(groups(maker), Vec::<PathBuf>::new());
}

/// The quota of a context is no limit of the program that is on it.
#[test]
fn a_program_alone_has_all_contexts_of_slow_motion() {
    if !can_be_slow() {
        return;
    }
    let machine = SlowMachine::start(4).expect("groups");
    let setup = Setup::in_slow_motion(&machine, "equi");
    let program = setup.program("loops").threads(4).start();
    let used = || (0..4).filter(|context| threads(&machine.folder().join(context.to_string())) > 0).count();
    wait_for("a thread on each context", || (used() == 4).then_some(()));
    // Limits are read again once a second.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    let seen = program.seen().expect("the program");
    assert_eq!((seen.dop, seen.quota), (Some(4), None));
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn groups_of_a_killed_benchmark_are_taken_away_by_the_next() {
    let setup = Setup::without_daemon("equi");
    let (Some(mut command), Some(mut next)) = (bench(&setup), bench(&setup)) else { return };
    let mut killed = command.spawn().expect("scaf starts");
    wait_for("its groups", || groups(killed.id()).pop().filter(|folder| threads(&folder.join("0")) > 0));
    killed.kill().expect("killing it");
    killed.wait().expect("its end");
    assert_eq!(groups(killed.id()).len(), 1);
    let done = next.output().expect("scaf starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(groups(killed.id()), Vec::<PathBuf>::new());
}
