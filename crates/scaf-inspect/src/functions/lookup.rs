//! What is known of a function by its name.

use super::gomp::GOMP;
use super::group::{Group, Role, Trait};
use super::harmless::LIBRARIES;
use super::kmpc::KMPC;
use super::omp::OMP;

/// Prefixes of names that a file needs in order to start a region or to ask about a team.
pub(crate) const PREFIXES: [&str; 4] = ["GOMP_", "omp_get_", "omp_in_", "__kmpc_"];
/// The names that begin so and that nobody who calls them learns anything of a team by. OpenBLAS has one.
pub(crate) const TELL_NOTHING: [&str; 3] = ["omp_in_explicit_task", "omp_in_final", "omp_in_parallel"];
/// Assumed where the number of arguments is unknown: one per argument register.
const UNKNOWN: usize = 6;

fn bare(name: &str) -> &str {
    name.split_once('/').map_or(name, |(name, _)| name)
}

fn find(name: &str) -> Option<(&'static Group, usize)> {
    [OMP, GOMP, KMPC, LIBRARIES].into_iter().flatten().find_map(|group| {
        let at = group.names.binary_search_by(|known| bare(known).cmp(name)).ok()?;
        let count = group.names[at].split_once('/').and_then(|(_, count)| count.parse().ok());
        Some((group, count.unwrap_or(UNKNOWN)))
    })
}

fn is(name: &str, known: Trait) -> bool {
    find(name).is_some_and(|(group, _)| group.is.contains(&known))
}

fn of_c(name: &str) -> &str {
    name.strip_suffix("_8_").or_else(|| name.strip_suffix('_')).unwrap_or(name)
}

/// Whether the client answers this function so that it doesn't tell about a team.
pub(crate) fn is_answered(name: &str) -> bool {
    is(of_c(name), Trait::Answered)
}

/// Whether this is the name of a function that is known to tell about a team.
pub(crate) fn is_known_to_tell(name: &str) -> bool {
    is_answered(name) || (find(of_c(name)).is_some() && role(name) != Role::Other)
}

/// The role of an imported function. Fortran's names have an underscore at the end.
pub(crate) fn role(name: &str) -> Role {
    let name = of_c(name);
    if !["omp_", "GOMP_"].iter().any(|prefix| name.starts_with(prefix)) {
        return Role::Other;
    }
    let Some((group, _)) = find(name) else {
        // What isn't known may tell of the team.
        let asks = ["omp_get_", "omp_in_", "omp_capture_affinity", "omp_display_affinity"];
        return if asks.iter().any(|prefix| name.starts_with(prefix)) { Role::Inquiry } else { Role::Other };
    };
    let known = group.is;
    let told = |known: &Trait| if let Trait::Tells(role) = known { Some(*role) } else { None };
    known.iter().find_map(told).unwrap_or(Role::Other)
}

/// How many integer or pointer arguments a function takes; [`UNKNOWN`] if not listed.
pub(crate) fn arguments(name: &str) -> usize {
    find(name).map_or(UNKNOWN, |(_, arguments)| arguments)
}

pub(crate) fn fills_memory(name: &str) -> bool {
    is(name, Trait::FillsMemory)
}

/// Whether the thread that calls this leaves the code around; exceptions count if they are `caught` anywhere.
pub(crate) fn leaves(name: &str, caught: bool) -> bool {
    is(name, Trait::Leaves) || (caught && is(name, Trait::Throws))
}

pub(crate) fn never_returns(name: &str) -> bool {
    is(name, Trait::NeverReturns)
}

/// gcc calls outlined functions `f._omp_fn.0`, clang `.omp_outlined.` or `f.omp_outlined`.
pub(crate) fn is_outlined_by_name(name: &str) -> bool {
    name.contains("._omp_fn.") || name.contains("omp_outlined")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn tables_are_sorted_and_name_each_function_once() {
        for table in [GOMP, KMPC, OMP, LIBRARIES] {
            let mut met = BTreeSet::new();
            for group in table {
                assert!(group.names.is_sorted() && !group.names.is_empty(), "{}", group.why);
                for name in group.names {
                    assert!(met.insert(bare(name)), "{name} stands twice");
                    assert!(find(bare(name)).is_some_and(|(found, _)| std::ptr::eq(found, group)), "{name}");
                    assert_eq!(name.contains('/'), arguments(bare(name)) < UNKNOWN, "{name}");
                }
            }
        }
    }

    #[test]
    fn fortrans_names_mean_the_same() {
        assert_eq!(role("omp_get_num_threads_"), Role::TeamSize);
        assert_eq!(role("omp_get_thread_num_"), Role::ThreadNumber);
        for name in ["omp_get_active_level", "omp_get_team_size", "omp_get_ancestor_thread_num"] {
            assert_eq!(role(name), Role::Inquiry);
            assert_eq!(role(&format!("{name}_")), Role::Inquiry);
        }
        assert_eq!(role("omp_get_team_size_8_"), Role::Inquiry);
        assert_eq!(role("omp_get_place_num_"), Role::Inquiry);
        assert_eq!(role("omp_get_schedule_"), Role::Other);
        assert_eq!(role("omp_in_something_new"), Role::Inquiry);
        for name in TELL_NOTHING {
            assert_eq!(role(name), Role::Other);
        }
        assert!(is_known_to_tell("omp_in_parallel_") && !is_known_to_tell("omp_in_final"));
    }
}
