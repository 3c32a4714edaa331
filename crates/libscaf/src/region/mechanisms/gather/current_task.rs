//! The task that a member runs.

use scaf_team::gather::task_table::{NONE, Number};

#[derive(Clone, Copy)]
pub struct CurrentTask {
    /// Its record, if it has had any need of one.
    pub record: Number,
    /// The innermost group around it.
    pub group: Number,
    /// The group of all tasks of the innermost region, if that is one within a member.
    pub home: Number,
    pub is_final: bool,
    /// Tasks are run at once.
    pub at_once: bool,
    /// Groups around it for which there was no record: their tasks are run at once.
    pub unrecorded: u32,
}

impl CurrentTask {
    /// That of a member itself.
    pub const MEMBERS: CurrentTask =
        CurrentTask { record: NONE, group: NONE, home: NONE, is_final: false, at_once: false, unrecorded: 0 };

    /// Whether tasks that it creates may be deferred.
    pub fn defers(&self) -> bool {
        !self.at_once && self.unrecorded == 0
    }

    /// The innermost group around it, if that has a record.
    pub fn recorded_group(&self) -> Number {
        if self.unrecorded == 0 { self.group } else { NONE }
    }
}
