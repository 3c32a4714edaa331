//! `scaf profile export`, `scaf advise` and packaging/slurm/job_submit.lua, from a memory of earlier runs.

#[path = "../../../tests/skip.rs"]
mod skip;

use scaf_memory::{Key, Point, Profile, ProfiledRegion, Profiles, RegionKey};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A user whose memory has programs whose one region took `seconds` at each DoP.
struct User(tempfile::TempDir);

/// A program's name, its executable, and seconds at each DoP.
type Known<'a> = (&'a str, &'a str, &'a [(u32, f64)]);

impl User {
    fn with(programs: &[Known]) -> User {
        let user = User(tempfile::tempdir().expect("temporary folder"));
        let folder = user.0.path().join("scaf");
        std::fs::create_dir_all(&folder).expect("folder");
        let mut memory = Profiles::at(&folder.join("memory.sqlite"));
        for (name, executable, seconds) in programs {
            memory.keep(&profile(name, executable, seconds), true).expect("kept");
        }
        user
    }

    fn scaf(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_scaf"))
            .args(arguments)
            .env("XDG_RUNTIME_DIR", self.0.path())
            .env("XDG_DATA_HOME", self.0.path())
            .env("SCAF_SOCKET", self.0.path().join("no.sock"))
            .output()
            .expect("scaf starts")
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.scaf(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("file");
        path
    }
}

fn profile(name: &str, executable: &str, seconds: &[(u32, f64)]) -> Profile {
    let now_s = std::time::UNIX_EPOCH.elapsed().expect("a clock").as_secs();
    let point = |(dop, seconds): &(u32, f64)| Point { dop: *dop, seconds: *seconds, error_ratio: 0.02 };
    let key = RegionKey { module: executable.into(), address: 64, marks: false };
    Profile {
        key: Key { machine: "m".into(), executable: executable.into(), arguments: 1 },
        name: name.into(),
        runs: 1,
        seen_s: now_s,
        serial: 0.0,
        other: Default::default(),
        regions: vec![ProfiledRegion { key, runs_per_s: 10.0, points: seconds.iter().map(point).collect() }],
    }
}

const FLAT: &[(u32, f64)] = &[(1, 1.0), (6, 0.17), (12, 0.165)];
const RISING: &[(u32, f64)] = &[(1, 1.0), (8, 0.13)];
const ONE: &[(u32, f64)] = &[(4, 0.3)];

#[test]
fn what_is_known_of_executables_is_exported_in_three_forms() {
    let user = User::with(&[("flat", "f1", FLAT), ("rising", "r1", RISING), ("one", "o1", ONE)]);
    let all: serde_json::Value = serde_json::from_str(&user.says(&["profile", "export"])).expect("JSON");
    assert_eq!(all["profiles"].as_array().map(Vec::len), Some(3));
    let of = |name: &str| {
        let list = all["executables"].as_array().expect("a list");
        list.iter().find(|one| one["name"] == name).cloned().expect("it is there")
    };
    assert_eq!((&of("flat")["knee"], &of("flat")["executable"]), (&6.into(), &"f1".into()));
    assert!(of("rising")["knee"].is_null() && of("rising")["knee_at_least"] == 8);
    assert!(of("rising")["memory_bound"] == false && of("flat")["memory_bound"].is_null());
    assert!(of("one")["best_speedup"].is_null() && of("flat")["partner_memory_ratio"].is_null());
    let table = user.says(&["profile", "export", "--format", "table"]);
    assert!(table.contains("8 or more") && table.contains("unknown"), "{table}");
    let knees = user.says(&["profile", "export", "--format", "knees"]);
    assert_eq!(knees.lines().skip(1).collect::<Vec<_>>(), ["6\tflat\tf1"]);
}

#[test]
fn a_job_script_is_advised_on_and_nothing_known_is_one_line() {
    let known = std::env::current_exe().expect("this file");
    let id = scaf_inspect::fingerprint(&known).expect("an ELF file");
    let user = User::with(&[("other name", &id, FLAT), ("flat", "f1", FLAT)]);
    let script = format!("#!/bin/sh\n#SBATCH -c 24\nsrun {} x\n", known.display());
    let script = user.file("job.sh", &script).display().to_string();
    let said = user.says(&["advise", "--slurm", &script]);
    assert!(said.contains("--cpus-per-task=6 instead of 24") && !said.contains("by its name"), "{said}");
    let json: serde_json::Value =
        serde_json::from_str(&user.says(&["advise", "--slurm", &script, "--json"])).expect("JSON");
    assert!(json["cpus_per_task"] == 6 && json["known"][0]["same_file"] == true, "{json}");
    let nothing = user.file("other.sh", "#SBATCH -c 24\n./stranger\n").display().to_string();
    let said = user.says(&["advise", "--slurm", &nothing]);
    assert!(said.lines().count() == 1 && said.contains("nothing is known"), "{said}");
    let missing = user.scaf(&["advise", "--slurm", "/no/such/script"]);
    assert!(
        !missing.status.success() && String::from_utf8_lossy(&missing.stderr).contains("/no/such/script")
    );
}

const JOBS: &str = "\
cpus_per_task=16
min_cpus=16
pn_min_cpus=16
script:
#!/bin/sh
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
mkdir -p out; srun ./flat x

cpus_per_task=16
num_tasks=4
min_cpus=64
script:
for i in 1 2; do scaf run --min 9 -- ./flat $i && flat; done

cpus_per_task=4
script:
./flat

cpus_per_task=16
pn_min_cpus=12
script:
./flat

cpus_per_task=16
min_mem_per_cpu=4096
script:
./flat

cpus_per_task=16
scaf=min=10
script:
./flat

cpus_per_task=16
scaf=exact
script:
./flat

cpus_per_task=16
script:
#SBATCH --scaf=min=2,off
./flat

cpus_per_task=16
script:
scaf run --exact ./flat

cpus_per_task=16
script:
OMP_NUM_THREADS=16 ./flat

cpus_per_task=16
script:
./flat
./stranger

cpus_per_task=16
shared=0
script:
./flat

cpus_per_task=16
partition=other
script:
./flat

cpus_per_task=16

script:
./flat
";
const LOWERED: &[&str] = &[
    "6 6", "9 36", "4 1", "12 1", "16 1", "10 1", "16 1", "16 1", "16 1", "16 1", "16 1", "16 1", "16 1",
    "16 1", "65534 1",
];

#[test]
fn the_submit_plugin_lowers_requests_to_the_knee_where_it_may() {
    let Some(lua) = ["/usr/bin/lua5.1", "/usr/bin/lua5.3", "/usr/bin/lua"]
        .into_iter()
        .find(|lua| Path::new(lua).exists())
    else {
        skip::skipped("a Lua interpreter (scripts/setup.sh tests)");
        return;
    };
    let user = User::with(&[("flat", "f1", FLAT), ("rising", "r1", RISING)]);
    let knees = user.file("knees.tsv", &user.says(&["profile", "export", "--format", "knees"]));
    let run = |knees: &Path, partition: &str| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new(lua)
            .arg(here.join("tests/job_submit.lua"))
            .arg(here.join("../../packaging/slurm/job_submit.lua"))
            .args([knees.as_os_str(), partition.as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Lua starts");
        child.stdin.take().expect("a pipe").write_all(JOBS.as_bytes()).expect("jobs are read");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let numbers = |said: &str| -> Vec<String> {
        said.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    let said = run(&knees, "shared");
    assert_eq!(numbers(&said), LOWERED, "{said}");
    assert!(said.lines().next().is_some_and(|line| line.contains("lowered from 16 to 6")), "{said}");
    // Off unless listed, and without knees.
    for said in [run(&knees, ""), run(Path::new("/no/such/file"), "shared")] {
        assert!(!said.contains("lowered from"), "{said}");
    }
}
