//! For tests that can't run everywhere. libtest counts a test that returns early as passed, and hides what it
//! prints. So this writes past libtest: `skipped: NAME: needs root`.

#![allow(dead_code, unused_macros)] // each test binary uses a part of it

use std::io::Write;

/// Says that the current test is skipped, and what it needs.
pub fn skipped(needs: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "skipped: {name}: needs {needs}");
}

/// Whether it is there; if not, the current test is skipped, which is said.
pub fn has(it: bool, needs: &str) -> bool {
    if !it {
        skipped(needs);
    }
    it
}

/// Ends the current test as skipped unless a condition holds: `needs!(is_root(), "root, to be other users")`.
macro_rules! needs {
    ($condition:expr, $($needs:tt)+) => {
        if !$crate::support::skip::has($condition, &format!($($needs)+)) {
            return;
        }
    };
}
