//! What a program's calls say of it, and whether they forbid its teams to be gathered: calls of the runtime's
//! functions that nobody answers a member, and of what belongs to the kernel's thread.

use crate::c_library;
use crate::library::{self, Class, traits};
use crate::runtime::{self, Member, says};

/// What a member of a gathered team may do with a function that it comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Call it.
    May,
    /// Call it; it may call functions of the program's.
    CallsBack,
    /// Nothing: it belongs to the kernel thread.
    MayNot,
    /// Nothing, if it surely comes to it; it only changes how the kernel thread runs, so a member that hardly
    /// does may call it.
    Tunes,
    /// The system call's number decides, the first argument ([`crate::system_calls`]).
    BySystemCall,
    /// `prctl`'s option decides, the first argument.
    ByOption,
    /// The function of the name that is its second argument decides.
    ByName,
    /// Its code decides, if there is any: no table has it.
    Unlisted,
}

/// What a member may do with this function. What `calls` say of the whole program ([`say`]) isn't repeated.
#[must_use]
pub fn member(name: &[u8]) -> Use {
    match name {
        b"syscall" => return Use::BySystemCall,
        b"prctl" => return Use::ByOption,
        b"dlsym" | b"dlvsym" => return Use::ByName,
        _ if runtime::is_runtimes(name) => return Use::May,
        _ if c_library::calls_back(name) => return Use::CallsBack,
        _ => {}
    }
    let has = |row: &library::Function, any: u16| row.traits & any != 0;
    match library::find(name) {
        Some(row) if has(row, traits::BOUND) => Use::MayNot,
        Some(row) if row.class == Class::KernelThread => {
            // A region that threads leave is undefined.
            if has(row, traits::CARRIED | traits::LEAVES) {
                Use::May
            } else if has(row, traits::TUNES) {
                Use::Tunes
            } else {
                Use::MayNot
            }
        }
        Some(_) => Use::May,
        None if c_library::is_known(name) => Use::May,
        None => Use::Unlisted,
    }
}

/// Whether a program that calls this function anywhere may so act on its threads between regions.
#[must_use]
pub fn acts_on_threads(name: &[u8]) -> bool {
    library::find(name).is_some_and(|row| row.traits & traits::ACTS != 0)
}

/// Whether the library of that file name only offers that function to its users.
#[must_use]
pub fn is_offered(file: &[u8], name: &[u8]) -> bool {
    OFFERED.iter().any(|offered| file.starts_with(offered.0) && offered.1 == name)
}

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
    // What other functions do counts where members come to them (`member`).
    match library::find(name) {
        Some(row) if row.traits & traits::LASTS != 0 => says::FORBIDDEN,
        Some(row) if row.class == Class::StartsThread && !row.later => says::THREADS,
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
            ("pthread_kill", false),
            ("pthread_mutexattr_setrobust", true),
            ("pthread_mutexattr_setrobust_np", true),
            ("__tsan_init", true),
        ] {
            assert_eq!(forbid(name.as_bytes()), forbids, "{name}");
        }
    }

    #[test]
    fn what_a_library_offers_forbids_nothing_where_that_library_calls_it() {
        assert!(is_offered(b"libarrow.so.2600", b"pthread_kill"));
        assert!(!is_offered(b"libarrow.so.2600", b"pthread_sigqueue"));
        for file in [&b"libarrow_python.so"[..], b""] {
            assert!(!is_offered(file, b"pthread_kill"));
        }
        assert_eq!(say_in(b"libstdc++.so.6", b"pthread_create"), 0);
        assert_eq!(say_in(b"libother.so", b"pthread_create"), says::THREADS);
    }

    #[test]
    fn what_belongs_to_the_kernel_thread_is_not_for_members() {
        for name in ["tgkill", "gettid", "pthread_kill", "setfsuid", "unshare", "timer_create", "PAPI_start"]
        {
            assert_eq!(member(name.as_bytes()), Use::MayNot, "{name}");
        }
        for name in ["pthread_sigmask", "sigaltstack", "pthread_self", "malloc", "GOMP_barrier", "snprintf"] {
            assert_eq!(member(name.as_bytes()), Use::May, "{name}");
        }
        assert_eq!(member(b"qsort"), Use::CallsBack);
        assert_eq!(member(b"syscall"), Use::BySystemCall);
        assert_eq!(member(b"prctl"), Use::ByOption);
        assert_eq!(member(b"a_function_of_the_programs"), Use::Unlisted);
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
