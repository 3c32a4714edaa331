//! What the functions of OpenMP's runtimes and of libraries mean for who does what is done behind a call.

use crate::functions::{self, Tells, tells};
use scaf_functions::library::{self, Class, traits};

/// What a call of a function of another module does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Says whether there are iterations for this thread.
    Chunk,
    /// Gives each thread its share of a loop.
    Share,
    /// Says how a thread's sums are to be combined with the others'.
    Reduces,
    /// The thread's number among all, which compilers hand on to the runtime.
    Global,
    /// Says which of the sections is this thread's, or none.
    Section,
    /// Says whether this thread is the one.
    Single,
    /// The same, but the one gets nothing and the others what it passes on.
    SingleCopy,
    /// Ends a loop or sections, or is a barrier.
    Ends,
    /// Locks, waits for tasks, and the like.
    Neutral,
    TeamSize,
    ThreadNumber,
    /// Starts a region of this function: the argument's number.
    Region(usize),
    /// Makes a task of the argument of this number.
    Task(usize),
    /// Makes tasks of the first argument, each with some of the iterations.
    TaskLoop,
    /// Calls the argument of this number, and does what it does to its other arguments.
    CallsBack(usize),
    /// Changes nothing, and answers all threads the same.
    Computes,
    /// Does what it does to its arguments, and to what the process shares.
    Harmless,
    /// May not be called in a region, or isn't known.
    Unknown,
}

/// What each thread has of its own, and what may wait for another thread at the other end of a pipe.
const MORE_THAN_HARMLESS: [&str; 3] = ["__errno_location", "fopen", "fread"];

pub(super) fn role(name: &str) -> Role {
    if let Some(rest) = name.strip_prefix("GOMP_") {
        return of_gomp(rest);
    }
    if let Some(rest) = name.strip_prefix("__kmpc_") {
        return of_kmpc(rest);
    }
    match tells(name) {
        Tells::TeamSize => return Role::TeamSize,
        Tells::ThreadNumber => return Role::ThreadNumber,
        Tells::Nothing | Tells::Answered if name.starts_with("omp_get_") || name.starts_with("omp_in_") => {
            return Role::Computes;
        }
        _ => {}
    }
    if ["omp_set_lock", "omp_unset_lock", "omp_set_lock_", "omp_unset_lock_"].contains(&name) {
        return Role::Neutral;
    }
    match name {
        "qsort" | "qsort_r" => return Role::CallsBack(3),
        "bsearch" => return Role::CallsBack(4),
        _ => {}
    }
    if MORE_THAN_HARMLESS.contains(&name) {
        return Role::Unknown;
    }
    match library::find(name.as_bytes()) {
        Some(row) if row.class == Class::Harmless && row.traits & traits::COMPUTES != 0 => Role::Computes,
        Some(row) if row.class == Class::Harmless && row.traits & traits::LEAVES == 0 => Role::Harmless,
        _ => Role::Unknown,
    }
}

fn of_gomp(name: &str) -> Role {
    let loops = name.strip_prefix("loop_").filter(|name| !name.contains("doacross"));
    match name {
        "loop_end" | "loop_end_nowait" | "sections_end" | "sections_end_nowait" | "barrier" => Role::Ends,
        "sections_start" | "sections_next" => Role::Section,
        "single_start" => Role::Single,
        "single_copy_start" => Role::SingleCopy,
        "single_copy_end" | "taskwait" | "taskgroup_start" | "taskgroup_end" | "taskyield" => Role::Neutral,
        "critical_start" | "critical_end" | "critical_name_start" | "critical_name_end" => Role::Neutral,
        "atomic_start" | "atomic_end" | "ordered_start" | "ordered_end" => Role::Neutral,
        "task" => Role::Task(0),
        "taskloop" | "taskloop_ull" => Role::TaskLoop,
        "parallel" | "parallel_sections" => Role::Region(0),
        _ if name.starts_with("parallel_loop_") && !name.ends_with("_start") => Role::Region(0),
        _ if loops.is_some() && !fills_of_loop(name).is_empty() => Role::Chunk,
        _ => Role::Unknown,
    }
}

fn of_kmpc(name: &str) -> Role {
    match name {
        "fork_call" => Role::Region(2),
        "barrier" | "for_static_fini" => Role::Ends,
        "single" | "master" => Role::Single,
        "end_single" | "end_master" | "critical" | "critical_with_hint" | "end_critical" | "ordered" => {
            Role::Neutral
        }
        "end_ordered" | "omp_taskwait" | "omp_taskyield" | "taskgroup" | "end_taskgroup" | "flush" => {
            Role::Neutral
        }
        "end_reduce" | "end_reduce_nowait" | "push_num_threads" | "push_proc_bind" => Role::Neutral,
        "reduce" | "reduce_nowait" => Role::Reduces,
        "global_thread_num" => Role::Global,
        "omp_task_alloc" => Role::Task(5),
        "omp_task" | "omp_task_begin_if0" | "omp_task_complete_if0" | "omp_task_with_deps" => Role::Harmless,
        _ if name.starts_with("for_static_init_") => Role::Share,
        _ if name.starts_with("dispatch_next_") => Role::Chunk,
        _ if name.starts_with("dispatch_init_") || name.starts_with("dispatch_fini_") => Role::Neutral,
        _ => Role::Unknown,
    }
}

/// Whether who calls it holds a lock then, or doesn't any more; `None` if it has nothing to do with that.
pub(super) fn locks(name: &str) -> Option<bool> {
    let begins = ["GOMP_critical_start", "GOMP_critical_name_start", "GOMP_atomic_start"];
    let ends = ["GOMP_critical_end", "GOMP_critical_name_end", "GOMP_atomic_end"];
    match name {
        "omp_set_lock" | "omp_set_lock_" | "__kmpc_critical" | "__kmpc_critical_with_hint" => Some(true),
        "omp_unset_lock" | "omp_unset_lock_" | "__kmpc_end_critical" => Some(false),
        _ if begins.contains(&name) => Some(true),
        _ if ends.contains(&name) => Some(false),
        _ => None,
    }
}

/// Whether it starts regions, by whatever function.
pub(super) fn starts_regions(name: &str) -> bool {
    name.starts_with(functions::GOMP_STARTS_REGIONS)
        || name.starts_with("GOMP_teams")
        || name.starts_with("GOMP_target")
        || name.starts_with(functions::FORKS)
        || name.starts_with("GOACC_")
}

/// The arguments that point to what the function fills without reading it, and its bytes. The number behind
/// the last register's is the first on the stack.
pub(super) fn fills(name: &str) -> &'static [(u8, u8)] {
    match name {
        "sincos" => &[(0, 8), (1, 8)],
        "sincosf" => &[(0, 4), (1, 4)],
        "frexp" | "frexpf" => &[(0, 4)],
        "modf" => &[(0, 8)],
        "modff" => &[(0, 4)],
        _ => match name.strip_prefix("__kmpc_") {
            Some("for_static_init_4" | "for_static_init_4u") => &[(3, 4), (4, 4), (5, 4), (6, 4)],
            Some("for_static_init_8" | "for_static_init_8u") => &[(3, 4), (4, 8), (5, 8), (6, 8)],
            Some("dispatch_next_4" | "dispatch_next_4u") => &[(2, 4), (3, 4), (4, 4), (5, 4)],
            Some("dispatch_next_8" | "dispatch_next_8u") => &[(2, 4), (3, 8), (4, 8), (5, 8)],
            _ => name.strip_prefix("GOMP_").map_or(&[], fills_of_loop),
        },
    }
}

/// Of the functions that hand out chunks of loops.
fn fills_of_loop(name: &str) -> &'static [(u8, u8)] {
    let Some(rest) = name.strip_prefix("loop_") else { return &[] };
    let (rest, is_ull) = rest.strip_prefix("ull_").map_or((rest, false), |rest| (rest, true));
    let known = ["dynamic", "guided", "static", "runtime"];
    let kind = rest.trim_start_matches("ordered_").trim_start_matches("maybe_");
    let kind = kind.trim_start_matches("nonmonotonic_");
    let Some((kind, what)) = kind.rsplit_once('_') else { return &[] };
    match (known.contains(&kind), what, kind == "runtime", is_ull) {
        (true, "next", _, _) => &[(0, 8), (1, 8)],
        (true, "start", false, false) | (true, "start", true, true) => &[(4, 8), (5, 8)],
        (true, "start", true, false) => &[(3, 8), (4, 8)],
        (true, "start", false, true) => &[(5, 8), (6, 8)],
        _ => &[],
    }
}

/// How many of the vector registers are for arguments.
pub(super) const FLOAT_ARGUMENTS: usize = 8;

/// Whether it takes any number of arguments.
pub(super) fn takes_any(name: &str) -> bool {
    ["printf", "scanf"].iter().any(|part| name.contains(part)) && role(name) == Role::Harmless
}

/// How many of the vector registers it takes arguments in, at most.
pub(super) fn float_arguments(name: &str) -> usize {
    const TWO: [&str; 9] =
        ["pow", "atan2", "hypot", "fmod", "fmax", "fmin", "copysign", "remainder", "nextafter"];
    const MIXED: [&str; 6] = ["ldexp", "frexp", "modf", "scalbn", "sincos", "_gfortran_pow_r"];
    let bare = name.strip_suffix('f').unwrap_or(name);
    let known = functions::arguments(name) > 0;
    match role(name) {
        _ if ["omp_", "GOMP_", "__kmpc_"].iter().any(|start| name.starts_with(start)) => 0,
        Role::Computes if bare == "fma" => 3,
        Role::Computes if TWO.contains(&bare) || bare == "fdim" || name.starts_with("_ZGV") => 2,
        // Those that take an integer take no other number, but for these.
        Role::Computes if known && !MIXED.iter().any(|start| name.starts_with(start)) => 0,
        Role::Computes => 1,
        Role::Harmless if name.starts_with("lgamma") => 1,
        Role::Harmless if !name.contains("printf") => 0,
        Role::Harmless | Role::Unknown => FLOAT_ARGUMENTS,
        _ => 0,
    }
}
