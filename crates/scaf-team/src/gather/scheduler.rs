//! Who runs whom, and what those wait for that nobody runs.
//!
//! A member is *held* by the carrier that runs it, *free* while nobody does, or *done*. A carrier that has
//! nothing left to do for its member looks for a free one that is ready, takes it, changes to it, and only
//! then sets the one before free: a member is never free while its registers are still being saved.
//!
//! Member 0 is the master, and carrier 0 its own kernel thread. At the region's end only that one takes it;
//! before, so do carriers beyond those that the region began with, which come where one is stuck.

pub use super::wait_until::{Cancelled, Until};

use super::exclusive_carrier::Exclusive;
use super::member_state::{FINISHED, Member, Part, RUNNING, SUSPENDED};
use super::wait_until::{JOINED, OWN_THREAD, PASSED, SPINS, TURN};
use crate::sync::{AtomicU32, Ordering, in_order};
use crate::{Line, Sleep};

/// The members of one team, up to `MOST`, and its carriers.
#[derive(Debug)]
pub struct FiberScheduler<const MOST: usize> {
    pub(super) members: [Member; MOST],
    /// Members of this region's team.
    pub(super) size: AtomicU32,
    /// The parts that they are in ([`super::barrier_parts`]), and how many these are.
    pub(super) parts: [Part; MOST],
    pub(super) cut: AtomicU32,
    /// Whether its one carrier is by itself.
    pub(super) exclusive: Exclusive,
    /// Parts that have arrived at the barrier that is next to be passed; members, if all are one part.
    pub(super) arrived: Line,
    /// Barriers passed so far.
    pub(super) passed: Line,
    /// Members that are done.
    pub(super) finished: Line,
    /// Tasks that any member at the barrier could run.
    tasks: Line,
    /// Changes that members may wait for, counted while any of them listens.
    changes: Line,
    /// Members that listen.
    listening: AtomicU32,
    /// Changes while a carrier sleeps; what carriers sleep on.
    wake_seq: Line,
    /// Carriers that sleep or are about to.
    asleep: AtomicU32,
    /// Carriers that the region may have; 0 between two regions.
    pub(super) carrier_limit: Line,
    /// Carriers at work in the region, its master's not among them.
    active: AtomicU32,
    /// Carriers that the region began with.
    pub(super) initial_carriers: AtomicU32,
    /// Whether members go back to threads of their own, and when ([`super::return_to_threads`]).
    pub(super) returning: AtomicU32,
    /// What is cancelled ([`super::cancellation`]).
    pub(super) cancelled: Line,
    /// Members that have come to the region's end, if it may be cancelled.
    pub(super) ended: Line,
}

impl<const MOST: usize> FiberScheduler<MOST> {
    /// Where in a scheduler the 4 bytes are that [`Self::open`] reads.
    #[cfg(not(loom))]
    pub const CARRIER_LIMIT_AT: usize = core::mem::offset_of!(Self, carrier_limit);

    /// A scheduler without a region.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        const fn word() -> Line {
            Line(AtomicU32::new(0))
        }
        FiberScheduler {
            members: [const { Member::new() }; MOST],
            size: AtomicU32::new(0),
            parts: [const { Part::new() }; MOST],
            cut: AtomicU32::new(0),
            exclusive: Exclusive::new(),
            arrived: word(),
            passed: word(),
            finished: word(),
            tasks: word(),
            changes: word(),
            listening: AtomicU32::new(0),
            wake_seq: word(),
            asleep: AtomicU32::new(0),
            carrier_limit: word(),
            active: AtomicU32::new(0),
            initial_carriers: AtomicU32::new(0),
            returning: AtomicU32::new(0),
            cancelled: word(),
            ended: word(),
        }
    }

    /// A scheduler without a region.
    #[cfg(loom)]
    pub fn new() -> Self {
        let word = || Line(AtomicU32::new(0));
        FiberScheduler {
            members: core::array::from_fn(|_| Member::new()),
            size: AtomicU32::new(0),
            parts: core::array::from_fn(|_| Part::new()),
            cut: AtomicU32::new(0),
            exclusive: Exclusive::new(),
            arrived: word(),
            passed: word(),
            finished: word(),
            tasks: word(),
            changes: word(),
            listening: AtomicU32::new(0),
            wake_seq: word(),
            asleep: AtomicU32::new(0),
            carrier_limit: word(),
            active: AtomicU32::new(0),
            initial_carriers: AtomicU32::new(0),
            returning: AtomicU32::new(0),
            cancelled: word(),
            ended: word(),
        }
    }

    /// The master begins a region of `size` members, 1 to `MOST`, on up to `carriers`. It holds itself; the
    /// others are ready to start.
    #[inline]
    pub fn begin(&self, size: u32, carriers: u32) {
        self.size.store(size, Ordering::Relaxed);
        self.initial_carriers.store(carriers, Ordering::Relaxed);
        self.returning.store(0, Ordering::Relaxed);
        self.finished.0.store(0, Ordering::Relaxed);
        self.cut(carriers);
        self.exclusive.begin(carriers);
        self.uncancel();
        for (number, member) in self.members.iter().enumerate().take(size as usize) {
            member.waits.store(TURN, Ordering::Relaxed);
            member.state.store(if number == 0 { RUNNING } else { SUSPENDED }, Ordering::Relaxed);
        }
        self.carrier_limit.0.store(carriers, Ordering::SeqCst);
    }

    /// The master ends the region: nobody comes active any more. It may go on once nobody [is](Self::empty).
    #[inline]
    pub fn close(&self) {
        self.carrier_limit.0.store(0, Ordering::SeqCst);
        in_order();
    }

    /// Whether no carrier but the master's is at work in the region.
    #[inline]
    pub fn is_quiescent(&self) -> bool {
        self.active.load(Ordering::SeqCst) == 0
    }

    /// Carriers that the region may have; 0 between two regions.
    #[inline]
    pub fn carrier_limit(&self) -> u32 {
        self.carrier_limit.0.load(Ordering::Acquire)
    }

    /// From now on a region on one carrier begins with that [by itself](super::exclusive_carrier), or none
    /// does.
    pub fn allow_exclusive(&self, can: bool) {
        self.exclusive.set_revocable(can);
    }

    /// Has the running region on up to `carriers`, if there is one and it has fewer; `false` if not, or not
    /// now: else they are to come. `order` does as in [`super::exclusive_carrier`]. One thread at a time may
    /// do this.
    pub fn widen(&self, carriers: u32, order: impl Fn() -> bool) -> bool {
        let mut now = self.carrier_limit.0.load(Ordering::Relaxed);
        let was_alone = carriers > 1 && now != 0 && !self.exclusive.is_revoked();
        // The carrier may just have lost its PU within a change; another one has left it by the second time.
        if was_alone && !self.exclusive.revoke(&order) && !self.exclusive.revoke(&order) {
            return false;
        }
        while now != 0 && now < carriers {
            match self.carrier_limit.0.compare_exchange(now, carriers, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        // It has as many if it was widened for the region before it, and has turned them away so far.
        was_alone && now > 1
    }

    /// Whether the caller's thread was interrupted while it changed something [by
    /// itself](super::exclusive_carrier).
    pub fn is_in_exclusive_section(&self) -> bool {
        self.exclusive.is_in_section()
    }

    /// Has the running region on at most `carriers`: those beyond leave where they next wait.
    #[inline]
    pub fn narrow(&self, carriers: u32) {
        let now = self.carrier_limit.0.load(Ordering::Relaxed);
        if now > carriers {
            // Whoever leaves has nothing of its own when it comes again, so it may take the master.
            self.initial_carriers.fetch_min(carriers, Ordering::Relaxed);
            let _ = self.carrier_limit.0.compare_exchange(now, carriers, Ordering::SeqCst, Ordering::Relaxed);
        }
    }

    /// A carrier other than the master's comes to work in the region; `false` if it isn't wanted.
    pub fn carrier_enters(&self, carrier: u32) -> bool {
        self.active.fetch_add(1, Ordering::SeqCst);
        in_order();
        let wanted = self.carrier_limit.0.load(Ordering::SeqCst) > carrier && self.exclusive.is_revoked();
        if !wanted {
            self.active.fetch_sub(1, Ordering::SeqCst);
        }
        wanted
    }

    /// It leaves: it is on no member's stack any more.
    pub fn carrier_leaves(&self) {
        self.active.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a carrier is to leave: the region is on fewer, or over.
    #[inline(always)]
    pub fn is_surplus(&self, carrier: u32) -> bool {
        carrier != 0 && self.carrier_limit.0.load(Ordering::Relaxed) <= carrier
    }

    /// Members of the region's team.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size.load(Ordering::Relaxed)
    }

    /// Whether what a member waits for has come about. After [`Until::Passed`] and [`Until::Joined`], what
    /// the others did before is seen.
    #[inline(always)]
    pub fn is_met(&self, until: Until) -> bool {
        match until {
            Until::Turn | Until::Spins => true,
            Until::Passed(word) => self.has_passed(word),
            Until::PassedOrCancelled(word) => self.has_passed(word) || self.is_cancelled(Cancelled::Region),
            Until::Joined => self.finished.0.load(Ordering::Acquire) >= self.size().saturating_sub(1),
            Until::Changed(word) => self.changes.0.load(Ordering::Acquire) != word,
            Until::OwnThread => false,
        }
    }

    #[inline(always)]
    fn has_passed(&self, word: u32) -> bool {
        self.passed.0.load(Ordering::Acquire) != word
    }

    /// Barriers passed so far, in all regions, by wrapping; what a member waits with until the next one is.
    #[inline(always)]
    pub fn passed(&self) -> u32 {
        self.passed.0.load(Ordering::Relaxed)
    }

    /// So many tasks are ready now; one who looks at a time. Whoever adds one [tells](Self::tell) it.
    #[inline]
    pub fn offer(&self, tasks: u32) {
        if self.tasks.0.load(Ordering::Relaxed) != tasks {
            self.tasks.0.store(tasks, Ordering::SeqCst);
        }
    }

    /// Whether there is a task that a member could run while it waits for that.
    #[inline(always)]
    pub fn offers(&self, until: Until) -> bool {
        matches!(until, Until::Passed(_) | Until::PassedOrCancelled(_)) && self.has_tasks()
    }

    /// Whether there is one.
    #[inline(always)]
    pub fn has_tasks(&self) -> bool {
        self.tasks.0.load(Ordering::Acquire) != 0
    }

    /// A held member is about to look for something that another one changes. If it isn't there it waits
    /// until something has changed, and looks again; in the end it [listens](Self::unlisten) no more.
    pub fn listen(&self) -> Until {
        self.listening.fetch_add(1, Ordering::SeqCst);
        in_order();
        Until::Changed(self.changes.0.load(Ordering::SeqCst))
    }

    /// It has found it, or will listen anew.
    pub fn unlisten(&self) {
        self.listening.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a member listens, for who made the change under a lock that listeners look under.
    #[inline]
    pub fn has_listeners(&self) -> bool {
        self.listening.load(Ordering::Relaxed) != 0
    }

    /// Something was changed that members may wait for.
    #[inline]
    pub fn notify_changed(&self, sleep: &impl Sleep) {
        in_order();
        // Orders the change, however it was made, before the look.
        if self.listening.fetch_add(0, Ordering::SeqCst) != 0 {
            self.changes.0.fetch_add(1, Ordering::SeqCst);
            self.notify(sleep);
        }
    }

    /// A held member has run to its end. Its carrier may still be on its stack.
    #[inline]
    pub fn finish(&self, member: usize, sleep: &impl Sleep) {
        if let Some(member) = self.members.get(member) {
            member.state.store(FINISHED, Ordering::Relaxed);
        }
        self.finished.0.fetch_add(1, Ordering::SeqCst);
        self.notify(sleep);
    }

    /// Takes the next member behind `last` that is free and ready.
    #[inline(always)]
    pub fn take(&self, carrier: u32, last: usize) -> Option<usize> {
        self.take_of(carrier, last, 0, self.size() as usize)
    }

    /// Takes the next of the numbers from `first` to before `end` that is free and ready, behind `last`.
    #[inline(always)]
    pub(super) fn take_of(&self, carrier: u32, last: usize, first: usize, end: usize) -> Option<usize> {
        let mut number = last;
        for _ in first..end {
            number = if number.wrapping_add(1) >= end { first } else { number.wrapping_add(1) };
            if number == 0 && carrier != 0 && carrier < self.initial_carriers.load(Ordering::Relaxed) {
                continue;
            }
            let Some(member) = self.members.get(number) else { continue };
            if member.state.load(Ordering::Acquire) == SUSPENDED
                && self.is_ready(member)
                && self.try_run(member)
            {
                // It may have been run in between, and wait for something else now.
                match member.waits.load(Ordering::Relaxed) {
                    JOINED if carrier != 0 => {}
                    OWN_THREAD => {}
                    _ => return Some(number),
                }
                member.state.store(SUSPENDED, Ordering::Release);
            }
        }
        None
    }

    /// Takes a member that was free; `false` if somebody else has.
    #[inline(always)]
    fn try_run(&self, member: &Member) -> bool {
        let hold = || {
            member.state.compare_exchange(SUSPENDED, RUNNING, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        self.exclusive.exclusively(|| member.state.store(RUNNING, Ordering::Relaxed)).is_some() || hold()
    }

    #[inline(always)]
    pub(super) fn is_ready(&self, member: &Member) -> bool {
        let (waits, word) = (member.waits.load(Ordering::Relaxed), member.word.load(Ordering::Relaxed));
        match waits {
            PASSED => self.has_passed(word) || self.has_tasks(),
            _ => self.is_ready_otherwise(waits, word),
        }
    }

    /// Apart from what most wait for.
    #[inline(never)]
    fn is_ready_otherwise(&self, waits: u32, word: u32) -> bool {
        let until = Until::from_words(waits, word);
        self.is_met(until) || self.offers(until)
    }

    /// A held member says what it will wait for, before its carrier changes to another one.
    #[inline(always)]
    pub fn set_wait(&self, member: usize, until: Until) {
        if let Some(member) = self.members.get(member) {
            let (waits, word) = until.words();
            member.waits.store(waits, Ordering::Relaxed);
            member.word.store(word, Ordering::Relaxed);
        }
    }

    /// Sets a held member free: its carrier has changed to another one.
    #[inline(always)]
    pub fn set_suspended(&self, member: usize) {
        if let Some(member) = self.members.get(member) {
            member.state.store(SUSPENDED, Ordering::Release);
        }
    }

    /// Whether a member is ready that nobody runs: one that another carrier could take. Members that spin on
    /// memory don't count.
    pub fn has_ready(&self) -> bool {
        self.any_free(|waits| waits != JOINED && waits != SPINS)
    }

    /// Whether a member spins on memory that nobody runs.
    pub fn has_spinning(&self) -> bool {
        self.any_free(|waits| waits == SPINS)
    }

    fn any_free(&self, counts: impl Fn(u32) -> bool) -> bool {
        self.members.iter().take(self.size() as usize).any(|member| {
            member.state.load(Ordering::Acquire) == SUSPENDED
                && counts(member.waits.load(Ordering::Relaxed))
                && self.is_ready(member)
        })
    }

    /// A carrier has found nothing to do. Looks once more and then sleeps for at most `limit_ms` milliseconds
    /// until there may be something; returns what `look` found, if anything.
    #[cold]
    pub fn nap<T>(&self, sleep: &impl Sleep, limit_ms: u32, look: impl Fn() -> Option<T>) -> Option<T> {
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let seen = self.wake_seq.0.load(Ordering::SeqCst);
        in_order();
        let found = look();
        if found.is_none() {
            sleep.sleep(&self.wake_seq.0, seen, limit_ms);
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        found
    }

    /// Something was changed before. Either we see here that a carrier is about to sleep, or it sees the
    /// change.
    #[inline(always)]
    pub fn notify(&self, sleep: &impl Sleep) {
        in_order();
        if self.asleep.load(Ordering::SeqCst) != 0 {
            self.wake_seq.0.fetch_add(1, Ordering::SeqCst);
            sleep.wake_all(&self.wake_seq.0);
        }
    }

    /// After a fork, in the child: no other thread is there, so nobody is run but the caller. If that is a
    /// member it will wait for ever at the next barrier, as it would with threads of the runtime's.
    pub fn after_fork(&self) {
        for member in &self.members {
            member.state.store(FINISHED, Ordering::Relaxed);
        }
        self.returning.store(0, Ordering::Relaxed);
        self.exclusive.after_fork();
        self.uncancel();
        self.carrier_limit.0.store(0, Ordering::Relaxed);
        self.active.store(0, Ordering::Relaxed);
        self.listening.store(0, Ordering::Relaxed);
        self.tasks.0.store(0, Ordering::Relaxed);
        self.asleep.store(0, Ordering::Relaxed);
    }
}

impl<const MOST: usize> Default for FiberScheduler<MOST> {
    fn default() -> Self {
        FiberScheduler::new()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "scheduler_tests.rs"]
mod tests;
