//! Has libgomp's own waits follow the fold where they can't be taken over: at a region's end, and between two
//! regions. libgomp's threads spin before they sleep, by default for 300,000 rounds: right while each has a
//! context, and ruinous while not. While libgomp has made more threads than there were PUs at the program's
//! start, they spin for 100 rounds (`gomp_throttled_spin_count_var`). So while teams are *crowded*, larger
//! than the grant that they are folded onto, a thread of ours, the *host*, has libgomp make a team of
//! *idlers*, who do nothing and sleep. The host stays while crowded regions run, and for [`PERIOD_MS`] after
//! the last one; libgomp ends its team with it.
//!
//! The first crowded region waits for the host, about 0.2 ms: its own end and its idle workers would spin for
//! 15 ms, on the context that the program goes on with. It calls the host when libgomp has made its team:
//! earlier, the idlers were no more than the PUs, and would spin. Where a thread can't be made libgomp would
//! end the program, so the host first makes as many itself; and where they can't end ([`can_end`]).

use crate::link::affinity::own_pus;
use crate::link::silence;
use crate::program::masters::is_crowded;
use crate::program::permission;
use crate::region::frame::Frame;
use crate::runtimes::copies::{self, RUNTIMES};
use crate::runtimes::entries::Runtime;
use crate::runtimes::modules;
use crate::sys::futex::Futex;
use crate::sys::glibc;
use crate::sys::settings;
use crate::sys::thread::{give_way, own_task, pause, spawn, start};
use core::ffi::c_void;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;

/// Time between two looks of the host, in milliseconds.
const PERIOD_MS: i64 = 100;
/// Longest that a region waits for its host, in milliseconds.
const PATIENCE_MS: u32 = 20;
/// Looks for a joined thread to be gone for the system, before it is given [`SETTLED_MS`] milliseconds.
const LOOKS: u32 = 100;
const SETTLED_MS: i64 = 10;
/// Most idlers: a machine with more PUs than this beyond a team's size keeps libgomp's spinning.
const MOST_IDLERS: u32 = 64;

struct Crowd {
    /// [`NONE`], [`COMING`] or [`THERE`].
    host: AtomicU32,
    inside: AtomicU32,
    /// 1 if there was one since the host last looked.
    used: AtomicU32,
    team: AtomicU32,
}

/// States of the host. A host that can't make its idlers counts as there, and isn't asked again.
const NONE: u32 = 0;
const COMING: u32 = 1;
const THERE: u32 = 2;

static CROWDS: [Crowd; RUNTIMES] = [const {
    Crowd {
        host: AtomicU32::new(0),
        inside: AtomicU32::new(0),
        used: AtomicU32::new(0),
        team: AtomicU32::new(0),
    }
}; RUNTIMES];

/// Values of [`Frame::crowd`], after 0: the region is inside since its entry; since a wait of one of its
/// threads; it can have no idlers, or is just becoming one that has.
pub const CAME_AT_ENTRY: u32 = 1;
pub const CAME_MIDWAY: u32 = 2;
pub const REFUSED: u32 = 3;

/// A crowded region, until it is dropped.
pub struct Inside(Option<&'static Crowd>);

impl Inside {
    /// What a frame of the region begins with.
    #[inline(always)]
    pub fn of_frame(&self) -> u32 {
        if self.0.is_some() { CAME_AT_ENTRY } else { 0 }
    }

    /// Whether its threads have to [`call_in`] the host first.
    #[inline(always)]
    pub fn is_hostless(&self) -> bool {
        self.0.is_some_and(|crowd| crowd.host.load(Ordering::Relaxed) != THERE)
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(crowd) = self.0 {
            crowd.leave();
        }
    }
}

#[inline(always)]
pub fn enter(runtime: &'static Runtime, team: u32) -> Inside {
    Inside(if is_crowded(team) { join(runtime, team) } else { None })
}

/// A thread of a folded program's region is about to wait within libgomp. The first one that finds the region
/// crowded, as it wasn't at its entry, waits for the host, if there is none; and so does whoever finds that
/// it has left.
#[inline(never)]
pub fn enter_midway(frame: &Frame) {
    // Idlers have stacks of the user's size: a region that has begun isn't made to wait for these.
    if frame.master.is_null() || settings::get().own_stacks {
        return;
    }
    let runtime = frame.runtime();
    let crowd = CROWDS.get(runtime.number());
    let there = crowd.is_some_and(|crowd| crowd.host.load(Ordering::Relaxed) != NONE);
    let known = frame.crowd.load(Ordering::Relaxed) != 0;
    if known && (there || frame.crowd.load(Ordering::Relaxed) == REFUSED) {
        return;
    }
    // Not the frame's own number: the thread may be in a region within, which was entered unseen.
    // SAFETY: omp_get_num_threads takes nothing.
    let team = runtime.num_threads.map_or(1, |num_threads| unsafe { num_threads() }).max(1) as u32;
    if team <= 1 || !is_crowded(team) {
        return;
    }
    let first = || frame.crowd.compare_exchange(0, REFUSED, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if !known && first() && join(runtime, team).is_some() {
        frame.crowd.store(CAME_MIDWAY, Ordering::Relaxed);
    }
    if let Some(crowd) = crowd.filter(|_| !there && frame.crowd.load(Ordering::Relaxed) != REFUSED) {
        crowd.is_used_by(team);
        call_in(runtime);
    }
}

/// A region that came by [`enter_midway`] is over.
pub fn leave(runtime: &Runtime) {
    if let Some(crowd) = CROWDS.get(runtime.number()) {
        crowd.leave();
    }
}

#[inline(never)]
fn join(runtime: &'static Runtime, team: u32) -> Option<&'static Crowd> {
    let settings = settings::get();
    // LLVM's runtime, which goes by libgomp's name in places, has other ways to wait. With larger stacks than
    // ours there may be no room for so many threads, and libgomp would end the program.
    let unfit = settings.fixed_spin || settings.bound || settings.own_stacks;
    if settings.spin.is_none() || unfit || runtime.is_llvms() {
        return None;
    }
    if !(1..=MOST_IDLERS).contains(&idlers(team)) {
        return None;
    }
    let crowd = CROWDS.get(runtime.number())?;
    crowd.inside.fetch_add(1, Ordering::Relaxed);
    crowd.is_used_by(team);
    Some(crowd)
}

/// Calls the host in and waits for it, but not for too long. Called by threads of a crowded team.
#[cold]
pub fn call_in(runtime: &'static Runtime) {
    let number = runtime.number();
    let Some(crowd) = CROWDS.get(number) else {
        return;
    };
    let calls = crowd.host.compare_exchange(NONE, COMING, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    if calls && !spawn(host, without_provenance_mut(number)) {
        crowd.is(THERE);
    }
    // Once more after a signal.
    for _ in 0..2 {
        if crowd.host.load(Ordering::Acquire) != COMING || Futex.sleep(&crowd.host, COMING, PATIENCE_MS) {
            break;
        }
    }
}

impl Crowd {
    #[inline(always)]
    fn is_used_by(&self, team: u32) {
        self.used.store(1, Ordering::Relaxed);
        self.team.store(team, Ordering::Relaxed);
    }

    /// In a child of a fork in a region it isn't inside any more.
    #[inline(always)]
    fn leave(&self) {
        let _ =
            self.inside.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |inside| inside.checked_sub(1));
    }

    fn is(&self, state: u32) {
        self.host.store(state, Ordering::Release);
        Futex.wake_all(&self.host);
    }
}

/// Threads that libgomp must have beside a team to exceed the PUs; 0 if the team does.
fn idlers(team: u32) -> u32 {
    own_pus().saturating_add(1).saturating_sub(team)
}

extern "C" fn host(number: *mut c_void) -> *mut c_void {
    let number = number.addr();
    if let (Some(crowd), Some(runtime)) = (CROWDS.get(number), copies::by_number(number)) {
        let idlers = idlers(crowd.team.load(Ordering::Relaxed));
        let parallel = runtime.parallel.filter(|_| can_end() && can_make(idlers));
        if let Some(parallel) = parallel {
            if permission::is_dynamic(runtime) {
                permission::set_dynamic(runtime, false);
            }
            // SAFETY: a region of nothing.
            unsafe { parallel(idle, null_mut(), idlers.saturating_add(1), 0) };
        }
        crowd.is(THERE);
        if parallel.is_some() {
            loop {
                pause(PERIOD_MS);
                silence::rest();
                let used = crowd.used.swap(0, Ordering::Relaxed) != 0;
                let crowded = is_crowded(crowd.team.load(Ordering::Relaxed));
                if !used && (crowd.inside.load(Ordering::Relaxed) == 0 || !crowded) {
                    break;
                }
            }
            crowd.is(NONE);
        }
    }
    null_mut()
}

unsafe extern "C" fn idle(_: *mut c_void) {}

/// Whether threads may end by `pthread_exit`, as libgomp's do when the host leaves: for that glibc loads
/// libgcc_s, which a small container may not have, and ends the program if it can't.
fn can_end() -> bool {
    modules::load_for_us(c"libgcc_s.so.1")
}

/// Whether the system permits so many more threads at once, and one.
fn can_make(threads: u32) -> bool {
    !rehearse(without_provenance_mut(threads as usize + 1)).is_null()
}

/// Has so many threads at once, each started by the one before; null if one is missing, else its own id.
extern "C" fn rehearse(threads: *mut c_void) -> *mut c_void {
    let own = without_provenance_mut(own_task() as usize);
    if threads.addr() == 0 {
        return own;
    }
    let Some(next) = start(rehearse, without_provenance_mut(threads.addr().wrapping_sub(1))) else {
        return null_mut();
    };
    let mut number = null_mut();
    // SAFETY: a thread that nobody else joins.
    if unsafe { glibc::pthread_join(next, &mut number) } != 0 || number.is_null() {
        return null_mut();
    }
    until_gone(number.addr());
    own
}

/// A joined thread takes a moment until it doesn't count any more.
fn until_gone(number: usize) {
    for _ in 0..LOOKS {
        // SAFETY: asks about a thread of this process, by no signal.
        let is_gone = unsafe {
            libc::syscall(libc::SYS_tgkill, libc::getpid(), number, 0) < 0
                && *libc::__errno_location() == libc::ESRCH
        };
        if is_gone {
            return;
        }
        give_way();
    }
    pause(SETTLED_MS);
}

pub fn after_fork() {
    for crowd in &CROWDS {
        crowd.host.store(0, Ordering::Relaxed);
        crowd.inside.store(0, Ordering::Relaxed);
    }
}
