//! Every function that an OpenMP runtime exports has a row: of the runtimes in fixtures/runtime-symbols.txt,
//! which scripts/runtime-symbols.sh writes, and of those that are installed here.

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use scaf_functions::runtime::{FAMILIES, FUNCTIONS, find, is_runtimes};
use std::collections::BTreeSet;
use std::path::Path;

const FILES: [&str; 3] = ["libgomp.so.1", "libomp.so.5", "libiomp5.so"];

fn without_row<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.filter(|name| is_runtimes(name.as_bytes()) && find(name.as_bytes()).is_none()).collect()
}

#[test]
fn functions_of_listed_runtimes_have_rows() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runtime-symbols.txt");
    let list = std::fs::read_to_string(list).expect("fixtures/runtime-symbols.txt");
    let runtimes: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    println!("{runtimes:#?}");
    assert!(runtimes.len() >= 20, "{runtimes:?}");
    let names = list.lines().skip(1).filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    assert!(names.clone().count() > 1000);
    let missing = without_row(names);
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn functions_of_installed_runtimes_have_rows() {
    let llvms = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let llvms = llvms.filter(|path| path.to_string_lossy().starts_with("/usr/lib/llvm-"));
    let folders =
        llvms.map(|path| path.join("lib")).chain([Path::new("/usr/lib/x86_64-linux-gnu").to_owned()]);
    for path in folders.flat_map(|folder| FILES.map(|file| folder.join(file))) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let file = object::File::parse(bytes.as_slice()).expect("an ELF file");
        let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        let functions: Vec<&str> = symbols
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
            .filter_map(|symbol| symbol.name().ok())
            .collect();
        println!("{}: {} functions", path.display(), functions.len());
        let missing = without_row(functions.into_iter());
        assert!(missing.is_empty(), "{}: {missing:?}", path.display());
    }
}

#[test]
fn every_name_stands_once_and_fortrans_are_cs_with_an_ending() {
    let mut met = BTreeSet::new();
    for row in FUNCTIONS {
        assert!(met.insert(row.name.to_string()), "{}", row.name);
        for ending in row.fortran() {
            let name = format!("{}{ending}", row.name);
            assert!(std::ptr::eq(find(name.as_bytes()).expect("its row"), row), "{name}");
            assert!(met.insert(name.clone()), "{name}");
        }
    }
    for family in FAMILIES {
        assert!(is_runtimes(family.name.bytes()) && family.name.bytes().ends_with(b"*"), "{}", family.name);
    }
}

#[test]
fn what_no_runtime_exports_is_unknown() {
    for name in ["GOMP_no_such_call", "omp_get_no_such_thing", "__kmpc_no_such_call", "omp_get_wtime_8_"] {
        assert!(is_runtimes(name.as_bytes()) && find(name.as_bytes()).is_none(), "{name}");
    }
}

/// By `libgomp_g.h` of GCC 14.
#[test]
fn functions_of_libgomp_take_as_many_arguments_as_its_header_says() {
    let documented: [(u8, &[&str]); 4] = [
        (0, &["atomic_end", "atomic_start", "barrier", "barrier_cancel", "critical_end", "critical_start"]),
        (0, &["loop_end", "loop_end_cancel", "loop_end_nowait", "ordered_end", "ordered_start", "taskwait"]),
        (0, &["sections_end", "sections_end_cancel", "sections_end_nowait", "single_start", "taskyield"]),
        (1, &["critical_name_end", "critical_name_start", "sections_start"]),
    ];
    for (count, names) in documented {
        for name in names {
            let row = find(format!("GOMP_{name}").as_bytes()).expect("its row");
            assert_eq!(row.arguments, Some(count), "{name}");
        }
    }
}
