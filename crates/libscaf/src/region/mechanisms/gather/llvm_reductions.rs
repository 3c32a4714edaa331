//! Task reductions for code of LLVM's compilers. As in that runtime, each thread has its own value of each
//! variable, its tasks add to that, and at the group's end the values are added to the variable in the order
//! of threads.
//!
//! A group's record has the description of its reductions. Those of a region or a loop are shared: the first
//! member allocates the values of all in one block, and the last one to leave adds them up.

use super::block_cache;
use super::constructs::{number, size};
use super::explicit_tasks::{group_close, group_start, group_wait};
use super::fibers::{wait_for, yield_member};
use super::gathered_team::{Member, SCHEDULER};
use super::task_pool::{self, with};
use crate::sys::memory;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{null_mut, with_exposed_provenance, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use scaf_team::gather::task_table::{NONE, Number};

/// Adds the second to the first; or initializes the first from the original.
type Both = unsafe extern "C" fn(*mut c_void, *mut c_void);
type Ends = unsafe extern "C" fn(*mut c_void);

/// A variable as compilers describe it.
#[repr(C)]
pub struct Input {
    variable: *mut c_void,
    original: *mut c_void,
    bytes: usize,
    make: Option<Both>,
    end: Option<Ends>,
    add: Option<Both>,
    flags: u32,
}

/// The older form, without the original.
#[repr(C)]
pub struct OldInput {
    variable: *mut c_void,
    bytes: usize,
    make: Option<Both>,
    end: Option<Ends>,
    add: Option<Both>,
    flags: u32,
}

pub trait Variable {
    fn read(&self) -> Input;
}

impl Variable for Input {
    fn read(&self) -> Input {
        Input { ..*self }
    }
}

impl Variable for OldInput {
    fn read(&self) -> Input {
        let &OldInput { variable, bytes, make, end, add, flags } = self;
        Input { variable, original: null_mut(), bytes, make, end, add, flags }
    }
}

/// Values are initialized on first use.
const LATER: u32 = 1;
/// Each member's value begins a cache line.
const LINE: usize = 64;

#[repr(C)]
struct Item {
    input: Input,
    /// Members' values, and a bit for each that is initialized.
    values: *mut u8,
    apart: usize,
    made: *const AtomicU64,
}

/// A group's reductions; the items follow.
#[repr(C)]
struct Reductions {
    group: Number,
    count: usize,
    around: *const Reductions,
    /// The block of values that the team shares, and its size.
    shared: Cell<*mut c_void>,
    bytes: usize,
}

/// Addresses of shared values of a region and a loop: 0 for none, 1 while they are made; and the number of
/// members that have left them.
static SHARED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static LEFT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
const MAKING: usize = 1;

const fn lines(bytes: usize) -> usize {
    bytes.next_multiple_of(LINE)
}

fn items_at(reductions: *const Reductions) -> *mut Item {
    reductions.wrapping_add(1).cast::<Item>().cast_mut()
}

impl Reductions {
    fn items(&self) -> &[Item] {
        // SAFETY: `fill` has written so many items behind it.
        unsafe { core::slice::from_raw_parts(items_at(self), self.count) }
    }
}

fn bytes_of<V: Variable>(inputs: &[V], team: usize) -> usize {
    let values = inputs.iter().map(|input| lines(input.read().bytes).saturating_mul(team));
    values.fold(lines(inputs.len().saturating_mul(8)), usize::saturating_add)
}

impl Item {
    fn value(&self, member: usize) -> *mut c_void {
        self.values.wrapping_add(member.wrapping_mul(self.apart)).cast()
    }

    fn is_made(&self, member: usize) -> bool {
        // SAFETY: `fill` has written it before the values.
        unsafe { (*self.made).load(Ordering::Relaxed) & 1 << member != 0 }
    }

    unsafe fn make(&self, member: usize) {
        // SAFETY: `value` has room for this member's value; the compiler's function initializes it.
        unsafe {
            self.value(member).cast::<u8>().write_bytes(0, self.apart);
            if let Some(make) = self.input.make {
                let original = self.input.original;
                make(self.value(member), if original.is_null() { self.input.variable } else { original });
            }
            (*self.made).fetch_or(1 << member, Ordering::Relaxed);
        }
    }

    /// Whether that is the variable, or a member's value of it.
    fn is(&self, at: *mut c_void, team: usize) -> bool {
        let end = self.value(team).addr();
        at == self.input.variable || (self.values.addr()..end).contains(&at.addr())
    }
}

/// Describes the group's reductions, whose values are in `values`.
unsafe fn fill<V: Variable>(
    me: &Member,
    group: Number,
    inputs: &[V],
    values: *mut u8,
    bytes: usize,
    new: bool,
) {
    let team = size(me) as usize;
    // SAFETY: the record's room holds the description and, unless there is a block, the values; `inputs` are
    // the compiler's.
    unsafe {
        let all = size_of::<Reductions>() + inputs.len() * size_of::<Item>();
        let more = if values.is_null() { LINE + bytes } else { 0 };
        let Some(room) = task_pool::room(group, all + more, LINE) else { return };
        let shared = Cell::new(values.cast::<c_void>());
        let mut values = values;
        if values.is_null() {
            values = memory::aligned(room.byte_add(all), LINE).cast();
        }
        let around = with_exposed_provenance(with(|table| table.reductions(group)));
        let reductions = room.cast::<Reductions>();
        reductions.write(Reductions { group, count: inputs.len(), around, shared, bytes });
        let made = values.cast::<AtomicU64>();
        values = values.add(lines(inputs.len() * 8));
        for (number, input) in inputs.iter().enumerate() {
            let input = input.read();
            let apart = lines(input.bytes);
            let item = items_at(reductions).add(number);
            let made = made.add(number);
            item.write(Item { input, values, apart, made });
            values = values.add(apart * team);
            if new {
                made.write(AtomicU64::new(0));
                if (*item).input.flags & LATER == 0 {
                    (0..team).for_each(|member| (*item).make(member));
                }
            }
        }
        with(|table| table.set_reductions(group, reductions.expose_provenance()));
    }
}

/// The current task's group has reductions.
pub unsafe fn begin<V: Variable>(me: &Member, inputs: &[V]) -> *mut c_void {
    let group = me.task.get().recorded_group();
    // A member that is alone or whose tasks are undeferred adds to the variables themselves.
    if group == NONE || me.is_alone() {
        return null_mut();
    }
    // SAFETY: the group is the current task's own, and the compiler describes the variables.
    unsafe { fill(me, group, inputs, null_mut(), bytes_of(inputs, size(me) as usize), true) }
    with_exposed_provenance_mut(with(|table| table.reductions(group)))
}

/// Begins a group whose reductions all members share: a region's (0) or a loop's (1).
pub unsafe fn begin_shared<V: Variable>(me: &'static Member, which: usize, inputs: &[V]) -> *mut c_void {
    // SAFETY: the group is the member's own; the block has room for all members' values.
    unsafe {
        while !group_start(me) {
            // All members need a record.
            group_close(me);
            yield_member(me);
        }
        let group = me.task.get().recorded_group();
        let Some(shared) = SHARED.get(which) else { return null_mut() };
        if group == NONE || me.is_alone() {
            return null_mut();
        }
        let bytes = bytes_of(inputs, size(me) as usize);
        let taken = shared.compare_exchange(0, MAKING, Ordering::Acquire, Ordering::Acquire);
        if taken.is_ok() {
            let block = block_cache::take(bytes);
            fill(me, group, inputs, block.cast(), bytes, true);
            shared.store(block.expose_provenance(), Ordering::Release);
            SCHEDULER.notify_changed(&crate::sys::futex::Futex);
        } else {
            wait_for(me, || shared.load(Ordering::Acquire) != MAKING);
            let block = with_exposed_provenance_mut(shared.load(Ordering::Acquire));
            fill(me, group, inputs, block, bytes, false);
        }
        with_exposed_provenance_mut(with(|table| table.reductions(group)))
    }
}

/// The calling member's value of a variable.
pub unsafe fn value(me: &Member, from: *mut c_void, variable: *mut c_void) -> *mut c_void {
    if me.is_alone() {
        return variable;
    }
    let mut at = from.cast_const().cast::<Reductions>();
    if at.is_null() {
        let group = me.task.get().group;
        at = with_exposed_provenance(with(|table| table.reductions(group)));
    }
    let (member, team) = (number(me) as usize, size(me) as usize);
    // SAFETY: reductions live as long as their group, and a task of it asks.
    while let Some(reductions) = unsafe { at.as_ref() } {
        for item in reductions.items() {
            if item.is(variable, team) {
                if !item.is_made(member) {
                    // SAFETY: only the member itself initializes its value.
                    unsafe { item.make(member) }
                }
                return item.value(member);
            }
        }
        at = reductions.around;
    }
    variable
}

/// Adds all values to the variables. The group's tasks are complete.
unsafe fn add_up(reductions: &Reductions, team: usize) {
    for item in reductions.items() {
        for member in (0..team).filter(|member| item.is_made(*member)) {
            // SAFETY: the compiler's functions get initialized values, which nobody uses any more.
            unsafe {
                if let Some(add) = item.input.add {
                    add(item.input.variable, item.value(member));
                }
                if let Some(end) = item.input.end {
                    end(item.value(member));
                }
            }
        }
    }
}

/// Waits for the current task's group, and ends it.
pub unsafe fn group_end(me: &'static Member) {
    // SAFETY: the group's record holds its reductions, if they are its own.
    unsafe {
        group_wait(me);
        let group = me.task.get().recorded_group();
        let at = with_exposed_provenance::<Reductions>(with(|table| table.reductions(group)));
        if let Some(reductions) = at.as_ref().filter(|reductions| reductions.group == group) {
            leave(me, reductions);
            task_pool::give_up_large(group);
        }
        group_close(me);
    }
}

unsafe fn leave(me: &Member, reductions: &Reductions) {
    let team = size(me);
    let block = reductions.shared.get();
    // SAFETY: all tasks of the group are complete, so nobody uses its values.
    unsafe {
        if block.is_null() {
            return add_up(reductions, team as usize);
        }
        for (shared, left) in SHARED.iter().zip(&LEFT) {
            if shared.load(Ordering::Relaxed) == block.addr()
                && left.fetch_add(1, Ordering::AcqRel).wrapping_add(1) == team as u32
            {
                add_up(reductions, team as usize);
                block_cache::put_back(block, reductions.bytes);
                left.store(0, Ordering::Relaxed);
                shared.store(0, Ordering::Release);
            }
        }
    }
}

/// A region begins: no values are shared.
pub fn clear() {
    SHARED.iter().for_each(|shared| shared.store(0, Ordering::Relaxed));
    LEFT.iter().for_each(|left| left.store(0, Ordering::Relaxed));
}
