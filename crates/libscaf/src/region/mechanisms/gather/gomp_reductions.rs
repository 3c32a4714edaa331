//! Task reductions for gcc's code. The code describes variables in arrays, gets memory for each thread's
//! values, and adds them up itself. The runtime only finds a thread's value.
//!
//! An array has 7 words, and 3 more for each variable: its address, its offset in a thread's memory, and one
//! for the runtime.

use super::block_cache;
use super::constructs;
use super::constructs::number;
use super::explicit_tasks::group_end;
use super::gathered_team::Member;
use super::task_pool::with;
use crate::sys::memory::aligned;
use core::ptr::{null_mut, with_exposed_provenance_mut};
use scaf_team::gather::task_table::NONE;

/// Words of an array: number of variables, bytes for each thread, the memory (before that its alignment) and
/// its end, the next array, and whether it is the first of a list.
const COUNT: usize = 0;
const BYTES: usize = 1;
const MEMORY: usize = 2;
const NEXT: usize = 4;
const FIRST: usize = 5;
const END: usize = 6;
const VARIABLES: usize = 7;

/// An array.
#[derive(Clone, Copy)]
struct Array(*mut usize);

impl Array {
    fn at(address: usize) -> Option<Array> {
        let array = with_exposed_provenance_mut::<usize>(address);
        (!array.is_null()).then_some(Array(array))
    }

    fn get(self, word: usize) -> usize {
        // SAFETY: the compiler's array has 7 words and 3 for each variable, and stays until it is
        // unregistered.
        unsafe { *self.0.add(word) }
    }

    fn set(self, word: usize, value: usize) {
        // SAFETY: the compiler's array has 7 words and 3 for each variable, and stays until it is
        // unregistered.
        unsafe { *self.0.add(word) = value }
    }

    /// Each variable's address, and its offset in a thread's memory.
    fn variables(self) -> impl Iterator<Item = (usize, usize)> {
        let at = move |number: usize| VARIABLES + 3 * number;
        (0..self.get(COUNT)).map(move |number| (self.get(at(number)), self.get(at(number) + 1)))
    }

    fn next(self) -> Option<Array> {
        Array::at(self.get(NEXT))
    }
}

/// Marks lists that were registered here, and not by the runtime.
static OURS: u8 = 0;

fn ours() -> usize {
    (&raw const OURS).expose_provenance()
}

/// Blocks are aligned to pages.
const PAGE: usize = 4096;

/// Bytes to allocate for so many that are aligned. Beyond a page, those before the aligned address are lost.
fn size(bytes: usize, alignment: usize) -> usize {
    if alignment <= PAGE {
        return bytes;
    }
    bytes.max(PAGE).checked_next_power_of_two().unwrap_or(bytes).saturating_add(alignment)
}

/// Registers a list's reductions for the current task's group.
pub unsafe fn register(me: &Member, list: *mut usize) {
    in_group(me, list, |around| give_memory(list, constructs::size(me) as usize, around));
}

/// Registers them with the memory of another member's list, which is for the same variables.
pub unsafe fn adopt(me: &Member, list: *mut usize, others: *mut usize) {
    let mut other = Some(Array(others));
    let share = |array: Array| {
        if let Some(its) = other {
            array.set(MEMORY, its.get(MEMORY));
            array.set(END, its.get(END));
            other = its.next();
        }
    };
    in_group(me, list, |around| make(list, around, share));
}

/// Prepares a list by `make`, which gets the outer group's list, and registers it for the current task's
/// group.
fn in_group(me: &Member, list: *mut usize, make: impl FnOnce(usize)) {
    let group = me.task.get().recorded_group();
    make(with(|table| table.reductions(group)));
    if group != NONE {
        with(|table| table.set_reductions(group, list.expose_provenance()));
    }
}

/// Ends the current task's group. Member 0 has combined the values: nobody needs their memory any more.
pub unsafe fn finish(me: &'static Member) {
    let list = with(|table| table.reductions(me.task.get().recorded_group()));
    // SAFETY: `register` has put the list there.
    unsafe {
        group_end(me);
        if number(me) == 0 && list != 0 {
            let _: bool = unregister(with_exposed_provenance_mut(list));
        }
    }
}

/// Gives a list memory for so many threads, and chains the outer group's list behind it.
pub fn give_memory(list: *mut usize, team: usize, around: usize) {
    make(list, around, |array| {
        let bytes = array.get(BYTES).saturating_mul(team);
        let alignment = array.get(MEMORY);
        let memory = aligned(block_cache::take(size(bytes, alignment)), alignment);
        array.set(MEMORY, memory.expose_provenance());
        array.set(END, memory.addr().wrapping_add(bytes));
    });
}

/// Marks a list as ours, gives each of its arrays memory by `place`, and chains the outer group's list behind
/// it.
fn make(list: *mut usize, around: usize, mut place: impl FnMut(Array)) {
    let mut array = Array(list);
    loop {
        place(array);
        array.set(FIRST, 0);
        match array.next() {
            Some(next) => array = next,
            None => break array.set(NEXT, around),
        }
    }
    Array(list).set(FIRST, ours());
}

/// Frees a list's memory; returns whether it was registered here.
pub unsafe fn unregister(list: *mut usize) -> bool {
    let mut array = Array(list);
    if array.get(FIRST) != ours() {
        return false;
    }
    // LLVM's runtime leaves this word, and the program uses the array again.
    array.set(FIRST, 0);
    loop {
        let memory = array.get(MEMORY);
        let bytes = array.get(END).wrapping_sub(memory);
        // SAFETY: `give_memory` took it with as many bytes, and its group has ended.
        unsafe { block_cache::put_back(with_exposed_provenance_mut(memory), bytes) }
        match array.next() {
            Some(next) if next.get(FIRST) == 0 => array = next,
            _ => return true,
        }
    }
}

/// Replaces addresses of variables, or of anybody's values of them, by those of the calling member's values.
/// Puts those of the first `original` variables behind all `count`.
pub unsafe fn remap(me: &Member, count: usize, original: usize, addresses: *mut usize) {
    let group = me.task.get().group;
    let list = Array::at(with(|table| table.reductions(group)));
    for index in 0..count {
        // SAFETY: the compiler's array has `count` and `original` addresses.
        unsafe {
            let address = addresses.add(index);
            // If nothing is registered, all tasks are undeferred and add to the variable itself.
            let (variable, value) = find(list, *address, number(me) as usize).unwrap_or((*address, *address));
            *address = value;
            if index < original {
                *addresses.add(count + index) = variable;
            }
        }
    }
}

/// The variable, and a member's value of it.
fn find(list: Option<Array>, address: usize, member: usize) -> Option<(usize, usize)> {
    let arrays = || core::iter::successors(list, |array| array.next());
    let mine = |array: Array, at: usize| {
        array.get(MEMORY).wrapping_add(member.wrapping_mul(array.get(BYTES))).wrapping_add(at)
    };
    for array in arrays() {
        if let Some((variable, at)) = array.variables().find(|(variable, _)| *variable == address) {
            return Some((variable, mine(array, at)));
        }
    }
    let array = arrays().find(|array| (array.get(MEMORY)..array.get(END)).contains(&address))?;
    let at = address.wrapping_sub(array.get(MEMORY)).checked_rem(array.get(BYTES))?;
    let variable = array.variables().find(|(_, its)| *its == at).map_or(address, |(variable, _)| variable);
    Some((variable, mine(array, at)))
}

/// The list of a region with reductions: the first word of its data.
pub unsafe fn list_of(data: *mut core::ffi::c_void) -> *mut usize {
    // SAFETY: the compiler begins such a region's data with the list's address.
    if data.is_null() { null_mut() } else { unsafe { *data.cast::<*mut usize>() } }
}
