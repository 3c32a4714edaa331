//! Every function that an OpenMP runtime exports has a row: of those in fixtures/runtimes, which
//! scripts/runtime-symbols.sh lists, and of those that are installed here.

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use scaf_functions::runtime::{FAMILIES, FUNCTIONS, find, is_runtimes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const FILES: [&str; 3] = ["libgomp.so.1", "libomp.so.5", "libiomp5.so"];

fn without_row<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.filter(|name| is_runtimes(name.as_bytes()) && find(name.as_bytes()).is_none()).collect()
}

fn listed() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runtimes");
    let files =
        std::fs::read_dir(folder).expect("fixtures/runtimes").map(|file| file.expect("a file").path());
    let named = files.map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("text")));
    named.collect()
}

/// The names in a list, without their versions; its first line says of what it is.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let words = list.lines().skip(1).flat_map(str::split_whitespace);
    words.map(|word| word.split_once('@').map_or(word, |(name, _)| name))
}

#[test]
fn functions_of_listed_runtimes_have_rows() {
    let lists = listed();
    assert!(lists.len() >= 20, "{:?}", lists.keys());
    for (file, list) in &lists {
        let missing = without_row(names(list));
        println!("{}", list.lines().next().unwrap_or_default());
        assert!(missing.is_empty(), "{file}: {missing:?}");
    }
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
        assert!(met.insert(row.name), "{}", row.name);
        for name in row.fortran {
            assert!(met.insert(name), "{name}");
            assert!(["_", "_8_"].iter().any(|end| name.strip_suffix(end) == Some(row.name)), "{name}");
            assert!(std::ptr::eq(find(name.as_bytes()).expect("its row"), row), "{name}");
        }
    }
    for family in FAMILIES {
        assert!(is_runtimes(family.name.as_bytes()) && family.name.ends_with('*'), "{}", family.name);
    }
}

#[test]
fn what_no_runtime_exports_is_unknown() {
    for name in ["GOMP_no_such_call", "omp_get_no_such_thing", "__kmpc_no_such_call", "omp_get_wtime_8_"] {
        assert!(is_runtimes(name.as_bytes()) && find(name.as_bytes()).is_none(), "{name}");
    }
}
