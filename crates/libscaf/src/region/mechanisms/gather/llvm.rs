//! Calls of code by LLVM's compilers: loops in chunks, `ordered`, reductions, and `copyprivate`.

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

/// The runtime's numbers of schedules. Ordered and unmerged loops have these plus a constant.
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

/// The schedule of that number: a rule, or a static schedule.
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
        // Guided in several forms, and those that the runtime may choose.
        _ => (Rule::Guided(size), None),
    }
}

/// The schedule of `schedule(runtime)`.
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

pub fn begin(me: &'static Member, schedule: c_int, size: i64, whole: Loop) {
    if me.is_alone() {
        return me.llvm.given.set(Some(whole));
    }
    let (rule, deal) = how(schedule, size);
    let whole = Loop { rule, ..whole };
    me.llvm.whole.set(whole);
    me.llvm.deal.set(deal);
    me.llvm.turn.set(0);
    me.llvm.in_loop.set(true);
    come(me, &whole);
}

/// Its next chunk. `None` ends the loop for it.
pub fn next(me: &Member) -> Option<Chunk> {
    let own = &me.llvm;
    if me.is_alone() {
        // The runtime gives it one chunk, too.
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

/// The member leaves its loop, if it is in one: no chunk is left, or it is cancelled.
pub fn leaves(me: &Member) {
    if !me.is_alone() && me.llvm.in_loop.replace(false) {
        leave(me);
    }
}

/// Waits for the `ordered` parts of all iterations before the member's chunk.
pub fn ordered(me: &'static Member) {
    while !me.is_alone() && !SHARES.is_turn(me.share.get(), me.llvm.from.get()) {
        yield_member(me)
    }
}

/// An iteration's `ordered` part is complete. For gcc's code, the next chunk says that; the runtime makes
/// this call itself.
pub fn end_ordered(me: &Member) {
    if !me.is_alone() && !forbids::calls_gomp() {
        me.llvm.passed.set(true);
        SHARES.pass_turn(me.share.get(), 1);
    }
}

/// An iteration of an ordered loop is complete, whether it had an `ordered` part or not.
pub fn end_iteration(me: &'static Member) {
    if !me.is_alone() && !me.llvm.passed.replace(false) {
        ordered(me);
        SHARES.pass_turn(me.share.get(), 1);
    }
}

/// `copyprivate`: one member has data that each of the others copies.
pub unsafe fn copy(me: &'static Member, data: *mut c_void, copy: Copy, has_it: bool) {
    if me.is_alone() {
        return;
    }
    // SAFETY: the compiler's copy function gets two members' data. The owner's stay between both barriers.
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

/// Copies or adds the second to the first.
pub type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// Size of the largest team whose members add to the result themselves.
const MOST_ADDING: u32 = 4;
/// What [`reduce`] returns.
const NOTHING: c_int = 0;
const ADD: c_int = 1;
const ADD_ATOMICALLY: c_int = 2;

/// A member enters a reduction; returns what it has to do. For larger teams, values are added in the fixed
/// order of LLVM's runtime, so results have the same bits. `atomic`: the code can add by atomic operations.
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
    // SAFETY: all members' values stay until the last barrier; `add` is the compiler's function for them.
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
                // The sum is in the master's own values. It ends the others' wait in [`end_reduce`].
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

/// Adds all members' values in pairs, pairs of pairs and so on, as the runtime does.
unsafe fn add_up(add: Copy) {
    let size = SCHEDULER.size() as usize;
    // SAFETY: all other members wait at the barrier.
    let of = |number| unsafe { MEMBERS.get(number) }.map_or(null_mut(), |member| member.llvm.values.get());
    let mut apart = 1;
    while apart < size {
        let mut first = 0;
        while first + apart < size {
            // SAFETY: all other members wait, so their values stay; `add` is the compiler's function for
            // them.
            unsafe { add(of(first), of(first + apart)) }
            first += 2 * apart;
        }
        apart *= 2;
    }
}

/// The member has done what [`reduce`] returned.
pub fn end_reduce(me: &'static Member, waits: bool) {
    if me.is_alone() {
        return;
    }
    if me.llvm.method.get() == Method::Locked {
        TEAM.adding.store(0, Ordering::Release);
    }
    if waits {
        barrier(me)
    }
}
