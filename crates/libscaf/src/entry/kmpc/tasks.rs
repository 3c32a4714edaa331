//! Tasks of members of gathered teams (`region/mechanisms/gather/llvm_tasks.rs`).

use super::members::answers;
use crate::region::mechanisms::gather::depend_list::{DependList, Record};
use crate::region::mechanisms::gather::llvm_reductions::{self, Input, OldInput};
use crate::region::mechanisms::gather::llvm_tasks::{self, Dealt, Duplicate, Routine, Task};
use crate::region::mechanisms::gather::{current, explicit_tasks};
use crate::runtimes::entries::Place;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

answers! {
    allocate(flags: u32, own: usize, shared: usize, routine: Routine) -> *mut Task, or null_mut(),
        |me| llvm_tasks::allocate(me, flags, own, shared, routine);
    submit(task: *mut Task) -> c_int, or 0, |me| {
        llvm_tasks::submit(me, task, &DependList::NONE);
        0
    };
    submit_behind(
        task: *mut Task, count: c_int, needs: *const Record, more: c_int, others: *const Record
    ) -> c_int, or 0, |me| {
        llvm_tasks::submit(me, task, &DependList::of_records((needs, count), (others, more)));
        0
    };
    begin_at_once(task: *mut Task) -> (), or (), |me| llvm_tasks::begin_at_once(me, task);
    end_at_once(task: *mut Task) -> (), or (), |me| llvm_tasks::end_at_once(me, task);
    wait() -> *mut c_void, or null_mut(), |me| {
        llvm_tasks::wait(me);
        null_mut()
    };
    wait_for(count: c_int, needs: *const Record, more: c_int, others: *const Record) -> (), or (),
        |me| explicit_tasks::await_needs(me, &DependList::of_records((needs, count), (others, more)));
    // The newer form: without waiting, it's a task that does nothing.
    wait_or_not(
        count: c_int, needs: *const Record, more: c_int, others: *const Record, goes_on: c_int
    ) -> (), or (), |me| {
        let needs = DependList::of_records((needs, count), (others, more));
        if goes_on != 0 {
            llvm_tasks::nothing_behind(me, &needs)
        } else {
            explicit_tasks::await_needs(me, &needs)
        }
    };
    group_start() -> (), or (), |me| {
        let _: bool = explicit_tasks::group_start(me);
    };
    group_end() -> *mut c_void, or null_mut(), |me| {
        llvm_reductions::group_end(me);
        null_mut()
    };
    give_way(_part: c_int) -> c_int, or 0, |me| {
        llvm_tasks::give_way(me);
        0
    };
    deal_out(
        task: *mut Task, condition: c_int, first: *mut u64, last: *mut u64, step: i64, is_alone: c_int,
        said: c_int, wanted: u64, duplicate: Option<Duplicate>
    ) -> (), or (), |me| {
        let (is_alone, may_wait, strict) = (is_alone != 0, condition != 0, false);
        let dealt = Dealt { first, last, step, is_alone, said, wanted, strict, may_wait, duplicate };
        llvm_tasks::taskloop(me, task, &dealt);
    };
    deal_out_strictly(
        task: *mut Task, condition: c_int, first: *mut u64, last: *mut u64, step: i64, is_alone: c_int,
        said: c_int, wanted: u64, strict: c_int, duplicate: Option<Duplicate>
    ) -> (), or (), |me| {
        let (is_alone, may_wait, strict) = (is_alone != 0, condition != 0, strict != 0);
        let dealt = Dealt { first, last, step, is_alone, said, wanted, strict, may_wait, duplicate };
        llvm_tasks::taskloop(me, task, &dealt);
    };
}

/// # Safety
/// `first` is null or an array of `count`.
unsafe fn inputs<'a, V>(first: *const V, count: c_int) -> &'a [V] {
    if first.is_null() {
        return &[];
    }
    // SAFETY: the caller has an array of so many, or null.
    unsafe { core::slice::from_raw_parts(first, count.max(0) as usize) }
}

macro_rules! reductions {
    ($($begin:ident, $begin_shared:ident: $input:ty;)*) => {
        $(
            pub unsafe extern "C" fn $begin(_: c_int, count: c_int, first: *const $input) -> *mut c_void {
                let Some(me) = current() else { return null_mut() };
                // SAFETY: the compiler passes an array of `count` variables and how they are added up.
                unsafe { llvm_reductions::begin(me, inputs(first, count)) }
            }

            pub unsafe extern "C" fn $begin_shared(
                _: Place, _: c_int, of_loop: c_int, count: c_int, first: *const $input,
            ) -> *mut c_void {
                let Some(me) = current() else { return null_mut() };
                let which = usize::from(of_loop != 0);
                // SAFETY: the compiler passes an array of `count` variables and how they are added up.
                unsafe { llvm_reductions::begin_shared(me, which, inputs(first, count)) }
            }
        )*
    };
}

reductions! {
    begin_reductions, begin_shared_reductions: Input;
    begin_old_reductions, begin_old_shared_reductions: OldInput;
}

pub unsafe extern "C" fn value(_: c_int, from: *mut c_void, variable: *mut c_void) -> *mut c_void {
    // SAFETY: the compiler passes null or what a call above returned, and a variable of that reduction.
    unsafe { current().map_or(variable, |me| llvm_reductions::value(me, from, variable)) }
}
