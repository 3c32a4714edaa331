//! OpenMP's own functions (`omp_*`) that the analysis knows.

use super::group::Trait::{Answered, Tells};
use super::group::{Group, Role};

/// How the names of all begin that tell about a team.
pub(crate) const ASK: [&str; 2] = ["omp_get_", "omp_in_"];

#[rustfmt::skip]
pub(super) static OMP: &[Group] = &[
    Group { why: "returns the team size", is: &[Tells(Role::TeamSize)],
        names: &["omp_get_num_threads/0"] },
    Group { why: "returns the thread number", is: &[Tells(Role::ThreadNumber)],
        names: &["omp_get_thread_num/0"] },
    Group { why: "a region with a team of one is not active, but the client says it is if it made it so",
        is: &[Answered], names: &["omp_in_parallel/0"] },
    Group { why: "counts the levels with more than one thread", is: &[Tells(Role::Inquiry)],
        names: &["omp_get_active_level"] },
    Group { why: "asks about an outer team", is: &[Tells(Role::Inquiry)],
        names: &["omp_get_ancestor_thread_num", "omp_get_team_size"] },
    Group { why: "nothing but its arguments is known", is: &[],
        names: &["omp_get_dynamic/0", "omp_get_level/0", "omp_get_max_threads/0", "omp_get_num_procs/0",
            "omp_get_thread_limit/0", "omp_get_wtick/0", "omp_get_wtime/0", "omp_set_lock/1",
            "omp_unset_lock/1"] },
    Group { why: "tells of the task, which is the same in any team", is: &[],
        names: &["omp_in_explicit_task/0", "omp_in_final/0"] },
    Group { why: "tells of settings and of the machine, not of a team", is: &[],
        names: &["omp_get_cancellation", "omp_get_default_allocator", "omp_get_default_device",
            "omp_get_device_num", "omp_get_initial_device", "omp_get_max_active_levels",
            "omp_get_max_task_priority", "omp_get_nested", "omp_get_num_devices", "omp_get_num_places",
            "omp_get_proc_bind", "omp_get_schedule", "omp_get_supported_active_levels"] },
];
