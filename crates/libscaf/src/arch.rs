//! What only the machine can tell: ticks, this thread's state, and who called.
//!
//! Stable Rust has no thread-locals without `std`, and `__tls_get_addr` would cost 5 ns a region; the library is
//! loaded with the program, so its few bytes fit the static TLS block and cost one instruction.

use crate::frame::Frame;
use crate::runtime::Runtime;
use crate::work::Ticket;
use core::arch::{asm, global_asm, x86_64::_rdtsc};
use core::ffi::{c_int, c_void};

/// What the library knows of one thread. All zero when the thread starts.
#[repr(C)]
pub struct Thread {
    /// Runtime of the region that the thread is in; null outside.
    pub runtime: *const Runtime,
    /// The region itself; null outside, and where it was entered unseen.
    pub frame: *const Frame,
    /// Runtime of the regions that the thread, one of the runtime's own, has worked in; null for others.
    pub home: *const Runtime,
    /// Parallel regions around the thread.
    pub depth: u32,
    /// Number of the thread's slot as a master, plus one; 0 before its first region, [`NO_SLOT`] where there was
    /// none left.
    pub slot: u32,
    /// Regions that were opened by a `_start` entry point and not yet ended.
    pub started: u32,
    /// Short regions, as a master, until the next one that is measured.
    pub left_out: u32,
    /// Runtimes of the opened regions, outermost first.
    pub started_in: [*const Runtime; STARTS],
    /// 1 in a region whose team has one thread because of us.
    pub shrunk: u32,
    /// The thread's number in the region's team; [`NO_INDEX`] until asked for.
    pub index: u32,
    /// Loops of the region whose end it has reached.
    pub loops: u32,
    /// Loops of a virtualised region that this thread has entered within the runtime: each once, whoever it is.
    pub entered: u32,
    /// 1 while it is in one of them.
    pub in_loop: u32,
    /// Regions in a row that could be virtualised, as a master.
    pub streak: u32,
    /// Tick since which it waits in its region; 0 while it works.
    pub waits_since: u64,
    /// Ticks that it has waited in its region and not yet reported.
    pub waited: u64,
    /// The region whose outlined function it left last, at whose end it may be.
    pub left: *const Frame,
    /// Ticks of tasks that it ran there and hasn't reported.
    pub late: u64,
    /// By chance: which locks are timed.
    pub chance: u32,
    /// How many locks each of these stands for; 0 before the first.
    pub stands_for: u32,
    /// The permit that the thread works for within oneTBB; null outside ([`crate::tcm_permits`]).
    pub permit: *const c_void,
    /// The callback about a permit that it is in, a `tcm_permits::Call`; null outside.
    pub call: *const c_void,
    /// 1 while it works for a permit and came from outside.
    pub is_master: u32,
    /// Calls of oneTBB's functions, by which it came from outside, that it is in ([`crate::tbb`]).
    pub from_outside: u32,
    /// The work that the outermost of these is.
    pub ticket: Ticket,
    /// 1 if it is the one thread that counts where oneTBB's own aren't known.
    pub is_first: u32,
    /// Where LLVM's runtime keeps the thread's numbers for the region that it is about to begin.
    pub numbers: [*const c_int; 2],
    /// Team size by a `num_threads` clause, until LLVM's runtime enters the region that it is for; 0 without one.
    pub pushed: u32,
    /// Regions of LLVM's that were entered as serial ones: the thread is alone in them, whatever is around.
    pub serial: u32,
    /// 1 in a loop whose chunks LLVM's runtime deals to anybody.
    pub deals: u32,
    /// How long LLVM's threads spin, in milliseconds, as the program would have it, plus one, while they don't because of us;
    /// else 0.
    pub blocktime: u32,
}

/// Value of [`Thread::index`] before the runtime was asked.
pub const NO_INDEX: u32 = u32::MAX;

/// Value of [`Thread::slot`] for a master that runs unmeasured.
pub const NO_SLOT: u32 = u32::MAX;

/// Nested `_start` regions whose runtime is remembered; deeper ones are ended in the outermost one's.
pub const STARTS: usize = 3;

/// Bytes of [`Thread`] reserved below.
const THREAD_BYTES: usize = 232;
const _: () = assert!(size_of::<Thread>() == THREAD_BYTES);

global_asm!(
    ".section .tbss.scaf_thread,\"awT\",@nobits",
    ".globl scaf_thread",
    ".hidden scaf_thread",
    ".type scaf_thread,@object",
    ".size scaf_thread,{bytes}",
    ".p2align 4",
    "scaf_thread: .zero {bytes}",
    ".text",
    bytes = const THREAD_BYTES,
);

/// This thread's state.
#[inline(always)]
pub fn thread() -> *mut Thread {
    let at: *mut Thread;
    // SAFETY: reads the thread pointer and a constant of the global offset table.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + scaf_thread@gottpoff]",
            "add {at}, qword ptr fs:[0]",
            at = out(reg) at,
            options(pure, nomem, nostack),
        );
    }
    at
}

/// The time-stamp counter: constant rate, the same on all cores of the machines we run on.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 has it; a process that was forbidden it by prctl(PR_SET_TSC) is beyond our users.
    unsafe { _rdtsc() }
}

/// Defines entry points that need their return address: each passes it on as one more argument. The return address
/// tells whose call it is where no region does.
macro_rules! with_return_address {
    ($($name:ident => $to:path, in $register:literal;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "endbr64",
                    concat!("mov ", $register, ", qword ptr [rsp]"),
                    "jmp {to}",
                    to = sym $to,
                )
            }
        )*
    };
}
pub(crate) use with_return_address;

/// Defines an entry point that is passed on with all its arguments, whatever they are, to the function that `$find` answers
/// for the return address.
macro_rules! pass_on {
    ($name:ident, $find:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "endbr64",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "sub rsp, 8",
                "mov rdi, qword ptr [rsp + 56]",
                "call {find}",
                "add rsp, 8",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp rax",
                find = sym $find,
            )
        }
    };
}
pub(crate) use pass_on;
