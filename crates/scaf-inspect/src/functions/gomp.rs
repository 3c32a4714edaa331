//! Entry points of libgomp (`GOMP_*`), which LLVM's runtime has as well.

use super::group::Trait::{Tells, TiesNobody};
use super::group::{Group, Role, UNKNOWN};

/// How the names begin by which a module starts regions.
pub(crate) const STARTS_REGIONS: &str = "GOMP_parallel";

#[rustfmt::skip]
pub(super) const GOMP: &[Group] = &[
    Group { why: "deals out sections, which may wait for each other", is: &[Tells(Role::Sections)],
        arguments: 1, names: &["GOMP_sections_start"] },
    Group { why: "the same, with reductions", is: &[Tells(Role::Sections)], arguments: UNKNOWN,
        names: &["GOMP_sections2_start"] },
    Group { why: "mutual exclusion: whoever is inside comes out by itself", is: &[TiesNobody], arguments: 0,
        names: &["GOMP_atomic_end", "GOMP_atomic_start", "GOMP_critical_end", "GOMP_critical_start"] },
    Group { why: "mutual exclusion by a lock", is: &[TiesNobody], arguments: 1,
        names: &["GOMP_critical_name_end", "GOMP_critical_name_start"] },
    Group { why: "ends a loop without a barrier", is: &[TiesNobody], arguments: 0,
        names: &["GOMP_loop_end_nowait"] },
    Group { why: "gives a chunk of a dynamic loop to whoever asks", is: &[TiesNobody], arguments: 2,
        names: &["GOMP_loop_dynamic_next", "GOMP_loop_guided_next", "GOMP_loop_nonmonotonic_dynamic_next",
        "GOMP_loop_nonmonotonic_guided_next"] },
    Group { why: "begins or goes on with such a loop", is: &[TiesNobody], arguments: UNKNOWN,
        names: &["GOMP_loop_dynamic_start", "GOMP_loop_guided_start", "GOMP_loop_nonmonotonic_dynamic_start",
        "GOMP_loop_nonmonotonic_end_nowait", "GOMP_loop_nonmonotonic_guided_start",
        "GOMP_loop_ull_dynamic_next", "GOMP_loop_ull_dynamic_start", "GOMP_loop_ull_end_nowait",
        "GOMP_loop_ull_guided_next", "GOMP_loop_ull_guided_start", "GOMP_loop_ull_nonmonotonic_dynamic_next",
        "GOMP_loop_ull_nonmonotonic_dynamic_start", "GOMP_loop_ull_nonmonotonic_end_nowait",
        "GOMP_loop_ull_nonmonotonic_guided_next", "GOMP_loop_ull_nonmonotonic_guided_start"] },
    Group { why: "takes no arguments, and waits or deals out work", is: &[], arguments: 0,
        names: &["GOMP_barrier", "GOMP_loop_end", "GOMP_loop_end_cancel", "GOMP_ordered_end",
        "GOMP_ordered_start", "GOMP_sections_end", "GOMP_sections_end_cancel", "GOMP_sections_end_nowait",
        "GOMP_sections_next", "GOMP_single_copy_start", "GOMP_single_start", "GOMP_taskgroup_end",
        "GOMP_taskgroup_start", "GOMP_taskwait", "GOMP_taskyield"] },
    Group { why: "a barrier that tells whether the region was cancelled", is: &[], arguments: 1,
        names: &["GOMP_barrier_cancel"] },
    Group { why: "gives a chunk by a schedule that the program sets while it runs", is: &[], arguments: 2,
        names: &["GOMP_loop_maybe_nonmonotonic_runtime_next", "GOMP_loop_runtime_next"] },
    Group { why: "starts a region", is: &[], arguments: 4, names: &["GOMP_parallel"] },
];
