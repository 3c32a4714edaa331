//! The client: a library that `scaf run` preloads into unmodified programs.
//!
//! It stands between a program and its OpenMP runtime. At the first parallel region it attaches to the daemon
//! ([`client`]); from then on each region asks the grant page for its team size ([`region`]) and tells the report
//! page what the region did. Without a daemon, everything is passed on as it came.
//!
//! Where to look:
//! - [`gomp`]: the runtime port for GCC's libgomp, a table of entry points;
//! - [`region`]: what happens at the entry and the exit of a parallel region; [`frame`]: what its threads share meanwhile;
//!   [`opened`]: the same for regions opened by one call and ended by another; [`masters`]: the threads that start regions;
//! - [`sampling`]: what is remembered of a region, and which of its runs are measured;
//! - [`waits`]: barriers, and ends and chunks of loops, where threads wait as the grant has it;
//! - [`tasks`]: tasks, and waits for them and for locks;
//! - [`crowd`]: those waits that stay the runtime's;
//! - [`virtualise`], [`watch`]: regions whose threads are done by fewer, one after the other, and who looks after them;
//! - [`experiment`]: a region is run once more, alone, in a copy of the process;
//! - [`promise`]: calls by which a program fixes its team sizes, which are then kept;
//! - [`runtime`]: which copy of the runtime serves which code;
//! - [`client`], [`settings`], [`pages`], [`fork`]: attaching, and staying out of the way of fork, exec and threads;
//! - [`futex`]: sleeping and waking;
//! - [`arch`]: the time-stamp counter, thread-local storage and return addresses.
//!
//! What can be decided and tested apart from any process, such as the size of a team and its barrier, is `scaf-team`.
//!
//! Rules of this crate: it lives in other people's processes. It never aborts, prints, blocks for longer than
//! [`client::PATIENCE_MS`], allocates (but for threads of its own, see [`watch`] and [`crowd`]), or changes `errno`; no dependency but libc; no code that can panic, which the
//! linker proves (see `panic` below).
#![no_std]
#![allow(clippy::missing_safety_doc)]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("libscaf runs on x86-64 Linux so far; a port needs arch.rs and a test machine");

mod arch;
mod client;
mod crowd;
mod experiment;
mod fork;
mod frame;
mod futex;
mod gomp;
mod masters;
mod opened;
mod pages;
mod promise;
mod region;
mod runtime;
mod sampling;
mod settings;
mod tasks;
mod virtualise;
mod waits;
mod watch;

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
