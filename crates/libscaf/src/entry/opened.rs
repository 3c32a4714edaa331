//! Regions opened by one call and ended by another: what gcc emitted before 4.9.

use crate::program::masters::slot_of;
use crate::program::sampling::Note;
use crate::program::thread::master;
use crate::region::enter::{open, run_thread};
use crate::region::entered::Entered;
use crate::region::frame::Frame;
use crate::region::kind::{Kind, Pass, Region};
use crate::region::mechanisms::resize::inner_request;
use crate::region::thread::{STARTS, thread};
use crate::runtimes::lookup;
use crate::sys::arch::ticks;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::null;
use core::sync::atomic::AtomicU64;
use scaf_proto::report::SLOTS;

/// An opened region. It can't lie on the stack, for another thread may be in the body after the caller has
/// left it; so there is one for each master.
struct Opened {
    entered: Entered,
    frame: Frame,
    note: &'static AtomicU64,
    /// Tick at which its master began to run its body.
    inside_since: u64,
}

/// All zero until it is used, so that a process without such regions has no page of it.
struct Place(UnsafeCell<MaybeUninit<Opened>>);

// SAFETY: a place is used by the master that holds the slot of its number; the team only reads the frame.
unsafe impl Sync for Place {}

static OPENED: [Place; SLOTS] = [const { Place(UnsafeCell::new(MaybeUninit::zeroed())) }; SLOTS];

/// Opens a region, whose body the caller runs.
/// # Safety
/// As for [`crate::region::enter::run`].
pub unsafe fn start(region: Region, pass: impl Pass<()>) {
    let this = thread();
    let Region { code, work, requested, kind } = region;
    // SAFETY: as in `enter::run`; what is kept is its master's own, and is written between regions only.
    unsafe {
        let depth = (*this).started as usize;
        if let Some(place) = (*this).started_in.get_mut(depth) {
            *place = code.runtime;
        }
        (*this).started = (*this).started.saturating_add(1);
        if (*master()).depth != 0 {
            (*master()).depth = (*master()).depth.saturating_add(1);
            if let Some(around) = (*this).frame.as_ref() {
                // Its threads can't be told from those around, so all waits are the runtime's from now on.
                around.has_nested();
                around.is_cancelled();
            }
            return pass(code.runtime, work.body, work.data, inner_request(this, code, requested));
        }
        // What its threads wait for can't be known, so its kind permits no fewer threads.
        let kind = if kind.is_sections() { kind } else { Kind::Opened };
        let entered = open(this, &Region { kind, ..region });
        let Some(slot) = entered.slot else {
            return pass(code.runtime, work.body, work.data, entered.choice.pass);
        };
        let mut frame = Frame::new(code.runtime, work, 1);
        frame.slot = slot;
        let place = OPENED[((*master()).slot.wrapping_sub(1) as usize) % SLOTS].0.get();
        let opened = (*place).write(Opened { entered, frame, note: code.note, inside_since: 0 });
        (*this).frame = &raw const opened.frame;
        pass(code.runtime, run_thread, (&raw mut opened.frame).cast(), entered.choice.pass);
        opened.inside_since = ticks();
    }
}

/// Ends a region opened by [`start`]; `caller` is the return address, for a region that we haven't seen open.
pub unsafe extern "C" fn end(caller: usize) {
    let this = thread();
    // SAFETY: as in `start`.
    unsafe {
        let started = (*this).started;
        if started == 0 {
            if let Some(end) = lookup::of(caller).and_then(|code| code.runtime.parallel_end) {
                end();
            }
            return;
        }
        (*this).started = started - 1;
        let place = (started as usize - 1).min(STARTS - 1);
        let runtime = (*this).started_in.get(place).copied().unwrap_or(null());
        let Some(end) = runtime.as_ref().and_then(|runtime| runtime.parallel_end) else {
            return;
        };
        let done = ticks();
        let serial = (*this).serial;
        end();
        (*this).serial = serial;
        if (*master()).depth > 1 {
            (*master()).depth -= 1;
            return;
        }
        let left = ticks();
        if let Some(slot) = slot_of(master()) {
            let place = OPENED[((*master()).slot.wrapping_sub(1) as usize) % SLOTS].0.get();
            let opened = (*place).assume_init_ref();
            let (others, theirs) = opened.frame.inside();
            let own = done.wrapping_sub(opened.inside_since);
            opened.entered.add_up(slot, &opened.frame, left, (others + 1, theirs.wrapping_add(own)));
            Note::learn_length(opened.note, left.wrapping_sub(opened.entered.at));
            opened.entered.leave(this);
        } else {
            Entered::leave_unmeasured(this);
        }
        (*this).frame = null();
    }
}
