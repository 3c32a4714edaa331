//! Entry points of libgomp (`GOMP_*`), which LLVM's runtime has as well.

use super::group::Trait::Tells;
use super::group::{Group, Role};

pub(crate) const STARTS_REGIONS: &str = "GOMP_parallel";

#[rustfmt::skip]
pub(super) static GOMP: &[Group] = &[
    Group { why: "deals out sections, which may wait for each other", is: &[Tells(Role::Sections)],
        names: &["GOMP_sections2_start", "GOMP_sections_start/1"] },
    Group { why: "nothing but its arguments is known", is: &[],
        names: &["GOMP_atomic_end/0", "GOMP_atomic_start/0", "GOMP_barrier/0", "GOMP_barrier_cancel/1",
            "GOMP_critical_end/0", "GOMP_critical_name_end/1", "GOMP_critical_name_start/1",
            "GOMP_critical_start/0", "GOMP_loop_dynamic_next/2", "GOMP_loop_end/0", "GOMP_loop_end_cancel/0",
            "GOMP_loop_end_nowait/0", "GOMP_loop_guided_next/2",
            "GOMP_loop_maybe_nonmonotonic_runtime_next/2", "GOMP_loop_nonmonotonic_dynamic_next/2",
            "GOMP_loop_nonmonotonic_guided_next/2", "GOMP_loop_runtime_next/2", "GOMP_ordered_end/0",
            "GOMP_ordered_start/0", "GOMP_parallel/4", "GOMP_sections_end/0", "GOMP_sections_end_cancel/0",
            "GOMP_sections_end_nowait/0", "GOMP_sections_next/0", "GOMP_single_copy_start/0",
            "GOMP_single_start/0", "GOMP_taskgroup_end/0", "GOMP_taskgroup_start/0", "GOMP_taskwait/0",
            "GOMP_taskyield/0"] },
];
