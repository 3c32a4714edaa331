//! What a program's calls say of it, and whether they forbid its teams to be gathered: calls of the runtime's
//! functions that nobody answers a member, and of what belongs to the kernel's thread.

use crate::library::{self, Class, traits};
use crate::runtime::{self, Member, says};

/// What a library only offers to its users, who are asked themselves: how its file's name begins, and the
/// function. Arrow has a function that sends a signal to a thread, which its Python modules call in tests
/// only; pandas and XGBoost load it. Python's interpreter offers the like, and isn't asked at all.
const OFFERED: [(&[u8], &[u8]); 1] = [(b"libarrow.so", b"pthread_kill")];

/// Libraries that start threads for others only, who call them for it, or to run code of their own.
const STARTERS: [&[u8]; 2] = [b"libstdc++", b"libgfortran"];

/// What a call of the function by the library of that file name says.
#[must_use]
pub fn say_in(file: &[u8], name: &[u8]) -> u32 {
    let said = say(name);
    let offers = |offered: &(&[u8], &[u8])| file.starts_with(offered.0) && offered.1 == name;
    if said & says::FORBIDDEN != 0 && OFFERED.iter().any(offers) {
        return 0;
    }
    if said & says::THREADS != 0 && STARTERS.iter().any(|library| file.starts_with(library)) {
        return said & !says::THREADS;
    }
    said
}

/// What calls of this function say.
#[must_use]
pub fn say(name: &[u8]) -> u32 {
    if runtime::is_runtimes(name) {
        let compiler = match name {
            [b'G', b'O', b'M', b'P', b'_', ..] => says::GOMP,
            [b'_', b'_', b'k', b'm', b'p', b'c', b'_', ..] => says::KMPC,
            _ => 0,
        };
        return compiler
            | match runtime::find(name) {
                Some(row) if row.member == Member::Forbidden => row.says | says::FORBIDDEN,
                Some(row) => row.says,
                None => says::FORBIDDEN,
            };
    }
    // What isn't listed says nothing; that is to be turned round.
    match library::find_today(name).map(|row| (row.class, row.traits & traits::LEAVES)) {
        Some((Class::StartsThread, _)) => says::THREADS,
        Some((Class::KernelThread, 0)) => says::FORBIDDEN,
        _ => 0,
    }
}

/// Whether calls of this function forbid it.
#[must_use]
pub fn forbid(name: &[u8]) -> bool {
    say(name) & says::FORBIDDEN != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_members_may_call_are_found() {
        for (name, forbids) in [
            ("GOMP_parallel", false),
            ("GOMP_barrier", false),
            ("GOMP_loop_start", false),
            ("GOMP_workshare_task_reduction_unregister", false),
            ("malloc", false),
            ("pthread_mutex_lock", false),
            ("omp_pause_resource", true),
            ("omp_set_max_active_levels", false),
            ("ompc_set_num_threads", false),
            ("ompc_set_dynamic", true),
            ("__kmpc_barrier", false),
            ("__kmpc_atomic_fixed4_add", false),
            ("__kmpc_omp_task", false),
            ("__kmpc_omp_target_task_alloc", true),
            ("__kmpc_proxy_task_completed", true),
            ("kmp_set_stacksize", true),
            ("pthread_kill", true),
            ("__tsan_init", true),
        ] {
            assert_eq!(forbid(name.as_bytes()), forbids, "{name}");
        }
    }

    #[test]
    fn what_a_library_offers_forbids_nothing_where_that_library_calls_it() {
        assert_eq!(say_in(b"libarrow.so.2600", b"pthread_kill"), 0);
        assert_eq!(say_in(b"libarrow.so.2600", b"pthread_sigqueue"), says::FORBIDDEN);
        for file in [&b"libarrow_python.so"[..], b""] {
            assert_eq!(say_in(file, b"pthread_kill"), says::FORBIDDEN);
        }
        assert_eq!(say_in(b"libstdc++.so.6", b"pthread_create"), 0);
        assert_eq!(say_in(b"libother.so", b"pthread_create"), says::THREADS);
    }

    #[test]
    fn locks_that_belong_to_tasks_are_known() {
        for name in ["omp_test_nest_lock", "omp_test_nest_lock_"] {
            assert_eq!(say(name.as_bytes()), says::TASKS_LOCKS, "{name}");
        }
    }

    #[test]
    fn tasks_and_their_reductions_are_known_by_both_compilers_names() {
        for name in ["GOMP_task", "GOMP_taskgroup_start", "__kmpc_omp_task_alloc", "__kmpc_taskgroup"] {
            assert_eq!(say(name.as_bytes()) & (says::TASKS | says::REDUCES), says::TASKS, "{name}");
        }
        for name in [
            "GOMP_taskgroup_reduction_register",
            "__kmpc_taskred_init",
            "__kmpc_taskred_modifier_init",
            "__kmpc_task_reduction_init",
            "__kmpc_task_reduction_modifier_init",
            "__kmpc_task_reduction_get_th_data",
        ] {
            let both = says::TASKS | says::REDUCES;
            assert_eq!(say(name.as_bytes()) & both, both, "{name}");
        }
    }
}
