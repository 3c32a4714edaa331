//! The client: a library that `scaf run` preloads into unmodified programs.
//!
//! It stands between a program and its OpenMP runtime. At the first parallel region it attaches to the
//! daemon; from then on each region reads its team size from the grant page and writes what it did to the
//! report page. Without a daemon, everything is passed on as it came.
//!
//! Its floors, from the top; each uses those below it only:
//! - [`entry`]: what programs and their runtimes call;
//! - [`region`]: a region's entry and exit, and the mechanisms by which it follows the grant;
//! - [`program`]: who starts regions, what was promised, what is remembered, work that isn't a region;
//! - [`link`]: the connection to the daemon, the two shared pages, and forks;
//! - [`runtimes`]: the OpenMP runtimes of the process, and which copy serves which code;
//! - [`sys`]: the processor, the kernel and the environment.
//!
//! Events below that concern floors above go through one table of hooks, [`HOOKS`]. What can be decided and
//! tested apart from any process, such as a team's size and its barrier, is in `scaf-team`.
//!
//! In other people's processes it never aborts, prints, waits for the daemon for longer than
//! [`link::socket::PATIENCE_MS`] (or 100 ms, where the program binds threads), allocates (but for threads and
//! pages of its own), or changes `errno`.
//! It depends on libc only. None of its code can panic, which the linker proves (see `panic`).
#![no_std]
#![allow(clippy::missing_safety_doc)]

mod entry;
mod link;
mod program;
mod region;
mod runtimes;
mod sys;

use core::ffi::{c_char, c_int};
use region::mechanisms::{experiment, gather};
use runtimes::hooks::{self, Hooks};

static HOOKS: Hooks = Hooks {
    loaded: &[
        entry::own_calls::at_load,
        program::permission::at_load,
        experiment::at_load,
        entry::system_calls::at_load,
        entry::seccomp_calls::at_load,
        entry::signal_handlers::at_load,
        entry::signal_masks::at_load,
        entry::sched_yield::at_load,
        entry::gomp::at_load,
        entry::symbol_searches::at_load,
        entry::blas::at_load,
        link::attachment::at_load,
    ],
    before_poll: &[program::masters::look],
    attached: &[
        entry::process_starts::look,
        entry::affinity_calls::look,
        entry::departures::look,
        program::mpi_rank::introduce,
        program::promise::report_again,
        program::masters::report_known,
    ],
    after_poll: &[entry::runtime_reports::tell],
    llvm_found: &[entry::kmpc::found, entry::exports::found, program::promise::llvm_found],
    unloaded: &[entry::tbb::forget, entry::mpi::forget_unloaded, runtimes::lookup::forget_unloaded],
    dismissed: &[gather::wake_idle, link::grant::wake, link::no_syscalls::wake_sleepers],
    called_back: &[program::grant_watcher::start_again, entry::blas::start_again],
    main_has_ended: &[entry::departures::main_has_ended],
    before_fork: &[
        link::attachment::take_late_answer,
        program::grant_watcher::before_fork,
        link::affinity::before_fork,
    ],
    forked: &[link::affinity::after_fork_in_parent, program::grant_watcher::after_fork_in_parent],
    in_child: &[
        sys::helpers::after_fork,
        link::attachment::after_fork,
        link::affinity::after_fork,
        program::masters::after_fork,
        runtimes::copies::after_fork,
        runtimes::modules::after_fork,
        gather::after_fork,
        entry::kmpc::after_fork,
        experiment::after_fork,
        program::non_openmp::after_fork,
        program::mpi_rank::after_fork,
        program::grant_watcher::after_fork,
        entry::blas::after_fork,
        entry::tbb::after_fork,
    ],
};

// The table's address, for floors below that may not name it.
core::arch::global_asm!(
    ".section .data.rel.ro.scaf_hooks,\"aw\",@progbits",
    ".globl scaf_hooks",
    ".hidden scaf_hooks",
    ".type scaf_hooks,@object",
    ".size scaf_hooks,8",
    ".p2align 3",
    "scaf_hooks: .quad {table}",
    ".text",
    table = sym HOOKS,
);

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = loaded;

/// glibc passes main's arguments to every constructor. Most programs that are started never have a region,
/// and each page that this writes costs 4 us: what it writes is in the section `.data.at_load`, beside what
/// the dynamic linker has written.
extern "C" fn loaded(_: c_int, _: *const *const c_char, environment: *const *const c_char) {
    // SAFETY: the loader passes the environment, an array that ends with null, before any thread is
    // started.
    unsafe { sys::settings::read(environment) };
    hooks::call(HOOKS.loaded);
}

#[cfg(not(debug_assertions))]
unsafe extern "C" {
    /// Defined nowhere: an optimised build in which any panic is left doesn't link.
    fn scaf_a_panic_is_left_in_the_client() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    #[cfg(not(debug_assertions))]
    // SAFETY: never called: with a call to it the library doesn't link.
    unsafe {
        scaf_a_panic_is_left_in_the_client()
    }
    #[cfg(debug_assertions)]
    loop {
        core::hint::spin_loop();
    }
}
