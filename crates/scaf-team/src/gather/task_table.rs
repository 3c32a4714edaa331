//! Explicit tasks of a gathered region. Plain data, which one carrier at a time uses.
//!
//! A task is *deferred* when it is created, and taken by a member that waits: at a barrier any member takes
//! any task, in `taskwait` the children of its own, at the end of a `taskgroup` those of the group. One with
//! dependences ([`task_dependences`](super::task_dependences)) is ready once the tasks before it are over.
//!
//! A record is a task's, or a group's, or that of a task which is run at once, so that children can name it.
//! A task that has ended keeps its record until its children are over.
//!
//! All zero when new, so that a process without tasks has no page of it.

use super::task_dependences::Depends;
pub use super::task_dependences::{Kind, NONE, Number};

/// What a task runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// The function's address.
    pub body: usize,
    /// Its argument.
    pub data: usize,
    /// Whether all tasks in it are part of it.
    pub is_final: bool,
    /// Whether it may be left out where its group is cancelled.
    pub may_drop: bool,
}

/// Where a task is created.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// The task that creates it.
    pub parent: Number,
    /// The innermost group around it.
    pub group: Number,
    /// Only who waits for the parent or for the group may run it: its region is one member's own.
    pub own: bool,
}

/// Who looks for a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum For {
    /// Who may run any.
    Team,
    /// The task of that record, which waits for its children.
    Parent(Number),
    /// Who waits for the group of that record.
    Group(Number),
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: Number,
    behind: Number,
}

const TEAM: usize = 0;
const CHILDREN: usize = 1;
const GROUP: usize = 2;

#[derive(Debug)]
struct Task {
    work: Work,
    place: Place,
    /// Its children, or the group's tasks, that aren't over.
    left: u32,
    /// Tasks before it that aren't over.
    unmet: u32,
    /// It has ended itself.
    ended: bool,
    /// The group is cancelled.
    cancelled: bool,
    /// The first and the last of its children, or the group's tasks, that are ready.
    first: Number,
    last: Number,
    /// Its neighbours in the lists of ready tasks.
    links: [Link; 3],
    /// The next free record.
    next_free: Number,
}

const NO_TASK: Task = Task {
    work: Work { body: 0, data: 0, is_final: false, may_drop: false },
    place: Place { parent: NONE, group: NONE, own: false },
    left: 0,
    unmet: 0,
    ended: false,
    cancelled: false,
    first: NONE,
    last: NONE,
    links: [Link { before: NONE, behind: NONE }; 3],
    next_free: NONE,
};

/// The tasks of one region: up to `RECORDS` - 1 records.
#[derive(Debug)]
pub struct TaskTable<const RECORDS: usize, const ENTRIES: usize> {
    tasks: [Task; RECORDS],
    depends: Depends<RECORDS, ENTRIES>,
    /// Records that were used so far, those from 1 on.
    used: u32,
    free: Number,
    /// Ready tasks for everybody, oldest first.
    first: Number,
    last: Number,
    ready: u32,
    /// Tasks that aren't over.
    left: u32,
}

impl<const RECORDS: usize, const ENTRIES: usize> TaskTable<RECORDS, ENTRIES> {
    /// No tasks.
    pub const fn new() -> Self {
        TaskTable {
            tasks: [NO_TASK; RECORDS],
            depends: Depends::new(),
            used: 0,
            free: NONE,
            first: NONE,
            last: NONE,
            ready: 0,
            left: 0,
        }
    }

    /// A new region begins: no task is left of the one before.
    pub fn clear(&mut self) {
        if self.left != 0 {
            self.depends.clear();
        }
        (self.used, self.free, self.first, self.last) = (0, NONE, NONE, NONE);
        (self.ready, self.left) = (0, 0);
    }

    /// Tasks that anybody could run now.
    pub fn ready(&self) -> u32 {
        self.ready
    }

    /// Tasks that aren't over.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Tasks of a parent or of a group that aren't over.
    pub fn left_of(&self, number: Number) -> u32 {
        self.task(number).map_or(0, |task| task.left)
    }

    fn task(&self, number: Number) -> Option<&Task> {
        if number == NONE { None } else { self.tasks.get(number as usize) }
    }

    fn task_mut(&mut self, number: Number) -> Option<&mut Task> {
        if number == NONE { None } else { self.tasks.get_mut(number as usize) }
    }

    /// A record: for a task that is to be [deferred](Self::defer), one that is run at once, or a group.
    pub fn open(&mut self) -> Option<Number> {
        let number = if self.free != NONE {
            let number = self.free;
            self.free = self.task(number)?.next_free;
            number
        } else {
            let number = self.used.wrapping_add(1);
            self.tasks.get(number as usize)?;
            self.used = number;
            number
        };
        *self.task_mut(number)? = NO_TASK;
        Some(number)
    }

    /// A group of tasks, within another one or none.
    pub fn open_group(&mut self, around: Number) -> Option<Number> {
        let number = self.open()?;
        let reductions = self.reductions(around);
        let group = self.task_mut(number)?;
        (group.place.group, group.work.data) = (around, reductions);
        Some(number)
    }

    /// Where it is told how tasks of the group add up, or of one around it; 0 for nowhere.
    pub fn reductions(&self, group: Number) -> usize {
        self.task(group).map_or(0, |group| group.work.data)
    }

    /// Tasks of the group, and of groups within that are begun from now on, add up as is told there.
    pub fn set_reductions(&mut self, group: Number, at: usize) {
        if let Some(group) = self.task_mut(group) {
            group.work.data = at;
        }
    }

    /// The group is cancelled: its tasks that haven't begun needn't be run.
    pub fn cancel(&mut self, group: Number) {
        if let Some(group) = self.task_mut(group) {
            group.cancelled = true;
        }
    }

    /// Whether it is.
    pub fn is_cancelled(&self, group: Number) -> bool {
        self.task(group).is_some_and(|group| group.cancelled)
    }

    /// No task of the group is left; the one around it.
    pub fn close_group(&mut self, number: Number) -> Number {
        let around = self.task(number).map_or(NONE, |group| group.place.group);
        self.close(number);
        around
    }

    fn put_back(&mut self, number: Number) {
        let free = self.free;
        if let Some(task) = self.task_mut(number) {
            task.next_free = free;
            self.free = number;
        }
    }

    /// A task that was run at once has ended, or a group, or a record isn't used after all.
    pub fn close(&mut self, number: Number) {
        let Some(task) = self.task_mut(number) else { return };
        task.ended = true;
        if task.left == 0 {
            self.put_back(number);
        }
    }

    /// Defers a task, whose record was opened. `false` if there is no room for its dependences: nothing has
    /// been done then.
    #[must_use]
    pub fn defer(
        &mut self,
        number: Number,
        place: Place,
        work: Work,
        needs: impl Iterator<Item = (usize, Kind)> + Clone,
    ) -> bool {
        let Some(unmet) = self.depends.add(number, place.parent, needs) else { return false };
        let Some(task) = self.task_mut(number) else { return false };
        (task.work, task.place, task.unmet) = (work, place, unmet);
        for around in [place.parent, place.group] {
            if let Some(around) = self.task_mut(around) {
                around.left += 1;
            }
        }
        self.left += 1;
        if unmet == 0 {
            self.is_ready(number, true);
        }
        true
    }

    /// Whether a task with these dependences would have to wait for another one.
    pub fn would_wait(&self, parent: Number, needs: impl Iterator<Item = (usize, Kind)>) -> bool {
        self.depends.would_wait(parent, needs)
    }

    /// A task that was taken has done a part of its work, and goes on when it is taken again: behind all
    /// others, for it may wait for them.
    pub fn again(&mut self, number: Number) {
        self.is_ready(number, false);
    }

    fn is_ready(&mut self, number: Number, is_new: bool) {
        let Some(task) = self.task(number) else { return };
        let place = task.place;
        for (list, owner) in [(CHILDREN, place.parent), (GROUP, place.group)] {
            let Some(owner) = self.task_mut(owner) else { continue };
            // The newest first: what it needs is at hand.
            let (before, behind) = if is_new { (NONE, owner.first) } else { (owner.last, NONE) };
            if before == NONE {
                owner.first = number;
            }
            if behind == NONE {
                owner.last = number;
            }
            self.link(list, number, before, behind);
        }
        if !place.own {
            let before = core::mem::replace(&mut self.last, number);
            if before == NONE {
                self.first = number;
            }
            self.link(TEAM, number, before, NONE);
            self.ready += 1;
        }
    }

    fn link(&mut self, list: usize, number: Number, before: Number, behind: Number) {
        self.set_link(list, number, |link| *link = Link { before, behind });
        self.set_link(list, before, |link| link.behind = number);
        self.set_link(list, behind, |link| link.before = number);
    }

    fn set_link(&mut self, list: usize, number: Number, set: impl FnOnce(&mut Link)) {
        if let Some(link) = self.task_mut(number).and_then(|task| task.links.get_mut(list)) {
            set(link);
        }
    }

    /// Takes a task out of a list; what was before and behind it.
    fn unlink(&mut self, list: usize, number: Number) -> Link {
        let none = Link { before: NONE, behind: NONE };
        let link = self.task(number).and_then(|task| task.links.get(list)).copied().unwrap_or(none);
        self.set_link(list, link.before, |neighbour| neighbour.behind = link.behind);
        self.set_link(list, link.behind, |neighbour| neighbour.before = link.before);
        link
    }

    /// Takes a task to run: its record, what to run, and the group that it is in.
    pub fn take(&mut self, who: For) -> Option<(Number, Work, Number)> {
        let number = match who {
            For::Team => self.first,
            For::Parent(around) | For::Group(around) => self.task(around)?.first,
        };
        let task = self.task(number)?;
        let (work, place) = (task.work, task.place);
        for (list, owner) in [(CHILDREN, place.parent), (GROUP, place.group)] {
            if owner != NONE {
                let link = self.unlink(list, number);
                let Some(owner) = self.task_mut(owner) else { continue };
                if link.before == NONE {
                    owner.first = link.behind;
                }
                if link.behind == NONE {
                    owner.last = link.before;
                }
            }
        }
        if !place.own {
            let link = self.unlink(TEAM, number);
            if link.before == NONE {
                self.first = link.behind;
            }
            if link.behind == NONE {
                self.last = link.before;
            }
            self.ready = self.ready.saturating_sub(1);
        }
        Some((number, work, place.group))
    }

    /// A task that was taken is over: those that waited for it may be ready now.
    pub fn finish(&mut self, number: Number) {
        let Some(place) = self.task(number).map(|task| task.place) else { return };
        self.depends.forget(number);
        while let Some(waits) = self.depends.next_behind(number) {
            if let Some(task) = self.task_mut(waits) {
                task.unmet = task.unmet.saturating_sub(1);
                if task.unmet == 0 {
                    self.is_ready(waits, true);
                }
            }
        }
        self.left = self.left.saturating_sub(1);
        if let Some(group) = self.task_mut(place.group) {
            group.left = group.left.saturating_sub(1);
        }
        if let Some(parent) = self.task_mut(place.parent) {
            parent.left = parent.left.saturating_sub(1);
            if parent.left == 0 && parent.ended {
                self.put_back(place.parent);
            }
        }
        self.close(number);
    }
}

impl<const RECORDS: usize, const ENTRIES: usize> Default for TaskTable<RECORDS, ENTRIES> {
    fn default() -> Self {
        TaskTable::new()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "task_table_tests.rs"]
mod tests;
