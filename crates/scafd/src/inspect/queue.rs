//! Who is inspected next. Pure.
//!
//! Every user has a line of jobs, and the lines take turns, so that no user delays others' programs.

use scaf_policy::ProgramId;
use std::collections::VecDeque;

/// What is to be inspected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Which program.
    pub id: ProgramId,
    /// Its process.
    pub pid: u32,
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Modules that it had met when this was asked.
    pub modules: u8,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Users with jobs, none of them empty; whose turn it is stands in front.
    users: VecDeque<(u32, VecDeque<Job>)>,
}

impl Queue {
    /// Adds a job; it replaces one for the same program.
    pub(super) fn push(&mut self, job: Job) {
        if let Some((_, jobs)) = self.users.iter_mut().find(|(uid, _)| *uid == job.uid) {
            match jobs.iter_mut().find(|waiting| waiting.id == job.id) {
                Some(waiting) => *waiting = job,
                None => jobs.push_back(job),
            }
        } else {
            self.users.push_back((job.uid, VecDeque::from([job])));
        }
    }

    /// Takes out a program's job.
    pub(super) fn forget(&mut self, id: ProgramId) {
        for (_, jobs) in &mut self.users {
            jobs.retain(|job| job.id != id);
        }
        self.users.retain(|(_, jobs)| !jobs.is_empty());
    }

    /// The next job of a user for whom nobody is `busy`. That user's next turn comes after all others'.
    pub(super) fn pop(&mut self, busy: impl Fn(u32) -> bool) -> Option<Job> {
        let at = self.users.iter().position(|(uid, _)| !busy(*uid))?;
        let (uid, mut jobs) = self.users.remove(at)?;
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            self.users.push_back((uid, jobs));
        }
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64, uid: u32) -> Job {
        Job { id: ProgramId(id), pid: 1, uid, gid: 1, modules: 1 }
    }

    fn drain(queue: &mut Queue) -> Vec<u64> {
        std::iter::from_fn(|| queue.pop(|_| false)).map(|job| job.id.0).collect()
    }

    #[test]
    fn users_take_turns_and_each_ones_jobs_keep_their_order() {
        let mut queue = Queue::default();
        for (id, uid) in [(1, 10), (2, 10), (3, 10), (4, 11), (5, 12), (6, 11)] {
            queue.push(job(id, uid));
        }
        assert_eq!(drain(&mut queue), [1, 4, 5, 2, 6, 3]);
    }

    #[test]
    fn a_user_whose_helper_works_still_is_passed_over() {
        let mut queue = Queue::default();
        queue.push(job(1, 10));
        queue.push(job(2, 11));
        assert_eq!(queue.pop(|uid| uid == 10).map(|job| job.id.0), Some(2));
        assert_eq!(queue.pop(|uid| uid == 10), None);
        assert_eq!(drain(&mut queue), [1]);
    }

    #[test]
    fn a_later_job_for_a_program_replaces_the_one_that_waits() {
        let mut queue = Queue::default();
        queue.push(job(1, 10));
        queue.push(job(2, 10));
        queue.push(Job { modules: 7, ..job(1, 10) });
        assert_eq!(queue.pop(|_| false).map(|job| (job.id.0, job.modules)), Some((1, 7)));
        assert_eq!(drain(&mut queue), [2]);
    }

    #[test]
    fn a_program_that_left_is_not_inspected() {
        let mut queue = Queue::default();
        queue.push(job(1, 10));
        queue.push(job(2, 11));
        queue.forget(ProgramId(1));
        assert_eq!(drain(&mut queue), [2]);
    }
}
