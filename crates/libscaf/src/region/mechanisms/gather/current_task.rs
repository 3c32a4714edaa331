//! The task that a member executes.

use scaf_team::gather::task_table::{NONE, Number};

#[derive(Clone, Copy)]
pub struct CurrentTask {
    /// Its record, if it needed one.
    pub record: Number,
    /// The innermost task group around it.
    pub group: Number,
    /// The group of all tasks of the nested region that the member is in.
    pub region_group: Number,
    pub is_final: bool,
    /// Tasks that it creates are undeferred.
    pub at_once: bool,
    /// Groups around it for which there was no record: their tasks are undeferred.
    pub unrecorded: u32,
}

impl CurrentTask {
    pub const IMPLICIT: CurrentTask = CurrentTask {
        record: NONE,
        group: NONE,
        region_group: NONE,
        is_final: false,
        at_once: false,
        unrecorded: 0,
    };

    pub fn defers(&self) -> bool {
        !self.at_once && self.unrecorded == 0
    }

    /// The innermost group around it, if that has a record.
    pub fn recorded_group(&self) -> Number {
        if self.unrecorded == 0 { self.group } else { NONE }
    }
}
