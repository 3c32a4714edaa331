//! Entry points of LLVM's and Intel's runtime (`__kmpc_*`).

use super::group::Group;

pub(crate) const FORKS: &str = "__kmpc_fork_";
pub(crate) const MASKED: &str = "__kmpc_masked";
/// Prefix of the functions that start a loop with a static schedule, or sections.
pub(crate) const STATIC_LOOPS: &str = "__kmpc_for_static_init";
pub(crate) const THREADPRIVATE: &str = "__kmpc_threadprivate";

#[rustfmt::skip]
pub(super) static KMPC: &[Group] = &[
    Group { why: "nothing but its arguments is known", is: &[],
        names: &["__kmpc_barrier/2", "__kmpc_critical/3", "__kmpc_end_critical/3", "__kmpc_end_master/2",
            "__kmpc_end_ordered/2", "__kmpc_end_serialized_parallel/2", "__kmpc_end_single/2",
            "__kmpc_end_taskgroup/2", "__kmpc_for_static_fini/2", "__kmpc_global_thread_num/1",
            "__kmpc_master/2", "__kmpc_omp_taskwait/2", "__kmpc_ordered/2", "__kmpc_serialized_parallel/2",
            "__kmpc_single/2", "__kmpc_taskgroup/2"] },
];
