//! Calls that ask for or set the teams' sizes. A size that the program fixes is a promise
//! (`program/promise.rs`).

use crate::entry::fortran::fortran;
use crate::link::{affinity, no_syscalls, pages};
use crate::program::permission;
use crate::program::promise::record;
use crate::region::mechanisms::gather::icvs::Icvs;
use crate::region::mechanisms::gather::{self, constructs};
use crate::region::mechanisms::resize;
use crate::region::serving_runtime::asked;
use crate::region::thread::thread;
use crate::runtimes::entries::{Runtime, name_of};
use crate::runtimes::lookup;
use crate::sys::symbols;
use core::ffi::c_int;
use scaf_proto::grant::count;
use scaf_proto::report::fact;

/// Answers about the team: a member's own, else the runtime's.
macro_rules! answers {
    ($($name:ident($($argument:ident)?) => $real:ident or $missing:literal,
        |$me:ident| $answer:expr;)*) => {
        $(
            pub unsafe extern "C" fn $name($($argument: c_int,)? caller: usize) -> c_int {
                if let Some($me) = gather::current() {
                    return $answer;
                }
                let real = asked(thread(), caller).and_then(|runtime| runtime.$real);
                // SAFETY: in every OpenMP runtime it has this type and takes any number.
                unsafe {
                    real.or_else(|| symbols::next(name_of!($real)))
                        .map_or($missing, |real| real($($argument)?))
                }
            }
        )*
    };
}

answers! {
    get_thread_num() => omp_get_thread_num or 0, |me| constructs::number(me);
    get_num_threads() => omp_get_num_threads or 1, |me| constructs::size(me);
    in_final() => omp_in_final or 0, |me| c_int::from(me.task.get().is_final);
    get_level() => omp_get_level or 0, |me| constructs::level(me);
    get_active_level() => omp_get_active_level or 0, |_me| 1;
    get_team_size(level) => omp_get_team_size or -1, |me| constructs::size_at(me, level);
    get_ancestor_thread_num(level) => omp_get_ancestor_thread_num or -1,
        |me| constructs::number_at(me, level);
}

/// A region that has one thread because of us is active for the program, as it is without us: the answer
/// must not depend on the team's size, for OpenBLAS asks, and so all that use numpy do.
pub unsafe extern "C" fn in_parallel(caller: usize) -> c_int {
    if gather::current().is_some() {
        return 1;
    }
    let runtime = asked(thread(), caller);
    if runtime.is_some_and(|runtime| resize::hides_a_team(thread(), runtime)) {
        return 1;
    }
    let real = runtime.and_then(|runtime| runtime.omp_in_parallel);
    // SAFETY: in every OpenMP runtime it takes nothing and returns a number.
    unsafe { real.or_else(|| symbols::next(name_of!(omp_in_parallel))).map_or(0, |real| real()) }
}

fn runtime_of(caller: usize) -> Option<&'static Runtime> {
    lookup::of(caller).map(|code| code.runtime)
}

pub unsafe extern "C" fn set_num_threads(threads: c_int, caller: usize) {
    record(fact::SET_NUM_THREADS);
    if let Some(me) = gather::current() {
        return me.most.set(threads.max(1) as u32);
    }
    if let Some(real) = runtime_of(caller).and_then(|runtime| runtime.omp_set_num_threads) {
        // SAFETY: omp_set_num_threads takes any number.
        unsafe { real(threads) }
    }
}

pub unsafe extern "C" fn set_dynamic(dynamic: c_int, caller: usize) {
    if dynamic == 0 {
        record(fact::SET_DYNAMIC_OFF);
    } else {
        permission::asked_for();
    }
    if let Some(me) = gather::current() {
        let dynamic = c_int::from(dynamic != 0);
        return me.icvs.set(Icvs { dynamic, ..me.icvs.get() });
    }
    if let Some(real) = runtime_of(caller).and_then(|runtime| runtime.omp_set_dynamic) {
        // SAFETY: omp_set_dynamic takes any number.
        unsafe { real(dynamic) }
    }
}

pub unsafe extern "C" fn get_max_threads(caller: usize) -> c_int {
    record(fact::ASKED_MAX_THREADS);
    if let Some(me) = gather::current() {
        return me.most.get() as c_int;
    }
    match runtime_of(caller).and_then(|runtime| runtime.omp_get_max_threads) {
        // SAFETY: omp_get_max_threads takes nothing.
        Some(real) => unsafe { real() },
        None => 1,
    }
}

pub unsafe extern "C" fn get_thread_limit(caller: usize) -> c_int {
    if gather::current().is_some() {
        return gather::worker_tls::thread_limit();
    }
    let real = runtime_of(caller).and_then(|runtime| runtime.omp_get_thread_limit);
    // SAFETY: omp_get_thread_limit takes nothing.
    real.map_or(c_int::MAX, |real| unsafe { real() })
}

/// Counts the program's own affinity: the runtime would count the PUs that the program is folded onto now. A
/// thread that has bound itself is told what the runtime says.
pub unsafe extern "C" fn get_num_procs(caller: usize) -> c_int {
    let grant = pages::grant();
    let ours = || no_syscalls::are_known_forbidden() || affinity::has_ours();
    match (grant.word().folded() && ours()).then(|| grant.masks()).flatten() {
        Some(masks) => count(&masks.own).max(1) as c_int,
        // SAFETY: omp_get_num_procs takes nothing.
        None => runtime_of(caller)
            .and_then(|runtime| runtime.omp_get_num_procs)
            .map_or(1, |real| unsafe { real() }),
    }
}

fortran! {
    set_num_threads_fortran(threads: i32) => set_num_threads;
    set_num_threads_fortran_8(threads: i64) => set_num_threads;
    set_dynamic_fortran(dynamic: i32) => set_dynamic;
    get_team_size_fortran(level: i32) -> c_int => get_team_size;
    get_team_size_fortran_8(level: i64) -> c_int => get_team_size;
    get_ancestor_thread_num_fortran(level: i32) -> c_int => get_ancestor_thread_num;
    get_ancestor_thread_num_fortran_8(level: i64) -> c_int => get_ancestor_thread_num;
}

pub unsafe extern "C" fn set_dynamic_fortran_8(dynamic: *const i64, caller: usize) {
    // SAFETY: only Fortran code calls it, with the address of an integer of 8 bytes.
    unsafe { set_dynamic(i32::from(*dynamic != 0), caller) }
}
