//! The queue of inspections: round robin over users, so that no user delays others' programs. Pure.
//!
//! A program that is loading libraries is inspected once it has loaded none for a while: Python with LightGBM
//! loads 60 in 0.7 s, and an inspection for every few of them took a tenth of the machine.

use super::verdict::Verdict;
use scaf_policy::ProgramId;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long it has to load nothing new.
const QUIET: Duration = Duration::from_millis(100);
/// How long a job waits for that at most.
const LONGEST: Duration = Duration::from_millis(800);
/// The age from which a program is worth the 3 ms of an inspection, if others of its executable were
/// inspected and nothing urgent was found.
const LATER: Duration = Duration::from_millis(250);

/// When a program is to be inspected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// As soon as its user's turn comes.
    Now,
    /// Once it has loaded no libraries for a while.
    Quiet,
    /// If it lives for a while.
    Later,
}

/// What is to be inspected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    pub id: ProgramId,
    pub pid: u32,
    pub uid: u32,
    /// The owner of that user id, whose turn it takes.
    pub owner: u32,
    pub gid: u32,
    /// Modules that it had loaded by the request.
    pub modules: u8,
}

/// What to start a helper for.
#[derive(Debug)]
pub(super) struct Next {
    pub job: Job,
    pub when: When,
    /// The verdict without what regions reach, if that is what is to be looked at now.
    pub first: Option<Verdict>,
}

#[derive(Debug)]
struct Waiting {
    next: Next,
    due: Instant,
    latest: Instant,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Users with jobs; the next one's are in front.
    users: VecDeque<(u32, VecDeque<Waiting>)>,
}

impl Queue {
    /// Adds a job; it replaces one for the same program.
    pub(super) fn push(&mut self, job: Job, when: When, now: Instant) {
        self.add(Next { job, when, first: None }, now);
    }

    /// Adds what is left of a job with this verdict.
    pub(super) fn push_second(&mut self, job: Job, first: Verdict, when: When, now: Instant) {
        self.add(Next { job, when, first: Some(first) }, now);
    }

    fn add(&mut self, next: Next, now: Instant) {
        let due = match next.when {
            When::Now => now,
            When::Quiet => now + QUIET,
            When::Later => now + LATER,
        };
        let (id, owner) = (next.job.id, next.job.owner);
        let waiting = Waiting { next, due, latest: now + LONGEST };
        if let Some((_, jobs)) = self.users.iter_mut().find(|(uid, _)| *uid == owner) {
            match jobs.iter_mut().find(|before| before.next.job.id == id) {
                Some(before) => {
                    let latest = before.latest;
                    *before = Waiting { due: due.min(latest), latest, ..waiting };
                }
                None => jobs.push_back(waiting),
            }
        } else {
            self.users.push_back((owner, VecDeque::from([waiting])));
        }
    }

    /// Whether a job for the program waits.
    pub(super) fn has(&self, id: ProgramId) -> bool {
        self.users.iter().flat_map(|(_, jobs)| jobs).any(|waiting| waiting.next.job.id == id)
    }

    pub(super) fn forget(&mut self, id: ProgramId) {
        for (_, jobs) in &mut self.users {
            jobs.retain(|waiting| waiting.next.job.id != id);
        }
        self.users.retain(|(_, jobs)| !jobs.is_empty());
    }

    /// The next job that is due, of a user without a running helper of that kind (`busy` is asked whether
    /// there is one, second or not), who then goes to the end.
    pub(super) fn pop(&mut self, now: Instant, busy: impl Fn(u32, bool) -> bool) -> Option<Next> {
        let takes = |uid, waiting: &Waiting| waiting.due <= now && !busy(uid, waiting.next.first.is_some());
        let mut all = self.users.iter().enumerate();
        let (user, at) = all.find_map(|(user, (uid, jobs))| {
            Some((user, jobs.iter().position(|waiting| takes(*uid, waiting))?))
        })?;
        let (uid, mut jobs) = self.users.remove(user)?;
        let next = jobs.remove(at).map(|waiting| waiting.next);
        if !jobs.is_empty() {
            self.users.push_back((uid, jobs));
        }
        next
    }

    /// When the next job becomes due.
    pub(super) fn next_due(&self, now: Instant) -> Option<Instant> {
        let dues = self.users.iter().flat_map(|(_, jobs)| jobs.iter().map(|waiting| waiting.due));
        dues.filter(|due| *due > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64, uid: u32) -> Job {
        Job { id: ProgramId(id), pid: 1, uid, owner: uid, gid: 1, modules: 1 }
    }

    /// A queue of jobs that are due at once.
    fn of(jobs: impl IntoIterator<Item = (u64, u32)>) -> (Queue, Instant) {
        let (mut queue, now) = (Queue::default(), Instant::now());
        jobs.into_iter().for_each(|(id, uid)| queue.push(job(id, uid), When::Now, now));
        (queue, now)
    }

    fn drain(queue: &mut Queue, now: Instant) -> Vec<u64> {
        std::iter::from_fn(|| queue.pop(now, |_, _| false)).map(|next| next.job.id.0).collect()
    }

    #[test]
    fn users_take_turns_and_each_ones_jobs_keep_their_order() {
        let (mut queue, now) = of([(1, 10), (2, 10), (3, 10), (4, 11), (5, 12), (6, 11)]);
        assert_eq!(drain(&mut queue, now), [1, 4, 5, 2, 6, 3]);
    }

    #[test]
    fn a_user_whose_helper_works_still_is_passed_over() {
        let (mut queue, now) = of([(1, 10), (2, 11)]);
        assert_eq!(queue.pop(now, |uid, _| uid == 10).map(|next| next.job.id.0), Some(2));
        assert!(queue.pop(now, |uid, _| uid == 10).is_none());
        assert_eq!(drain(&mut queue, now), [1]);
    }

    #[test]
    fn what_regions_reach_delays_nobodys_first_verdict() {
        let (mut queue, now) = of([]);
        queue.push_second(job(1, 10), Verdict::default(), When::Now, now);
        queue.push_second(job(2, 10), Verdict::default(), When::Quiet, now);
        queue.push(job(3, 10), When::Now, now);
        let next = |queue: &mut Queue, busy: bool| {
            queue.pop(now, |_, is_second| is_second && busy).map(|next| (next.job.id.0, next.first.is_some()))
        };
        assert_eq!(next(&mut queue, true), Some((3, false)));
        assert_eq!(next(&mut queue, true), None);
        assert_eq!(next(&mut queue, false), Some((1, true)));
        assert_eq!(next(&mut queue, false), None);
        queue.push(job(2, 10), When::Now, now);
        assert_eq!(next(&mut queue, false), Some((2, false)));
    }

    #[test]
    fn a_later_job_for_a_program_replaces_the_one_that_waits() {
        let (mut queue, now) = of([(1, 10), (2, 10)]);
        queue.push(job(3, 11), When::Quiet, now);
        assert_eq!([1, 2, 3, 4].map(|id| queue.has(ProgramId(id))), [true, true, true, false]);
        queue.push(Job { modules: 7, ..job(1, 10) }, When::Now, now);
        assert_eq!(queue.pop(now, |_, _| false).map(|next| (next.job.id.0, next.job.modules)), Some((1, 7)));
        assert_eq!(drain(&mut queue, now), [2]);
    }

    #[test]
    fn a_program_that_left_is_not_inspected() {
        let (mut queue, now) = of([(1, 10), (2, 11)]);
        queue.forget(ProgramId(1));
        assert_eq!(drain(&mut queue, now), [2]);
    }

    #[test]
    fn a_program_that_loads_libraries_is_inspected_once_when_it_has() {
        let (mut queue, begin) = of([]);
        let at = |ms| begin + Duration::from_millis(ms);
        for ms in (0..400).step_by(50) {
            queue.push(job(1, 10), When::Quiet, at(ms));
            assert!(queue.pop(at(ms), |_, _| false).is_none());
        }
        assert_eq!(queue.next_due(at(350)), Some(at(350) + QUIET));
        assert_eq!(drain(&mut queue, at(350) + QUIET), [1]);
        assert_eq!(queue.next_due(at(350)), None);
    }

    #[test]
    fn a_program_that_never_stops_loading_is_inspected_all_the_same() {
        let (mut queue, begin) = of([]);
        let mut now = begin;
        while queue.pop(now, |_, _| false).is_none() {
            queue.push(job(1, 10), When::Quiet, now);
            now += Duration::from_millis(50);
            assert!(now <= begin + LONGEST);
        }
    }

    #[test]
    fn a_job_that_is_not_due_delays_no_other() {
        let (mut queue, now) = of([]);
        queue.push(job(1, 10), When::Quiet, now);
        queue.push(job(2, 10), When::Now, now);
        queue.push(job(3, 11), When::Quiet, now);
        assert_eq!(drain(&mut queue, now), [2]);
        assert_eq!(drain(&mut queue, now + QUIET), [3, 1]);
    }
}
