//! What LLVM's runtime would keep of a member.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use scaf_team::gather::worksharing::{Loop, Rule};
use scaf_team::static_schedule::StaticSchedule;

/// Of one member.
pub struct LlvmState {
    /// Its thread's number in the runtime and in its team, where code is told to find them.
    global: Cell<c_int>,
    bound: Cell<c_int>,
    /// Regions of one thread around it that were opened by a call and not ended yet.
    pub opened: Cell<u32>,
    /// The loop that it is in, how it is dealt out if by number, and chunks taken.
    pub whole: Cell<Loop>,
    pub deal: Cell<Option<StaticSchedule>>,
    pub turn: Cell<u64>,
    /// It is in a loop that is dealt out in chunks, and not at its end yet.
    pub in_loop: Cell<bool>,
    /// A loop that it has begun alone, in a region within, and not been given.
    pub given: Cell<Option<Loop>>,
    /// Iterations before its chunk; whether it has told that an `ordered` part is over.
    pub from: Cell<u64>,
    pub passed: Cell<bool>,
    /// The share of the `doacross` loop that it is in.
    pub across: Cell<u32>,
    /// How the reduction that it is in is done, and its own values.
    pub method: Cell<Method>,
    pub values: Cell<*mut c_void>,
    /// The task whose part it has just run goes on later.
    pub goes_on: Cell<bool>,
}

/// How a reduction is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Each member adds its values to the result, one at a time.
    Locked,
    /// Each does so at the same time, by atomic operations.
    Atomic,
    /// They are added up in pairs, and the master adds the sum.
    Tree,
}

const NO_LOOP: Loop = Loop { start: 0, end: 0, step: 1, count: 0, rule: Rule::Dynamic(1) };
/// The number in the team of whoever is alone.
static ZERO: c_int = 0;

impl LlvmState {
    pub const fn new() -> LlvmState {
        LlvmState {
            global: Cell::new(0),
            bound: Cell::new(0),
            opened: Cell::new(0),
            whole: Cell::new(NO_LOOP),
            deal: Cell::new(None),
            turn: Cell::new(0),
            in_loop: Cell::new(false),
            given: Cell::new(None),
            from: Cell::new(0),
            passed: Cell::new(false),
            across: Cell::new(0),
            method: Cell::new(Method::Locked),
            values: Cell::new(null_mut()),
            goes_on: Cell::new(false),
        }
    }

    /// A region begins for the member of this number.
    pub fn begin(&self, number: c_int, global: c_int) {
        self.global.set(global);
        self.bound.set(number);
        self.opened.set(0);
        self.in_loop.set(false);
        self.given.set(None);
    }

    /// Its thread's number in the runtime.
    pub fn global(&self) -> c_int {
        self.global.get()
    }

    /// Where the region's function finds its thread's numbers.
    pub fn numbers(&self) -> [*const c_int; 2] {
        [self.global.as_ptr(), self.bound.as_ptr()]
    }

    /// The same within a region of one thread.
    pub fn numbers_alone(&self) -> [*const c_int; 2] {
        [self.global.as_ptr(), &raw const ZERO]
    }
}
