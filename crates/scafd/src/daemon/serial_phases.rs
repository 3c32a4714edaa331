//! Contexts are lent while their program is in a serial phase, and go back at once when it enters a region.
//!
//! A tick finds such phases ([`crate::registry::Phase::update`]), and the policy may leave such a program one
//! context. A program whose grant is lent sends a packet when it enters a region.

use crate::estimate::Seen;
use crate::registry::{Program, Registry};

/// Threads of a program whose state is read, 6 us each: this many of the first, which may all be a sleeping
/// team's, and of the last.
pub(super) const MOST_THREADS: usize = 12;

/// A program's packet that it enters a region. True if it had lent contexts, so that a decision is due.
pub(super) fn entered(program: &mut Program, now_ns: u64) -> bool {
    let lends = program.grant.lent && program.phase.lends();
    if lends {
        program.phase.is_parallel(now_ns);
    }
    lends
}

/// Checks whether programs that lend have entered regions; `seen` reads a report page. True if one has.
pub(super) fn find_returned(
    registry: &mut Registry,
    seen: impl Fn(&Program) -> Option<Seen>,
    now_ns: u64,
) -> bool {
    let mut found = false;
    let lent = |program: &&mut Program| program.grant.lent && !program.phase.starting;
    for program in registry.iter_mut().filter(lent) {
        if seen(program).is_some_and(|seen| program.phase.has_returned(&seen)) {
            program.phase.is_parallel(now_ns);
            found = true;
        }
    }
    found
}

/// Ends a serial phase in which several threads are runnable, by other means than OpenMP. On a busy machine,
/// or with one context, no clock shows that. `runnable` counts such threads.
pub(super) fn end_if_parallel(program: &mut Program, now_ns: u64, runnable: impl FnOnce() -> usize) {
    if program.phase.serial && !program.phase.starting && runnable() > 1 {
        program.phase.is_parallel(now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::{program, seen};

    fn serial(id: u64) -> Program {
        let mut program = program(id);
        program.phase.serial = true;
        program.grant.lent = true;
        program
    }

    #[test]
    fn a_packet_ends_a_serial_phase_of_whoever_lends() {
        let mut p = serial(1);
        assert!(entered(&mut p, 1) && !p.phase.serial && !entered(&mut p, 2));
        let mut p = serial(2);
        p.grant.lent = false;
        assert!(!entered(&mut p, 1) && p.phase.serial);
    }

    #[test]
    fn the_page_ends_it_too() {
        let mut registry = Registry::default();
        registry.attach(serial(1));
        assert!(!find_returned(&mut registry, |_| None, 1));
        assert!(find_returned(&mut registry, |_| Some(seen(4, 0)), 1));
        assert!(registry.iter().all(|program| !program.phase.serial));
    }

    #[test]
    fn whoever_has_two_threads_that_want_to_run_is_not_serial() {
        let mut p = serial(1);
        end_if_parallel(&mut p, 1, || 1);
        assert!(p.phase.serial);
        end_if_parallel(&mut p, 1, || 2);
        assert!(!p.phase.serial);
    }
}
