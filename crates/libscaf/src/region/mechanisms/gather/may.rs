//! Which regions may have a gathered team at all.

use super::forbids;
use super::team::MOST;
use crate::program::masters::one_master;
use crate::program::sampling::Note;
use crate::region::kind::{Kind, Region};
use crate::runtimes::entries::Runtime;
use crate::sys::arch::can_switch;
use crate::sys::settings;
use core::sync::atomic::{AtomicU32, Ordering};

/// Whether nothing forbids it, now and for this region.
pub fn may_be(region: &Region, size: u32) -> bool {
    settings::get().gather
        && (2..=MOST as u32).contains(&size)
        && matches!(region.kind, Kind::Plain | Kind::Loop(_))
        && one_master()
        && !Note::of(region.code).is_never_gathered()
        && is_possible(region.code.runtime)
}

/// Whether processor, kernel, runtime and all modules permit it.
fn is_possible(runtime: &Runtime) -> bool {
    static KERNEL: AtomicU32 = AtomicU32::new(0);
    const CAN: u32 = 1;
    const CANNOT: u32 = 2;
    let kernel = match KERNEL.load(Ordering::Relaxed) {
        0 => {
            let kernel = if can_switch() { CAN } else { CANNOT };
            KERNEL.store(kernel, Ordering::Relaxed);
            kernel
        }
        known => known,
    };
    let settings = settings::get();
    // The number of levels that may be active is without a limit in older runtimes.
    // SAFETY: omp_get_nested takes nothing.
    let one_level = || runtime.nested.is_some_and(|nested| unsafe { nested() } == 0);
    kernel == CAN
        && !runtime.is_llvms()
        && runtime.thread_num.is_some()
        && settings.spin.is_some()
        && !settings.fixed_spin
        && !settings.own_stacks
        && !settings.bound
        && forbids::nothing()
        && one_level()
}
