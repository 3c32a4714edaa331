//! What code of LLVM's compilers asks of its runtime, answered for members: loops that are dealt out in
//! chunks, with their `ordered` parts, reductions, and data that one member copies to all.

use super::constructs::{barrier, barrier_within, come, leave};
use super::fibers::yield_member;
use super::gathered_team::{MEMBERS, Member, SCHEDULER, SHARES, TEAM};
use super::llvm_state::Method;
use super::{forbids, icvs};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering;
use scaf_team::gather::llvm_chunks::{Chunk, chunk, in_turn};
use scaf_team::gather::worksharing::{Loop, Rule};
use scaf_team::static_schedule::StaticSchedule;

/// The runtime's numbers for schedules. Those of ordered loops and of loops whose chunks must not be merged
/// are the same further up.
mod schedule {
    use core::ffi::c_int;

    pub const STATIC_CHUNKS: c_int = 33;
    pub const STATIC: c_int = 34;
    pub const DYNAMIC: c_int = 35;
    pub const BY_SETTING: c_int = 37;
    pub const STATIC_GREEDY: c_int = 40;
    pub const STATIC_BALANCED: c_int = 41;
    pub const STEALING: c_int = 44;
    pub const STATIC_IN_VECTORS: c_int = 45;
    pub const BY_SETTING_IN_VECTORS: c_int = 47;
    pub const ORDERED: c_int = 64;
    pub const ORDERED_BEHIND: c_int = 32;
    pub const UNMERGED: c_int = 160;
    pub const UNMERGED_BEHIND: c_int = 128;
    pub const MODIFIERS: c_int = 3 << 29;
}

/// How a loop of that schedule is dealt out: by a rule, or by the member's number.
fn how(schedule: c_int, size: i64) -> (Rule, Option<StaticSchedule>) {
    let plain = schedule & !schedule::MODIFIERS;
    let plain = if plain >= schedule::UNMERGED { plain - schedule::UNMERGED_BEHIND } else { plain };
    let plain = if plain >= schedule::ORDERED { plain - schedule::ORDERED_BEHIND } else { plain };
    let size = size.max(1) as u64;
    let by_number = |deal| (Rule::Dynamic(1), Some(deal));
    match plain {
        schedule::STATIC_CHUNKS => by_number(StaticSchedule::Chunks(size)),
        schedule::STATIC | schedule::STATIC_BALANCED => by_number(StaticSchedule::Balanced),
        schedule::STATIC_GREEDY => by_number(StaticSchedule::Blocks(1)),
        schedule::STATIC_IN_VECTORS => by_number(StaticSchedule::Blocks(size)),
        schedule::DYNAMIC | schedule::STEALING => (Rule::Dynamic(size), None),
        schedule::BY_SETTING | schedule::BY_SETTING_IN_VECTORS => by_setting(),
        // Guided in several forms, and whatever is up to the runtime.
        _ => (Rule::Guided(size), None),
    }
}

/// The same by the user's or the program's choice.
fn by_setting() -> (Rule, Option<StaticSchedule>) {
    const MONOTONIC: c_int = c_int::MIN;
    const STATIC: c_int = 1;
    const DYNAMIC: c_int = 2;
    let (kind, chunk) = icvs::schedule();
    let size = chunk.max(1) as u64;
    match kind & !MONOTONIC {
        STATIC if chunk > 0 => (Rule::Dynamic(1), Some(StaticSchedule::Chunks(size))),
        STATIC => (Rule::Dynamic(1), Some(StaticSchedule::Balanced)),
        DYNAMIC => (Rule::Dynamic(size), None),
        _ => (Rule::Guided(size), None),
    }
}

/// The member begins a loop.
pub unsafe fn begin(me: &'static Member, schedule: c_int, size: i64, whole: Loop) {
    if me.is_alone() {
        return me.llvm.given.set(Some(whole));
    }
    let (rule, deal) = how(schedule, size);
    let whole = Loop { rule, ..whole };
    me.llvm.whole.set(whole);
    me.llvm.deal.set(deal);
    me.llvm.turn.set(0);
    me.llvm.in_loop.set(true);
    // SAFETY: the caller runs the member.
    unsafe { come(me, &whole) };
}

/// Its next chunk; `None` if there is none left, which ends the loop for it.
pub fn next(me: &Member) -> Option<Chunk> {
    let own = &me.llvm;
    if me.is_alone() {
        // As the runtime does it, all at once.
        let whole = own.given.take().filter(|whole| whole.count != 0)?;
        return Some(chunk(&whole, (0, whole.count)));
    }
    let (size, whole) = (SCHEDULER.size(), own.whole.get());
    let part = match own.deal.get() {
        None => SHARES.take(me.share.get(), size),
        Some(deal) => {
            let turn = own.turn.replace(own.turn.get().wrapping_add(1));
            in_turn(deal, whole.count, me.number.get(), size, turn)
        }
    };
    let Some((from, behind)) = part else {
        leaves(me);
        return None;
    };
    own.from.set(from);
    own.passed.set(false);
    Some(chunk(&whole, (from, behind)))
}

/// The member leaves the loop that it is in, if any: no chunk is left, or it is cancelled.
pub fn leaves(me: &Member) {
    if !me.is_alone() && me.llvm.in_loop.replace(false) {
        leave(me);
    }
}

/// Waits for the `ordered` parts of all iterations before the member's chunk; within that it is alone.
pub unsafe fn ordered(me: &'static Member) {
    while !me.is_alone() && !SHARES.is_turn(me.share.get(), me.llvm.from.get()) {
        // SAFETY: the caller runs the member.
        unsafe { yield_member(me) }
    }
}

/// The `ordered` part of an iteration is over. For gcc's code that says nothing: its next chunk does, and the
/// runtime calls this by itself.
pub fn end_ordered(me: &Member) {
    if !me.is_alone() && !forbids::calls_gomp() {
        me.llvm.passed.set(true);
        SHARES.pass_turn(me.share.get(), 1);
    }
}

/// An iteration of an ordered loop is over, whether it had such a part or not.
pub unsafe fn end_iteration(me: &'static Member) {
    if !me.is_alone() && !me.llvm.passed.replace(false) {
        // SAFETY: the caller runs the member.
        unsafe { ordered(me) };
        SHARES.pass_turn(me.share.get(), 1);
    }
}

/// One member has data that each of the others takes a copy of.
pub unsafe fn copy(me: &'static Member, data: *mut c_void, copy: Copy, has_it: bool) {
    if me.is_alone() {
        return;
    }
    // SAFETY: the caller runs the member; the program's own function and data, which lie still between both
    // barriers.
    unsafe {
        if has_it {
            TEAM.copied.store(data, Ordering::Relaxed);
        }
        barrier_within(me);
        if !has_it {
            copy(data, TEAM.copied.load(Ordering::Relaxed));
        }
        barrier(me);
    }
}

/// Copies data, or adds up: to the first from the second.
pub type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// Largest team whose members add to the result themselves.
const MOST_ADDING: u32 = 4;
/// What [`reduce`] answers a member.
const NOTHING: c_int = 0;
const ADD: c_int = 1;
const ADD_ATOMICALLY: c_int = 2;

/// A member's values come to a reduction; what it has to do with them. The runtime's own way, for larger
/// teams, adds them up in an order that is always the same, which is kept. `atomic` says that the code can do
/// it by atomic operations.
pub unsafe fn reduce(
    me: &'static Member,
    atomic: bool,
    values: *mut c_void,
    add: Option<Copy>,
    waits: bool,
) -> c_int {
    if me.is_alone() {
        return ADD;
    }
    let add = add.filter(|_| !values.is_null() && SCHEDULER.size() > MOST_ADDING);
    let method = match add {
        Some(_) => Method::Tree,
        None if atomic => Method::Atomic,
        None => Method::Locked,
    };
    me.llvm.method.set(method);
    // SAFETY: the caller runs the member; all members' values lie still until the last barrier.
    unsafe {
        match add {
            None if atomic => ADD_ATOMICALLY,
            None => {
                while TEAM.adding.swap(1, Ordering::Acquire) != 0 {
                    yield_member(me);
                }
                ADD
            }
            Some(add) => {
                me.llvm.values.set(values);
                barrier_within(me);
                let is_master = me.number.get() == 0;
                if is_master {
                    add_up(add);
                }
                // The master's own values are the sum now. It ends the wait in [`end_reduce`].
                match (waits, is_master) {
                    (true, true) => {}
                    (true, false) => barrier(me),
                    (false, _) => barrier_within(me),
                }
                if is_master { ADD } else { NOTHING }
            }
        }
    }
}

/// Adds up all members' values in pairs, pairs of pairs and so on, as the runtime does.
unsafe fn add_up(add: Copy) {
    let size = SCHEDULER.size() as usize;
    let of = |number: usize| MEMBERS.get(number).map_or(null_mut(), |member| member.llvm.values.get());
    let mut apart = 1;
    while apart < size {
        let mut first = 0;
        while first + apart < size {
            // SAFETY: the program's own function; all members wait.
            unsafe { add(of(first), of(first + apart)) }
            first += 2 * apart;
        }
        apart *= 2;
    }
}

/// The member has done what [`reduce`] told it to.
pub unsafe fn end_reduce(me: &'static Member, waits: bool) {
    if me.is_alone() {
        return;
    }
    if me.llvm.method.get() == Method::Locked {
        TEAM.adding.store(0, Ordering::Release);
    }
    if waits {
        // SAFETY: the caller runs the member.
        unsafe { barrier(me) }
    }
}
