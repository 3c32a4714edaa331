//! Slurm's jobs under one daemon (packaging/slurm, docs/guide/slurm.md), with the real Slurm. As root only,
//! where it is installed. SCAF_SLURM_JOBS sets how many jobs the last test runs; a fifth as many times the
//! daemon is killed.

use crate::support::slurm::{Kind, Slurm};
use crate::support::{Done, PATIENCE, Setup, Start, compiled, has_row, wait_for};
use scafd::control::Program;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// One daemon and one cluster. Gangs and load are what other tests are about.
const QUIET: &str = "count_load = false\ngang = 'off'\n";

/// `srun` on node 1, both of its CPUs, as what a test starts and ends.
fn srun<'h>(setup: &'h Setup, slurm: &Slurm<'_>, option: &str, program: &str) -> Start<'h> {
    let words = ["-Q", "-w", "n1", "-c2", "-n1", option, program];
    setup.at(Path::new("srun")).unmanaged().env("SLURM_CONF", slurm.configuration()).args(words)
}

fn loops() -> String {
    compiled("loops").to_str().expect("a plain path").to_owned()
}

/// A script's line that runs rounds for so many seconds.
fn for_seconds(seconds: f64) -> String {
    format!("sleep {seconds} | '{}'", loops())
}

fn of_job(setup: &Setup, what: &str, look: impl Fn(&Program) -> bool) -> Program {
    setup.until(what, |snapshot| {
        snapshot.programs.iter().find(|program| program.job.is_some() && look(program)).cloned()
    })
}

fn number(program: &Program) -> u32 {
    let job = program.job.as_deref().unwrap_or_default();
    job.split('.').next().and_then(|job| job.parse().ok()).unwrap_or_else(|| panic!("{program:?}"))
}

/// A value of the record that scaf writes: `scaf:step=0,node=n1,contexts=1.00,...;`.
fn value(record: &str, name: &str) -> f64 {
    let fields = record.split([',', ';', ':']);
    let found = fields.filter_map(|field| field.split_once('=')).find(|(key, _)| *key == name);
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or_else(|| panic!("no {name}: {record}"))
}

fn right(done: &Done) {
    assert!(done.code() == Some(0) && done.number("wrong") == 0, "{done:?}");
}

fn wrote(setup: &Setup, job: u32) -> String {
    std::fs::read_to_string(setup.folder().join(format!("of-{job}"))).expect("what it wrote")
}

fn is_right(setup: &Setup, job: u32) {
    let out = wrote(setup, job);
    assert!(out.contains("wrong=0"), "{out}");
}

#[test]
fn two_jobs_share_a_node_and_what_they_had_is_in_their_records() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let first = srun(&setup, &slurm, "--scaf", &loops()).start();
    let alone = of_job(&setup, "a job has the node", |program| program.dop == Some(2));
    assert_eq!((alone.min, alone.max, alone.weight, alone.exact), (1, 0, 1.0, false));
    let second = srun(&setup, &slurm, "--scaf=min=1,max=1,weight=2.5,exact", &loops()).start();
    let other = of_job(&setup, "its options arrive", |program| program.id != alone.id);
    assert_eq!((other.min, other.max, other.weight, other.exact), (1, 1, 2.5, true));
    let shared = setup.until("each has a context", |snapshot| {
        let both = snapshot.programs.iter().all(|program| program.dop == Some(1) && program.regions > 100);
        (snapshot.programs.len() == 2 && both).then(|| snapshot.clone())
    });
    let jobs: BTreeSet<u32> = shared.programs.iter().map(number).collect();
    assert_eq!(jobs.len(), 2, "{jobs:?}");
    let said = setup.says(&["ps", "-v"]);
    assert!(has_row(&said, "job", &format!("{}.0 of user 0", number(&alone))), "{said}");
    // Their records are written when they end, some seconds of sharing later.
    std::thread::sleep(Duration::from_secs(2));
    right(&second.finish().well());
    right(&first.finish().well());
    for job in jobs {
        slurm.until_it_is(job, "COMPLETED");
        let record = slurm.record(job);
        assert!(record.starts_with("scaf:step=0,node=n1,seconds="), "{record}");
        assert!(value(&record, "seconds") > 1.0 && value(&record, "contexts") >= 1.0, "{record}");
        assert!(value(&record, "contexts") <= 2.0, "{record}");
    }
}

#[test]
fn jobs_whose_cpusets_overlap_share_and_others_stay_apart() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let one = |cpu: &str| {
        let words = ["-Q", "-w", "n1", "-c2", "-n1", "--scaf", cpu, &loops()].map(str::to_owned);
        setup.at(Path::new("srun")).unmanaged().env("SLURM_CONF", slurm.configuration()).args(words).start()
    };
    let (left, right_one) = (one("--cpu-bind=mask_cpu:0x1"), one("--cpu-bind=mask_cpu:0x2"));
    setup.until("each has its own CPU", |snapshot| {
        let pus: BTreeSet<String> = snapshot.programs.iter().map(|program| program.pus.to_string()).collect();
        (pus.len() == 2 && snapshot.programs.iter().all(|program| program.dop == Some(1))).then_some(())
    });
    right(&left.finish().well());
    right(&right_one.finish().well());
}

#[test]
fn with_a_broken_option_a_job_runs_without_scaf_and_one_line_says_so() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let long = format!("--scaf={}", "min=1,".repeat(99));
    for option in [
        "--scaf=min=2,max=1",
        "--scaf=min=0",
        "--scaf=max=x",
        "--scaf=weight=-1",
        "--scaf=fast",
        "--scaf=,",
        &long,
    ] {
        let done = srun(&setup, &slurm, option, "env").run();
        assert_eq!(done.code(), Some(0), "{done:?}");
        assert!(!done.out.contains("libscaf") && !done.out.contains("SCAF_JOB"), "{done:?}");
        assert_eq!(done.err.lines().count(), 1, "{done:?}");
        assert!(done.err.contains("runs without scaf"), "{done:?}");
    }
    let done = srun(&setup, &slurm, "--scaf=off", "env").run().well();
    assert!(!done.out.contains("libscaf"), "{done:?}");
    assert!(srun(&setup, &slurm, "--scaf", "env").run().well().out.contains("libscaf"));
}

#[test]
fn without_a_daemon_or_without_scaf_a_job_runs_as_without_us_and_one_line_says_so() {
    let setup = Setup::without_daemon("equi");
    let Some(slurm) = Slurm::start(&setup) else { return };
    let done = srun(&setup, &slurm, "--scaf", "env").run();
    assert!(done.code() == Some(0) && !done.out.contains("libscaf"), "{done:?}");
    assert!(done.err.lines().count() == 1 && done.err.contains("nobody answers"), "{done:?}");
    slurm.plug("scaf=/nonexistent/scaf");
    let done = srun(&setup, &slurm, "--scaf", "env").run();
    assert!(done.code() == Some(0) && !done.out.contains("libscaf"), "{done:?}");
    assert!(done.err.lines().count() == 1 && done.err.contains("can't execute"), "{done:?}");
    assert!(srun(&setup, &slurm, "-n1", "env").run().well().out.contains("SLURM_JOB_ID"));
}

#[test]
fn a_script_and_its_steps_have_the_option_and_a_step_may_do_without() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let script = "#SBATCH --scaf=max=1\n#SBATCH -c2 -o of-%j\n\
                  env | sed -n 's/^SCAF_/script &/p'; srun -Q env | sed -n 's/^SCAF_/step &/p'\n\
                  srun -Q --scaf=off env | sed -n 's/^SCAF_\\|^LD_PRE/off &/p'";
    let job = slurm.submit(&[], script);
    slurm.until_it_is(job, "COMPLETED");
    let out = wrote(&setup, job);
    // 65531 is Slurm's number of a job's script.
    for line in ["script SCAF_MAX=1", "step SCAF_MAX=1", &format!("script SCAF_JOB={job}.65531")] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(out.contains(&format!("step SCAF_JOB={job}.0")), "{out}");
    for taken_back in ["off SCAF_JOB", "off SCAF_SOCKET", "off SCAF_MAX", "off LD_PRELOAD"] {
        assert!(!out.contains(taken_back), "{taken_back}: {out}");
    }
}

#[test]
fn who_says_default_on_has_all_jobs_shared() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    slurm.plug("default=on");
    assert!(srun(&setup, &slurm, "-n1", "env").run().well().out.contains("libscaf"));
    assert!(!srun(&setup, &slurm, "--scaf=off", "env").run().well().out.contains("libscaf"));
}

#[test]
fn a_daemon_and_a_slurmd_that_are_killed_harm_no_job() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let job = slurm.submit(&["--scaf", "-c2", "-w", "n1", "-o", "of-%j"], &for_seconds(8.0));
    of_job(&setup, "it is managed", |program| program.regions > 100);
    setup.end_daemon(libc::SIGKILL);
    setup.start_daemon();
    of_job(&setup, "it attaches to the next daemon", |program| number(program) == job);
    slurm.kill_node("n1");
    slurm.start_node("n1");
    slurm.until_it_is(job, "COMPLETED");
    is_right(&setup, job);
    let record = slurm.record(job);
    assert!(record.starts_with("scaf:step=batch,node=n1,") && value(&record, "seconds") > 0.0, "{record}");
}

fn is_gone(setup: &Setup) {
    setup.until("its share is free", |snapshot| snapshot.programs.is_empty().then_some(()));
}

#[test]
fn scancel_ends_a_job_and_its_record_is_there() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let job = slurm.submit(&["--scaf", "-c2", "-o", "/dev/null"], &for_seconds(100.0));
    of_job(&setup, "it is managed", |program| program.regions > 100);
    // Slurm takes nothing into the record of a job that has been cancelled.
    assert!(slurm.record(job).contains(",so_far;"));
    slurm.say("scancel", &[&job.to_string()]).well();
    slurm.until_it_is(job, "CANCELLED");
    is_gone(&setup);
    assert!(value(&slurm.record(job), "contexts") > 0.0);
}

#[test]
fn a_time_limit_ends_a_job() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let job = slurm.submit(&["--scaf", "-c2", "-t", "5", "-o", "/dev/null"], &for_seconds(100.0));
    of_job(&setup, "it is managed", |program| program.regions > 100);
    // Slurm counts in minutes, and looks every half.
    slurm.say("scontrol", &["update", &format!("jobid={job}"), "EndTime=now+1"]).well();
    let deadline = Instant::now() + 3 * PATIENCE;
    while slurm.field(job, "JobState") != "TIMEOUT" {
        assert!(Instant::now() < deadline, "it isn't ended: {}", slurm.field(job, "JobState"));
        std::thread::sleep(Duration::from_millis(200));
    }
    is_gone(&setup);
}

#[test]
fn a_suspended_job_goes_on_where_it_was() {
    suspended(Kind::Plain);
}

/// There jobs are stopped by freezing their control group, not by a signal.
#[test]
fn a_frozen_job_goes_on_where_it_was() {
    let before = groups();
    suspended(Kind::Groups);
    assert_eq!(groups(), before, "control groups are left");
}

fn suspended(kind: Kind) {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::of(kind, &setup) else { return };
    let options = ["--scaf", "-c2", "-w", "n1", "-o", "of-%j"];
    let job = slurm.submit(&options, &for_seconds(6.0));
    let seen = of_job(&setup, "it is managed", |program| program.regions > 100);
    let name = job.to_string();
    slurm.say("scontrol", &["suspend", &name]).well();
    slurm.until_it_is(job, "SUSPENDED");
    // Another one has the node meanwhile.
    let done = srun(&setup, &slurm, "--scaf", &loops()).run().well();
    right(&done);
    slurm.say("scontrol", &["resume", &name]).well();
    of_job(&setup, "it goes on", |program| number(program) == job && program.regions > seen.regions);
    slurm.until_it_is(job, "COMPLETED");
    is_right(&setup, job);
}

#[test]
fn jobs_in_control_groups_share_and_are_known_by_them() {
    let before = groups();
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::of(Kind::Groups, &setup) else { return };
    let jobs = [
        slurm.submit(&["--scaf", "-c2", "-w", "n1", "-o", "of-%j"], &for_seconds(6.0)),
        // What it says of itself counts for nothing.
        slurm.submit(
            &["--scaf", "-c2", "-w", "n1", "-o", "of-%j"],
            &format!("export SCAF_JOB=4711.0; {}", for_seconds(6.0)),
        ),
    ];
    let named = setup.until("each has a context", |snapshot| {
        let both = snapshot.programs.iter().all(|program| program.dop == Some(1) && program.regions > 100);
        let names: BTreeSet<String> = snapshot.programs.iter().filter_map(|it| it.job.clone()).collect();
        (snapshot.programs.len() == 2 && both).then_some(names)
    });
    assert_eq!(named, jobs.iter().map(|job| format!("{job}.batch")).collect());
    for job in jobs {
        slurm.until_it_is(job, "COMPLETED");
        is_right(&setup, job);
        assert!(value(&slurm.record(job), "contexts") > 0.0);
    }
    drop(slurm);
    assert_eq!(groups(), before, "control groups are left");
}

#[test]
fn jobs_that_are_stopped_in_turns_have_the_node_in_their_turn() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::of(Kind::Gang, &setup) else { return };
    let options = ["--scaf", "-c2", "-w", "n1", "-o", "of-%j"];
    let jobs = [(); 2].map(|()| slurm.submit(&options, &for_seconds(20.0)));
    for job in jobs {
        of_job(&setup, "it has both contexts", |program| {
            number(program) == job && program.dop == Some(2) && program.regions > 100
        });
    }
    for job in jobs {
        slurm.until_it_is(job, "COMPLETED");
        is_right(&setup, job);
    }
}

#[test]
fn requests_are_lowered_to_the_knee_and_users_are_told() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::of(Kind::Knees, &setup) else { return };
    let said = slurm.submitted(&["--scaf", "-p", "shared", "-c2", "-o", "/dev/null"], &for_seconds(1.0));
    assert!(said.err.contains("CPUs per task lowered from 2 to 1"), "{said:?}");
    let job = said.out.trim().parse().unwrap_or_else(|e| panic!("{e}: {said:?}"));
    assert_eq!((slurm.field(job, "CPUs/Task"), slurm.field(job, "NumCPUs")), ("1".into(), "1".into()));
    slurm.until_it_is(job, "COMPLETED");
    let other = slurm.submit(&["--scaf", "-p", "shared", "-c2", "-o", "/dev/null"], "/bin/hostname");
    assert_eq!(slurm.field(other, "CPUs/Task"), "2");
    slurm.until_it_is(other, "COMPLETED");
}

#[test]
fn accounts_show_what_a_job_had() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::of(Kind::Accounts, &setup) else { return };
    let job = slurm.submit(&["--scaf", "-c2", "-o", "/dev/null"], &format!("srun -Q {}", in_step(2.0)));
    slurm.until_it_is(job, "COMPLETED");
    let words = ["-n", "-P", "-X", "-j", &job.to_string(), "-o", "State,AdminComment"];
    let record = wait_for("its account", || {
        let said = slurm.say("sacct", &words).out;
        said.trim().strip_prefix("COMPLETED|").filter(|text| !text.is_empty()).map(str::to_owned)
    });
    assert_eq!(record, slurm.record(job));
    assert!(value(&record, "seconds") > 0.5 && value(&record, "contexts") >= 1.0, "{record}");
}

/// The records of a job, or of all of an array's: what squeue shows of them and nothing else.
fn records(slurm: &Slurm, job: u32) -> Vec<String> {
    let words = ["-h", "-t", "all", "-j", &job.to_string(), "-O", "admin_comment:1000"];
    slurm.say("squeue", &words).out.lines().map(|line| line.trim().replace("(null)", "")).collect()
}

#[test]
fn a_jobs_name_is_no_record() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let name = "a\n   AdminComment=forged";
    let job = slurm.submit(&["--scaf", "-J", name, "-c2", "-o", "of-%j"], &for_seconds(1.0));
    slurm.until_it_is(job, "COMPLETED");
    let record = wait_for("its record", || records(&slurm, job).pop().filter(|text| !text.is_empty()));
    assert!(record.starts_with("scaf:step=batch,") && !record.contains("forged"), "{record}");
    is_right(&setup, job);
}

#[test]
fn each_job_of_an_array_has_a_record_of_its_own() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let script = format!("sleep ${{SLURM_ARRAY_TASK_ID}} | '{}'", loops());
    let job = slurm.submit(&["--scaf", "--array=1-3", "-c2", "-o", "/dev/null"], &script);
    let all = wait_for("records of all", || {
        Some(records(&slurm, job)).filter(|all| all.len() == 3 && all.iter().all(|one| !one.is_empty()))
    });
    for record in all {
        assert_eq!(record.matches("scaf:step=").count(), 1, "{record}");
        assert!(value(&record, "seconds") > 0.0, "{record}");
    }
}

/// It would run in slurmstepd's place, outside of the step.
#[test]
fn what_a_job_preloads_is_loaded_into_its_tasks_only() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let (library, into) = (compiled("libloaded"), setup.folder().join("into"));
    let step = srun(&setup, &slurm, "--scaf", "env").env("LOADED_INTO", &into).env("LD_PRELOAD", &library);
    let out = step.run().well().out;
    let preloaded = out.lines().find_map(|line| line.strip_prefix("LD_PRELOAD=")).unwrap_or_default();
    let library = library.to_str().expect("a plain path");
    assert!(preloaded.contains("libscaf.so") && preloaded.contains(library), "{out}");
    let into = std::fs::read_to_string(&into).expect("programs that it was loaded into");
    assert!(into.contains("env\n") && !into.contains("scaf\n"), "{into}");
}

#[test]
fn a_requeued_job_is_managed_again() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::start(&setup) else { return };
    let script = format!("[ -n \"$SLURM_RESTART_COUNT\" ] && {} || {}", for_seconds(3.0), for_seconds(60.0));
    let job = slurm.submit(&["--scaf", "--requeue", "-c2", "-o", "of-%j"], &script);
    let first = of_job(&setup, "it is managed", |program| program.regions > 100);
    slurm.say("scontrol", &["requeue", &job.to_string()]).well();
    is_gone(&setup);
    // Slurm holds a requeued job back for two minutes; told to begin, it does. Within the same second it
    // would take the credential for the one that it has just revoked.
    wait_for("it is pending", || (slurm.field(job, "JobState") == "PENDING").then_some(()));
    slurm.say("scontrol", &["update", &format!("jobid={job}"), "StartTime=now+3"]).well();
    let again = of_job(&setup, "it is managed again", |program| program.regions > 100);
    assert!(again.id != first.id && number(&again) == job);
    slurm.until_it_is(job, "COMPLETED");
}

fn groups() -> BTreeSet<String> {
    let found =
        std::process::Command::new("find").args(["/sys/fs/cgroup", "-type", "d"]).output().expect("find");
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    let ours = |path: &&str| ["scaf", "slurm", "job_", "step_"].iter().any(|name| path.contains(name));
    text.lines().filter(ours).map(str::to_owned).collect()
}

#[test]
fn many_jobs_complete_whatever_happens_to_the_daemon() {
    let setup = Setup::configured("equi", QUIET);
    let Some(slurm) = Slurm::of(Kind::Accounts, &setup) else { return };
    let jobs: usize = std::env::var("SCAF_SLURM_JOBS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let (before, mut kills) = (groups(), 0);
    let submit = |at: usize| {
        let node = ["n1", "n2"][at % 2];
        slurm.submit(&["--scaf", "-c2", "-w", node, "-o", "of-%j"], &format!("srun -Q {}", in_step(1.0)))
    };
    let all: Vec<u32> = (0..jobs).map(submit).collect();
    let deadline = Instant::now() + PATIENCE * (4 + jobs as u32 / 4);
    let completed = || -> usize { slurm.completed().len() };
    loop {
        let done = completed();
        if done >= jobs {
            break;
        }
        assert!(Instant::now() < deadline, "{done} of {jobs} have completed");
        // Spread over their time, however fast they are.
        if kills < jobs / 5 && done * (jobs / 5) >= kills * jobs {
            setup.end_daemon(libc::SIGKILL);
            setup.start_daemon();
            kills += 1;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(kills, jobs / 5);
    let mut sums = BTreeSet::new();
    let mut recorded = 0;
    for job in &all {
        assert!(
            slurm.completed().contains(&(*job, "COMPLETED".into())),
            "job {job}: {:?}",
            slurm.completed()
        );
        let out = wrote(&setup, *job);
        let line = |key: &str| out.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
        assert_eq!(line("wrong="), "wrong=0", "job {job}: {out}");
        sums.insert(line("sum="));
        let record = slurm.record(*job);
        assert!(record.contains("scaf:step=0,"), "job {job}: {record}");
        recorded += usize::from(record.contains("contexts="));
    }
    wait_for("accounts of all jobs", || {
        let said = slurm.say("sacct", &["-n", "-P", "-X", "-o", "State,AdminComment"]).out;
        let complete = said.lines().filter(|line| line.starts_with("COMPLETED|scaf:step=0,")).count();
        (complete == jobs && said.lines().count() == jobs).then_some(())
    });
    println!("{jobs} jobs, {kills} kills, {recorded} of them with contexts in their records");
    assert_eq!(sums.len(), 1, "all have the same result: {sums:?}");
    assert_eq!(groups(), before, "control groups are left");
}

fn in_step(seconds: f64) -> String {
    format!("sh -c \"{}\"", for_seconds(seconds).replace('"', "\\\""))
}
