//! What a region is, as its program enters it.

use crate::runtimes::entries::{Body, Runtime};
use crate::runtimes::lookup::Code;
use core::ffi::c_void;
use scaf_team::gather::shares::Loop;

/// What sets a region apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// It is one loop, which is dealt out in chunks, and which the runtime begins.
    Loop(Loop),
    /// Task reductions: the runtime itself reads the first word of the program's data.
    Reductions,
    /// Opened by one call and ended by another.
    Opened,
    /// Sections, which may wait for each other: a smaller team might never get to the one that is waited for.
    Sections,
}

/// What each thread of a region does.
#[derive(Clone, Copy)]
pub struct Work {
    /// The program's outlined function, by which the region is known.
    pub body: Body,
    /// What is called with the data: that function, or what knows how to call it.
    pub run: Body,
    /// The program's own data, or ours.
    pub data: *mut c_void,
}

/// A region that isn't entered yet.
#[derive(Clone, Copy)]
pub struct Region {
    /// What is known of its code.
    pub code: Code,
    /// What its threads do.
    pub work: Work,
    /// Team size that the program asks for; 0 leaves it to the runtime.
    pub requested: u32,
    /// What sets it apart.
    pub kind: Kind,
}

impl Region {
    /// Iterations of the one loop that it is.
    #[inline(always)]
    pub fn iterations(&self) -> Option<u64> {
        match self.kind {
            Kind::Loop(whole) => Some(whole.count),
            _ => None,
        }
    }
}

/// Passes a region on to its runtime, with the function, data and team size that it is handed; returns when
/// it has ended, or, of an opened one, when it has begun.
pub trait Pass<R>: Fn(&Runtime, Body, *mut c_void, u32) -> R {}
impl<R, F: Fn(&Runtime, Body, *mut c_void, u32) -> R> Pass<R> for F {}
