//! What depends on the processor: one folder an architecture, all with the same names.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "libscaf runs on x86-64 Linux. Another architecture is a folder beside sys/arch/x86_64 that has its names: \
     `ticks` (a constant-rate counter), `thread_block` (initial-exec thread-local storage), `register_state` (of a \
     signal's context), the entry points' macros (entry_points.rs), the task entrances (tasks.rs), and the calls of \
     variadic regions (variadic.rs) and around functions that throw (around.rs). scaf-team's sandbox/filter.rs needs \
     its system call numbers, scaf-inspect its decoder, and the tests a machine."
);
