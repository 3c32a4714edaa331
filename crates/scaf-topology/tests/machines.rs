//! Other machines, described in a line or saved by lstopo.

use scaf_policy::Topology;
use scaf_topology::{Error, Source, load};

fn synthetic(text: &str) -> Topology {
    load(&Source::Synthetic(text.to_owned())).unwrap()
}

/// Each PU as os/core/l3/numa/package.
fn row(topology: &Topology) -> Vec<String> {
    topology.pus.iter().map(|p| format!("{}/{}/{}/{}/{}", p.os, p.core, p.l3, p.numa, p.package)).collect()
}

#[test]
fn a_line_describes_two_packages_with_smt() {
    let topology = synthetic("pack:2 l3:1 core:2 pu:2");
    assert_eq!(
        row(&topology).join(" "),
        "0/0/0/0/0 1/0/0/0/0 2/1/0/0/0 3/1/0/0/0 4/2/1/0/1 5/2/1/0/1 6/3/1/0/1 7/3/1/0/1"
    );
}

#[test]
fn numa_nodes_within_and_around_packages_are_told() {
    assert_eq!(row(&synthetic("pack:1 numa:2 core:1 pu:1")), ["0/0/0/0/0", "1/1/1/1/0"]);
    assert_eq!(row(&synthetic("numa:2 pack:1 core:1 pu:1")), ["0/0/0/0/0", "1/1/1/1/1"]);
}

#[test]
fn with_two_kinds_of_memory_the_first_node_counts() {
    assert_eq!(row(&synthetic("pack:2 [numa] [numa] core:1 pu:1")), ["0/0/0/0/0", "1/1/2/2/1"]);
}

#[test]
fn a_pu_without_core_is_a_core_of_its_own() {
    assert_eq!(row(&synthetic("pu:2")), ["0/0/0/0/0", "1/1/0/0/0"]);
}

#[test]
fn without_l3_the_outermost_cache_counts() {
    assert_eq!(
        row(&synthetic("l2:2 l1d:2 core:1 pu:1")),
        ["0/0/0/0/0", "1/1/0/0/0", "2/2/1/0/0", "3/3/1/0/0"]
    );
}

#[test]
fn a_saved_machine_keeps_its_operating_system_numbers() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/two-packages-interleaved.xml");
    let topology = load(&Source::parse(file)).unwrap();
    assert_eq!(topology.pus.len(), 16);
    let pus =
        |package| topology.pus.iter().filter(|p| p.package == package).map(|p| p.os).collect::<Vec<_>>();
    assert_eq!(pus(0), [0, 2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(pus(1), [1, 3, 5, 7, 9, 11, 13, 15]);
}

#[test]
fn the_cores_of_a_hybrid_machine_are_of_two_classes_and_the_stronger_one_is_higher() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/hybrid.xml");
    let topology = load(&Source::parse(file)).unwrap();
    assert_eq!(topology.pus.iter().map(|pu| pu.class).collect::<Vec<_>>(), [1, 1, 1, 1, 0, 0, 0, 0]);
    assert!(synthetic("core:4 pu:2").pus.iter().all(|pu| pu.class == 0));
}

#[test]
fn a_machine_of_1024_contexts_is_read() {
    let topology = synthetic("pack:8 numa:2 l3:4 core:8 pu:2");
    assert_eq!(topology.pus.len(), 1024);
    assert_eq!(
        topology.pus[1023],
        scaf_policy::Pu { os: 1023, core: 511, l3: 63, numa: 15, package: 7, class: 0 }
    );
}

#[test]
fn this_machine_has_a_topology_that_covers_our_affinity() {
    let topology = load(&Source::ThisMachine).unwrap();
    assert!(topology.pus.len() >= std::thread::available_parallelism().unwrap().get());
}

#[test]
fn what_cannot_be_read_is_named() {
    let error = load(&Source::parse("core:many")).unwrap_err();
    assert!(matches!(error, Error::Synthetic { .. }) && error.to_string().contains("core:many"), "{error}");
    let error = load(&Source::parse("/nonexistent/m.xml")).unwrap_err();
    assert!(error.to_string().starts_with("/nonexistent/m.xml: "), "{error}");
    let error =
        load(&Source::parse(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/broken.xml"))).unwrap_err();
    assert!(error.to_string().contains("broken.xml"), "{error}");
}
