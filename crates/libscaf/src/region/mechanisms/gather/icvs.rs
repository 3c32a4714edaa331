//! Internal control variables, which the runtime keeps for each task: a member begins with its master's, and
//! keeps what it sets itself.

use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use scaf_team::gather::worksharing::Rule;

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Icvs {
    pub dynamic: c_int,
    pub nested: c_int,
    /// Most active levels of regions.
    pub levels: c_int,
    /// The schedule of loops with `schedule(runtime)`.
    pub kind: c_int,
    pub chunk: c_int,
    /// How threads are bound.
    pub bind: c_int,
}

/// Most levels that newer runtimes allow; older ones have no limit.
const MOST_LEVELS: c_int = 255;
/// Kind and chunk size of loops with `schedule(runtime)` on LLVM's runtime. These are the master's before the
/// region, whatever the team sets in it.
static SCHEDULE: [AtomicI32; 2] = [const { AtomicI32::new(0) }; 2];
/// 1 once a member has asked for nested teams.
static NESTING: AtomicU32 = AtomicU32::new(0);

impl Icvs {
    /// The values before the runtime was asked.
    pub const UNKNOWN: Icvs = Icvs { dynamic: 0, nested: 0, levels: 1, kind: 1, chunk: 0, bind: 0 };

    /// The calling thread's, by the runtime.
    pub unsafe fn of(runtime: &Runtime) -> Icvs {
        let Icvs { mut kind, mut chunk, .. } = Icvs::UNKNOWN;
        let ask = |question: Option<unsafe extern "C" fn() -> c_int>, unknown| {
            // SAFETY: these functions of the runtime take nothing and only read.
            question.map_or(unknown, |ask| unsafe { ask() })
        };
        if let Some(get_schedule) = runtime.omp_get_schedule {
            // SAFETY: `omp_get_schedule` writes two integers.
            unsafe { get_schedule(&mut kind, &mut chunk) }
        }
        let (dynamic, levels) = (ask(runtime.omp_get_dynamic, 0), ask(runtime.omp_get_max_active_levels, 1));
        // For `omp_get_nested`, LLVM's runtime writes a warning to the program's standard error.
        let nested =
            if runtime.is_llvms() { c_int::from(levels > 1) } else { ask(runtime.omp_get_nested, 0) };
        Icvs { dynamic, nested, levels, kind, chunk, bind: ask(runtime.omp_get_proc_bind, 0) }
    }

    /// Sets the calling thread's in the runtime where they differ; it was a member.
    pub unsafe fn put_back(&self, runtime: &Runtime) {
        // SAFETY: the runtime's setters, with values that it or the program has chosen.
        unsafe {
            let before = Icvs::of(runtime);
            if *self == before {
                return;
            }
            let set = |call: Option<unsafe extern "C" fn(c_int)>, to: c_int, before: c_int| match call {
                Some(call) if to != before => call(to),
                _ => {}
            };
            set(runtime.omp_set_dynamic, self.dynamic, before.dynamic);
            set(runtime.omp_set_max_active_levels, self.levels, before.levels);
            if !runtime.is_llvms() {
                set(runtime.omp_set_nested, self.nested, Icvs::of(runtime).nested);
            }
            if let Some(set) = runtime.omp_set_schedule
                && (self.kind, self.chunk) != (before.kind, before.chunk)
            {
                set(self.kind, self.chunk);
            }
        }
    }

    /// The schedule of loops with `schedule(runtime)`.
    pub fn rule(&self) -> Rule {
        const MONOTONIC: c_int = c_int::MIN;
        const STATIC: c_int = 1;
        const DYNAMIC: c_int = 2;
        const GUIDED: c_int = 3;
        let chunk = u64::try_from(self.chunk).unwrap_or(0);
        match self.kind & !MONOTONIC {
            STATIC => Rule::Static(chunk),
            DYNAMIC => Rule::Dynamic(chunk.max(1)),
            GUIDED => Rule::Guided(chunk.max(1)),
            _ => Rule::Static(0),
        }
    }
}

/// Records the master's schedule before its region.
pub fn record_schedule(icvs: &Icvs) {
    SCHEDULE[0].store(icvs.kind, Ordering::Relaxed);
    SCHEDULE[1].store(icvs.chunk, Ordering::Relaxed);
}

/// Kind and chunk size of such loops on LLVM's runtime.
pub fn schedule() -> (c_int, c_int) {
    let [kind, chunk] = &SCHEDULE;
    (kind.load(Ordering::Relaxed), chunk.load(Ordering::Relaxed))
}

/// The schedule of such loops for the calling member with these variables.
pub fn rule(icvs: Icvs) -> Rule {
    let is_llvms = thread().runtime.get().is_some_and(Runtime::is_llvms);
    if is_llvms {
        let (kind, chunk) = schedule();
        return Icvs { kind, chunk, ..icvs }.rule();
    }
    icvs.rule()
}

/// Whether a member has asked for nested teams. It has none, and no later region is gathered.
pub fn wants_nesting() -> bool {
    NESTING.load(Ordering::Relaxed) != 0
}

/// `omp_set_max_active_levels` by a member.
pub fn set_levels(its: &Cell<Icvs>, levels: c_int) {
    if levels >= 0 {
        let nested = c_int::from(levels > 1);
        its.set(Icvs { levels: levels.min(MOST_LEVELS), nested, ..its.get() });
        NESTING.fetch_or(nested as u32, Ordering::Relaxed);
    }
}

/// `omp_set_nested` by a member.
pub fn set_nested(its: &Cell<Icvs>, nested: c_int) {
    let icvs = its.get();
    let levels = match (icvs.levels > MOST_LEVELS, nested != 0) {
        // Older runtimes keep both apart.
        (true, _) => icvs.levels,
        (false, true) => MOST_LEVELS,
        (false, false) => icvs.levels.min(1),
    };
    let nested = c_int::from(nested != 0);
    its.set(Icvs { levels, nested, ..icvs });
    NESTING.fetch_or(nested as u32, Ordering::Relaxed);
}

/// `omp_set_schedule` by a member.
pub fn set_schedule(its: &Cell<Icvs>, kind: c_int, chunk: c_int) {
    const AUTO: c_int = 4;
    let (kind, chunk) = match kind & c_int::MAX {
        1 => (kind, chunk.max(0)),
        2 | 3 => (kind, chunk.max(1)),
        AUTO => (kind, its.get().chunk),
        _ => return,
    };
    its.set(Icvs { kind, chunk, ..its.get() });
}
