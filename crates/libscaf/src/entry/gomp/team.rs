//! What a program asks and says about its teams' sizes. What it fixes is a promise (`program/promise.rs`).

use super::chosen::short;
use crate::link::{affinity, pages, silence};
use crate::program::permission;
use crate::program::promise::note;
use crate::region::mechanisms::gather::icvs::Icvs;
use crate::region::mechanisms::gather::{self, constructs};
use crate::region::mechanisms::resize;
use crate::region::place::asked;
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::runtimes::lookup;
use crate::sys::symbols;
use core::ffi::c_int;
use scaf_proto::grant::count;
use scaf_proto::report::fact;

/// Answers about the team: a member's own, else the runtime's.
macro_rules! answers {
    ($($name:ident($($argument:ident)?) => $real:ident or $symbol:literal or $missing:literal,
        |$me:ident| $answer:expr;)*) => {
        $(
            pub unsafe extern "C" fn $name($($argument: c_int,)? caller: usize) -> c_int {
                let this = thread();
                // SAFETY: this thread's own state; the program's own arguments.
                unsafe {
                    match gather::around(this) {
                        Some($me) => $answer,
                        None => asked(this, caller)
                            .and_then(|runtime| runtime.$real)
                            .or_else(|| symbols::next($symbol))
                            .map_or($missing, |real| real($($argument)?)),
                    }
                }
            }
        )*
    };
}

answers! {
    get_thread_num() => thread_num or c"omp_get_thread_num" or 0, |me| constructs::number(me);
    get_num_threads() => num_threads or c"omp_get_num_threads" or 1, |me| constructs::size(me);
    in_final() => in_final or c"omp_in_final" or 0, |me| c_int::from(me.task.get().is_final);
    get_level() => level or c"omp_get_level" or 0, |me| constructs::level(me);
    get_active_level() => active_level or c"omp_get_active_level" or 0, |_me| 1;
    get_team_size(level) => team_size or c"omp_get_team_size" or -1, |me| constructs::size_at(me, level);
    get_ancestor_thread_num(level) => ancestor_thread_num or c"omp_get_ancestor_thread_num" or -1,
        |me| constructs::number_at(me, level);
}

/// A region that has one thread because of us is active for the program, as it is without us: the answer
/// must not depend on the team's size, for OpenBLAS asks, and so all that use numpy do.
pub unsafe extern "C" fn in_parallel(caller: usize) -> c_int {
    let this = thread();
    // SAFETY: this thread's own state; no arguments.
    unsafe {
        if gather::around(this).is_some() {
            return 1;
        }
        let runtime = asked(this, caller);
        if runtime.is_some_and(|runtime| resize::hides_a_team(this, runtime)) {
            return 1;
        }
        let real = runtime.and_then(|runtime| runtime.in_parallel);
        real.or_else(|| symbols::next(c"omp_in_parallel")).map_or(0, |real| real())
    }
}

fn runtime_of(caller: usize) -> Option<&'static Runtime> {
    lookup::of(caller).map(|code| code.runtime)
}

pub unsafe extern "C" fn set_num_threads(threads: c_int, caller: usize) {
    note(fact::SET_NUM_THREADS);
    // SAFETY: this thread's own state.
    if let Some(me) = unsafe { gather::around(thread()) } {
        return me.most.set(threads.max(1) as u32);
    }
    if let Some(real) = runtime_of(caller).and_then(|runtime| runtime.set_num_threads) {
        // SAFETY: the program's own argument.
        unsafe { real(threads) }
    }
}

pub unsafe extern "C" fn set_dynamic(dynamic: c_int, caller: usize) {
    if dynamic == 0 {
        note(fact::SET_DYNAMIC_OFF);
    } else {
        permission::asked_for();
    }
    // SAFETY: this thread's own state.
    if let Some(me) = unsafe { gather::around(thread()) } {
        let dynamic = c_int::from(dynamic != 0);
        return me.icvs.set(Icvs { dynamic, ..me.icvs.get() });
    }
    if let Some(real) = runtime_of(caller).and_then(|runtime| runtime.set_dynamic) {
        // SAFETY: the program's own argument.
        unsafe { real(dynamic) }
    }
}

pub unsafe extern "C" fn get_max_threads(caller: usize) -> c_int {
    note(fact::ASKED_MAX_THREADS);
    // SAFETY: this thread's own state.
    if let Some(me) = unsafe { gather::around(thread()) } {
        return me.most.get() as c_int;
    }
    match runtime_of(caller).and_then(|runtime| runtime.max_threads) {
        // SAFETY: no arguments.
        Some(real) => unsafe { real() },
        None => 1,
    }
}

pub unsafe extern "C" fn get_thread_limit(caller: usize) -> c_int {
    // SAFETY: this thread's own state; no arguments.
    unsafe {
        match gather::around(thread()) {
            Some(_) => gather::worker_tls::thread_limit(),
            None => {
                runtime_of(caller).and_then(|runtime| runtime.thread_limit).map_or(c_int::MAX, |real| real())
            }
        }
    }
}

/// Counts the program's own affinity: the runtime would count the PUs that the program is folded onto now. A
/// thread that has bound itself is told what the runtime says.
pub unsafe extern "C" fn get_num_procs(caller: usize) -> c_int {
    let grant = pages::grant();
    let ours = || silence::is_known() || affinity::has_ours();
    match (grant.word().folded() && ours()).then(|| grant.masks()).flatten() {
        Some(masks) => count(&masks.own).max(1) as c_int,
        // SAFETY: no arguments.
        None => runtime_of(caller).and_then(|runtime| runtime.num_procs).map_or(1, |real| unsafe { real() }),
    }
}

/// Fortran passes arguments by address, as 4-byte or 8-byte integers.
pub unsafe extern "C" fn set_num_threads_fortran(threads: *const i32, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_num_threads(*threads, caller) }
}

pub unsafe extern "C" fn set_num_threads_fortran_8(threads: *const i64, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_num_threads(short(*threads), caller) }
}

pub unsafe extern "C" fn set_dynamic_fortran(dynamic: *const i32, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_dynamic(*dynamic, caller) }
}

pub unsafe extern "C" fn set_dynamic_fortran_8(dynamic: *const i64, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_dynamic(i32::from(*dynamic != 0), caller) }
}

macro_rules! at_level {
    ($($name:ident, $name_8:ident => $question:ident;)*) => {
        $(
            pub unsafe extern "C" fn $name(level: *const i32, caller: usize) -> c_int {
                // SAFETY: Fortran's calling convention.
                unsafe { $question(*level, caller) }
            }

            pub unsafe extern "C" fn $name_8(level: *const i64, caller: usize) -> c_int {
                // SAFETY: as above.
                unsafe { $question(short(*level), caller) }
            }
        )*
    };
}

at_level! {
    get_team_size_fortran, get_team_size_fortran_8 => get_team_size;
    get_ancestor_thread_num_fortran, get_ancestor_thread_num_fortran_8 => get_ancestor_thread_num;
}
