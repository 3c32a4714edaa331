//! Libraries that come and go, and several copies of the runtime in one process.

use crate::support::{Done, Setup, compiled, library_folder, root};
use std::path::{Path, PathBuf};
use std::process::Command;

fn results(done: &Done) -> Vec<&str> {
    done.out.lines().filter(|line| line.starts_with("result=")).collect()
}

#[test]
fn libraries_may_be_closed_and_others_loaded_in_their_place() {
    let setup = Setup::new("equi");
    let libraries = [compiled("libregion_a"), compiled("libregion_b")];
    let program = setup.program("loads").args(&libraries).option("--max", 1).start();
    program.until("many rounds", |program| program.regions > 1000);
    let done = program.finish().well();
    let expected = setup.program("loads").args(&libraries).threads(1).unmanaged().run().well();
    assert_eq!(results(&done), results(&expected));
}

/// The system's runtime under another name, and a library linked with it.
fn another_runtime() -> PathBuf {
    let printed = Command::new("gcc").arg("-print-file-name=libgomp.so.1").output().expect("gcc");
    let original = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    let mut bytes = std::fs::read(&original).unwrap_or_else(|e| panic!("{original}: {e}"));
    let (old, new) = (b"libgomp.so.1\0", b"libgomp.so.9\0");
    let places: Vec<usize> =
        (0..bytes.len() - old.len()).filter(|at| bytes[*at..].starts_with(old)).collect();
    assert!(!places.is_empty(), "{original} has another name");
    for at in places {
        bytes[at..at + new.len()].copy_from_slice(new);
    }
    let copy = library_folder().join("libgomp.so.9");
    std::fs::write(&copy, bytes).unwrap_or_else(|e| panic!("{}: {e}", copy.display()));
    let library = library_folder().join("libregion_c.so");
    let object = library_folder().join("libregion_c.o");
    let source = root().join("tests/programs/libregion_c.c");
    let rpath = PathBuf::from(format!("-Wl,-rpath,{}", library_folder().display()));
    gcc(&["-O2", "-fPIC", "-fopenmp", "-c"], &[&source], &object);
    gcc(&["-shared"], &[&object, &copy, &rpath], &library);
    library
}

fn gcc(words: &[&str], files: &[&Path], output: &Path) {
    let status = Command::new("gcc").args(words).args(files).arg("-o").arg(output).status().expect("gcc");
    assert!(status.success(), "gcc {words:?} {files:?}");
}

#[test]
fn two_copies_of_the_runtime_live_side_by_side() {
    let setup = Setup::new("equi");
    let words = [Path::new("keep").to_owned(), compiled("libregion_b"), another_runtime()];
    let expected = setup.program("loads").args(&words).threads(2).unmanaged().run().well();
    let program = setup.program("loads").args(&words).threads(2).start();
    program.until("many rounds", |program| program.regions > 1000);
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", program.pid())).unwrap_or_default();
    assert!(maps.contains("libgomp.so.9") && maps.contains("libgomp.so.1"), "{maps}");
    let neighbour = setup.program("loops").start();
    neighbour.until_resized_to(1);
    // Each thread makes a task, and is counted by it.
    program.until_folded();
    neighbour.finish().well();
    let done = program.finish().well();
    assert_eq!(results(&done), results(&expected));
    assert_eq!(done.number("wrong"), 0);
}

#[test]
fn a_runtime_that_the_whole_program_sees_serves_its_libraries_too() {
    let setup = Setup::new("equi");
    let words = [Path::new("keep").to_owned(), another_runtime()];
    let global = Path::new("libgomp.so.1");
    let expected =
        setup.program("loads").args(&words).env("LD_PRELOAD", global).threads(4).unmanaged().run().well();
    let done = setup.program("loads").args(&words).env("LD_PRELOAD", global).threads(4).run().well();
    assert_eq!(results(&done), results(&expected));
}

#[test]
fn calls_that_the_compiler_made_jumps_reach_the_runtime() {
    let setup = Setup::new("equi");
    let library = [compiled("libtail")];
    let expected = setup.program("jumps").args(&library).threads(2).unmanaged().run().well();
    assert_eq!((expected.number("at_first"), expected.number("then"), expected.number("team")), (2, 3, 3));
    let done = setup.program("jumps").args(&library).threads(2).run().well();
    assert_eq!(done.out, expected.out);
}

/// What is found in it isn't asked anything there and then: it may wait for a lock that the caller holds.
#[test]
fn a_blas_may_load_its_layer_with_its_lock_held() {
    let setup = Setup::new("equi");
    let library = compiled("libmkl_like");
    std::fs::copy(&library, library_folder().join("libmkl_layer.so")).expect("a copy of the library");
    let done = setup.program("loads").args([Path::new("keep"), &library]).run().well();
    assert_eq!((done.number("result"), done.number("wrong")), (32, 0), "{done:#?}");
}
