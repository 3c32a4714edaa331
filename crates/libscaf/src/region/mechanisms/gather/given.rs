//! Loops and sections in the form that says everything by arguments: the schedule as a number, and how much
//! memory the members want to share, for scans and conditional `lastprivate` variables. Data of task
//! reductions would come so, too; who has such calls `GOMP_workshare_task_reduction_unregister`.

use super::chosen;
use super::rooms::{self, Room};
use super::team::{Member, around};
use super::work::{come_and, next, next_section};
use crate::region::thread::thread;
use core::ffi::c_void;
use scaf_team::gather::shares::{Loop, Rule};

/// The rule of the schedule of this number, for the calling member.
pub fn rule(me: &Member, schedule: i64, chunk: u64) -> Rule {
    const NUMBER: i64 = 0x7fff_ffff;
    match schedule & NUMBER {
        1 => Rule::Static(chunk),
        2 => Rule::Dynamic(chunk.max(1)),
        3 => Rule::Guided(chunk.max(1)),
        _ => chosen::rule(me.chosen.get()),
    }
}

/// The room of the share that the member came to last.
pub fn room(me: &Member) -> &Room {
    match me.inside() {
        Some(inner) => &inner.room,
        None => rooms::of(me.share.get()),
    }
}

/// Comes to the next share, with as much memory as is asked for.
unsafe fn come(me: &'static Member, whole: &Loop, memory: *mut *mut c_void) {
    // SAFETY: the caller runs the member; the program's own variable, which says how many bytes.
    unsafe {
        let bytes = if memory.is_null() { 0 } else { (*memory).addr() };
        come_and(me, whole, |room| {
            if bytes != 0 {
                room.open(bytes);
            }
        });
        if !memory.is_null() {
            *memory = room(me).at();
        }
    }
}

unsafe fn begin(
    me: &'static Member,
    whole: Loop,
    [first, last]: [*mut c_void; 2],
    memory: *mut *mut c_void,
) -> bool {
    // SAFETY: the caller runs the member; the program's own variables.
    unsafe {
        come(me, &whole, memory);
        // Without these the code deals the loop out itself.
        first.is_null() || next(me, first, last)
    }
}

/// A loop over signed numbers.
pub unsafe extern "C" fn start(
    from: i64,
    end: i64,
    step: i64,
    schedule: i64,
    chunk: i64,
    first: *mut c_void,
    last: *mut c_void,
    _reductions: *mut usize,
    memory: *mut *mut c_void,
) -> bool {
    // SAFETY: the caller is a member.
    unsafe {
        let Some(me) = around(thread()) else { return false };
        let rule = rule(me, schedule, chunk.max(0) as u64);
        begin(me, Loop::signed(from, end, step, rule), [first, last], memory)
    }
}

/// The same over unsigned ones.
pub unsafe extern "C" fn start_ull(
    up: bool,
    from: u64,
    end: u64,
    step: u64,
    schedule: i64,
    chunk: u64,
    first: *mut c_void,
    last: *mut c_void,
    _reductions: *mut usize,
    memory: *mut *mut c_void,
) -> bool {
    // SAFETY: as above.
    unsafe {
        let Some(me) = around(thread()) else { return false };
        begin(me, Loop::unsigned(up, from, end, step, rule(me, schedule, chunk)), [first, last], memory)
    }
}

/// The member's first section; 0 if there is none left.
pub unsafe extern "C" fn sections(count: u32, _reductions: *mut usize, memory: *mut *mut c_void) -> u32 {
    // SAFETY: as above.
    unsafe {
        let Some(me) = around(thread()) else { return 0 };
        come(me, &Loop::sections(count.into()), memory);
        next_section(me)
    }
}
