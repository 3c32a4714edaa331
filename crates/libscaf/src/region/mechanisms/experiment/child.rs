//! The copy of the process that runs one region alone. Before that it becomes harmless, in this order: it
//! ends with the thread that made it; it blocks all signals but those that it causes itself, leaves terminal
//! and process group, and closes all files; the kernel kills it first where memory is short; it has a
//! deadline; it is on a context of its own; memory shared with others is not writable; it leaves no core; its
//! system calls are filtered (`scaf_team::sandbox::syscall_filter`). It ends by exit_group: no buffer of the
//! program is written, and none of its destructors run.

use super::result_page::{RESULT_BYTES, ResultPage};
use crate::link::pages;
use crate::sys::arch::{self, bare_call};
use crate::sys::proc_self::each_mapping;
use crate::sys::{clock, process, sched_affinity};
use core::ffi::{c_int, c_void};
use core::mem::zeroed;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use scaf_proto::experiment::Outcome;
use scaf_team::sandbox::proc_maps::Care;
use scaf_team::sandbox::syscall_filter::{self, Write};

const FAULTS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];

/// The copy is killed after this time, in milliseconds.
const DEADLINE_MS: i64 = 2_000;
/// Pages by which the price of copying a page is measured.
const PROBES: usize = 4;
const PAGE: usize = 4096;

#[repr(C, align(4096))]
struct Probe([[AtomicU8; PAGE]; PROBES]);

static PROBE: Probe = Probe([const { [const { AtomicU8::new(0) }; PAGE] }; PROBES]);
static WORD: AtomicPtr<ResultPage> = AtomicPtr::new(null_mut());

pub fn prepare() {
    touch();
}

fn touch() {
    for page in &PROBE.0 {
        if let Some(byte) = page.first() {
            byte.store(byte.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }
}

/// Leaves word and ends the process.
fn end(outcome: Outcome) -> ! {
    // SAFETY: the result is mapped for as long as the copy lives.
    if let Some(result) = unsafe { WORD.load(Ordering::Relaxed).as_ref() } {
        result.outcome.store(outcome as u32, Ordering::Release);
    }
    loop {
        // SAFETY: takes a number, and doesn't return.
        unsafe { libc::syscall(libc::SYS_exit_group, 0) };
    }
}

/// The copy's whole life. `parent` is the program, `pu` its master's, `own` addresses that it writes to.
pub fn run(
    result: &'static ResultPage,
    parent: libc::pid_t,
    pu: c_int,
    own: &[usize],
    alone: impl FnOnce(),
) -> ! {
    WORD.store((&raw const *result).cast_mut(), Ordering::Relaxed);
    let ready = leave_company(parent)
        && set_deadline()
        && take_a_pu(pu)
        && guard(result, own)
        // SAFETY: takes numbers only.
        && unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) } == 0;
    if !ready {
        end(Outcome::Refused);
    }
    let price_ns = price_of_a_page();
    if !set_filter() {
        end(Outcome::Refused);
    }
    let (pages_before, start) = (pages_copied(), cpu_ns());
    alone();
    let cpu_ns = cpu_ns().wrapping_sub(start);
    let copied = pages_copied().wrapping_sub(pages_before);
    result.cpu_ns.store(cpu_ns, Ordering::Relaxed);
    result.lost_ns.store(copied.wrapping_mul(price_ns), Ordering::Relaxed);
    end(Outcome::Measured)
}

/// Ends with its maker, and leaves files, terminal, process group and signals behind.
fn leave_company(parent: libc::pid_t) -> bool {
    // SAFETY: the kernel reads masks and actions of ours, for which zeros are a value; the handlers have the
    // type that SA_SIGINFO says. Nobody in this process uses its files any more.
    unsafe {
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) != 0 || process::parent() != parent {
            return false;
        }
        let mut mask: libc::sigset_t = zeroed();
        libc::sigfillset(&mut mask);
        let mut action: libc::sigaction = zeroed();
        libc::sigfillset(&mut action.sa_mask);
        libc::sigdelset(&mut action.sa_mask, libc::SIGSEGV);
        action.sa_flags = libc::SA_SIGINFO;
        for fault in FAULTS {
            libc::sigdelset(&mut mask, fault);
            action.sa_sigaction = faulted as *const () as usize;
            if libc::sigaction(fault, &action, null_mut()) != 0 {
                return false;
            }
        }
        libc::sigdelset(&mut mask, libc::SIGSYS);
        action.sa_sigaction = called as *const () as usize;
        if libc::sigaction(libc::SIGSYS, &action, null_mut()) != 0
            || libc::sigprocmask(libc::SIG_SETMASK, &mask, null_mut()) != 0
            || libc::setsid() < 0
            || libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0) != 0
        {
            return false;
        }
        // Where memory is short, the copy can be spared. If this fails there is no /proc, and so no maps.
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY);
        if file >= 0 {
            let most = b"1000";
            libc::write(file, most.as_ptr().cast(), most.len());
            libc::close(file);
        }
        true
    }
}

/// A timer that kills the process, which needs no handler.
fn set_deadline() -> bool {
    // SAFETY: the kernel reads and writes structures of ours, for which zeros are a value.
    unsafe {
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGKILL;
        let mut timer: c_int = 0;
        let mut when: libc::itimerspec = zeroed();
        when.it_value.tv_sec = DEADLINE_MS / 1_000;
        when.it_value.tv_nsec = DEADLINE_MS % 1_000 * 1_000_000;
        libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) == 0
            && libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const when, null_mut::<c_void>()) == 0
    }
}

/// Moves to the last PU that the program's master isn't on, if there is one. Only CPU time counts.
fn take_a_pu(pu: c_int) -> bool {
    let mut mask = sched_affinity::get(0);
    let mut found = false;
    for (number, word) in mask.iter_mut().enumerate().rev() {
        if usize::try_from(pu).is_ok_and(|pu| pu / 64 == number) {
            *word &= !(1 << (pu as u32 % 64));
        }
        *word = if found || *word == 0 { 0 } else { 1 << (63 - word.leading_zeros() % 64) };
        found |= *word != 0;
    }
    !found || sched_affinity::set(0, &mask)
}

/// Makes memory that is shared with others read-only, but for the result, and gives up the report page.
fn guard(result: &'static ResultPage, own: &[usize]) -> bool {
    pages::unmap();
    let result = (&raw const *result).addr();
    each_mapping(|mapping| match mapping.care(own) {
        Care::None => true,
        Care::Refuse => false,
        // The result may have been joined with a neighbour: both sides of it are guarded.
        Care::Guard => {
            [
                (mapping.start, mapping.end.min(result)),
                (mapping.start.max(result + RESULT_BYTES), mapping.end),
            ]
            .into_iter()
            .filter(|(start, end)| start < end)
            // SAFETY: the kernel checks the range; who writes there from now on ends the copy.
            .all(|(start, end)| unsafe {
                libc::mprotect(without_provenance_mut(start), end - start, libc::PROT_READ) == 0
            })
        }
    })
}

fn set_filter() -> bool {
    let program = libc::sock_fprog {
        len: syscall_filter::PROGRAM.len() as u16,
        filter: (&raw const syscall_filter::PROGRAM).cast_mut().cast(),
    };
    let operation = libc::SECCOMP_SET_MODE_FILTER as usize;
    let arguments = [operation, 0, (&raw const program).expose_provenance(), 0];
    // SAFETY: the kernel reads the filter, whose length is right, and checks it. A bare call: it isn't the
    // program's own, which `entry/seccomp_calls.rs` looks at.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && bare_call(libc::SYS_seccomp, arguments) == 0
    }
}

fn cpu_ns() -> u64 {
    clock::ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Pages that the process was given so far: most of them copies of the program's.
fn pages_copied() -> u64 {
    // SAFETY: the kernel fills the structure, for which zeros are a value.
    unsafe {
        let mut usage: libc::rusage = zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_minflt as u64
    }
}

/// What such a page costs, in nanoseconds: 700 on a common machine, 7,000 in a guest of a guest.
fn price_of_a_page() -> u64 {
    let start = cpu_ns();
    touch();
    cpu_ns().wrapping_sub(start) / PROBES as u64
}

/// The copy did what it must not do, or cannot.
extern "C" fn faulted(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    end(Outcome::Fault)
}

/// Where the kernel says which call it was, in bytes from the start of `siginfo_t`.
const CALL_AT: usize = 24;

/// A forbidden system call: a write is emulated, any other call ends the copy.
extern "C" fn called(_: c_int, about: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: a handler of SIGSYS gets the kernel's structures; the call's arguments are as it made it.
    unsafe {
        let call = about.cast::<u8>().add(CALL_AT).cast::<c_int>().read();
        let (second, third, result) = arch::trapped_call(context);
        *result = match syscall_filter::write(call) {
            Some(Write::Bytes) => third,
            Some(Write::Parts) => {
                let parts = core::ptr::with_exposed_provenance::<libc::iovec>(second as usize);
                (0..third.clamp(0, 1024) as usize).map(|part| (*parts.add(part)).iov_len as i64).sum()
            }
            None => end(if syscall_filter::waits(call) { Outcome::Waits } else { Outcome::Forbidden }),
        };
    }
}
