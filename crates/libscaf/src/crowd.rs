//! Has libgomp's own waits follow the fold, those that can't be taken over: the end of a region, and between two.
//!
//! libgomp's threads spin before they sleep, by default for 300,000 rounds. That is right while each has a context and
//! ruinous while not, which libgomp knows: while it has made more threads than there are PUs, they spin for 100 rounds
//! (libgomp's `gomp_throttled_spin_count_var`). But it has counted the PUs when the program started.
//!
//! So while teams are *crowded*, larger than the grant that they are folded onto, libgomp gets to make more threads than
//! that: a thread of ours, the *host*, has a team of *idlers*, who do nothing and sleep. The host stays while crowded
//! regions run, and for [`PERIOD_MS`] after the last one; libgomp ends its team with it.
//!
//! Where a thread can't be made libgomp would end the program, so the host first makes as many itself.

use crate::region::is_crowded;
use crate::runtime::{self, Runtime};
use crate::{client, settings, watch};
use core::ffi::c_void;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, Ordering};

/// Time between two looks of the host, in milliseconds.
const PERIOD_MS: i64 = 100;
/// Time after which a thread that has ended is gone for the system, too, in milliseconds.
const SETTLED_MS: i64 = 10;
/// Most idlers: a machine with more PUs than this beyond a team's size keeps libgomp's spinning.
const MOST_IDLERS: u32 = 64;

/// What is there about one copy of the runtime.
struct Crowd {
    /// 1 while there is a host.
    host: AtomicU32,
    /// Crowded regions that run now.
    inside: AtomicU32,
    /// 1 when there was one since the host looked.
    used: AtomicU32,
    /// Team size of the region that the host was called for.
    team: AtomicU32,
}

static CROWDS: [Crowd; runtime::RUNTIMES] = [const {
    Crowd {
        host: AtomicU32::new(0),
        inside: AtomicU32::new(0),
        used: AtomicU32::new(0),
        team: AtomicU32::new(0),
    }
}; runtime::RUNTIMES];

/// A crowded region, until it is dropped.
pub struct Inside(Option<&'static Crowd>);

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(crowd) = self.0 {
            crowd.inside.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A region with so many threads is entered.
#[inline(always)]
pub fn enter(runtime: &'static Runtime, team: u32) -> Inside {
    Inside(if is_crowded(team) { join(runtime, team) } else { None })
}

#[inline(never)]
fn join(runtime: &'static Runtime, team: u32) -> Option<&'static Crowd> {
    let settings = settings::get();
    // LLVM's runtime, which goes by libgomp's name in places, has other ways to wait.
    if settings.spin.is_none() || settings.fixed_spin || settings.bound || runtime.llvms.is_some() {
        return None;
    }
    let number = runtime.number();
    let crowd = CROWDS.get(number)?;
    crowd.inside.fetch_add(1, Ordering::Relaxed);
    crowd.used.store(1, Ordering::Relaxed);
    let idlers = idlers(team);
    if crowd.host.load(Ordering::Relaxed) == 0
        && (1..=MOST_IDLERS).contains(&idlers)
        && crowd.host.swap(1, Ordering::AcqRel) == 0
    {
        crowd.team.store(team, Ordering::Relaxed);
        if !watch::spawn(host, without_provenance_mut(number)) {
            crowd.host.store(0, Ordering::Relaxed);
        }
    }
    Some(crowd)
}

/// How many threads libgomp must have beside a team for them to be more than the PUs; 0 if they are already.
fn idlers(team: u32) -> u32 {
    client::own_pus().saturating_add(1).saturating_sub(team)
}

extern "C" fn host(number: *mut c_void) -> *mut c_void {
    let number = number.addr();
    if let (Some(crowd), Some(runtime)) = (CROWDS.get(number), runtime::by_number(number)) {
        let idlers = idlers(crowd.team.load(Ordering::Relaxed));
        if let Some(parallel) = runtime.parallel
            && can_make(idlers)
        {
            // SAFETY: a region of nothing.
            unsafe { parallel(idle, null_mut(), idlers.saturating_add(1), 0) };
            loop {
                watch::pause(PERIOD_MS);
                let used = crowd.used.swap(0, Ordering::Relaxed) != 0;
                if !used && crowd.inside.load(Ordering::Relaxed) == 0 {
                    break;
                }
            }
            crowd.host.store(0, Ordering::Release);
        }
        // If it can't make them now, it is not asked again.
    }
    null_mut()
}

unsafe extern "C" fn idle(_: *mut c_void) {}

/// Whether the system lets the program have so many more threads at once, and one.
fn can_make(threads: u32) -> bool {
    let all = rehearse(without_provenance_mut(threads as usize + 1)).is_null();
    // Threads that were joined take a moment until they don't count any more.
    watch::pause(SETTLED_MS);
    all
}

/// Has so many threads there at once, each started by the one before; null if there were so many.
extern "C" fn rehearse(threads: *mut c_void) -> *mut c_void {
    if threads.addr() == 0 {
        return null_mut();
    }
    let failed = without_provenance_mut(1);
    let Some(next) = watch::start(rehearse, without_provenance_mut(threads.addr().wrapping_sub(1))) else {
        return failed;
    };
    let mut result = failed;
    // SAFETY: a thread that nobody else joins.
    if unsafe { libc::pthread_join(next, &mut result) } == 0 { result } else { failed }
}

/// After a fork, in the child: no host is there.
pub fn after_fork() {
    for crowd in &CROWDS {
        crowd.host.store(0, Ordering::Relaxed);
        crowd.inside.store(0, Ordering::Relaxed);
    }
}
