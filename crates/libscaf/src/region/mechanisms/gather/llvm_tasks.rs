//! Tasks of code by LLVM's compilers. The code allocates a task, fills it, and submits it, or executes it
//! itself between two calls. In front of the task is a [`Header`]. The memory is the room of the task's
//! record, or a block of its own if there are too many records.
//!
//! An untied task has parts. At the end of each but the last it submits itself again from within, and
//! returns. Its next part is run when it is taken again.

use super::cancel::drops;
use super::constructs::size;
use super::current_task::CurrentTask;
use super::depend_list::DependList;
use super::explicit_tasks::{await_needs, group_end, group_start, put, taskwait};
use super::fibers::yield_member;
use super::gathered_team::{Member, TEAM, current};
use super::task_pool::{self, run, with};
use crate::sys::memory;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use scaf_team::gather::task_table::{For, NONE, Number, Work};

/// A task's function, which gets the executing thread's number.
pub type Routine = unsafe extern "C" fn(c_int, *mut Task) -> c_int;
/// Initializes a copy of a taskloop's task; the number says whether it is the last.
pub type Duplicate = unsafe extern "C" fn(*mut Task, *mut Task, c_int);

/// The beginning of a task as compilers know it; its private variables follow.
#[repr(C)]
pub struct Task {
    shared: *mut c_void,
    routine: Routine,
    part: c_int,
    /// Destroys its private variables, if the flags say that there is one.
    destroy: Routine,
    priority: usize,
}

#[repr(C, align(64))]
struct Header {
    /// The record whose room this is; none for a block of its own.
    record: Cell<Number>,
    flags: Cell<u32>,
    /// Bytes behind the header: the task of `own` bytes, and its shared variables behind that.
    bytes: Cell<usize>,
    own: Cell<usize>,
    /// It was submitted, and again from within.
    is_known: Cell<bool>,
    goes_on: Cell<bool>,
    /// For an undeferred task, its creator's current task. For others, its own at the end of its part.
    kept: Cell<CurrentTask>,
}

const HEADER: usize = size_of::<Header>();
const ALIGNMENT: usize = align_of::<Header>();

mod flags {
    pub const FINAL: u32 = 1 << 1;
    pub const AT_ONCE: u32 = 1 << 2;
    pub const DESTROY: u32 = 1 << 3;
}

fn defers(me: &Member) -> bool {
    // A library that was loaded within the region creates tasks.
    TEAM.has_tasks.get() && me.task.get().defers() && !me.is_alone()
}

unsafe fn header<'a>(task: *mut Task) -> &'a Header {
    // SAFETY: `memory` writes one in front of each task.
    unsafe { &*task.byte_sub(HEADER).cast::<Header>() }
}

/// Allocates a task of `own` bytes with `shared` bytes behind it.
pub unsafe fn allocate(
    me: &'static Member,
    flags: u32,
    own: usize,
    shared: usize,
    routine: Routine,
) -> *mut Task {
    let own = own.next_multiple_of(size_of::<usize>());
    // SAFETY: `memory` returns so many bytes, which nobody else uses.
    unsafe {
        let task = memory(me, flags, own, own.saturating_add(shared));
        (*task).shared = if shared == 0 { null_mut() } else { task.byte_add(own).cast() };
        (*task).routine = routine;
        (*task).part = 0;
        task
    }
}

unsafe fn memory(me: &'static Member, flags: u32, own: usize, bytes: usize) -> *mut Task {
    let all = bytes.saturating_add(HEADER);
    let mut now = me.task.get();
    let opened = with(|table| {
        if now.record == NONE && defers(me) {
            now.record = table.open()?;
        }
        let record = table.open()?;
        let room = task_pool::room(record, all, ALIGNMENT);
        if room.is_none() {
            table.close(record);
        }
        room.map(|room| (record, room))
    });
    me.task.set(now);
    let (record, start) = opened.unwrap_or_else(|| (NONE, memory::block(all)));
    // SAFETY: the memory is new, large enough and aligned to the header.
    unsafe {
        start.cast::<Header>().write(Header {
            record: Cell::new(record),
            flags: Cell::new(flags),
            bytes: Cell::new(bytes),
            own: Cell::new(own),
            is_known: Cell::new(false),
            goes_on: Cell::new(false),
            kept: Cell::new(CurrentTask::IMPLICIT),
        });
        start.byte_add(HEADER).cast()
    }
}

unsafe fn give_up(task: *mut Task) {
    // SAFETY: the task is complete; a block has the header's bytes.
    unsafe {
        let header = header(task);
        match header.record.get() {
            NONE => memory::unmap(task.byte_sub(HEADER).cast(), header.bytes.get().saturating_add(HEADER)),
            record => with(|table| table.close(record)),
        }
    }
}

pub unsafe fn submit(me: &'static Member, task: *mut Task, needs: &DependList) {
    // SAFETY: `allocate` returned the task, and the program has filled it.
    unsafe {
        let header = header(task);
        if header.is_known.replace(true) {
            return header.goes_on.set(true);
        }
        let flags = header.flags.get();
        let record = header.record.get();
        let may_wait = record != NONE
            && defers(me)
            && flags & flags::AT_ONCE == 0
            && me.task.get().record != NONE
            && !task_pool::are_many();
        if may_wait && !needs.name_everything() {
            let is_final = flags & flags::FINAL != 0;
            let body = run_part as *const () as usize;
            // It checks itself whether it is dropped.
            let work = Work { body, data: task.expose_provenance(), is_final, may_drop: false };
            return put(me, record, work, needs);
        }
        await_needs(me, needs);
        begin_at_once(me, task);
        if !drops(me) {
            call(me, task);
        }
        end_at_once(me, task);
    }
}

unsafe fn call(me: &Member, task: *mut Task) {
    // SAFETY: the program has filled the task and its function.
    unsafe { ((*task).routine)(me.llvm.global(), task) };
}

unsafe fn destroy(me: &Member, task: *mut Task) {
    // SAFETY: the flags say that the program has set the function.
    unsafe {
        if header(task).flags.get() & flags::DESTROY != 0 {
            ((*task).destroy)(me.llvm.global(), task);
        }
    }
}

unsafe extern "C" fn run_part(data: *mut c_void) {
    let task = data.cast::<Task>();
    // SAFETY: `submit` passes a task's address as the data.
    unsafe {
        let Some(me) = current() else { return };
        let header = header(task);
        let kept = header.kept.get();
        let has_begun = kept.record != NONE;
        if has_begun {
            me.task.set(kept);
        }
        if has_begun || !drops(me) {
            call(me, task);
        }
        if header.goes_on.replace(false) {
            header.kept.set(me.task.get());
            me.llvm.goes_on.set(true);
        } else {
            destroy(me, task);
        }
    }
}

/// The program executes a task itself from now on.
pub unsafe fn begin_at_once(me: &'static Member, task: *mut Task) {
    // SAFETY: `allocate` returned the task, and the program has filled it.
    unsafe {
        let header = header(task);
        header.is_known.set(true);
        let before = me.task.get();
        header.kept.set(before);
        let is_final = before.is_final || header.flags.get() & flags::FINAL != 0;
        let at_once = is_final || before.at_once;
        me.task.set(CurrentTask { record: header.record.get(), is_final, at_once, ..before });
    }
}

/// It has done so, for the first part.
pub unsafe fn end_at_once(me: &'static Member, task: *mut Task) {
    // SAFETY: `allocate` returned the task, and nobody uses it after its end.
    unsafe {
        let header = header(task);
        while header.goes_on.replace(false) {
            call(me, task);
        }
        destroy(me, task);
        let record = me.task.replace(header.kept.get()).record;
        if record != header.record.get() {
            with(|table| table.close(record));
        }
        give_up(task);
    }
}

pub fn wait(me: &'static Member) {
    // A serialized region that was begun by a call has none.
    if me.llvm.opened.get() == 0 {
        taskwait(me)
    }
}

pub unsafe fn nothing_behind(me: &'static Member, needs: &DependList) {
    unsafe extern "C" fn nothing(_: c_int, _: *mut Task) -> c_int {
        0
    }
    // SAFETY: it is a task of ours, which has no variables.
    unsafe { submit(me, allocate(me, 0, size_of::<Task>(), 0, nothing), needs) }
}

/// `taskyield`: runs a child of the current task, or another member.
pub fn give_way(me: &'static Member) {
    let parent = me.task.get().record;
    let taken = if parent == NONE { None } else { with(|table| table.take(For::Parent(parent))) };
    // SAFETY: it was just taken from the table.
    unsafe {
        match taken {
            Some(taken) => {
                let over = run(me, taken);
                task_pool::change(|table| task_pool::end(table, taken.0, over));
            }
            None => yield_member(me),
        }
    }
}

pub struct Dealt {
    /// Addresses of its first and last number in its task.
    pub first: *mut u64,
    pub last: *mut u64,
    pub step: i64,
    /// `nogroup`: it doesn't wait for its tasks.
    pub is_alone: bool,
    /// 0 for no clause, 1 for `grainsize`, 2 for `num_tasks`; the clause's value; whether it is strict.
    pub said: c_int,
    pub wanted: u64,
    pub strict: bool,
    pub may_wait: bool,
    pub duplicate: Option<Duplicate>,
}

impl Dealt {
    /// Number of tasks, iterations in each, and how many have one more; the last one has the rest.
    fn out(&self, count: u64, team: u64) -> (u64, u64, u64) {
        const ITERATIONS: c_int = 1;
        const TASKS: c_int = 2;
        let wanted = self.wanted.clamp(1, count);
        let tasks = match self.said {
            ITERATIONS if self.strict => return (count.div_ceil(wanted), wanted, 0),
            ITERATIONS => count.checked_div(wanted).unwrap_or(1),
            TASKS => wanted,
            _ => team.saturating_mul(10).clamp(1, count),
        };
        (tasks, count.checked_div(tasks).unwrap_or(count), count.checked_rem(tasks).unwrap_or(0))
    }
}

pub unsafe fn taskloop(me: &'static Member, task: *mut Task, dealt: &Dealt) {
    if !dealt.is_alone {
        group_start(me);
    }
    // SAFETY: `allocate` returned the task, and its bounds are within it; so they are in copies.
    unsafe {
        let (first, last) = (*dealt.first, *dealt.last);
        let count = match dealt.step {
            step if step < 0 => first.wrapping_sub(last).checked_div(step.unsigned_abs()).unwrap_or(0),
            step => last.wrapping_sub(first).checked_div(step as u64).unwrap_or(0),
        }
        .wrapping_add(1);
        if count != 0 {
            let (tasks, each, more) = dealt.out(count, size(me) as u64);
            let at = |iteration: u64| first.wrapping_add(iteration.wrapping_mul(dealt.step as u64));
            let places = [dealt.first, dealt.last].map(|place| place.addr().wrapping_sub(task.addr()));
            let mut from = 0u64;
            for number in 0..tasks {
                let behind = from.saturating_add(each).saturating_add(u64::from(number < more)).min(count);
                let part = copy(me, task);
                for (place, bound) in places.into_iter().zip([at(from), at(behind.wrapping_sub(1))]) {
                    part.byte_add(place).cast::<u64>().write(bound);
                }
                if let Some(duplicate) = dealt.duplicate {
                    duplicate(part, task, c_int::from(behind == count));
                }
                if !dealt.may_wait {
                    let flags = &header(part).flags;
                    flags.set(flags.get() | flags::AT_ONCE);
                }
                submit(me, part, &DependList::NONE);
                from = behind;
            }
        }
        destroy(me, task);
        give_up(task);
        if !dealt.is_alone {
            group_end(me);
        }
    }
}

unsafe fn copy(me: &'static Member, task: *mut Task) -> *mut Task {
    // SAFETY: both have the header's bytes.
    unsafe {
        let header = header(task);
        let (own, bytes) = (header.own.get(), header.bytes.get());
        let copy = memory(me, header.flags.get(), own, bytes);
        core::ptr::copy_nonoverlapping(task.cast::<u8>(), copy.cast(), bytes);
        if !(*task).shared.is_null() {
            (*copy).shared = copy.byte_add(own).cast();
        }
        copy
    }
}
