//! OpenMP's own functions (`omp_*`) that the analysis knows.

use super::group::Trait::{Tells, TiesNobody, TiesNobodyInFortran};
use super::group::{Group, Role, UNKNOWN};

/// Names that a program may look up while it runs, with `dlsym`.
pub(crate) const LOOKED_UP: [&str; 2] = ["omp_get_num_threads", "omp_get_thread_num"];

#[rustfmt::skip]
pub(super) const OMP: &[Group] = &[
    Group { why: "returns the team size", is: &[Tells(Role::TeamSize), TiesNobody], arguments: 0,
        names: &["omp_get_num_threads"] },
    Group { why: "returns the thread number", is: &[Tells(Role::ThreadNumber), TiesNobody], arguments: 0,
        names: &["omp_get_thread_num"] },
    Group { why: "a region with a team of one is not active",
        is: &[Tells(Role::Inquiry), TiesNobody, TiesNobodyInFortran], arguments: 0,
        names: &["omp_in_parallel"] },
    Group { why: "counts the levels with more than one thread", is: &[Tells(Role::Inquiry)],
        arguments: UNKNOWN, names: &["omp_get_active_level"] },
    Group { why: "asks about an outer team", is: &[Tells(Role::Inquiry), TiesNobody], arguments: UNKNOWN,
        names: &["omp_get_ancestor_thread_num", "omp_get_team_size"] },
    Group { why: "takes no arguments; nothing else is known of it", is: &[], arguments: 0,
        names: &["omp_get_dynamic", "omp_get_level", "omp_get_max_threads", "omp_get_num_procs",
        "omp_get_thread_limit", "omp_get_wtick", "omp_get_wtime"] },
    Group { why: "a lock, which its owner need not give back in the region", is: &[], arguments: 1,
        names: &["omp_set_lock", "omp_unset_lock"] },
];
