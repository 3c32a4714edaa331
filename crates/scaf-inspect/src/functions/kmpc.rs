//! Entry points of LLVM's and Intel's runtime (`__kmpc_*`).

use super::group::Trait::TiesNobody;
use super::group::{Group, UNKNOWN};

/// How the names begin by which a module starts regions.
pub(crate) const FORKS: &str = "__kmpc_fork_";
/// How the names begin of what runs code for one certain thread.
pub(crate) const MASKED: &str = "__kmpc_masked";
/// How the names begin of what starts a loop with a static schedule, or sections.
pub(crate) const STATIC_LOOPS: &str = "__kmpc_for_static_init";
/// How the names begin of what gives each thread variables of its own.
pub(crate) const THREADPRIVATE: &str = "__kmpc_threadprivate";

#[rustfmt::skip]
pub(super) const KMPC: &[Group] = &[
    Group { why: "tells a thread its share of a static loop; a virtual thread is told its own",
        is: &[TiesNobody], arguments: UNKNOWN, names: &["__kmpc_for_static_init_4",
        "__kmpc_for_static_init_4u", "__kmpc_for_static_init_8", "__kmpc_for_static_init_8u"] },
    Group { why: "ends such a loop without a barrier", is: &[TiesNobody], arguments: 2,
        names: &["__kmpc_for_static_fini"] },
    Group { why: "mutual exclusion: whoever is inside comes out by itself", is: &[TiesNobody], arguments: 3,
        names: &["__kmpc_critical", "__kmpc_end_critical"] },
    Group { why: "the same, with a hint", is: &[TiesNobody], arguments: UNKNOWN,
        names: &["__kmpc_critical_with_hint"] },
    Group { why: "the runtime's own number of a thread", is: &[TiesNobody], arguments: 1,
        names: &["__kmpc_global_thread_num"] },
    // Reductions are not in this table: how they are added up depends on the team.
    Group { why: "takes a place in the source and a thread, and may wait", is: &[], arguments: 2,
        names: &["__kmpc_barrier", "__kmpc_end_master", "__kmpc_end_ordered",
        "__kmpc_end_serialized_parallel", "__kmpc_end_single", "__kmpc_end_taskgroup", "__kmpc_master",
        "__kmpc_omp_taskwait", "__kmpc_ordered", "__kmpc_serialized_parallel", "__kmpc_single",
        "__kmpc_taskgroup"] },
];
