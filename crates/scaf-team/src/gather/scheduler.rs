//! The fiber scheduler: which member each carrier runs, and what suspended members wait for. README.md here
//! describes the protocol and why it is right.
//!
//! A member is *running* on one carrier, *suspended*, or *finished*; a suspended one is ready once what it
//! waits for holds. A carrier whose member has to wait takes a ready one, switches to it, and only then marks
//! the previous one as suspended. So nobody takes a member whose registers are still being saved.
//!
//! Member 0 is the master, and carrier 0 its own kernel thread. At the region's end only carrier 0 takes the
//! master. Before that, carriers that were added later may also take it.

pub use super::wait_until::{Cancelled, Until};

use super::exclusive_carrier::Exclusive;
use super::member_state::{FINISHED, Member, Part, RUNNING, SUSPENDED};
use super::wait_until::{JOINED, OWN_THREAD, PASSED, SPINS, TURN};
use crate::sync::{AtomicU32, Ordering, array, constructor, in_order};
use crate::{Line, Sleep};

/// The members of one team, up to `MOST`, and its carriers.
#[derive(Debug)]
pub struct FiberScheduler<const MOST: usize> {
    pub(super) members: [Member; MOST],
    /// Members of this region's team.
    pub(super) size: AtomicU32,
    /// The parts that they are in ([`super::barrier_parts`]), and their number.
    pub(super) parts: [Part; MOST],
    pub(super) cut: AtomicU32,
    /// Whether the only carrier has exclusive access.
    pub(super) exclusive: Exclusive,
    /// Parts that have arrived at the next barrier; members, if there is one part.
    pub(super) arrived: Line,
    /// Barriers passed so far.
    pub(super) passed: Line,
    /// Members that have finished.
    pub(super) finished: Line,
    /// Tasks that members at the barrier could run.
    tasks: Line,
    /// Counts changes that members may wait for, while any listens.
    changes: Line,
    /// Members that listen.
    listening: AtomicU32,
    /// Counts notifications while a carrier sleeps; carriers sleep on it.
    wake_seq: Line,
    /// Carriers that sleep or are about to.
    asleep: AtomicU32,
    /// Carriers that the region may have; 0 between two regions.
    pub(super) carrier_limit: Line,
    /// Carriers in the region, except the master's.
    active: AtomicU32,
    /// Carriers that the region began with.
    pub(super) initial_carriers: AtomicU32,
    /// Whether members return to their own threads, and when ([`super::return_to_threads`]).
    pub(super) returning: AtomicU32,
    /// What is cancelled ([`super::cancellation`]).
    pub(super) cancelled: Line,
    /// Members that have reached the end of a region that may be cancelled.
    pub(super) ended: Line,
}

impl<const MOST: usize> FiberScheduler<MOST> {
    /// Offset of the 4 bytes that [`Self::carrier_limit`] reads.
    #[cfg(not(loom))]
    pub const CARRIER_LIMIT_AT: usize = core::mem::offset_of!(Self, carrier_limit);

    constructor! {
        /// A scheduler without a region.
        pub fn new() -> Self {
            FiberScheduler {
                members: array![Member::new(); MOST],
                size: AtomicU32::new(0),
                parts: array![Part::new(); MOST],
                cut: AtomicU32::new(0),
                exclusive: Exclusive::new(),
                arrived: Line::new(),
                passed: Line::new(),
                finished: Line::new(),
                tasks: Line::new(),
                changes: Line::new(),
                listening: AtomicU32::new(0),
                wake_seq: Line::new(),
                asleep: AtomicU32::new(0),
                carrier_limit: Line::new(),
                active: AtomicU32::new(0),
                initial_carriers: AtomicU32::new(0),
                returning: AtomicU32::new(0),
                cancelled: Line::new(),
                ended: Line::new(),
            }
        }
    }

    /// The master begins a region of `size` members, 1 to `MOST`, on up to `carriers`. It runs itself; the
    /// others are ready.
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

    /// The master ends the region: no carrier enters any more. The master waits until it [is
    /// quiescent](Self::is_quiescent).
    #[inline]
    pub fn close(&self) {
        self.carrier_limit.0.store(0, Ordering::SeqCst);
        in_order();
    }

    /// Whether a region is gathered now.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.carrier_limit.0.load(Ordering::Relaxed) != 0
    }

    /// Whether no carrier but the master's is in the region.
    #[inline]
    pub fn is_quiescent(&self) -> bool {
        self.active.load(Ordering::SeqCst) == 0
    }

    /// Carriers that the region may have; 0 between two regions.
    #[inline]
    pub fn carrier_limit(&self) -> u32 {
        self.carrier_limit.0.load(Ordering::Acquire)
    }

    /// From now on, regions on one carrier begin with [exclusive access](super::exclusive_carrier), or none
    /// does.
    pub fn allow_exclusive(&self, can: bool) {
        self.exclusive.set_revocable(can);
    }

    /// Allows the running region up to `carriers`, if it has fewer. Returns whether carriers are to be woken;
    /// `false` without a region, or if exclusive access can't be revoked now. `order`: see
    /// [`super::exclusive_carrier`]. One thread at a time may call this.
    pub fn widen(&self, carriers: u32, order: impl Fn() -> bool) -> bool {
        let mut now = self.carrier_limit.0.load(Ordering::Relaxed);
        let was_alone = carriers > 1 && now != 0 && !self.exclusive.is_revoked();
        // The carrier may have been preempted within an exclusive section; by the second try another one has
        // left it.
        if was_alone && !self.exclusive.revoke(&order) && !self.exclusive.revoke(&order) {
            return false;
        }
        while now != 0 && now < carriers {
            match self.carrier_limit.0.compare_exchange(now, carriers, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        // The limit may be as large from the region before, and carriers were refused so far.
        was_alone && now > 1
    }

    /// Whether the calling thread was interrupted within an [exclusive section](super::exclusive_carrier).
    pub fn is_in_exclusive_section(&self) -> bool {
        self.exclusive.is_in_section()
    }

    /// Limits the running region to `carriers`: those beyond leave where they next wait.
    #[inline]
    pub fn narrow(&self, carriers: u32) {
        let now = self.carrier_limit.0.load(Ordering::Relaxed);
        if now > carriers {
            // A carrier that leaves and comes back has no member, so it may take the master.
            self.initial_carriers.fetch_min(carriers, Ordering::Relaxed);
            let _ = self.carrier_limit.0.compare_exchange(now, carriers, Ordering::SeqCst, Ordering::Relaxed);
        }
    }

    /// A carrier other than the master's enters the region; `false` if it may not.
    pub fn carrier_enters(&self, carrier: u32) -> bool {
        self.active.fetch_add(1, Ordering::SeqCst);
        in_order();
        let wanted = self.carrier_limit.0.load(Ordering::SeqCst) > carrier && self.exclusive.is_revoked();
        if !wanted {
            self.active.fetch_sub(1, Ordering::SeqCst);
        }
        wanted
    }

    /// A carrier leaves the region. It is on no member's stack.
    pub fn carrier_leaves(&self) {
        self.active.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a carrier has to leave: the region's limit is lower, or it is over.
    #[inline(always)]
    pub fn is_surplus(&self, carrier: u32) -> bool {
        carrier != 0 && self.carrier_limit.0.load(Ordering::Relaxed) <= carrier
    }

    /// Members of the region's team.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size.load(Ordering::Relaxed)
    }

    /// Whether that holds. After [`Until::Passed`] and [`Until::Joined`], effects of all members before are
    /// visible.
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

    /// Barriers passed so far, in all regions, modulo 2^32.
    #[inline(always)]
    pub fn passed(&self) -> u32 {
        self.passed.0.load(Ordering::Relaxed)
    }

    /// Sets the number of ready tasks; one caller at a time. After adding one, it [notifies](Self::notify)
    /// carriers.
    #[inline]
    pub fn offer(&self, tasks: u32) {
        if self.tasks.0.load(Ordering::Relaxed) != tasks {
            self.tasks.0.store(tasks, Ordering::SeqCst);
        }
    }

    /// Whether a member that waits for this could run a task.
    #[inline(always)]
    pub fn offers(&self, until: Until) -> bool {
        matches!(until, Until::Passed(_) | Until::PassedOrCancelled(_)) && self.has_tasks()
    }

    /// Whether there is a ready task.
    #[inline(always)]
    pub fn has_tasks(&self) -> bool {
        self.tasks.0.load(Ordering::Acquire) != 0
    }

    /// Called by a running member before it looks for something that another one changes. If it isn't there,
    /// the member waits for the result and looks again, and finally calls [`Self::unlisten`].
    pub fn listen(&self) -> Until {
        self.listening.fetch_add(1, Ordering::SeqCst);
        in_order();
        Until::Changed(self.changes.0.load(Ordering::SeqCst))
    }

    /// The member has found it, or will listen again.
    pub fn unlisten(&self) {
        self.listening.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a member listens, for a change under a lock that listeners look under.
    #[inline]
    pub fn has_listeners(&self) -> bool {
        self.listening.load(Ordering::Relaxed) != 0
    }

    /// Called after a change that members may wait for.
    #[inline]
    pub fn notify_changed(&self, sleep: &impl Sleep) {
        in_order();
        // Orders the change, however it was made, before the load.
        if self.listening.fetch_add(0, Ordering::SeqCst) != 0 {
            self.changes.0.fetch_add(1, Ordering::SeqCst);
            self.notify(sleep);
        }
    }

    /// A running member has finished. Its carrier may still be on its stack.
    #[inline]
    pub fn finish(&self, member: usize, sleep: &impl Sleep) {
        if let Some(member) = self.members.get(member) {
            member.state.store(FINISHED, Ordering::Relaxed);
        }
        self.finished.0.fetch_add(1, Ordering::SeqCst);
        self.notify(sleep);
    }

    /// Takes the next ready member after `last`.
    #[inline(always)]
    pub fn take(&self, carrier: u32, last: usize) -> Option<usize> {
        self.take_of(carrier, last, 0, self.size() as usize)
    }

    /// Takes the next ready member after `last` of those from `first` to before `end`.
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
                // It may have run in between, and wait for something else now.
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

    /// Marks a suspended member as running; `false` if another carrier did.
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

    /// The less frequent cases.
    #[inline(never)]
    fn is_ready_otherwise(&self, waits: u32, word: u32) -> bool {
        let until = Until::from_words(waits, word);
        self.is_met(until) || self.offers(until)
    }

    /// A running member declares what it will wait for, before its carrier switches.
    #[inline(always)]
    pub fn set_wait(&self, member: usize, until: Until) {
        if let Some(member) = self.members.get(member) {
            let (waits, word) = until.words();
            member.waits.store(waits, Ordering::Relaxed);
            member.word.store(word, Ordering::Relaxed);
        }
    }

    /// The member is fully saved and may be scheduled: its carrier has switched to another one.
    #[inline(always)]
    pub fn set_suspended(&self, member: usize) {
        if let Some(member) = self.members.get(member) {
            member.state.store(SUSPENDED, Ordering::Release);
        }
    }

    /// Whether a suspended member is ready that another carrier could take. Members that spin on memory don't
    /// count.
    pub fn has_ready(&self) -> bool {
        self.any_free(|waits| waits != JOINED && waits != SPINS)
    }

    /// Whether a suspended member spins on memory.
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

    /// A carrier found nothing to do: looks once more, then sleeps for at most `limit_ms` milliseconds.
    /// Returns what `look` found.
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

    /// Called after a change. Either this sees a carrier that is about to sleep, or that carrier sees the
    /// change.
    #[inline(always)]
    pub fn notify(&self, sleep: &impl Sleep) {
        in_order();
        if self.asleep.load(Ordering::SeqCst) != 0 {
            self.wake_seq.0.fetch_add(1, Ordering::SeqCst);
            sleep.wake_all(&self.wake_seq.0);
        }
    }

    /// After a fork, in the child: only the calling thread exists. If it `is_member`, it stays on its
    /// carrier, for nobody else would run it, and waits forever at the next barrier, as with the runtime's
    /// own threads.
    pub fn after_fork(&self, is_member: bool) {
        for member in &self.members {
            member.state.store(FINISHED, Ordering::Relaxed);
        }
        self.returning.store(0, Ordering::Relaxed);
        self.exclusive.after_fork();
        self.uncancel();
        self.carrier_limit.0.store(if is_member { u32::MAX } else { 0 }, Ordering::Relaxed);
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
