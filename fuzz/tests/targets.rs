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
