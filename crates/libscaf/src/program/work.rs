//! The foundation for work that isn't an OpenMP region: threads of TBB, of a BLAS, of the program's own
//! pools.
//! ```text
//! keeper::on_change(resized);                 once: a plain fn(u32), if the library has a setter
//! work::attach(natural);                      before each piece of work: 2 ns when attached
//! let threads = natural.min(grant::dop());    how many are to work now
//! let ticket = work::begin(id, threads);      the daemon sees a parallel program
//! work::end(ticket, units);                   and what that took on so many contexts
//! ```
//! - `attach` connects at the first call (0.1 to 2 ms), and later looks at the socket once a second. It has
//!   to come first, in a forked child, too, which knows nothing of the parent's threads.
//! - Between `begin` and `end` the thread holds its slot of the report page, as in a region. Regions and
//!   other work that it begins meanwhile are measured in place of the work around them; work within a region
//!   isn't measured.
//! - Any thread may end what another began, but then the observed curve doesn't learn from it.
//! - All threads are reported as useful all the time: an upper bound, right where threads that wait sleep.
//!   The daemon doesn't believe more than the process's CPU clock.
//! - `begin` asks for lent contexts back, whatever `threads` is: the pool's next piece gets more.

use super::keeper;
use super::masters::{self, NO_SLOT, master};
use crate::link::{pages, state};
use crate::runtimes::copies;
use crate::runtimes::entries::Runtime;
use crate::sys::arch::ticks;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::grant::Word;
use scaf_proto::report::Slot;
use scaf_proto::rows::Key;
use scaf_team::choice::Mechanism;

/// Work that has begun. If never ended, it goes on until the same thread begins other work or a region.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ticket {
    /// Number of the slot, plus one; 0 for work that isn't measured.
    slot: u32,
    /// [`FORKS`] when it began.
    forks: u32,
    threads: u32,
    shared: u32,
    entered: u64,
    id: u64,
    grant: Word,
}

impl Ticket {
    pub const NONE: Ticket =
        Ticket { slot: 0, forks: 0, threads: 0, shared: 0, entered: 0, id: 0, grant: Word::UNMANAGED };

    /// Threads that were reported to the daemon; 0 for work that isn't measured.
    pub fn threads(&self) -> u32 {
        self.threads
    }
}

/// Forks between the first process and this one: a parent's ticket means nothing to the child.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Attaches to the daemon, if there is one; true if attached. `natural` is how many threads the caller would
/// run alone on the machine, 1 to 65,535; the program's number is the largest that was given.
#[inline]
pub fn attach(natural: u32) -> bool {
    masters::widen(natural);
    state::tend_other(ticks());
    let attached = state::is_attached();
    if attached {
        keeper::call_in();
    }
    attached
}

/// Begins work on `threads` threads, the caller among them or not. `id` is the same for work of the same
/// kind, such as a function's address; one in a file is known again in the program's next run.
pub fn begin(id: u64, threads: u32) -> Ticket {
    begin_as(id, threads, true)
}

/// As [`begin`], for work that was noticed and may have ended already: regions don't get less for it.
pub fn begin_noticed(id: u64, threads: u32) -> Ticket {
    begin_as(id, threads, false)
}

fn begin_as(id: u64, threads: u32, joins: bool) -> Ticket {
    if masters::other() == 0 {
        return Ticket::NONE;
    }
    let now = ticks();
    state::tend_other(now);
    let grant = pages::grant().word();
    if grant.lent() {
        state::ask_back(grant.epoch());
    }
    let Some((number, slot)) = free_slot() else {
        return Ticket::NONE;
    };
    let threads = threads.clamp(1, 65_535);
    let shared = if joins { masters::join_teams(threads) } else { 0 };
    // Work that follows the grant does so by its number of threads.
    slot.enter(threads, Mechanism::Resize as u32, now);
    if grant.dop().is_some_and(|dop| dop < threads) {
        // The work doesn't follow, and isn't waited for.
        slot.add_promised();
    }
    Ticket { slot: number, forks: FORKS.load(Ordering::Relaxed), threads, shared, entered: now, id, grant }
}

/// Ends work of so many units, below 2^44, in a measure of its id's; 0 if each piece counts as one.
pub fn end(ticket: Ticket, units: u64) {
    let number = ticket.slot;
    if number == 0 || ticket.forks != FORKS.load(Ordering::Relaxed) {
        return;
    }
    masters::leave_teams(ticket.shared);
    let slot = pages::report().slot((number as usize).wrapping_sub(1));
    // Otherwise a region or other work has taken the slot, or the page is another daemon's.
    let Some(slot) = slot.filter(|slot| slot.entered() == ticket.entered) else {
        return;
    };
    let now = ticks();
    let wall = now.wrapping_sub(ticket.entered);
    if ticket.threads == 1 {
        slot.leave_alone(wall, 0);
    } else {
        slot.leave(now, ticket.threads, wall.wrapping_mul(u64::from(ticket.threads)));
    }
    let same = master().slot.get() == number;
    if same && masters::one_master() && pages::grant().word() == ticket.grant {
        report(&ticket, units, wall);
    }
}

/// The calling thread's slot and its number plus one; `None` within a region.
fn free_slot() -> Option<(u32, &'static Slot)> {
    let this = master();
    if this.depth.get() != 0 || (this.slot.get() == 0 && is_inside()) {
        return None;
    }
    let slot = masters::slot_of(this)?;
    (this.slot.get() != NO_SLOT).then_some((this.slot.get(), slot))
}

/// Whether a thread without a slot is in a region. LLVM's runtime isn't asked: it would adopt the thread.
#[cold]
#[inline(never)]
fn is_inside() -> bool {
    let inside =
        |runtime: &Runtime| !runtime.is_llvms() && runtime.ask_level().is_some_and(|level| level != 0);
    (0..copies::RUNTIMES).map_while(copies::by_number).any(inside)
}

/// The latest row of an id, by the id's hash.
static HINTS: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];

fn report(ticket: &Ticket, units: u64, wall: u64) {
    let dop = ticket.grant.dop().map_or(ticket.threads, |dop| dop.min(ticket.threads));
    let region = region_of(ticket.id);
    let key = if units == 0 { Key::new(region, dop) } else { Key::of_loop(region, dop) };
    let hint = &HINTS[region.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58];
    let row = hint.load(Ordering::Relaxed) as usize;
    let at = pages::report().rows().add(row, key, 1, wall, units);
    if at != row {
        hint.store(at as u32, Ordering::Relaxed);
    }
}

/// The number that the report page has for an id: 47 bits, not 0. The address of a function is its own.
fn region_of(id: u64) -> usize {
    let bits = (1 << 47) - 1;
    ((id ^ id >> 47) & bits).max(1) as usize
}

pub fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
