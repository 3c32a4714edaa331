//! Entry points of LLVM's and Intel's runtime (`__kmpc_*`).

use super::group::Group;
use super::group::Trait::TiesNobody;

pub(crate) const FORKS: &str = "__kmpc_fork_";
pub(crate) const MASKED: &str = "__kmpc_masked";
/// Prefix of the functions that start a loop with a static schedule, or sections.
pub(crate) const STATIC_LOOPS: &str = "__kmpc_for_static_init";
pub(crate) const THREADPRIVATE: &str = "__kmpc_threadprivate";

#[rustfmt::skip]
pub(super) static KMPC: &[Group] = &[
    Group { why: "a static loop: tells a thread its share; a virtual thread is told its own",
        is: &[TiesNobody],
        names: &["__kmpc_for_static_fini/2", "__kmpc_for_static_init_4", "__kmpc_for_static_init_4u",
            "__kmpc_for_static_init_8", "__kmpc_for_static_init_8u"] },
    Group { why: "mutual exclusion: whoever is inside comes out by itself", is: &[TiesNobody],
        names: &["__kmpc_critical/3", "__kmpc_critical_with_hint", "__kmpc_end_critical/3"] },
    Group { why: "the runtime's own number of a thread", is: &[TiesNobody],
        names: &["__kmpc_global_thread_num/1"] },
    Group { why: "may wait. Reductions are not listed: how they are added up depends on the team", is: &[],
        names: &["__kmpc_barrier/2", "__kmpc_end_master/2", "__kmpc_end_ordered/2",
            "__kmpc_end_serialized_parallel/2", "__kmpc_end_single/2", "__kmpc_end_taskgroup/2",
            "__kmpc_master/2", "__kmpc_omp_taskwait/2", "__kmpc_ordered/2", "__kmpc_serialized_parallel/2",
            "__kmpc_single/2", "__kmpc_taskgroup/2"] },
];
