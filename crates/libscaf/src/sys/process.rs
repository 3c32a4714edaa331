//! What the kernel and the loader say of the process and the calling thread.

macro_rules! asked {
    ($($(#[$about:meta])* $name:ident() -> $answer:ty = $call:expr;)*) => {
        $(
            $(#[$about])*
            pub fn $name() -> $answer {
                // SAFETY: the call takes numbers, touches no memory, and can't fail.
                unsafe { $call as $answer }
            }
        )*
    };
}

asked! {
    pid() -> i32 = libc::getpid();
    parent() -> i32 = libc::getppid();
    user() -> u32 = libc::geteuid();
    /// The calling thread's number in the kernel.
    thread_id() -> u32 = libc::syscall(libc::SYS_gettid);
    /// Where the table of the executable's segments is; an address in the executable.
    program_headers() -> usize = libc::getauxval(libc::AT_PHDR);
    /// The PU on which the calling thread runs; below 0 if the kernel doesn't say. Mostly no system call.
    pu() -> i32 = libc::sched_getcpu();
}
