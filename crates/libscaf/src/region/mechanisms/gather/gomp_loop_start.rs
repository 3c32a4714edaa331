//! Loops and sections in the form that says everything by arguments: the schedule as a number, what its tasks
//! add up, and how much memory the members want to share, for scans and conditional `lastprivate` variables.

use super::constructs::{barrier, come_and, next, next_section};
use super::explicit_tasks::group_start;
use super::gathered_team::{Member, around};
use super::gomp_reductions::{adopt, finish, register};
use super::icvs;
use super::loop_memory::{self, LoopMemory};
use crate::region::thread::thread;
use core::ffi::c_void;
use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicU64, Ordering};
use scaf_team::gather::worksharing::{Loop, Rule};

/// What a construct asks for besides its iterations, each null if it doesn't.
#[derive(Clone, Copy)]
pub struct Asked {
    /// An array of variables that its tasks add up, each member's own.
    pub reductions: *mut usize,
    /// How many bytes all share; where they are is put there.
    pub memory: *mut *mut c_void,
}

impl Asked {
    pub const NOTHING: Asked = Asked { reductions: null_mut(), memory: null_mut() };
}

/// The rule of the schedule of this number, for the calling member.
pub fn rule(me: &Member, schedule: i64, chunk: u64) -> Rule {
    const NUMBER: i64 = 0x7fff_ffff;
    match schedule & NUMBER {
        1 => Rule::Static(chunk),
        2 => Rule::Dynamic(chunk.max(1)),
        3 => Rule::Guided(chunk.max(1)),
        _ => icvs::rule(me.icvs.get()),
    }
}

/// The room of the share that the member came to last.
pub fn room(me: &Member) -> &LoopMemory {
    match me.inside() {
        Some(inner) => &inner.room,
        None => loop_memory::of(me.share.get()),
    }
}

/// Comes to the next share, of which so many words are for other things. Behind them is the address of the
/// first member's array, and then the memory, aligned as the allocator would.
pub unsafe fn come(
    me: &'static Member,
    whole: &Loop,
    words: usize,
    asked: &Asked,
    prepare: impl Fn(&'static [AtomicU64]),
) {
    let words = words.next_multiple_of(2);
    let behind = words.saturating_add(2);
    // SAFETY: the caller runs the member; the program's own variables.
    unsafe {
        let wanted = if asked.memory.is_null() { 0 } else { (*asked.memory).addr() };
        let adds = !asked.reductions.is_null();
        if adds {
            group_start(me);
        }
        let first = come_and(me, whole, |room| {
            room.open(behind.saturating_mul(size_of::<u64>()).saturating_add(wanted));
            if adds && let Some(list) = room.words(behind).get(words) {
                register(me, asked.reductions);
                list.store(asked.reductions.expose_provenance() as u64, Ordering::Relaxed);
            }
            prepare(room.words(words));
        });
        let room = room(me);
        if adds
            && !first
            && let Some(list) = room.words(behind).get(words)
        {
            // It stays there: none leaves before the barrier at the loop's end.
            adopt(me, asked.reductions, with_exposed_provenance_mut(list.load(Ordering::Relaxed) as usize));
        }
        if !asked.memory.is_null() {
            *asked.memory = room.at().wrapping_byte_add(behind.saturating_mul(size_of::<u64>()));
        }
    }
}

unsafe fn begin(me: &'static Member, whole: Loop, [first, last]: [*mut c_void; 2], asked: &Asked) -> bool {
    // SAFETY: the caller runs the member; the program's own variables.
    unsafe {
        come(me, &whole, 0, asked, |_| {});
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
    reductions: *mut usize,
    memory: *mut *mut c_void,
) -> bool {
    // SAFETY: the caller is a member.
    unsafe {
        let Some(me) = around(thread()) else { return false };
        let rule = rule(me, schedule, chunk.max(0) as u64);
        begin(me, Loop::signed(from, end, step, rule), [first, last], &Asked { reductions, memory })
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
    reductions: *mut usize,
    memory: *mut *mut c_void,
) -> bool {
    // SAFETY: as above.
    unsafe {
        let Some(me) = around(thread()) else { return false };
        let whole = Loop::unsigned(up, from, end, step, rule(me, schedule, chunk));
        begin(me, whole, [first, last], &Asked { reductions, memory })
    }
}

/// The member's first section; 0 if there is none left.
pub unsafe extern "C" fn sections(count: u32, reductions: *mut usize, memory: *mut *mut c_void) -> u32 {
    // SAFETY: as above.
    unsafe {
        let Some(me) = around(thread()) else { return 0 };
        come(me, &Loop::sections(count.into()), 0, &Asked { reductions, memory }, |_| {});
        next_section(me)
    }
}

/// What tasks of the loop or the sections have added up was put together, by the member with number 0.
pub unsafe extern "C" fn unregister(cancelled: bool) {
    // SAFETY: as above.
    unsafe {
        let Some(me) = around(thread()) else { return };
        finish(me);
        if !cancelled {
            barrier(me);
        }
    }
}
