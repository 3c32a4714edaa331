//! Damaged and hostile files get an answer or an error, never a panic or an endless search.

use proptest::prelude::*;
use proptest::{collection::vec, sample::Index};
use scaf_inspect::module_from_bytes;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

fn intact() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("sample.so");
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
        let done = Command::new("gcc")
            .args(["-O2", "-fopenmp", "-shared", "-fPIC", "-o"])
            .arg(&out)
            .args(["harmless_two_loops.c"].map(|name| samples.join(name)))
            .status()
            .expect("gcc compiles the sample");
        assert!(done.success());
        std::fs::read(out).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn flipped_bits_are_survived(flips in vec((any::<Index>(), 0..8_u8), 1..12)) {
        let mut bytes = intact().to_vec();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        let _ = module_from_bytes(&bytes);
    }

    #[test]
    fn damaged_headers_and_tables_are_survived(
        writes in vec(
            (0..64_usize, any::<bool>(), prop_oneof![any::<u64>(), 0..0x5000_u64, Just(u64::MAX)]),
            1..6,
        ),
    ) {
        let mut bytes = intact().to_vec();
        let sections = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        for (word, in_sections, value) in writes {
            let at = if in_sections { sections + word * 24 } else { 16 + word * 8 };
            if let Some(place) = bytes.get_mut(at..at + 8) {
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
        let _ = module_from_bytes(&bytes);
    }

    #[test]
    fn files_cut_short_are_survived(length in any::<Index>()) {
        let bytes = intact();
        let _ = module_from_bytes(&bytes[..length.index(bytes.len())]);
    }

    #[test]
    fn any_code_is_survived(code in vec(any::<u8>(), 1..400), at in any::<Index>()) {
        let mut bytes = intact().to_vec();
        let at = 0x1000 + at.index(0x400);
        let end = (at + code.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&code[..end - at]);
        let _ = module_from_bytes(&bytes);
    }
}

#[test]
fn what_is_no_elf_file_is_an_error() {
    assert!(module_from_bytes(b"").is_err());
    assert!(module_from_bytes(b"#!/bin/sh\n").is_err());
    assert!(module_from_bytes(b"\x7fELF").is_err());
}
