//! Attaching to the daemon, staying attached, and noticing that it is gone. A process attaches at its first
//! parallel region or other work (`program/non_openmp.rs`), or as it starts if its OpenMP runtime is loaded
//! with it: until its first region it computes on a context that nobody else is to be given. From then on
//! [`poll`] is one comparison a region, and about once a second a look at the socket. When the daemon is
//! gone, or its lease is over, the program is unmanaged until one is back. One thread at a time does this;
//! others pass by. The only wait is for the daemon's answer when attaching, at most
//! [`socket::PATIENCE_MS`]; a later region takes a late answer.

use super::{affinity, bindings, forked, no_syscalls, pages, socket};
use crate::runtimes::entries::Runtime;
use crate::runtimes::linker::module_of;
use crate::runtimes::{hooks, lookup, modules};
use crate::sys::arch::ticks;
use crate::sys::kernel_threads::pause;
use crate::sys::settings;
use crate::sys::undisturbed::undisturbed;
use crate::sys::{clock, glibc, process};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use scaf_proto::hello::{
    ATTACH, ENTERED, FLAG_AT_WORK, FLAG_BOUND, FLAG_EXACT, FLAG_NO_TURNS, FLAG_RIGID, FLAG_STARTING,
    FLAG_TURNS, Hello, MORE_MODULES, STEP_SHIFT,
};
use scaf_proto::{MAGIC, PAGE_BYTES, VERSION};

/// Ticks between two looks at the socket: 0.5 to 1 s at 2 to 4 GHz.
const LOOK_TICKS: u64 = 1 << 31;
/// Ticks between two looks for an answer that is late: about 10 ms.
const LATE_TICKS: u64 = 1 << 25;
/// Longest wait for a look of another thread's, in milliseconds.
const FINISH_MS: u32 = 100;
/// Tick of the next look; `u64::MAX` while a thread looks.
static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);
static STATE: AtomicU32 = AtomicU32::new(DETACHED);
const DETACHED: u32 = 0;
const GREETED: u32 = 1;
const ATTACHED: u32 = 2;
/// The process that this is, once it has had a connection; else 0.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static MODULES_REPORTED: AtomicU32 = AtomicU32::new(0);
/// Number of the grant under which lent contexts were asked back last; 0 for none.
static ASKED_BACK: AtomicU32 = AtomicU32::new(0);
/// Told to the daemon: threads without scaf, at least 1, and whether a library computes on several threads.
static NATURAL: AtomicU32 = AtomicU32::new(1);
static AT_WORK: AtomicBool = AtomicBool::new(false);
/// Whether the process starts, and hasn't looked for the daemon's answer since it attached.
static STARTING: AtomicBool = AtomicBool::new(false);

/// Most threads that the program would run at a time without scaf, 1 to 65,535.
pub fn set_natural(threads: u32) {
    NATURAL.store(threads, Ordering::Relaxed);
    pages::report().set_natural(threads);
}

pub fn set_at_work(at_work: bool) {
    AT_WORK.store(at_work, Ordering::Relaxed);
}

/// The library was loaded: attaches at once if regions are to be expected. The program doesn't wait for that.
pub fn at_load() {
    if lookup::is_any_loaded() && !no_syscalls::are_forbidden() {
        if let Some((_, base)) = module_of(process::program_headers()) {
            // Most have their regions in their own code, which is inspected until the first of these.
            modules::number_of(base);
        }
        // Until the runtime is asked.
        let threads = match settings::get().threads {
            0 => affinity::own_pus().min(65_535),
            said => said,
        };
        NATURAL.store(threads, Ordering::Relaxed);
        STARTING.store(true, Ordering::Relaxed);
        look(ticks(), None);
        STARTING.fetch_and(is_waiting(), Ordering::Relaxed);
    }
}

/// Called at the entry of each region that isn't nested, at tick `now`.
#[inline(always)]
pub fn poll(now: u64, runtime: &Runtime) {
    if is_due(now) || modules::NEWS.load(Ordering::Relaxed) != 0 {
        look(now, Some(runtime));
    }
}

/// As [`poll`], where no region is entered. So libraries that are new can wait: Python loads 60 in a second,
/// and to have them inspected each time took 0.1 s of that.
#[inline(always)]
pub fn poll_outside_region(now: u64) {
    if is_due(now) {
        look(now, None);
    }
}

#[inline(always)]
pub fn is_attached() -> bool {
    STATE.load(Ordering::Acquire) == ATTACHED
}

/// Whether a daemon's answer is late; whoever tends next picks it up.
pub fn is_waiting() -> bool {
    STATE.load(Ordering::Acquire) == GREETED
}

/// Whether the process is attached, or waits for an answer.
pub fn is_expected() -> bool {
    STATE.load(Ordering::Acquire) != DETACHED
}

#[inline(always)]
fn is_due(now: u64) -> bool {
    let next = NEXT_LOOK.load(Ordering::Relaxed);
    // A counter that was set back (a machine that was moved or slept) must not keep us from looking.
    now >= next
        || next.wrapping_sub(now) > 2 * LOOK_TICKS
        || modules::met() != MODULES_REPORTED.load(Ordering::Relaxed)
}

/// Takes the socket for the calling thread, until [`NEXT_LOOK`] is set again; what that was. `None` if
/// another thread has it.
fn take_socket() -> Option<u64> {
    let next = NEXT_LOOK.load(Ordering::Relaxed);
    let is_free = next != u64::MAX
        && NEXT_LOOK.compare_exchange(next, u64::MAX, Ordering::Acquire, Ordering::Relaxed).is_ok();
    is_free.then_some(next)
}

#[cold]
#[inline(never)]
fn look(now: u64, runtime: Option<&Runtime>) {
    if no_syscalls::are_forbidden() {
        return look_no_more(now);
    }
    undisturbed(|| look_undisturbed(now, runtime));
}

/// Nobody needs to know of anything that is new. The next to come here does so in a second.
fn look_no_more(now: u64) {
    MODULES_REPORTED.store(modules::met(), Ordering::Relaxed);
    modules::NEWS.store(0, Ordering::Relaxed);
    NEXT_LOOK.store(now.wrapping_add(LOOK_TICKS), Ordering::Release);
}

fn look_undisturbed(now: u64, runtime: Option<&Runtime>) {
    let Some(next) = take_socket() else { return };
    if no_syscalls::are_known_forbidden() {
        return look_no_more(now);
    }
    if let Some(runtime) = runtime {
        hooks::get().before_poll.iter().for_each(|hook| hook(runtime));
    }
    modules::take_news();
    match STATE.load(Ordering::Relaxed) {
        DETACHED => greet(),
        GREETED => {
            let starting = STARTING.swap(false, Ordering::Relaxed);
            take_answer(if starting { socket::PATIENCE_MS } else { 0 });
            if starting && STATE.load(Ordering::Relaxed) == DETACHED {
                // It was detached meanwhile, or has closed its files.
                greet();
            } else if is_attached() {
                check(false);
            }
            // Whose contexts are lent asks them back.
            if starting && runtime.is_some() && !pages::grant().word().lent() {
                send(ENTERED);
            }
        }
        _ => check(now >= next),
    }
    let pause = if STARTING.load(Ordering::Relaxed) {
        // The next to come here takes the answer.
        0
    } else if STATE.load(Ordering::Relaxed) == GREETED {
        LATE_TICKS
    } else {
        hooks::call(hooks::get().after_poll);
        LOOK_TICKS
    };
    NEXT_LOOK.store(ticks().wrapping_add(pause), Ordering::Release);
}

fn greet() {
    MODULES_REPORTED.store(modules::met(), Ordering::Relaxed);
    if affinity::is_beyond_masks() {
        return;
    }
    // Before there is a socket that a child would have.
    forked::watch();
    if !socket::connect() {
        return;
    }
    if send(ATTACH) {
        PROCESS.store(process::pid(), Ordering::Relaxed);
        STATE.store(GREETED, Ordering::Relaxed);
        if !STARTING.load(Ordering::Relaxed) {
            take_answer(socket::PATIENCE_MS);
        }
    } else {
        hang_up();
    }
}

fn send(kind: u32) -> bool {
    let settings = settings::get();
    let hello = Hello {
        magic: MAGIC,
        version: VERSION,
        kind,
        flags: if settings.bound { FLAG_BOUND } else { 0 }
            | if settings.rigid { FLAG_RIGID } else { 0 }
            | if settings.exact { FLAG_EXACT } else { 0 }
            | settings.turns.map_or(0, |turns| if turns { FLAG_TURNS } else { FLAG_NO_TURNS })
            | if AT_WORK.load(Ordering::Relaxed) { FLAG_AT_WORK } else { 0 }
            | if STARTING.load(Ordering::Relaxed) { FLAG_STARTING } else { 0 }
            | u32::from(settings.step) << STEP_SHIFT,
        modules: MODULES_REPORTED.load(Ordering::Relaxed),
        natural: NATURAL.load(Ordering::Relaxed),
        min: settings.min,
        max: settings.max,
        weight_milli: settings.weight_milli,
        job: settings.job,
        own: affinity::own(),
        name: settings.name,
    };
    socket::send(&hello)
}

fn take_answer(patience_ms: c_int) {
    if !socket::is_ours() {
        return hang_up();
    }
    let Some(answer) = socket::receive(patience_ms) else { return };
    let [grant, report] = answer.files;
    let attached = answer.welcome && is_page(grant) && is_page(report) && pages::map(grant, report);
    drop(answer);
    if attached && pages::grant().is_current() {
        pages::report().stamp();
        pages::report().set_modules(MODULES_REPORTED.load(Ordering::Relaxed));
        affinity::take_from_grant();
        bindings::tell_again();
        ASKED_BACK.store(0, Ordering::Relaxed);
        hooks::call(hooks::get().attached);
        STATE.store(ATTACHED, Ordering::Release);
    } else {
        pages::unmap();
        hang_up();
    }
}

/// Whether the descriptor is a page that can't be cut short while it is mapped.
fn is_page(fd: c_int) -> bool {
    // SAFETY: asks about a descriptor, and takes numbers only.
    unsafe {
        let seals = libc::fcntl(fd, libc::F_GET_SEALS);
        seals >= 0
            && seals & libc::F_SEAL_SHRINK != 0
            && glibc::fstat(fd).is_some_and(|status| status.st_size >= PAGE_BYTES as libc::off_t)
    }
}

/// While attached: tells of new modules; if it is `time`, looks whether the daemon is still there.
fn check(time: bool) {
    let met = modules::met();
    let sent = MODULES_REPORTED.swap(met, Ordering::Relaxed);
    if met != sent {
        pages::report().set_modules(met);
        if socket::is_ours() && !send(MORE_MODULES) {
            MODULES_REPORTED.store(sent, Ordering::Relaxed);
        }
    }
    if time && (!socket::is_open() || pages::grant().is_expired(clock::ns(libc::CLOCK_MONOTONIC))) {
        affinity::widen();
        pages::unmap();
        hang_up();
        // A daemon may be back already.
        greet();
    }
}

/// While contexts of the program are lent: tells the daemon that they are needed, once a grant. True if it
/// was sent just now. If the socket is in use or full, a later region tells, or the daemon finds out.
#[cold]
#[inline(never)]
pub fn ask_back(epoch: u32) -> bool {
    if ASKED_BACK.load(Ordering::Relaxed) == epoch {
        return false;
    }
    let sent = request_read();
    if sent {
        ASKED_BACK.store(epoch, Ordering::Relaxed);
    }
    sent
}

/// Has the daemon look at the report page now. False if the socket is in use or full.
pub fn request_read() -> bool {
    undisturbed(|| {
        let Some(next) = take_socket() else { return false };
        let sent = STATE.load(Ordering::Relaxed) == ATTACHED && send(ENTERED);
        NEXT_LOOK.store(next, Ordering::Release);
        sent
    })
}

fn hang_up() {
    socket::close();
    STARTING.store(false, Ordering::Relaxed);
    STATE.store(DETACHED, Ordering::Relaxed);
}

/// Whether there is anything to leave before a thread is put under a filter of system calls. Not in a child
/// that has its parent's memory, and is about to become another program.
pub fn has_syscalls_to_give_up() -> bool {
    !no_syscalls::are_forbidden() && is_this_process()
}

/// Whether the calling thread is of the process that this memory is of, and no child that has its parent's.
pub fn is_this_process() -> bool {
    let known = PROCESS.load(Ordering::Relaxed);
    known == 0 || known == process::pid()
}

/// Just before the calling thread is put under such a filter: leaves the daemon, and makes no more calls
/// ([`no_syscalls`]), on no thread if it is `for_all`.
pub fn give_up_syscalls(for_all: bool) {
    undisturbed(|| {
        // Whoever looks is done soon, or was left behind by a fork.
        for _ in 0..FINISH_MS {
            if take_socket().is_some() {
                break;
            }
            pause(1);
        }
        affinity::own_pus();
        if STATE.load(Ordering::Relaxed) == ATTACHED {
            affinity::widen();
        }
        pages::unmap();
        hang_up();
        no_syscalls::forbid(for_all);
        look_no_more(ticks());
    });
}

/// No filter came: the next region looks for a daemon.
pub fn resume_syscalls() {
    no_syscalls::permit();
    NEXT_LOOK.store(0, Ordering::Release);
}

/// A daemon that has answered may have moved this thread already, and only the answer says so: before a fork,
/// and where an affinity is asked for or set.
pub fn take_late_answer() {
    // While it starts nobody moves it.
    if is_waiting() && !STARTING.load(Ordering::Relaxed) && is_this_process() {
        look(ticks(), None);
    }
}

/// After a fork, in the child: a program of its own, on its own affinity, that attaches at its first region.
pub fn after_fork() {
    if STATE.load(Ordering::Relaxed) == ATTACHED {
        affinity::give_back();
    }
    affinity::is_child();
    pages::unmap();
    hang_up();
    PROCESS.store(0, Ordering::Relaxed);
    NEXT_LOOK.store(0, Ordering::Relaxed);
    MODULES_REPORTED.store(0, Ordering::Relaxed);
}
