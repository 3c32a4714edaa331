//! Explicit tasks: how members create them and wait for them. As in libgomp, a task is deferred unless the
//! program says otherwise or 64 for each member are deferred already. A program whose first task waits for
//! its second one would hang if tasks were always undeferred.

use super::cancel;
use super::current_task::CurrentTask;
use super::depend_list::DependList;
use super::fibers::{leave_surplus_carrier, wait, yield_member};
use super::gathered_team::{Member, SCHEDULER, TEAM, current};
use super::task_pool::{self, MOST_DEFERRED, Table, Taken, change, end, run, with};
use crate::runtimes::entries::Body;
use crate::sys::memory;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use scaf_team::gather::task_table::{For, NONE, Number, Place, Work};

/// Copy-constructs a task's data.
pub type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

#[derive(Clone)]
pub struct New {
    pub body: Body,
    pub data: *mut c_void,
    pub copy: Option<Copy>,
    pub size: usize,
    pub alignment: usize,
    /// Whether it may be deferred.
    pub may_wait: bool,
    pub is_final: bool,
    pub needs: DependList,
    /// A part of a taskloop: its first number and its end, which begin the data.
    pub part: Option<[u64; 2]>,
}

impl New {
    unsafe fn set_part(&self, data: *mut c_void) {
        if let Some(part) = self.part {
            // SAFETY: data of a taskloop's task begin with these two numbers.
            unsafe { data.cast::<[u64; 2]>().write_unaligned(part) }
        }
    }
}

pub unsafe fn create(me: &'static Member, new: &New) {
    if cancel::drops(me) {
        return;
    }
    // SAFETY: the caller passes a task of the program: a function, and the data that fit it.
    unsafe {
        let everything = new.needs.name_everything();
        // A library that was loaded within the region creates tasks, and nobody waits for these at the
        // region's end.
        let may_wait = new.may_wait && TEAM.has_tasks.get() && me.task.get().defers();
        if may_wait && !everything && defer(me, new) {
            return;
        }
        await_needs(me, &new.needs);
        at_once(me, new);
    }
}

pub fn await_needs(me: &'static Member, needs: &DependList) {
    let parent = me.task.get().record;
    if parent == NONE || needs.are_none() {
        return;
    }
    if needs.name_everything() {
        wait_out(me, For::Parent(parent), |table| table.left_of(parent) == 0);
    } else {
        wait_out(me, For::Parent(parent), |table| !table.would_wait(parent, needs.clone()));
    }
}

/// Defers the task; `false` if too many are deferred already, or there is no memory.
unsafe fn defer(me: &'static Member, new: &New) -> bool {
    let mut now = me.task.get();
    let open = |table: &mut Table, now: &mut CurrentTask| {
        if table.left() > MOST_DEFERRED.wrapping_mul(SCHEDULER.size()) {
            return None;
        }
        if now.record == NONE {
            now.record = table.open()?;
        }
        table.open()
    };
    // Most tasks: their data is plain and small, and they depend on nothing.
    if new.copy.is_none() && new.needs.are_none() && task_pool::is_small(new.size, new.alignment) {
        let deferred = change(|table| {
            let record = open(table, &mut now)?;
            let data = task_pool::room(record, new.size, new.alignment)?;
            // SAFETY: the room is new and large enough.
            unsafe { table.defer(record, place(&now), fill(new, data), DependList::NONE).then_some(()) }
        });
        me.task.set(now);
        return deferred.is_some();
    }
    let opened = with(|table| open(table, &mut now));
    me.task.set(now);
    let Some(record) = opened else { return false };
    let Some(data) = task_pool::room(record, new.size, new.alignment) else {
        with(|table| table.close(record));
        return false;
    };
    // SAFETY: the room is new and large enough; the data are the program's.
    unsafe {
        let work = fill(new, data);
        put(me, record, work, &new.needs);
    }
    true
}

fn place(now: &CurrentTask) -> Place {
    Place { parent: now.record, group: now.group, own: now.region_group != NONE }
}

/// Defers the task of that record. The current task has a record.
pub unsafe fn put(me: &'static Member, record: Number, work: Work, needs: &DependList) {
    let now = me.task.get();
    if !change(|table| table.defer(record, place(&now), work, needs.clone())) {
        // No room for its dependences. Once all siblings are complete it has none.
        wait_out(me, For::Parent(now.record), |table| table.left_of(now.record) == 0);
        let _: bool = change(|table| table.defer(record, place(&now), work, DependList::NONE));
    }
}

/// Fills `data` and returns what is to be run.
unsafe fn fill(new: &New, data: *mut c_void) -> Work {
    // SAFETY: the caller passes room for the data; a copy constructor gets what the compiler made it for.
    unsafe {
        match new.copy {
            Some(copy) => copy(data, new.data),
            None => core::ptr::copy_nonoverlapping(new.data.cast::<u8>(), data.cast(), new.size),
        }
        new.set_part(data);
    }
    // A task destroys itself what a copy constructor made, so it has to be run.
    let may_drop = new.copy.is_none();
    Work { body: new.body as usize, data: data.expose_provenance(), is_final: new.is_final, may_drop }
}

/// Executes it on the creator's stack (an undeferred task).
unsafe fn at_once(me: &'static Member, new: &New) {
    let before = me.task.get();
    let is_final = before.is_final || new.is_final;
    let at_once = is_final || before.at_once;
    me.task.set(CurrentTask { record: NONE, is_final, at_once, ..before });
    // SAFETY: the caller passes a task of the program: a function, and the data that fit it.
    unsafe {
        match new.copy {
            None => {
                new.set_part(new.data);
                (new.body)(new.data);
            }
            Some(copy) => on_copy(new, copy),
        }
    }
    let record = me.task.replace(before).record;
    if record != NONE {
        with(|table| table.close(record));
    }
}

/// Executes it on a copy of its data, which is on the stack if it fits.
unsafe fn on_copy(new: &New, copy: Copy) {
    let bytes = new.size.saturating_add(new.alignment);
    // SAFETY: each place has `bytes` bytes: the data's size and alignment.
    unsafe {
        match bytes {
            0..=256 => on::<256>(new, copy),
            257..=4096 => on::<4096>(new, copy),
            4097..=65_536 => on::<65_536>(new, copy),
            _ => memory::on_block(bytes, |block| on_place(new, copy, block)),
        }
    }
}

unsafe fn on_place(new: &New, copy: Copy, place: *mut c_void) {
    let data = memory::aligned(place, new.alignment);
    // SAFETY: the place has room for the aligned data; function and copy constructor are made for them.
    unsafe {
        copy(data, new.data);
        new.set_part(data);
        (new.body)(data);
    }
}

#[inline(never)]
unsafe fn on<const BYTES: usize>(new: &New, copy: Copy) {
    let mut place = MaybeUninit::<[u8; BYTES]>::uninit();
    // SAFETY: the caller has checked that the data and their alignment take at most `BYTES`.
    unsafe { on_place(new, copy, place.as_mut_ptr().cast()) }
}

enum Found {
    Met,
    Task(Taken),
    Nothing,
}

/// Waits until `is_met` holds, and runs tasks of `whom` meanwhile.
fn wait_out(me: &'static Member, whom: For, is_met: impl Fn(&Table) -> bool) {
    let look = |table: &mut Table| {
        if is_met(table) { Found::Met } else { table.take(whom).map_or(Found::Nothing, Found::Task) }
    };
    let mut found = with(look);
    loop {
        match found {
            Found::Met => return,
            // SAFETY: it was just taken from the table.
            Found::Task(taken) => unsafe {
                leave_surplus_carrier(me);
                let over = run(me, taken);
                found = change(|table| {
                    end(table, taken.0, over);
                    look(table)
                });
            },
            Found::Nothing => {
                let until = SCHEDULER.listen();
                found = with(look);
                if matches!(found, Found::Nothing) {
                    wait(me, until)
                }
                SCHEDULER.unlisten();
            }
        }
    }
}

pub fn taskwait(me: &'static Member) {
    let parent = me.task.get().record;
    if parent != NONE {
        wait_out(me, For::Parent(parent), |table| table.left_of(parent) == 0)
    }
}

/// Begins a task group; returns whether there is a record for it.
pub fn group_start(me: &Member) -> bool {
    let mut now = me.task.get();
    let group = if now.unrecorded == 0 { with(|table| table.open_group(now.group)) } else { None };
    match group {
        Some(group) => now.group = group,
        // Its tasks are undeferred.
        None => now.unrecorded = now.unrecorded.wrapping_add(1),
    }
    me.task.set(now);
    group.is_some()
}

pub fn group_end(me: &'static Member) {
    group_wait(me);
    group_close(me);
}

pub fn group_wait(me: &'static Member) {
    let group = me.task.get().recorded_group();
    if group != NONE {
        wait_out(me, For::Group(group), |table| table.left_of(group) == 0)
    }
}

pub fn group_close(me: &Member) {
    let now = me.task.get();
    me.task.set(if now.unrecorded != 0 {
        CurrentTask { unrecorded: now.unrecorded - 1, ..now }
    } else {
        CurrentTask { group: with(|table| table.close_group(now.group)), ..now }
    });
}

/// Waits for all tasks of the member's nested region. A loop with task reductions has a group that is open at
/// the barrier at its end.
pub fn end_inner(me: &'static Member) {
    let region_group = me.task.get().region_group;
    if region_group != NONE {
        group_wait(me);
        wait_out(me, For::Group(region_group), |table| table.left_of(region_group) == 0);
    }
}

/// Runs a nested region: its tasks are the member's own.
pub fn in_inner(me: &'static Member, run: impl FnOnce()) {
    let region_group = with(|table| table.open_group(NONE)).unwrap_or(NONE);
    let at_once = region_group == NONE;
    let before =
        me.task.replace(CurrentTask { group: region_group, region_group, at_once, ..CurrentTask::IMPLICIT });
    run();
    end_inner(me);
    let now = me.task.replace(before);
    with(|table| {
        table.close(now.record);
        table.close(region_group);
    });
}

/// `taskyield`: another member may run.
pub unsafe extern "C" fn taskyield() {
    if let Some(me) = current() {
        yield_member(me);
    }
}
