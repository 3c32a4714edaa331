//! Regions opened by one call and ended by another: what gcc emitted before 4.9.

use crate::arch::{STARTS, thread, ticks};
use crate::client;
use crate::frame::Frame;
use crate::masters::{join_teams, leave_teams, slot_of};
use crate::region::{Kind, Work, choose, inner_request, leave, run_thread};
use crate::runtime::{self, Body, Runtime};
use crate::sampling::Note;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::null;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_proto::report::SLOTS;

/// A region opened by an old-style `_start` entry point: the caller runs the body itself, then ends the region.
///
/// Its frame can't lie on the stack, and another thread may be in the body after the caller has left it, so there is
/// one frame a master, in `STARTED`.
///
/// # Safety
/// As for [`crate::region::run`].
pub unsafe fn start(
    body: Body,
    data: *mut c_void,
    requested: u32,
    kind: Kind,
    call: impl Fn(&Runtime, Body, *mut c_void, u32),
) {
    let Some(code) = runtime::of(body as usize) else {
        return;
    };
    let this = thread();
    // SAFETY: as in `region::run`; a frame is its master's own, and is written between regions only.
    unsafe {
        let depth = (*this).started as usize;
        if let Some(place) = (*this).started_in.get_mut(depth) {
            *place = code.runtime;
        }
        (*this).started = (*this).started.saturating_add(1);
        if (*this).depth != 0 {
            (*this).depth = (*this).depth.saturating_add(1);
            if let Some(around) = (*this).frame.as_ref() {
                // Its threads can't be told from those around it, so all waits are the runtime's from now on.
                around.has_nested();
                around.is_cancelled();
            }
            return call(code.runtime, body, data, inner_request(this, code, requested));
        }
        let entered = ticks();
        client::tend(entered, code.runtime);
        let slot = slot_of(this);
        // Of what its threads wait for, and who looks after them, nothing can be known: no kind for fewer threads.
        let kind = if kind == Kind::Sections { kind } else { Kind::Opened };
        let note = Note::of(code);
        let choice = choose(code, body, &note, note.length(), requested, kind);
        (*this).runtime = code.runtime;
        (*this).depth = 1;
        (*this).shrunk = u32::from(choice.shrunk);
        let Some(slot) = slot else {
            return call(code.runtime, body, data, choice.pass);
        };
        slot.enter(choice.team, entered);
        if choice.promised {
            slot.add_promised();
        }
        let started = &STARTED[((*this).slot.wrapping_sub(1) as usize) % SLOTS];
        started.shared.store(join_teams(choice.team), Ordering::Relaxed);
        started.entered.store(entered, Ordering::Relaxed);
        *started.note.get() = code.note;
        let frame = started.frame.get().cast::<Frame>();
        frame.write(Frame::new(code.runtime, Work { body, run: body, data }, 1));
        (*frame).slot = slot;
        (*this).frame = frame;
        call(code.runtime, run_thread, frame.cast(), choice.pass);
        started.inside_since.store(ticks(), Ordering::Relaxed);
    }
}

/// The end of a region opened by [`start`]; `caller` is the return address, for a region that we haven't seen open.
pub unsafe extern "C" fn end(caller: usize) {
    let this = thread();
    // SAFETY: as in `start`.
    unsafe {
        let started = (*this).started;
        if started == 0 {
            if let Some(end) = runtime::of(caller).and_then(|code| code.runtime.parallel_end) {
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
        if (*this).depth > 1 {
            (*this).depth -= 1;
            let serial = (*this).serial;
            end();
            (*this).serial = serial;
            return;
        }
        let done = ticks();
        let serial = (*this).serial;
        end();
        (*this).serial = serial;
        let left = ticks();
        if let Some(slot) = slot_of(this) {
            let mine = &STARTED[((*this).slot.wrapping_sub(1) as usize) % SLOTS];
            let frame = &*mine.frame.get().cast::<Frame>();
            let (others, theirs) = frame.inside();
            let own = done.wrapping_sub(mine.inside_since.load(Ordering::Relaxed));
            let entered = mine.entered.load(Ordering::Relaxed);
            leave(slot, frame, entered, left, others + 1, theirs.wrapping_add(own));
            if let Some(note) = (*mine.note.get()).as_ref() {
                Note::learn_length(note, left.wrapping_sub(entered));
            }
            leave_teams(mine.shared.load(Ordering::Relaxed));
        }
        (*this).depth = 0;
        (*this).frame = null();
        (*this).runtime = null();
    }
}

struct Started {
    /// Written before each region. All zero until then, so that a process without such regions has no page of it.
    frame: UnsafeCell<MaybeUninit<Frame>>,
    note: UnsafeCell<*const AtomicU64>,
    entered: AtomicU64,
    inside_since: AtomicU64,
    shared: AtomicU32,
}

// SAFETY: each entry is used by the one master that holds the slot of its number; its team reads the frame while the
// region runs.
unsafe impl Sync for Started {}

static STARTED: [Started; SLOTS] = [const {
    Started {
        frame: UnsafeCell::new(MaybeUninit::zeroed()),
        note: UnsafeCell::new(null()),
        entered: AtomicU64::new(0),
        inside_since: AtomicU64::new(0),
        shared: AtomicU32::new(0),
    }
}; SLOTS];
