//! What the command says and exits with when something is wrong, and that it leaves nothing behind.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Scaf {
    folder: tempfile::TempDir,
}

impl Scaf {
    fn new() -> Scaf {
        Scaf { folder: tempfile::tempdir().expect("temporary folder") }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scaf"));
        command
            .args(arguments)
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .env("XDG_DATA_HOME", self.folder.path().join("data"))
            .env_remove("SCAF_LIB")
            .env("SCAF_SOCKET", self.folder.path().join("scafd.sock"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("scaf starts")
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("file");
        path.to_string_lossy().into_owned()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_minimum_above_the_maximum_is_an_error_and_nothing_runs() {
    let output = Scaf::new().run(&["run", "--min", "3", "--max", "2", "echo", "ran"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--min 3 is more than --max 2"));
    assert!(output.stdout.is_empty());
}

#[test]
fn an_unknown_program_exits_with_127() {
    let output = Scaf::new().run(&["run", "no-such-program-anywhere"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(stderr(&output).contains("no-such-program-anywhere: not found"));
}

#[test]
fn a_program_that_isnt_executable_exits_with_126() {
    let scaf = Scaf::new();
    let file = scaf.file("plain", "text");
    let output = scaf.run(&["run", &file]);
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("not executable"));
}

#[test]
fn a_program_keeps_its_arguments_output_and_exit_status_whatever_is_missing() {
    let output = Scaf::new().run(&["run", "--", "sh", "-c", "echo \"$@\"; exit 9", "sh", "--name", "a b"]);
    assert_eq!(output.status.code(), Some(9));
    assert_eq!(output.stdout, b"--name a b\n");
}

#[test]
fn without_a_daemon_at_the_socket_named_a_program_runs_unmanaged_with_one_line() {
    let scaf = Scaf::new();
    let library = scaf.file("libscaf.so", "");
    let output =
        scaf.command(&["run", "echo", "ran"]).env("SCAF_LIB", library).output().expect("scaf starts");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"ran\n".as_slice()));
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("echo runs unmanaged") && said.contains("nobody answers"), "{said}");
}

#[test]
fn a_socket_of_another_user_is_refused_and_the_program_runs_unmanaged() {
    let scaf = Scaf::new();
    let library = scaf.file("libscaf.so", "");
    let socket = scaf.file("scafd.sock", "");
    if std::os::unix::fs::chown(&socket, Some(54_321), None).is_err() {
        return; // only root can make the situation
    }
    let output = scaf.command(&["run", "true"]).env("SCAF_LIB", library).output().expect("scaf starts");
    assert!(output.status.success());
    assert!(stderr(&output).contains("belongs to another user (54321)"), "{}", stderr(&output));
}

#[test]
fn without_a_daemon_there_is_nothing_to_list_and_the_message_says_how_to_start_one() {
    for arguments in [
        &["ps"][..],
        &["ps", "--json"],
        &["ps", "--why"],
        &["why"],
        &["record"],
        &["policy"],
        &["policy", "equi"],
    ] {
        let output = Scaf::new().run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(stderr(&output).contains("no daemon is running"), "{}", stderr(&output));
        assert!(stderr(&output).contains("scaf run"));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_mix_that_cant_be_read_is_named() {
    let output = Scaf::new().run(&["bench", "mix", "/nowhere/mix.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/nowhere/mix.toml"));
}

#[test]
fn a_key_that_isnt_known_in_a_mix_is_refused_with_file_and_line() {
    let scaf = Scaf::new();
    let mix = scaf.file("mix.toml", "name = 'x'\n[[program]]\nname = 'a'\ncomand = ['ls']\n");
    let output = scaf.run(&["bench", "mix", &mix]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains(&mix) && said.contains("line 4") && said.contains("comand"), "{said}");
}

/// What measures doesn't run beside what keeps others from running.
static MACHINE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_mix_without_daemons_is_measured_in_json_and_drawn() {
    let _alone = alone();
    let scaf = Scaf::new();
    let script = "echo '{\"seconds\":0.1,\"verified\":true,\"value\":\"1\"}'; sleep 0.1";
    let mix = scaf.file(
        "mix.toml",
        &format!(
            "name = 'two'\n[[program]]\nname = 'a'\ncommand = ['sh', '-c', '''{script}''']\n\
             [[program]]\nname = 'b'\ncommand = ['sh', '-c', 'echo same; sleep 0.2']\nresult = \
             'stdout-hash'\n"
        ),
    );
    let plot = scaf.folder.path().join("out.svg");
    let output = scaf
        .command(&[
            "bench",
            "mix",
            &mix,
            "--configs",
            "unmanaged,pinned",
            "--repetitions",
            "2",
            "--json",
            "--plot",
        ])
        .arg(&plot)
        .output()
        .expect("scaf starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("JSON alone on standard output");
    for key in ["machine", "version", "repetitions", "date", "mix", "configs"] {
        assert!(!json[key].is_null(), "{key}");
    }
    assert_eq!(json["configs"][1]["name"], "pinned");
    let program = &json["configs"][0]["programs"][1];
    for key in ["name", "serial_s", "corun_s", "speedup", "completions", "capped", "verified"] {
        assert!(!program[key].is_null(), "{key}");
    }
    assert_eq!((&program["verified"], &program["capped"]), (&true.into(), &false.into()));
    let stp = json["configs"][0]["stp"].as_f64().expect("a number");
    assert!((1.0..3.0).contains(&stp), "{stp}");
    assert!(
        stderr(&output).contains("unmanaged")
            && std::fs::read_to_string(plot).expect("plot").contains("<svg")
    );
}

/// A program's first run may read its files from disk, which is nobody's merit and nobody's fault.
#[test]
fn a_first_run_doesnt_count_if_it_is_to_warm_up() {
    let _alone = alone();
    let serial_s = |options: &[&str]| {
        let scaf = Scaf::new();
        let cached = scaf.folder.path().join("cached");
        let script = format!("test -e {0} || {{ touch {0}; sleep 2; }}; echo same", cached.display());
        let mix = scaf.file(
            "mix.toml",
            &format!(
                "name = 'w'\n[[program]]\nname = 'a'\ncommand = ['sh', '-c', '{script}']\nresult = \
                'stdout-hash'\n"
            ),
        );
        let words = ["bench", "mix", &mix, "--json", "--configs", "unmanaged", "--repetitions", "1"];
        let output = scaf.run(&[&words, options].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["warmed"], !options.is_empty());
        json["configs"][0]["programs"][0]["serial_s"].as_f64().expect("a number")
    };
    let [cold, warm] = [serial_s(&[]), serial_s(&["--warm"])];
    assert!(cold >= 2.0 && warm < cold - 1.0, "{cold} {warm}");
}

#[test]
fn a_wrong_result_is_told_and_the_exit_status_says_so() {
    let scaf = Scaf::new();
    let count = scaf.folder.path().join("count");
    // The first two runs are those alone; from the third on the output differs.
    let script =
        format!("echo x >> {0}; test $(wc -l < {0}) -gt 2 && echo other || echo same", count.display());
    let mix = scaf.file(
        "mix.toml",
        &format!(
            "name = 'w'\n[[program]]\nname = 'a'\ncommand = ['sh', '-c', '''{script}''']\nresult = \
            'stdout-hash'\n"
        ),
    );
    let output = scaf.run(&["bench", "mix", &mix, "--configs", "unmanaged", "--repetitions", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT VERIFIED"));
}

#[test]
fn an_interrupt_leaves_no_process_behind() {
    let scaf = Scaf::new();
    let mark = format!("{}.25", 80_000 + std::process::id());
    let mix = scaf.file(
        "mix.toml",
        &format!(
            "name = 'i'\n[[program]]\nname = 'a'\ncommand = ['sh', '-c', 'sleep {mark} & sleep {mark}']\n"
        ),
    );
    let mut child =
        scaf.command(&["bench", "mix", &mix, "--configs", "unmanaged"]).spawn().expect("scaf starts");
    let words = format!("sleep\0{mark}\0");
    wait_for(|| running(words.as_bytes()) == 2);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("signal");
    assert_eq!(child.wait().expect("end").code(), Some(130));
    wait_for(|| running(words.as_bytes()) == 0);
}

fn running(words: &[u8]) -> usize {
    let alive = |folder: &Path| {
        let state = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z")
    };
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    processes
        .filter(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == words))
        .filter(|entry| alive(&entry.path()))
        .count()
}

fn wait_for(what: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !what() {
        assert!(start.elapsed().as_secs() < 20, "it didn't happen within 20 s");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn completions_are_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let output = Scaf::new().run(&["completions", shell]);
        assert!(
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("scaf"),
            "{shell}"
        );
    }
}

#[test]
fn the_doctor_looks_at_machine_and_program() {
    let _alone = alone();
    let scaf = Scaf::new();
    let library = scaf.file("libscaf.so", "");
    let output =
        scaf.command(&["doctor", "true", "--json"]).env("SCAF_LIB", library).output().expect("scaf starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(json["machine"]["pus"].as_u64() >= Some(1));
    assert!(json["daemon"].is_null() && json["program"]["obstacle"].is_null());
    assert_eq!(scaf.run(&["doctor", "no-such-program-anywhere"]).status.code(), Some(127));
}

fn remember(scaf: &Scaf, names: &[&str]) -> std::path::PathBuf {
    let file = scaf.folder.path().join("data/scaf/memory.sqlite");
    let mut memory = scaf_memory::Profiles::at(&file);
    for (arguments, name) in (1u64..).zip(names) {
        let points = [(1, 0.1), (2, 0.06), (4, 0.05), (8, 0.049)];
        let points = points.map(|(dop, seconds)| scaf_memory::Point { dop, seconds, error_ratio: 0.02 });
        let profile = scaf_memory::Profile {
            key: scaf_memory::Key { machine: "m".into(), executable: "e0".into(), arguments },
            name: (*name).into(),
            runs: 3,
            seen_s: arguments,
            serial: 0.0,
            other: Default::default(),
            regions: vec![scaf_memory::ProfiledRegion {
                key: scaf_memory::RegionKey { module: "e0".into(), address: 4096, marks: false },
                runs_per_s: 9.0,
                points: points.into(),
            }],
        };
        memory.keep(&profile, true).expect("a memory");
    }
    file
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn without_a_daemon_profiles_are_those_of_the_users_file() {
    let scaf = Scaf::new();
    assert!(stdout(&scaf.run(&["profile"])).contains("nothing is remembered"));
    assert_eq!(stdout(&scaf.run(&["profile", "list", "--json"])), "[]\n");
    assert!(!scaf.folder.path().join("data").exists());
    remember(&scaf, &["cg", "cg", "e\u{1b}p"]);
    let list = stdout(&scaf.run(&["profile", "list"]));
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((rows.len(), rows[1][1], rows[2][1]), (4, "e?p", "cg"), "{list}");
    assert_eq!(rows[1][rows[1].len() - 2..], ["4", "2.04"], "{list}");
    let shown = stdout(&scaf.run(&["profile", "show", "cg"]));
    assert!(
        shown.contains("cg (ID 2)") && shown.contains("by ID: 1") && shown.contains("knee: 4"),
        "{shown}"
    );
    assert!(shown.contains("e0+0x1000"), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&scaf.run(&["profile", "show", "1", "--json"]))).expect("JSON");
    assert_eq!((&json["curve"]["knee"], &json["region_curves"][0]["curve"]["knee"]), (&4.into(), &4.into()));
    let export: serde_json::Value =
        serde_json::from_str(&stdout(&scaf.run(&["profile", "export"]))).expect("JSON");
    assert_eq!(export["profiles"].as_array().map(Vec::len), Some(3));
    assert_eq!(export["profiles"][1]["regions"][0]["points"][3]["dop"], 8);
    assert_eq!(stdout(&scaf.run(&["profile", "forget", "cg"])), "2 forgotten\n");
    assert_eq!(stdout(&scaf.run(&["profile", "forget", "--all"])), "1 programs forgotten\n");
    assert!(stdout(&scaf.run(&["profile"])).contains("nothing is remembered"));
}

#[test]
fn a_profile_is_drawn_with_points_fit_and_knee() {
    let scaf = Scaf::new();
    remember(&scaf, &["cg"]);
    let plot = scaf.folder.path().join("cg.svg");
    stdout(&scaf.command(&["profile", "show", "cg", "--plot"]).arg(&plot).output().expect("scaf starts"));
    let picture = std::fs::read_to_string(plot).expect("a picture");
    assert!(picture.contains("<svg") && picture.contains("knee: 4") && picture.contains("<circle"));
}

#[test]
fn what_is_wrong_with_profiles_is_said_with_what_to_do() {
    let scaf = Scaf::new();
    let file = remember(&scaf, &["cg"]);
    let fails = |arguments: &[&str], part: &str| {
        let output = scaf.run(arguments);
        assert!(
            !output.status.success() && stderr(&output).contains(part),
            "{arguments:?}: {}",
            stderr(&output)
        );
    };
    fails(&["profile", "show", "mg"], "`scaf profile list` shows");
    fails(&["profile", "forget", "mg"], "`scaf profile list` shows");
    fails(&["profile", "forget"], "--all");
    fails(&["profile", "forget", "cg", "--all"], "--all");
    fails(&["profile", "show", "cg", "--plot", "/nowhere/cg.svg"], "/nowhere/cg.svg");
    std::fs::write(&file, "no database, but as long as the head of one has to be: ".repeat(50))
        .expect("a file");
    fails(&["profile"], "remove it to begin anew");
    let nowhere = scaf.command(&["profile"]).env_remove("XDG_DATA_HOME").env_remove("HOME").output();
    assert!(stderr(&nowhere.expect("scaf starts")).contains("set one of them"));
}
