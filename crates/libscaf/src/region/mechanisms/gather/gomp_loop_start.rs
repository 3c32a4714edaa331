//! `GOMP_loop_start` and its kind, which get all by arguments: the schedule's number, task reductions, and
//! the size of memory that members share, for scans and conditional `lastprivate` clauses.

use super::constructs::{barrier, come_and, next, next_section};
use super::explicit_tasks::group_start;
use super::gathered_team::{Member, current};
use super::gomp_reductions::{adopt, finish, register};
use super::icvs;
use super::loop_memory::{self, LoopMemory};
use core::ffi::c_void;
use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicU64, Ordering};
use scaf_team::gather::worksharing::{Loop, Rule};

/// What a construct asks for besides its iterations; null for nothing.
#[derive(Clone, Copy)]
pub struct Asked {
    /// An array of variables for task reductions, each member's own.
    pub reductions: *mut usize,
    /// Holds the size of the shared memory, and then its address.
    pub memory: *mut *mut c_void,
}

impl Asked {
    pub const NOTHING: Asked = Asked { reductions: null_mut(), memory: null_mut() };
}

/// The calling member's schedule by its number.
pub fn rule(me: &Member, schedule: i64, chunk: u64) -> Rule {
    const NUMBER: i64 = 0x7fff_ffff;
    match schedule & NUMBER {
        1 => Rule::Static(chunk),
        2 => Rule::Dynamic(chunk.max(1)),
        3 => Rule::Guided(chunk.max(1)),
        _ => icvs::rule(me.icvs.get()),
    }
}

/// The memory of the construct that the member reached last.
pub fn room(me: &Member) -> &LoopMemory {
    match me.inside() {
        Some(inner) => &inner.room,
        None => loop_memory::of(me.share.get()),
    }
}

/// Enters the next construct. Its memory begins with `words` words for the caller. Behind them is the address
/// of the first member's array, and then the shared memory, aligned as the allocator would.
pub unsafe fn come(
    me: &'static Member,
    whole: &Loop,
    words: usize,
    asked: &Asked,
    prepare: impl Fn(&'static [AtomicU64]),
) {
    let words = words.next_multiple_of(2);
    let behind = words.saturating_add(2);
    // SAFETY: `asked` has null or the addresses of variables of the program. The memory has as many words as
    // are taken, and stays while the construct is open.
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
            // It stays there: no member leaves before the barrier at the loop's end.
            adopt(me, asked.reductions, with_exposed_provenance_mut(list.load(Ordering::Relaxed) as usize));
        }
        if !asked.memory.is_null() {
            *asked.memory = room.at().wrapping_byte_add(behind.saturating_mul(size_of::<u64>()));
        }
    }
}

unsafe fn begin(me: &'static Member, whole: Loop, [first, last]: [*mut c_void; 2], asked: &Asked) -> bool {
    // SAFETY: `asked`, `first` and `last` are null or addresses of variables of the program.
    unsafe {
        come(me, &whole, 0, asked, |_| {});
        // If they are null, compiled code distributes the loop itself.
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
    // SAFETY: the compiler passes null or addresses of variables of the program.
    unsafe {
        let Some(me) = current() else { return false };
        let rule = rule(me, schedule, chunk.max(0) as u64);
        begin(me, Loop::signed(from, end, step, rule), [first, last], &Asked { reductions, memory })
    }
}

/// A loop over unsigned numbers.
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
    // SAFETY: the compiler passes null or addresses of variables of the program.
    unsafe {
        let Some(me) = current() else { return false };
        let whole = Loop::unsigned(up, from, end, step, rule(me, schedule, chunk));
        begin(me, whole, [first, last], &Asked { reductions, memory })
    }
}

/// The member's first section; 0 if none is left.
pub unsafe extern "C" fn sections(count: u32, reductions: *mut usize, memory: *mut *mut c_void) -> u32 {
    // SAFETY: the compiler passes null or addresses of variables of the program.
    unsafe {
        let Some(me) = current() else { return 0 };
        come(me, &Loop::sections(count.into()), 0, &Asked { reductions, memory }, |_| {});
        next_section(me)
    }
}

/// Member 0 has combined the values of the construct's task reductions.
pub unsafe extern "C" fn unregister(cancelled: bool) {
    // SAFETY: the program has registered the array for this construct before.
    unsafe {
        let Some(me) = current() else { return };
        finish(me);
        if !cancelled {
            barrier(me);
        }
    }
}
