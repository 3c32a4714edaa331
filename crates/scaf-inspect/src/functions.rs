//! What the analysis takes from a function's name, by the table of functions (`crates/scaf-functions`).

use scaf_functions::library::{self, Class, traits};
use scaf_functions::runtime::{self, Function};

pub(crate) use scaf_functions::runtime::Tells;

/// Prefixes of functions that start regions: libgomp's, and LLVM's.
pub(crate) const GOMP_STARTS_REGIONS: &str = "GOMP_parallel";
pub(crate) const FORKS: &str = "__kmpc_fork_";
/// Code for one certain thread.
pub(crate) const MASKED: &str = "__kmpc_masked";
/// Starts a loop with a static schedule, or sections.
pub(crate) const STATIC_LOOPS: &str = "__kmpc_for_static_init";
pub(crate) const THREADPRIVATE: &str = "__kmpc_threadprivate";
/// Prefixes of all queries.
pub(crate) const QUERY_PREFIXES: [&str; 2] = ["omp_get_", "omp_in_"];
/// Prefixes of the names that a file needs to start a region or call a query.
pub(crate) const PREFIXES: [&str; 4] = ["GOMP_", "omp_get_", "omp_in_", "__kmpc_"];
/// Assumed where the number of arguments is unknown: one per argument register.
const UNKNOWN: usize = 6;

/// Whether a function of this name starts a region.
pub(crate) fn starts_region(name: &[u8]) -> bool {
    [FORKS, GOMP_STARTS_REGIONS].iter().any(|start| name.starts_with(start.as_bytes()))
}

fn row(name: &str) -> Option<&'static Function> {
    runtime::find(name.as_bytes())
}

pub(crate) fn tells(name: &str) -> Tells {
    let may_ask = ["omp_get_", "omp_in_", "omp_capture_affinity", "omp_display_affinity"];
    match row(name).map_or(Tells::Unknown, |row| row.tells) {
        Tells::Unknown if may_ask.iter().any(|prefix| name.starts_with(prefix)) => Tells::Inquiry,
        known => known,
    }
}

/// Whether code that calls it may learn about the team.
pub(crate) fn is_query(name: &str) -> bool {
    matches!(tells(name), Tells::TeamSize | Tells::ThreadNumber | Tells::Inquiry | Tells::Sections)
}

/// Whether the client answers this function as without scaf, so that it reveals nothing of a changed team.
pub(crate) fn is_answered(name: &str) -> bool {
    tells(name) == Tells::Answered
}

pub(crate) fn is_known_to_tell(name: &str) -> bool {
    row(name).is_some_and(|row| row.tells != Tells::Unknown) && (is_answered(name) || is_query(name))
}

/// Whether text that begins with a name is no sign of a query: OpenBLAS has `omp_in_parallel`.
pub(crate) fn names_no_query(text: &[u8]) -> bool {
    let name = text.split(|byte| *byte == 0).next().unwrap_or(text);
    let row = || runtime::find(name).map(|row| row.tells);
    name.starts_with(b"omp_in_") && matches!(row(), Some(Tells::Nothing | Tells::Answered))
}

/// How many integer or pointer arguments a function takes; [`UNKNOWN`] if not listed. Fortran's names aren't.
pub(crate) fn arguments(name: &str) -> usize {
    let runtimes = row(name).filter(|row| row.name.bytes() == name.as_bytes()).and_then(|row| row.arguments);
    let known = runtimes.or_else(|| library::find_today(name.as_bytes())?.arguments);
    known.map_or(UNKNOWN, usize::from)
}

fn has(name: &str, any: u16) -> bool {
    library::find_today(name.as_bytes()).is_some_and(|row| row.traits & any != 0)
}

pub(crate) fn fills_memory(name: &str) -> bool {
    has(name, traits::FILLS_MEMORY)
}

/// Whether it returns the address of new memory, if of any.
pub(crate) fn allocates(name: &str) -> bool {
    has(name, traits::ALLOCATES)
}

/// Whether it writes where its first argument points to, and doesn't look there.
pub(crate) fn overwrites(name: &str) -> bool {
    has(name, traits::OVERWRITES)
}

/// Whether it frees the memory that its first argument is the address of.
pub(crate) fn frees(name: &str) -> bool {
    has(name, traits::FREES)
}

/// Whether the call may not return to its caller; exceptions count if they are `caught` anywhere.
pub(crate) fn leaves(name: &str, caught: bool) -> bool {
    has(name, traits::LEAVES) || (caught && has(name, traits::THROWS))
}

pub(crate) fn never_returns(name: &str) -> bool {
    has(name, traits::NEVER_RETURNS)
}

/// Whether it may make threads wait for each other. Unlisted functions don't (to be reversed).
pub(crate) fn makes_threads_wait(name: &str) -> bool {
    is_of_class(name, Class::ThreadsWait)
}

/// Whether it keeps per-thread data or returns the thread's identity, as `syscall` does at the caller's word.
/// Unlisted ones don't (to be reversed).
pub(crate) fn keeps_for_threads(name: &str) -> bool {
    name == "syscall" || is_of_class(name, Class::PerThread)
}

fn is_of_class(name: &str, class: Class) -> bool {
    library::find_today(name.as_bytes()).is_some_and(|row| row.class == class)
}

/// gcc calls outlined functions `f._omp_fn.0`, clang `.omp_outlined.` or `f.omp_outlined`.
pub(crate) fn is_outlined_by_name(name: &str) -> bool {
    name.contains("._omp_fn.") || name.contains("omp_outlined")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortrans_names_mean_the_same() {
        assert_eq!(tells("omp_get_num_threads_"), Tells::TeamSize);
        assert_eq!(tells("omp_get_thread_num_"), Tells::ThreadNumber);
        for name in ["omp_get_active_level", "omp_get_team_size", "omp_get_ancestor_thread_num"] {
            assert_eq!(tells(name), Tells::Inquiry);
            assert_eq!(tells(&format!("{name}_")), Tells::Inquiry);
        }
        assert_eq!(tells("omp_get_team_size_8_"), Tells::Inquiry);
        assert_eq!(tells("omp_get_place_num_"), Tells::Inquiry);
        assert!(!is_query("omp_get_schedule_") && !is_known_to_tell("omp_get_schedule_"));
        assert_eq!(tells("omp_in_something_new"), Tells::Inquiry);
        assert!(is_known_to_tell("omp_in_parallel_") && !is_known_to_tell("omp_in_final"));
    }

    #[test]
    fn few_names_show_that_nobody_asks() {
        for name in ["omp_in_explicit_task", "omp_in_final", "omp_in_parallel"] {
            assert!(!is_query(name) && names_no_query(format!("{name}\0omp_get_level").as_bytes()), "{name}");
        }
        for text in ["omp_in_something_new\0", "omp_get_wtime\0", "omp_in_par", "GOMP_barrier\0"] {
            assert!(!names_no_query(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn arguments_are_known_of_what_is_listed() {
        assert_eq!(arguments("omp_get_wtime"), 0);
        assert_eq!(arguments("memcpy"), 3);
        assert_eq!(arguments("a_function_of_the_programs"), UNKNOWN);
        assert_eq!(arguments("syscall"), UNKNOWN);
    }
}
