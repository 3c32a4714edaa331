//! Deferred tasks of the region, and memory for their data.

use super::current_task::CurrentTask;
use super::gathered_team::{Member, SCHEDULER, TEAM};
use crate::runtimes::entries::Body;
use crate::sys::futex::Futex;
use crate::sys::lock::Lock;
use crate::sys::memory;
use crate::sys::symbols::function;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::{null_mut, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use scaf_team::gather::scheduler::Cancelled;
use scaf_team::gather::task_table::{For, Number, TaskTable, Work};

/// Records of tasks and groups: more than twice as many as tasks are deferred ([`MOST_DEFERRED`]).
const RECORDS: usize = 10_240;
/// Dependences of incomplete tasks.
const ENTRIES: usize = 16_384;
/// Deferred tasks for each member, as in libgomp: any more are undeferred.
pub const MOST_DEFERRED: u32 = 64;
/// LLVM's runtime has more, and only counts those that are ready. Half of the records are for others.
const MOST_DEFERRED_LLVM: u32 = 256;

/// Whether so many tasks are left that new ones of LLVM's compilers are undeferred.
pub fn are_many() -> bool {
    left() > MOST_DEFERRED_LLVM.wrapping_mul(SCHEDULER.size()).min(RECORDS as u32 / 2 - 1)
}

pub type Table = TaskTable<RECORDS, ENTRIES>;

struct Pool(UnsafeCell<Table>);
// SAFETY: used under the lock only.
unsafe impl Sync for Pool {}
static POOL: Pool = Pool(UnsafeCell::new(TaskTable::new()));
static LOCK: Lock = Lock::new();
/// Incomplete tasks.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Looks at the table, or takes a task from it. Members that listen look in this way, too.
#[inline]
pub fn with<R>(look: impl FnOnce(&mut Table) -> R) -> R {
    locked(look).0
}

/// Adds or completes a task. Members that listen are notified; those that listen later see the change.
#[inline]
pub fn change<R>(change: impl FnOnce(&mut Table) -> R) -> R {
    let (result, listens) = locked(change);
    if listens {
        SCHEDULER.notify_changed(&Futex);
    }
    result
}

/// The result, and whether a member listens.
#[inline]
fn locked<R>(look: impl FnOnce(&mut Table) -> R) -> (R, bool) {
    let (result, more, listens) = {
        let _locked = LOCK.take();
        // SAFETY: the lock is held, and `look` doesn't call this again.
        let table = unsafe { &mut *POOL.0.get() };
        let before = table.ready();
        let result = look(table);
        SCHEDULER.offer(table.ready());
        LEFT.store(table.left(), Ordering::Release);
        (result, table.ready() > before, SCHEDULER.has_listeners())
    };
    if more {
        SCHEDULER.notify(&Futex);
    }
    (result, listens)
}

/// Incomplete tasks. If there are none, their effects are visible.
#[inline(always)]
pub fn left() -> u32 {
    LEFT.load(Ordering::Acquire)
}

/// A region begins.
pub fn begin() {
    with(Table::clear);
}

/// A task that was taken: its record, its function and data, and its group.
pub type Taken = (Number, Work, Number);

/// Runs any ready task on the stack of a member that waits at a barrier; whether there was one.
#[cold]
#[inline(never)]
pub fn run_any(me: &'static Member) -> bool {
    let Some(taken) = with(|table| table.take(For::Team)) else { return false };
    // SAFETY: it was just taken from the table.
    let over = unsafe { run(me, taken) };
    change(|table| end(table, taken.0, over));
    true
}

/// Whether the member's new tasks, or the one that it has taken, are dropped: their region or group is
/// cancelled.
#[inline]
pub fn drops(me: &Member) -> bool {
    TEAM.cancels.get()
        && (me.has_cancelled(Cancelled::Region)
            || with(|table| table.is_cancelled(me.task.get().recorded_group())))
}

/// A task was run: it is complete, or continues later.
pub fn end(table: &mut Table, record: Number, over: bool) {
    if over { table.finish(record) } else { table.again(record) }
}

/// Runs a task that was taken; whether it is complete once the caller has said so ([`end`]).
pub unsafe fn run(me: &'static Member, (record, work, group): Taken) -> bool {
    let before = me.task.get();
    let (is_final, at_once) = (work.is_final, work.is_final);
    me.task.set(CurrentTask {
        record,
        group,
        region_group: before.region_group,
        is_final,
        at_once,
        unrecorded: 0,
    });
    if let Some(carrier) = me.carrier.get() {
        carrier.has_changed();
    }
    // SAFETY: the table holds the address of a task's function, and of data that fill it.
    unsafe {
        if let Some(body) = function::<Body>(work.body).filter(|_| !(work.may_drop && drops(me))) {
            body(with_exposed_provenance_mut(work.data));
        }
    }
    me.task.set(before);
    let over = !me.llvm.goes_on.replace(false);
    if over {
        give_up_large(record);
    }
    over
}

/// Room for the data of most tasks.
const ROOM: usize = 256;
const ALIGNMENT: usize = 64;
/// Blocks for larger data are kept for later tasks of their records, up to so many bytes in all.
const KEPT: usize = 1 << 24;
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Where the data of a record's task is.
#[repr(align(64))]
struct Room {
    small: UnsafeCell<[u8; ROOM]>,
    large: Cell<*mut c_void>,
    bytes: Cell<usize>,
}

const _: () = assert!(align_of::<Room>() >= ALIGNMENT);
// SAFETY: only the creator and then the executor of a record's task use its room.
unsafe impl Sync for Room {}

static ROOMS: [Room; RECORDS] =
    [const { Room { small: UnsafeCell::new([0; ROOM]), large: Cell::new(null_mut()), bytes: Cell::new(0) } };
        RECORDS];

/// Whether a task's data fits the room in its record.
pub fn is_small(size: usize, alignment: usize) -> bool {
    size <= ROOM && alignment <= ALIGNMENT
}

/// Room for a task's data; `None` if there is no memory.
pub fn room(record: Number, size: usize, alignment: usize) -> Option<*mut c_void> {
    let room = ROOMS.get(record as usize)?;
    if is_small(size, alignment) {
        return Some(room.small.get().cast());
    }
    let bytes = size.checked_add(alignment)?;
    if room.bytes.get() < bytes {
        empty(room);
        let block = memory::map(bytes)?;
        MAPPED.fetch_add(bytes, Ordering::Relaxed);
        room.large.set(block);
        room.bytes.set(bytes);
    }
    Some(memory::aligned(room.large.get(), alignment))
}

fn empty(room: &Room) {
    let (block, bytes) = (room.large.replace(null_mut()), room.bytes.replace(0));
    if !block.is_null() {
        MAPPED.fetch_sub(bytes, Ordering::Relaxed);
        // SAFETY: a mapping of ours whose record has no task.
        unsafe { memory::unmap(block, bytes) }
    }
}

/// The record's task is complete: its block is freed if too many are kept.
pub fn give_up_large(record: Number) {
    if let Some(room) = ROOMS.get(record as usize)
        && room.bytes.get() != 0
        && MAPPED.load(Ordering::Relaxed) > KEPT
        // Code of LLVM's compilers may look at a task's data as long as it has children.
        && with(|table| table.left_of(record)) == 0
    {
        empty(room);
    }
}

pub fn after_fork() {
    LOCK.after_fork();
    with(Table::clear);
}
