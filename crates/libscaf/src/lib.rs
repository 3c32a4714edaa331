//! The client: a library that `scaf run` preloads into unmodified programs.
//!
//! It stands between a program and its OpenMP runtime. At the first parallel region it attaches to the daemon
//! ([`client`]); from then on each region asks the grant page for its team size ([`region`]) and tells the report
//! page what the region did. Without a daemon, everything is passed on as it came.
//!
//! Where to look:
//! - [`gomp`]: the runtime port for GCC's libgomp, a table of entry points; [`kmpc`]: the one for LLVM's and Intel's;
//! - [`region`]: what happens at the entry and the exit of a parallel region; [`frame`]: what its threads share meanwhile;
//!   [`opened`]: the same for regions opened by one call and ended by another; [`masters`]: the threads that start regions;
//! - [`sampling`]: what is remembered of a region, and which of its runs are measured;
//! - [`waits`]: barriers, and ends and chunks of loops, where threads wait as the grant has it;
//! - [`tasks`]: tasks, and waits for them and for locks;
//! - [`crowd`]: those waits that stay libgomp's; [`blocking`]: those that stay LLVM's;
//! - [`virtualise`], [`watch`]: regions whose threads are done by fewer, one after the other, and who looks after them;
//! - [`experiment`]: a region is run once more, alone, in a copy of the process;
//! - [`promise`]: calls by which a program fixes its team sizes, which are then kept;
//! - [`tbb`]: oneTBB, where its programs call it; [`tbb_libraries`]: its copies; [`tcm`]: how it asks for workers; [`tcm_permits`],
//!   [`tcm_table`], [`tcm_clients`]: what it gets;
//! - [`entries`], [`runtime`]: the entry points of a runtime, and which copy of it serves which code;
//! - [`work`]: work that isn't a region; [`api`]: the same for programs, in C; [`keeper`]: who is told when the grant has changed;
//! - [`blas`]: the port for BLAS libraries with threads of their own; [`ports`]: all runtimes of the process in one table;
//!   [`budget`]: what each of them may use;
//! - [`client`], [`settings`], [`pages`], [`fork`]: attaching, and staying out of the way of fork, exec and threads;
//! - [`futex`]: sleeping and waking; [`lock`]: one thread at a time;
//! - [`arch`]: the time-stamp counter, thread-local storage and return addresses.
//!
//! What can be decided and tested apart from any process, such as the size of a team and its barrier, is `scaf-team`.
//!
//! Rules of this crate: it lives in other people's processes. It never aborts, prints, blocks for longer than
//! [`client::PATIENCE_MS`], allocates (but for threads of its own, see [`watch`] and [`crowd`], and pages of [`tcm_table`]), or changes `errno`; no dependency but libc; no code that can panic, which the
//! linker proves (see `panic` below).
#![no_std]
#![allow(clippy::missing_safety_doc)]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("libscaf runs on x86-64 Linux so far; a port needs arch.rs and a test machine");

mod api;
mod arch;
mod blas;
mod blocking;
mod budget;
mod client;
mod crowd;
mod entries;
mod experiment;
mod fork;
mod frame;
mod futex;
mod gomp;
mod keeper;
mod kmpc;
mod lock;
mod masters;
mod opened;
mod pages;
mod ports;
mod promise;
mod region;
mod runtime;
mod sampling;
mod settings;
mod tasks;
mod tbb;
mod tbb_libraries;
mod tcm;
mod tcm_clients;
mod tcm_permits;
mod tcm_table;
mod virtualise;
mod waits;
mod watch;
mod work;

#[cfg(not(debug_assertions))]
unsafe extern "C" {
    /// Defined nowhere: an optimised build in which any panic is left doesn't link.
    fn scaf_a_panic_is_left_in_the_client() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    #[cfg(not(debug_assertions))]
    // SAFETY: never linked, see above.
    unsafe {
        scaf_a_panic_is_left_in_the_client()
    }
    #[cfg(debug_assertions)]
    loop {
        core::hint::spin_loop();
    }
}
