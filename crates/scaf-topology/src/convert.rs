//! Turns hwloc's tree of objects into a row of PUs that each say what they share.
//!
//! hwloc leaves a level out where the machine does not report it. A PU without a core is a core of its own;
//! without a cache it shares what its NUMA node shares; without a package, all PUs are in one.
//!
//! Classes of cores are hwloc's kinds of CPUs, where it can rank them (by capacity, type or frequency).
//! Otherwise all cores are of class 0.

use hwlocality::Topology as Hwloc;
use hwlocality::object::TopologyObject;
use hwlocality::object::types::ObjectType;
use scaf_policy::{Pu, Topology};

pub(crate) fn convert(hwloc: &Hwloc) -> Topology {
    let mut pus: Vec<(usize, Pu)> = hwloc
        .objects_with_type(ObjectType::PU)
        .filter_map(|pu| Some((pu.logical_index(), describe(hwloc, pu)?)))
        .collect();
    for (class, kind) in hwloc.cpu_kinds().into_iter().flatten().enumerate() {
        // hwloc lists the kinds by ascending efficiency, which is unknown for all kinds or for none.
        if kind.efficiency.is_some() {
            let of_it = |pu: &&mut (usize, Pu)| kind.cpuset.is_set(cpu_index(pu.1.os));
            pus.iter_mut().filter(of_it).for_each(|(_, pu)| pu.class = number(class));
        }
    }
    pus.sort_by_key(|(logical, _)| *logical);
    Topology { pus: pus.into_iter().map(|(_, pu)| pu).collect() }
}

fn describe(hwloc: &Hwloc, pu: &TopologyObject) -> Option<Pu> {
    let os = u32::try_from(pu.os_index()?).ok()?;
    let level =
        |wanted| pu.ancestors().find(|o| o.object_type() == wanted).map(|o| number(o.logical_index()));
    // In hwloc 2, a NUMA node is no ancestor of its PUs. Of several local ones (HBM beside DRAM), the first
    // counts.
    let numa = hwloc
        .objects_with_type(ObjectType::NUMANode)
        .filter(|node| node.cpuset().is_some_and(|set| set.is_set(cpu_index(os))))
        .map(|node| number(node.logical_index()))
        .min()
        .unwrap_or(0);
    let cache = pu.ancestors().filter(|o| o.object_type().is_cpu_data_cache()).last();
    Some(Pu {
        os,
        core: level(ObjectType::Core).unwrap_or(number(pu.logical_index())),
        l3: cache.map_or(numa, |cache| number(cache.logical_index())),
        numa,
        package: level(ObjectType::Package).unwrap_or(0),
        class: 0,
    })
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn cpu_index(os: u32) -> hwlocality::bitmap::BitmapIndex {
    (os as usize).try_into().unwrap_or(hwlocality::bitmap::BitmapIndex::MAX)
}
