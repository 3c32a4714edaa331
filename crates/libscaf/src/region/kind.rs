//! What a region is, as its program enters it.

use crate::runtimes::entries::{Body, Runtime};
use crate::runtimes::lookup::Code;
use core::ffi::c_void;
use scaf_team::gather::worksharing::Loop;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// One loop, dealt out in chunks, which the runtime begins.
    Loop(Loop),
    /// The same, by the schedule that the runtime is asked for: the loop's own rule says nothing.
    AskedLoop(Loop),
    /// Task reductions: the runtime itself reads the first word of the program's data.
    Reductions,
    /// Opened by one call and ended by another.
    Opened,
    /// So many sections, which may wait for each other: a smaller team might never get to the one waited for.
    Sections(u32),
}

/// What each thread of a region does.
#[derive(Clone, Copy)]
pub struct Work {
    /// The program's outlined function, by which the region is known.
    pub body: Body,
    /// What is called with the data: `body`, or a function that knows how to call it.
    pub run: Body,
    pub data: *mut c_void,
}

/// A region that isn't entered yet.
#[derive(Clone, Copy)]
pub struct Region {
    pub code: Code,
    pub work: Work,
    /// Team size that the program asks for; 0 leaves it to the runtime.
    pub requested: u32,
    pub kind: Kind,
}

impl Kind {
    #[inline(always)]
    pub fn is_sections(&self) -> bool {
        matches!(self, Kind::Sections(_))
    }
}

impl Region {
    /// Iterations, if the region is one loop.
    #[inline(always)]
    pub fn iterations(&self) -> Option<u64> {
        match self.kind {
            Kind::Loop(whole) => Some(whole.count),
            _ => None,
        }
    }
}

/// Passes a region on to its runtime with function, data and team size; returns when the runtime does.
pub trait Pass<R>: Fn(&Runtime, Body, *mut c_void, u32) -> R {}
impl<R, F: Fn(&Runtime, Body, *mut c_void, u32) -> R> Pass<R> for F {}
