//! The task that a member runs.

use scaf_team::gather::tasks::{NONE, Number};

#[derive(Clone, Copy)]
pub struct Current {
    /// Its record, if it has had any need of one.
    pub record: Number,
    /// The innermost group around it.
    pub group: Number,
    /// The group of all tasks of the innermost region, if that is one within a member.
    pub home: Number,
    pub is_final: bool,
    /// Not 0 where tasks are run at once.
    pub at_once: u32,
}

impl Current {
    /// That of a member itself.
    pub const MEMBERS: Current =
        Current { record: NONE, group: NONE, home: NONE, is_final: false, at_once: 0 };
}
