//! What floors above do on events below: a static table, built by `lib.rs`, so that no floor names one above.

use super::entries::Runtime;
use core::ffi::c_void;

/// What is called when. All run on whichever thread met the event.
pub struct Hooks {
    /// The library was loaded and the settings are read; the program hasn't begun.
    pub loaded: &'static [fn()],
    /// The daemon is about to be looked for, at the entry of a region of that runtime.
    pub before_poll: &'static [fn(&Runtime)],
    /// The process was attached: the report page is a new one.
    pub attached: &'static [fn()],
    /// That was done; `errno` is kept.
    pub after_poll: &'static [fn()],
    /// A copy of LLVM's runtime was found; whether it is the only one.
    pub llvm_found: &'static [fn(&Runtime, bool)],
    pub unloaded: &'static [fn()],
    /// Threads of ours were told to leave (`sys/helpers.rs`), and may sleep; they may come back.
    pub dismissed: &'static [fn()],
    pub called_back: &'static [fn()],
    /// `main` has ended, and the process goes on.
    pub main_has_ended: &'static [fn()],
    /// Before a fork; after it in the parent; after it in the child, where only the calling thread is.
    pub before_fork: &'static [fn()],
    pub forked: &'static [fn()],
    pub in_child: &'static [fn()],
}

unsafe extern "C" {
    /// The table's address; `lib.rs` says which.
    #[link_name = "scaf_hooks"]
    static HOOKS: *const c_void;
}

pub fn get() -> &'static Hooks {
    // SAFETY: defined by `lib.rs`, and constant.
    unsafe { &*HOOKS.cast::<Hooks>() }
}

pub fn call(hooks: &[fn()]) {
    hooks.iter().for_each(|hook| hook());
}
