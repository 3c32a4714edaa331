//! What permits smaller teams than requested without code analysis: `OMP_DYNAMIC` and `omp_set_dynamic`, for
//! regions that are entered with `dyn-var` true; `scaf run --malleable`, for all. `--exact` revokes all of
//! it.
//!
//! With `dyn-var` true the runtimes would choose sizes by the machine's load. So a managed region is entered
//! with it off, and each thread of the team turns it on again for itself.

use super::promise::record;
use crate::link::pages;
use crate::runtimes::entries::Runtime;
use crate::runtimes::modules;
use crate::sys::arch::ticks;
use crate::sys::process;
use crate::sys::settings::{self, Malleable};
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::report::fact;
use scaf_team::permission::Permission;

/// What has been said so far: bits.
#[unsafe(link_section = ".data.at_load")]
static SAID: AtomicU32 = AtomicU32::new(0);
/// `scaf run --malleable`, and `scaf check`.
const RUN: u32 = 1;
const CHECK: u32 = 2;
/// `dyn-var` may be true: because of the environment, or of a call.
const ENVIRONMENT: u32 = 4;
const CALL: u32 = 8;

pub fn at_load() {
    let settings = settings::get();
    let malleable = match settings.malleable {
        Malleable::No => 0,
        Malleable::Yes => RUN,
        Malleable::Check => CHECK,
    };
    let dynamic = if settings.dynamic { ENVIRONMENT } else { 0 };
    if !settings.exact {
        SAID.store(malleable | dynamic, Ordering::Relaxed);
    }
}

/// The program calls `omp_set_dynamic` with anything but 0.
pub fn asked_for() {
    if !settings::get().exact {
        SAID.fetch_or(CALL, Ordering::Relaxed);
    }
}

/// Who permits it for a region that the calling thread enters now.
#[inline(always)]
pub fn of(runtime: &Runtime) -> Option<Permission> {
    match SAID.load(Ordering::Relaxed) {
        0 => None,
        said => find(said, runtime),
    }
}

#[cold]
fn find(said: u32, runtime: &Runtime) -> Option<Permission> {
    let found = if said & RUN != 0 {
        Some(Permission::Run)
    } else if is_dynamic(runtime) {
        Some(if said & CALL != 0 { Permission::Program } else { Permission::Environment })
    } else if said & CHECK != 0 {
        Some(Permission::Check)
    } else {
        None
    };
    pages::report().set_permission(found.map_or(0, |permission| permission as u32));
    found
}

/// Whether `scaf check` tries the program out.
#[inline(always)]
pub fn is_tried() -> bool {
    SAID.load(Ordering::Relaxed) & CHECK != 0
}

/// While it is tried out, a team has any size, whatever is granted: a grant lasts for many regions, and what
/// depends on the team's size shows where two in a row have others. That is 1 to `most`.
#[cold]
pub fn any_size(most: u32) -> u32 {
    static STATE: AtomicU32 = AtomicU32::new(0);
    let mut x = STATE.load(Ordering::Relaxed);
    if x == 0 {
        x = ticks() as u32 | 1;
    }
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    STATE.store(x, Ordering::Relaxed);
    1 + x % most.max(1)
}

/// Tells `scaf check` which size a team has that may be resized, and would have `whole`.
#[cold]
pub fn tell_size(module: u64, team: u32, whole: u32) {
    if modules::holds(module, process::program_headers()) {
        pages::report().add_size(team);
    } else if team < whole {
        record(fact::TRIED_ELSEWHERE);
    }
}

/// Whether `dyn-var` of the calling thread is true, so that the runtime would choose sizes of its own.
#[inline(always)]
pub fn is_dynamic(runtime: &Runtime) -> bool {
    SAID.load(Ordering::Relaxed) & (ENVIRONMENT | CALL) != 0
        && runtime.ask_dynamic().is_some_and(|dynamic| dynamic != 0)
}

/// Turns the calling thread's `dyn-var` on or off.
pub fn set_dynamic(runtime: &Runtime, on: bool) {
    if let Some(set) = runtime.omp_set_dynamic {
        // SAFETY: omp_set_dynamic takes any number, at any time.
        unsafe { set(i32::from(on)) }
    }
}
