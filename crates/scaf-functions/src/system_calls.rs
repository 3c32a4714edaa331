//! System calls that code makes by number, through `syscall`: which a thread may make on any kernel thread.

#[cfg(target_arch = "x86_64")]
#[path = "system_calls/x86_64.rs"]
mod numbers;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the numbers of system calls are a file src/system_calls/ARCHITECTURE.rs, as x86_64.rs is");

/// Whether a thread may make that system call on any kernel thread. `operation` is the call's second
/// argument, where that is known.
#[must_use]
pub fn may(number: u64, operation: Option<u64>) -> bool {
    if number == numbers::FUTEX {
        // Locks that lend their holder a priority are the kernel thread's.
        const OPERATION: u64 = 0x7f;
        const LENDING: [u64; 6] = [6, 7, 8, 11, 12, 13];
        return operation.is_some_and(|operation| !LENDING.contains(&(operation & OPERATION)));
    }
    numbers::FREE.binary_search(&number).is_ok()
}

/// Whether it only changes how fast or where its thread runs.
#[must_use]
pub fn tunes(number: u64) -> bool {
    numbers::TUNES.contains(&number)
}

/// Whether that option of `prctl` does so, or names the thread.
#[must_use]
pub fn prctl_tunes(option: u64) -> bool {
    // PR_SET_NAME, PR_SET_TIMERSLACK
    [15, 29].contains(&option)
}

/// Its name, for people.
#[must_use]
pub fn name(number: u64) -> &'static str {
    let at = numbers::NAMES.binary_search_by_key(&number, |row| row.0).ok();
    at.and_then(|at| numbers::NAMES.get(at)).map_or("a system call that isn't known", |row| row.1)
}

/// Whether a thread may call `prctl` with that option on any kernel thread: what it sets or tells is the
/// process's, or is the same whichever of the process's threads has set it.
#[must_use]
pub fn may_prctl(option: u64) -> bool {
    const FREE: [u64; 10] = [
        1,           // PR_SET_PDEATHSIG: who asks for it again may not
        3,           // PR_GET_DUMPABLE
        4,           // PR_SET_DUMPABLE
        35,          // PR_SET_MM
        36,          // PR_SET_CHILD_SUBREAPER
        37,          // PR_GET_CHILD_SUBREAPER
        41,          // PR_SET_THP_DISABLE
        42,          // PR_GET_THP_DISABLE
        0x5356_4d41, // PR_SET_VMA
        0x5961_6d61, // PR_SET_PTRACER
    ];
    FREE.contains(&option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order() {
        assert!(numbers::FREE.is_sorted() && numbers::NAMES.is_sorted_by_key(|row| row.0));
        assert!(numbers::NAMES.iter().all(|row| !may(row.0, None)));
    }

    #[test]
    fn futexes_are_free_but_for_those_with_an_owner() {
        assert!(may(202, Some(128)) && may(202, Some(1)));
        assert!(!may(202, Some(6)) && !may(202, Some(128 + 13)) && !may(202, None));
    }

    #[test]
    fn what_names_the_thread_is_not_free() {
        assert!(may_prctl(1) && !may_prctl(2) && !may_prctl(15) && !may_prctl(29));
        assert!(
            !may(186, None) && name(186) == "gettid" && name(1 << 40) == "a system call that isn't known"
        );
    }
}
