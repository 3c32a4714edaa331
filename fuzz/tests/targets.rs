//! See the crate's own page.

use scaf_policy::observed::{Observed, Spell};
use scaf_proto::hello::{Hello, Welcome};
use scaf_proto::report::ReportPage;
use scaf_proto::{MAGIC, PAGE_BYTES, VERSION};
use scaf_team::experiment::lines;
use scaf_team::experiment::maps::Mapping;
use scafd::experiment::Trials;
use scafd::observe::clock::Tsc;
use scafd::rows::RowMeter;

/// A client's first packet.
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

/// The daemon's answer, as the client reads it.
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
        lines::each(read, |line| {
            if let Some(mapping) = Mapping::parse(line) {
                assert!(mapping.start < mapping.end);
                let _ = mapping.care(&[0, usize::MAX]);
            }
            let _ = lines::field(line, b"Threads");
            true
        });
    });
}

/// A report page, as the daemon reads it.
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
        let runs = RowMeter::new(0).read(1 << 40, (1e9, 1_024), rows, &Tsc::with_rate(1.0));
        let mut observed = Observed::default();
        observed.add(&Spell { dop: 2, dt_s: 0.25, parallel_s: 0.25, runs: &runs });
        Trials::default().take(page.experiments(), &mut observed, 1 << 40);
        assert!(observed.speedup(2, 1.0).is_none_or(|speedup| speedup.value.is_finite()));
    });
}

/// A program's file, as the inspector reads it.
#[test]
fn module() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let _ = scaf_inspect::module_from_bytes(bytes);
    });
}

/// A request of the command line.
#[test]
fn request() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let _ = serde_json::from_slice::<scafd::control::Request>(bytes);
    });
}

/// A daemon's configuration file.
#[test]
fn configuration() {
    bolero::check!().for_each(|bytes: &[u8]| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let _ = scafd::config::Config::parse("fuzz.toml".as_ref(), text);
        }
    });
}

/// A memory of earlier runs: a file of any bytes, and one that bytes were written into.
#[test]
fn memory() {
    use scaf_memory::{Key, Memory, Point, Profile, Region, RegionKey};
    // In memory: a disk that has to be written for each costs a hundred times as much.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("temporary folder");
    let key = Key { machine: "m".into(), executable: "e".into(), arguments: 1 };
    let region = Region {
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
    Memory::at(&sound).keep(&profile, true).expect("a memory");
    let sound = std::fs::read(sound).expect("a memory");
    let file = folder.path().join("file");
    bolero::check!().for_each(|bytes: &[u8]| {
        let mut damaged = sound.clone();
        // Three bytes say where, the next four what.
        for change in bytes.chunks(7) {
            let at = change.iter().take(3).fold(0usize, |at, byte| at << 8 | usize::from(*byte));
            let at = at % damaged.len();
            for (cell, byte) in damaged[at..].iter_mut().zip(change.iter().skip(3)) {
                *cell = *byte;
            }
        }
        for content in [bytes, &damaged] {
            std::fs::write(&file, content).expect("a file");
            let mut memory = Memory::at(&file);
            let _ = memory.programs();
            let _ = memory.spinners();
            let _ = memory.program(1);
            if let Ok(Some(found)) = memory.recall(&key) {
                let mut observed = Observed::default();
                observed.remember(found.past(|at, _| at as u64));
                assert!(observed.speedup(2, 1.0).is_none_or(|speedup| speedup.value.is_finite()));
            }
            let mut memory = Memory::renewing(&file);
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
