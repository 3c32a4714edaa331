//! Regions opened by one call and ended by another: what gcc emitted before 4.9.

use crate::program::masters::{Master, master, slot_of};
use crate::program::region_record::Record;
use crate::region::enter::{open, run_thread};
use crate::region::entered::Entered;
use crate::region::frame::Frame;
use crate::region::kind::{Kind, Pass, Region};
use crate::region::mechanisms::resize::inner_request;
use crate::region::thread::{STARTS, thread};
use crate::runtimes::lookup;
use crate::sys::arch::ticks;
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::null;
use core::sync::atomic::AtomicU64;
use scaf_proto::report::SLOTS;

/// An opened region. It can't lie on the stack, for another thread may be in the body after the caller has
/// left it; so there is one for each master.
struct Opened {
    entered: Entered,
    frame: Frame,
    record: &'static AtomicU64,
    /// Tick at which its master began to run its body.
    inside_since: u64,
}

/// All zero until it is used, so that a process without such regions has no page of it.
struct Place(UnsafeCell<MaybeUninit<Opened>>);

// SAFETY: a place is used by the master that holds the slot of its number; the team only reads the frame.
unsafe impl Sync for Place {}

static OPENED: [Place; SLOTS] = [const { Place(UnsafeCell::new(MaybeUninit::zeroed())) }; SLOTS];

/// The place of the master with that slot.
fn place_of(this: &Master) -> *mut MaybeUninit<Opened> {
    OPENED[(this.slot.get().wrapping_sub(1) as usize) % SLOTS].0.get()
}

/// Opens a region, whose body the caller runs.
/// # Safety
/// As for [`crate::region::enter::run`].
pub unsafe fn start(region: Region, pass: impl Pass<()>) {
    let (this, master) = (thread(), master());
    let Region { code, work, requested, kind } = region;
    let started = this.started.get();
    if let Some(place) = this.started_in.get(started as usize) {
        place.set(Some(code.runtime));
    }
    this.started.set(started.saturating_add(1));
    let depth = master.depth.get();
    if depth != 0 {
        master.depth.set(depth.saturating_add(1));
        if let Some(around) = this.frame() {
            // Its threads can't be told from those around, so all waits are the runtime's from now on.
            around.has_nested();
            around.is_cancelled();
        }
        return pass(code.runtime, work.body, work.data, inner_request(this, code, requested));
    }
    // What its threads wait for can't be known, so its kind permits no fewer threads.
    let kind = if kind.is_sections() { kind } else { Kind::Opened };
    let entered = open(this, &Region { kind, ..region });
    if entered.slot.is_none() {
        return pass(code.runtime, work.body, work.data, entered.choice.pass);
    }
    let mut frame = Frame::new(code.runtime, work, 1);
    frame.slot = entered.slot;
    // SAFETY: the place is this master's, whose last such region has ended, with all its threads.
    let opened =
        unsafe { (*place_of(master)).write(Opened { entered, frame, record: code.record, inside_since: 0 }) };
    this.frame.set(&raw const opened.frame);
    pass(code.runtime, run_thread, (&raw mut opened.frame).cast(), entered.choice.pass);
    opened.inside_since = ticks();
}

/// Ends a region opened by [`start`]; `caller` is the return address, for a region that we haven't seen open.
pub unsafe extern "C" fn end(caller: usize) {
    let (this, master) = (thread(), master());
    let started = this.started.get();
    let runtime = match started {
        0 => lookup::of(caller).map(|code| code.runtime),
        _ => this.started_in.get((started as usize - 1).min(STARTS - 1)).and_then(Cell::get),
    };
    this.started.set(started.saturating_sub(1));
    let Some(end) = runtime.and_then(|runtime| runtime.GOMP_parallel_end) else { return };
    let done = ticks();
    let serial = this.serial.get();
    // SAFETY: GOMP_parallel_end takes nothing, and the program has called it.
    unsafe { end() };
    if started == 0 {
        return;
    }
    this.serial.set(serial);
    if master.depth.get() > 1 {
        master.depth.set(master.depth.get() - 1);
        return;
    }
    let left = ticks();
    if let Some(slot) = slot_of(master) {
        // SAFETY: a master with a slot has filled its place in `start`.
        let opened = unsafe { (*place_of(master)).assume_init_ref() };
        let (others, theirs) = opened.frame.inside();
        let own = done.wrapping_sub(opened.inside_since);
        opened.entered.add_up(slot, &opened.frame, left, (others + 1, theirs.wrapping_add(own)));
        Record::learn_length(opened.record, left.wrapping_sub(opened.entered.at));
        opened.entered.leave(this);
    } else {
        Entered::leave_unmeasured(this);
    }
    this.frame.set(null());
}
