//! Explicit tasks as members create them and wait for them, by the runtime's own rule: a task is deferred,
//! but where 64 for each member are, or where the program says so, it is run at once. A program whose first
//! task waits for its second one would wait for ever if the first were run before the second is created.

use super::cancel;
use super::current_task::CurrentTask;
use super::depend_list::DependList;
use super::fibers::{leave_surplus_carrier, wait, yield_member};
use super::gathered_team::{Member, SCHEDULER, TEAM, around};
use super::task_pool::{self, MOST_DEFERRED, Table, Taken, change, end, run, with};
use crate::region::thread::thread;
use crate::runtimes::entries::Body;
use crate::sys::memory;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use scaf_team::gather::task_table::{For, NONE, Number, Place, Work};

/// Copies a task's data, with what the program's language does to copy it.
pub type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// A task that is to be created.
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
    /// A loop's part: its first number and the one behind its last, which begin the data.
    pub part: Option<[u64; 2]>,
}

impl New {
    unsafe fn set_part(&self, data: *mut c_void) {
        if let Some(part) = self.part {
            // SAFETY: data of a loop's task begins with these.
            unsafe { data.cast::<[u64; 2]>().write_unaligned(part) }
        }
    }
}

/// A member creates a task.
pub unsafe fn create(me: &'static Member, new: &New) {
    if cancel::drops(me) {
        return;
    }
    // SAFETY: the caller runs the member; the program's own task.
    unsafe {
        let everything = new.needs.name_everything();
        // Without: a library that came within the region creates it, and nobody waits for it at the end.
        let may_wait = new.may_wait && TEAM.has_tasks.get() && me.task.get().defers();
        if may_wait && !everything && defer(me, new) {
            return;
        }
        await_needs(me, &new.needs);
        at_once(me, new);
    }
}

/// Waits for the tasks that one with these dependences depends on.
pub unsafe fn await_needs(me: &'static Member, needs: &DependList) {
    let parent = me.task.get().record;
    if parent == NONE || needs.are_none() {
        return;
    }
    // SAFETY: the caller runs the member.
    unsafe {
        if needs.name_everything() {
            wait_out(me, For::Parent(parent), |table| table.left_of(parent) == 0);
        } else {
            wait_out(me, For::Parent(parent), |table| !table.would_wait(parent, needs.clone()));
        }
    }
}

/// Puts it off; `false` if there are too many already, or no memory.
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
    // Most tasks: what is copied is plain and small, and they depend on nothing.
    if new.copy.is_none() && new.needs.are_none() && task_pool::is_small(new.size, new.alignment) {
        let deferred = change(|table| {
            let record = open(table, &mut now)?;
            let data = task_pool::room(record, new.size, new.alignment)?;
            // SAFETY: as below.
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
    // SAFETY: the program's own data and function, and as much room; the caller runs the member.
    unsafe {
        let work = fill(new, data);
        put(me, record, work, &new.needs);
    }
    true
}

/// Where the task that runs creates others.
fn place(now: &CurrentTask) -> Place {
    Place { parent: now.record, group: now.group, own: now.home != NONE }
}

/// Defers a task of that record, by one that has a record.
pub unsafe fn put(me: &'static Member, record: Number, work: Work, needs: &DependList) {
    let now = me.task.get();
    if !change(|table| table.defer(record, place(&now), work, needs.clone())) {
        // No room for its dependences: once no sibling is left it has none.
        // SAFETY: the caller runs the member.
        unsafe { wait_out(me, For::Parent(now.record), |table| table.left_of(now.record) == 0) }
        let _: bool = change(|table| table.defer(record, place(&now), work, DependList::NONE));
    }
}

/// Copies its data; what is to be run on it.
unsafe fn fill(new: &New, data: *mut c_void) -> Work {
    // SAFETY: the caller's word: there is room for the program's own data.
    unsafe {
        match new.copy {
            Some(copy) => copy(data, new.data),
            None => core::ptr::copy_nonoverlapping(new.data.cast::<u8>(), data.cast(), new.size),
        }
        new.set_part(data);
    }
    // What was made by copying is unmade by the task itself, so that is run in any case.
    let may_drop = new.copy.is_none();
    Work { body: new.body as usize, data: data.expose_provenance(), is_final: new.is_final, may_drop }
}

/// Runs it now, on the creator's stack.
unsafe fn at_once(me: &'static Member, new: &New) {
    let before = me.task.get();
    let is_final = before.is_final || new.is_final;
    let at_once = is_final || before.at_once;
    me.task.set(CurrentTask { record: NONE, is_final, at_once, ..before });
    // SAFETY: the program's own function and data.
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

/// Runs it on a copy of its data, which lies on the stack if it can.
unsafe fn on_copy(new: &New, copy: Copy) {
    let bytes = new.size.saturating_add(new.alignment);
    // SAFETY: as above.
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
    // SAFETY: there is room for the data behind that address; the program's own function.
    unsafe {
        copy(data, new.data);
        new.set_part(data);
        (new.body)(data);
    }
}

#[inline(never)]
unsafe fn on<const BYTES: usize>(new: &New, copy: Copy) {
    let mut place = MaybeUninit::<[u8; BYTES]>::uninit();
    // SAFETY: as above.
    unsafe { on_place(new, copy, place.as_mut_ptr().cast()) }
}

enum Found {
    Met,
    Task(Taken),
    Nothing,
}

/// Waits until `is_met` says so, and runs tasks of `whom` meanwhile.
unsafe fn wait_out(me: &'static Member, whom: For, is_met: impl Fn(&Table) -> bool) {
    let look = |table: &mut Table| {
        if is_met(table) { Found::Met } else { table.take(whom).map_or(Found::Nothing, Found::Task) }
    };
    let mut found = with(look);
    loop {
        match found {
            Found::Met => return,
            // SAFETY: the caller runs the member; it was taken.
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
                    // SAFETY: the caller runs the member.
                    unsafe { wait(me, until) }
                }
                SCHEDULER.unlisten();
            }
        }
    }
}

/// The calling task waits for its children.
pub unsafe fn taskwait(me: &'static Member) {
    let parent = me.task.get().record;
    if parent != NONE {
        // SAFETY: the caller runs the member.
        unsafe { wait_out(me, For::Parent(parent), |table| table.left_of(parent) == 0) }
    }
}

/// The calling task begins a group; whether there is a record for it.
pub fn group_start(me: &Member) -> bool {
    let mut now = me.task.get();
    let group = if now.unrecorded == 0 { with(|table| table.open_group(now.group)) } else { None };
    match group {
        Some(group) => now.group = group,
        // Its tasks are over as soon as they are created.
        None => now.unrecorded = now.unrecorded.wrapping_add(1),
    }
    me.task.set(now);
    group.is_some()
}

/// It waits for all tasks of the group, which ends.
pub unsafe fn group_end(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe { group_wait(me) }
    group_close(me);
}

/// It waits for all tasks of the group.
pub unsafe fn group_wait(me: &'static Member) {
    let group = me.task.get().recorded_group();
    if group != NONE {
        // SAFETY: the caller runs the member.
        unsafe { wait_out(me, For::Group(group), |table| table.left_of(group) == 0) }
    }
}

/// The group ends.
pub fn group_close(me: &Member) {
    let now = me.task.get();
    me.task.set(if now.unrecorded != 0 {
        CurrentTask { unrecorded: now.unrecorded - 1, ..now }
    } else {
        CurrentTask { group: with(|table| table.close_group(now.group)), ..now }
    });
}

/// Waits for all tasks of the region within that the member is in. A loop whose tasks add up has a group,
/// which is open at the barrier at its end.
pub unsafe fn end_inner(me: &'static Member) {
    let home = me.task.get().home;
    if home != NONE {
        // SAFETY: the caller runs the member.
        unsafe {
            group_wait(me);
            wait_out(me, For::Group(home), |table| table.left_of(home) == 0);
        }
    }
}

/// Runs a region within, in which tasks are the member's own.
pub unsafe fn in_inner(me: &'static Member, run: impl FnOnce()) {
    let home = with(|table| table.open_group(NONE)).unwrap_or(NONE);
    let at_once = home == NONE;
    let before = me.task.replace(CurrentTask { group: home, home, at_once, ..CurrentTask::MEMBERS });
    run();
    // SAFETY: the caller runs the member.
    unsafe { end_inner(me) }
    let now = me.task.replace(before);
    with(|table| {
        table.close(now.record);
        table.close(home);
    });
}

/// Others may run now.
pub unsafe extern "C" fn taskyield() {
    // SAFETY: the caller is a member.
    unsafe {
        if let Some(me) = around(thread()) {
            yield_member(me);
        }
    }
}
