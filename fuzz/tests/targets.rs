//! See the crate's own page.

use scaf_policy::observed::{Observed, Spell};
use scaf_proto::hello::{Hello, Welcome};
use scaf_proto::report::ReportPage;
use scaf_proto::{MAGIC, PAGE_BYTES, VERSION};
use scaf_team::sandbox::proc_lines;
use scaf_team::sandbox::proc_maps::Mapping;
use scafd::observe::clock::Tsc;
use scafd::region_meter::RegionMeter;
use scafd::serial_trials::Trials;

/// A sound file into which bytes were written: of each seven three say where, the others what.
fn damaged(sound: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut damaged = sound.to_vec();
    for change in bytes.chunks(7) {
        let at = change.iter().take(3).fold(0usize, |at, byte| at << 8 | usize::from(*byte));
        let at = at % damaged.len();
        for (cell, byte) in damaged[at..].iter_mut().zip(change.iter().skip(3)) {
            *cell = *byte;
        }
    }
    damaged
}

/// What may be made of a sound text by such bytes, the bytes themselves first. The second is written with
/// characters that such texts are made of, so that it is more often one than with any others.
fn texts(sound: &str, bytes: &[u8]) -> Vec<String> {
    const CHARACTERS: &[u8] = b"0123456789.-+e,:=\"[]{}\n truefalsn";
    let known: Vec<u8> = bytes.iter().map(|byte| CHARACTERS[usize::from(*byte) % CHARACTERS.len()]).collect();
    // A few changes, or nothing is left of it.
    let few = &known[..known.len().min(21)];
    [bytes.to_vec(), damaged(sound.as_bytes(), few)].map(|text| String::from_utf8_lossy(&text).into()).into()
}

#[test]
fn hello() {
    bolero::check!().for_each(|bytes: &[u8]| {
        if let Ok(hello) = Hello::parse(bytes) {
            assert!(hello.min >= 1 && (hello.max == 0 || hello.max >= hello.min));
            let _ = hello.name();
        }
        // The same with a good head, so that the fields are reached.
        let mut with_head = [MAGIC.to_le_bytes(), VERSION.to_le_bytes()].concat();
        with_head.extend_from_slice(bytes);
        with_head.resize(size_of::<Hello>(), 0);
        let _ = Hello::parse(&with_head);
    });
}

#[test]
fn welcome() {
    bolero::check!().for_each(|bytes: &[u8]| {
        if let Some(welcome) = Welcome::parse(bytes) {
            assert!(welcome.program != 0);
        }
    });
}

/// What stands in /proc about a process, as a client reads it before an experiment.
#[test]
fn mappings() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let mut rest = bytes;
        let read = |room: &mut [u8]| {
            let length = rest.len().min(room.len()).min(100);
            room[..length].copy_from_slice(&rest[..length]);
            rest = &rest[length..];
            Some(length)
        };
        proc_lines::each(read, |line| {
            if let Some(mapping) = Mapping::parse(line) {
                assert!(mapping.start < mapping.end);
                let _ = mapping.care(&[0, usize::MAX]);
            }
            let _ = proc_lines::field(line, b"Threads");
            true
        });
    });
}

#[test]
fn report_page() {
    #[repr(C, align(4096))]
    struct Raw([u8; PAGE_BYTES]);
    bolero::check!().for_each(|bytes: &[u8]| {
        let mut raw = Box::new(Raw([0; PAGE_BYTES]));
        for (cell, byte) in raw.0.iter_mut().zip(bytes.iter().cycle()) {
            *cell = *byte;
        }
        raw.0[..4].copy_from_slice(&MAGIC.to_le_bytes());
        raw.0[4..8].copy_from_slice(&VERSION.to_le_bytes());
        // SAFETY: Raw has the page's size and alignment, and any bytes are values of its atomics.
        let page = unsafe { &*(&raw const *raw).cast::<ReportPage>() };
        assert!(page.read().is_some());
        let rows = page.rows().read();
        let runs = RegionMeter::new(0).read(1 << 40, (1e9, 1_024), rows, &Tsc::with_rate(1.0));
        let mut observed = Observed::default();
        observed.add(&Spell { dop: 2, dt_s: 0.25, parallel_s: 0.25, runs: &runs });
        Trials::default().take(page.experiments(), &mut observed, 1 << 40);
        assert!(observed.speedup(2, 1.0).is_none_or(|speedup| speedup.value.is_finite()));
    });
}

#[test]
fn module() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let _ = scaf_inspect::module_from_bytes(bytes);
    });
}

#[test]
fn place_in_code() {
    bolero::check!().with_type().for_each(|(bytes, at): &(Vec<u8>, u8)| {
        let _ = scaf_inspect::waits(bytes, (*at).into());
    });
}

#[test]
fn request() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let _ = serde_json::from_slice::<scafd::control::Request>(bytes);
    });
}

#[test]
fn configuration() {
    bolero::check!().for_each(|bytes: &[u8]| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let _ = scafd::config::Config::parse("fuzz.toml".as_ref(), text);
        }
    });
}

#[test]
fn scenario() {
    use scaf_sim::Scenario;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/scenarios/");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).expect("an example");
    let sound = ["scaf-sp-lu.toml", "scaf-three-way.toml", "scalo.toml"].map(read);
    bolero::check!().for_each(|bytes: &[u8]| {
        for text in sound.iter().flat_map(|sound| texts(sound, bytes)) {
            let Ok(scenario) = Scenario::parse(&text) else { continue };
            for program in &scenario.programs {
                for p in [0, 1, 7, u32::MAX] {
                    let speedup = program.speedup(p);
                    assert!(speedup.is_finite() && speedup > 0.0, "{speedup} on {p} of {program:?}");
                }
            }
        }
    });
}

#[test]
fn trace() {
    use scaf_policy::{Decision, Machine, Program, ProgramId, by_name};
    use scaf_sim::trace::{self, Line};
    let mut policy = by_name("equi", &scaf_policy::Settings::default()).expect("a policy");
    let mut sound = String::new();
    for number in 1..4u64 {
        let machine = Machine::new(8, number as f64);
        let programs: Vec<Program> = (0..number)
            .map(|id| Program { dop: 4, efficiency: Some(0.7), ..Program::new(ProgramId(id), 8) })
            .collect();
        let allocation = policy.allocate(&machine, &programs);
        let decision = Decision { number, policy: "equi".into(), machine, programs, allocation };
        let line = Line { names: [(0, "first".to_owned())].into(), ..Line::of(decision) };
        sound += &(serde_json::to_string(&line).expect("a line") + "\n");
    }
    assert!(trace::read(&sound).is_ok_and(|lines| trace::rebuild(&lines).is_ok()));
    bolero::check!().for_each(|bytes: &[u8]| {
        for text in texts(&sound, bytes) {
            let Ok(lines) = trace::read(&text) else { continue };
            let Ok(rebuilt) = trace::rebuild(&lines) else { continue };
            assert_eq!(rebuilt.scenario.programs.len(), rebuilt.recorded.len());
            assert!(rebuilt.scenario.check().is_ok());
            assert!(rebuilt.recorded.iter().all(|it| it.speedup.is_finite() && it.work_s >= 0.0));
        }
    });
}

/// A memory of earlier runs: a file of any bytes, and one that bytes were written into.
#[test]
fn memory() {
    use scaf_memory::{Key, Point, Profile, ProfiledRegion, Profiles, RegionKey};
    // In memory: a disk that has to be written for each costs a hundred times as much.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("temporary folder");
    let key = Key { machine: "m".into(), executable: "e".into(), arguments: 1 };
    let region = ProfiledRegion {
        key: RegionKey { module: "e".into(), address: 16, marks: false },
        runs_per_s: 1.0,
        points: vec![Point { dop: 2, seconds: 0.5, error_ratio: 0.1 }],
    };
    let regions = vec![region];
    let profile = Profile {
        key: key.clone(),
        name: "p".into(),
        runs: 1,
        seen_s: 1,
        serial: 0.5,
        other: [(2, 0.1)].into(),
        regions,
    };
    let sound = folder.path().join("sound");
    Profiles::at(&sound).keep(&profile, true).expect("a memory");
    let sound = std::fs::read(sound).expect("a memory");
    let file = folder.path().join("file");
    bolero::check!().for_each(|bytes: &[u8]| {
        for content in [bytes, &damaged(&sound, bytes)] {
            std::fs::write(&file, content).expect("a file");
            let mut memory = Profiles::at(&file);
            let _ = memory.programs();
            let _ = memory.spinners();
            let _ = memory.program(1);
            if let Ok(Some(found)) = memory.recall(&key) {
                let mut observed = Observed::default();
                observed.remember(found.past(|at, _| at as u64));
                assert!(observed.speedup(2, 1.0).is_none_or(|speedup| speedup.value.is_finite()));
            }
            let mut memory = Profiles::renewing(&file);
            memory.keep(&profile, true).expect("begun anew");
            drop(memory);
            for rest in ["", "-wal", "-shm", ".broken", ".broken-wal", ".broken-shm"] {
                let _ = std::fs::remove_file(folder.path().join(format!("file{rest}")));
            }
        }
    });
}

/// An event's name, and what a machine's files say of it.
#[test]
fn event_name() {
    use scafd::observe::counters::Name;
    let root = std::env::temp_dir().join(format!("scaf-fuzz-{}", std::process::id()));
    let unit = root.join("sys/bus/event_source/devices/cpu");
    let field = [unit.join("format/event"), unit.join("events/named")];
    for folder in ["format", "events"] {
        std::fs::create_dir_all(unit.join(folder)).expect("a folder for the files");
    }
    std::fs::write(unit.join("type"), "4\n").expect("the unit's file");
    bolero::check!().for_each(|bytes: &[u8]| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            if let Ok(name) = text.parse::<Name>() {
                let _ = name.resolve(&root).map_err(|why| why.to_string());
            }
            // The same within a unit, so that fields and events are reached.
            if let Ok(name) = format!("cpu/{text}/").parse::<Name>() {
                let _ = name.resolve(&root).map_err(|why| why.to_string());
            }
        }
        for file in &field {
            std::fs::write(file, bytes).expect("the unit's file");
        }
        let name: Name = "cpu/event=0xff,named/".parse().expect("a name");
        let _ = name.resolve(&root).map_err(|why| why.to_string());
    });
    std::fs::remove_dir_all(&root).expect("nothing is left behind");
}
