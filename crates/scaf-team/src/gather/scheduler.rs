//! Who runs whom, and what those wait for that nobody runs.
//!
//! A member is *held* by the carrier that runs it, *free* while nobody does, or *done*. A carrier that has
//! nothing left to do for its member looks for a free one that is ready, takes it, changes to it, and only
//! then sets the one before free: a member is never free while its registers are still being saved.
//!
//! Member 0 is the master, and carrier 0 its own kernel thread. At the region's end only that one takes it;
//! before, so do carriers beyond those that the region began with, which come where one is stuck.

pub use super::wait_until::{Cancelled, Until};

use super::exclusive_carrier::Alone;
use super::member_state::{DONE, FREE, HELD, Member, Part};
use super::wait_until::{HOME, JOINED, PASSED, SPINS, TURN};
use crate::sync::{AtomicU32, Ordering, in_order};
use crate::{Line, Sleep};

/// The members of one team, up to `MOST`, and its carriers.
#[derive(Debug)]
pub struct Crew<const MOST: usize> {
    pub(super) members: [Member; MOST],
    /// Members of this region's team.
    pub(super) size: AtomicU32,
    /// The parts that they are in ([`super::barrier_parts`]), and how many these are.
    pub(super) parts: [Part; MOST],
    pub(super) cut: AtomicU32,
    /// Whether its one carrier is by itself.
    pub(super) alone: Alone,
    /// Parts that have arrived at the barrier that is next to be passed; members, if all are one part.
    pub(super) arrived: Line,
    /// Barriers passed so far.
    pub(super) passed: Line,
    /// Members that are done.
    pub(super) done: Line,
    /// Tasks that any member at the barrier could run.
    tasks: Line,
    /// Changes that members may wait for, counted while any of them listens.
    changes: Line,
    /// Members that listen.
    listening: AtomicU32,
    /// Changes while a carrier sleeps; what carriers sleep on.
    news: Line,
    /// Carriers that sleep or are about to.
    asleep: AtomicU32,
    /// Carriers that the region may have; 0 between two regions.
    pub(super) open: Line,
    /// Carriers at work in the region, its master's not among them.
    aboard: AtomicU32,
    /// Carriers that the region began with.
    pub(super) planned: AtomicU32,
    /// Whether members go back to threads of their own, and when ([`super::return_to_threads`]).
    pub(super) home: AtomicU32,
    /// What is cancelled ([`super::cancellation`]).
    pub(super) cancelled: Line,
    /// Members that have come to the region's end, if it may be cancelled.
    pub(super) ended: Line,
}

impl<const MOST: usize> Crew<MOST> {
    /// Where in a crew the 4 bytes are that [`Self::open`] reads.
    #[cfg(not(loom))]
    pub const OPEN_AT: usize = core::mem::offset_of!(Self, open);

    /// A crew without a region.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        const fn word() -> Line {
            Line(AtomicU32::new(0))
        }
        Crew {
            members: [const { Member::new() }; MOST],
            size: AtomicU32::new(0),
            parts: [const { Part::new() }; MOST],
            cut: AtomicU32::new(0),
            alone: Alone::new(),
            arrived: word(),
            passed: word(),
            done: word(),
            tasks: word(),
            changes: word(),
            listening: AtomicU32::new(0),
            news: word(),
            asleep: AtomicU32::new(0),
            open: word(),
            aboard: AtomicU32::new(0),
            planned: AtomicU32::new(0),
            home: AtomicU32::new(0),
            cancelled: word(),
            ended: word(),
        }
    }

    /// A crew without a region.
    #[cfg(loom)]
    pub fn new() -> Self {
        let word = || Line(AtomicU32::new(0));
        Crew {
            members: core::array::from_fn(|_| Member::new()),
            size: AtomicU32::new(0),
            parts: core::array::from_fn(|_| Part::new()),
            cut: AtomicU32::new(0),
            alone: Alone::new(),
            arrived: word(),
            passed: word(),
            done: word(),
            tasks: word(),
            changes: word(),
            listening: AtomicU32::new(0),
            news: word(),
            asleep: AtomicU32::new(0),
            open: word(),
            aboard: AtomicU32::new(0),
            planned: AtomicU32::new(0),
            home: AtomicU32::new(0),
            cancelled: word(),
            ended: word(),
        }
    }

    /// The master begins a region of `size` members, 1 to `MOST`, on up to `carriers`. It holds itself; the
    /// others are ready to start.
    #[inline]
    pub fn begin(&self, size: u32, carriers: u32) {
        self.size.store(size, Ordering::Relaxed);
        self.planned.store(carriers, Ordering::Relaxed);
        self.home.store(0, Ordering::Relaxed);
        self.done.0.store(0, Ordering::Relaxed);
        self.cut(carriers);
        self.alone.begin(carriers);
        self.uncancel();
        for (number, member) in self.members.iter().enumerate().take(size as usize) {
            member.waits.store(TURN, Ordering::Relaxed);
            member.state.store(if number == 0 { HELD } else { FREE }, Ordering::Relaxed);
        }
        self.open.0.store(carriers, Ordering::SeqCst);
    }

    /// The master ends the region: nobody comes aboard any more. It may go on once nobody [is](Self::empty).
    #[inline]
    pub fn close(&self) {
        self.open.0.store(0, Ordering::SeqCst);
        in_order();
    }

    /// Whether no carrier but the master's is at work in the region.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.aboard.load(Ordering::SeqCst) == 0
    }

    /// Carriers that the region may have; 0 between two regions.
    #[inline]
    pub fn open(&self) -> u32 {
        self.open.0.load(Ordering::Acquire)
    }

    /// From now on a region on one carrier begins with that [by itself](super::exclusive_carrier), or none
    /// does.
    pub fn can_order(&self, can: bool) {
        self.alone.set_can_end(can);
    }

    /// Has the running region on up to `carriers`, if there is one and it has fewer; `false` if not, or not
    /// now: else they are to come. `order` does as in [`super::exclusive_carrier`]. One thread at a time may
    /// do this.
    pub fn widen(&self, carriers: u32, order: impl Fn() -> bool) -> bool {
        let mut now = self.open.0.load(Ordering::Relaxed);
        let was_alone = carriers > 1 && now != 0 && !self.alone.is_over();
        // The carrier may just have lost its PU within a change; another one has left it by the second time.
        if was_alone && !self.alone.end(&order) && !self.alone.end(&order) {
            return false;
        }
        while now != 0 && now < carriers {
            match self.open.0.compare_exchange(now, carriers, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        // It has as many if it was widened for the region before it, and has turned them away so far.
        was_alone && now > 1
    }

    /// Whether the caller's thread was interrupted while it changed something [by
    /// itself](super::exclusive_carrier).
    pub fn is_changing(&self) -> bool {
        self.alone.is_within()
    }

    /// Has the running region on at most `carriers`: those beyond leave where they next wait.
    #[inline]
    pub fn narrow(&self, carriers: u32) {
        let now = self.open.0.load(Ordering::Relaxed);
        if now > carriers {
            // Whoever leaves has nothing of its own when it comes again, so it may take the master.
            self.planned.fetch_min(carriers, Ordering::Relaxed);
            let _ = self.open.0.compare_exchange(now, carriers, Ordering::SeqCst, Ordering::Relaxed);
        }
    }

    /// A carrier other than the master's comes to work in the region; `false` if it isn't wanted.
    pub fn board(&self, carrier: u32) -> bool {
        self.aboard.fetch_add(1, Ordering::SeqCst);
        in_order();
        let wanted = self.open.0.load(Ordering::SeqCst) > carrier && self.alone.is_over();
        if !wanted {
            self.aboard.fetch_sub(1, Ordering::SeqCst);
        }
        wanted
    }

    /// It leaves: it is on no member's stack any more.
    pub fn unboard(&self) {
        self.aboard.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a carrier is to leave: the region is on fewer, or over.
    #[inline(always)]
    pub fn is_surplus(&self, carrier: u32) -> bool {
        carrier != 0 && self.open.0.load(Ordering::Relaxed) <= carrier
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
            Until::Joined => self.done.0.load(Ordering::Acquire) >= self.size().saturating_sub(1),
            Until::Changed(word) => self.changes.0.load(Ordering::Acquire) != word,
            Until::Home => false,
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
    pub fn is_listened(&self) -> bool {
        self.listening.load(Ordering::Relaxed) != 0
    }

    /// Something was changed that members may wait for.
    #[inline]
    pub fn changed(&self, sleep: &impl Sleep) {
        in_order();
        // Orders the change, however it was made, before the look.
        if self.listening.fetch_add(0, Ordering::SeqCst) != 0 {
            self.changes.0.fetch_add(1, Ordering::SeqCst);
            self.tell(sleep);
        }
    }

    /// A held member has run to its end. Its carrier may still be on its stack.
    #[inline]
    pub fn is_done(&self, member: usize, sleep: &impl Sleep) {
        if let Some(member) = self.members.get(member) {
            member.state.store(DONE, Ordering::Relaxed);
        }
        self.done.0.fetch_add(1, Ordering::SeqCst);
        self.tell(sleep);
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
            if number == 0 && carrier != 0 && carrier < self.planned.load(Ordering::Relaxed) {
                continue;
            }
            let Some(member) = self.members.get(number) else { continue };
            if member.state.load(Ordering::Acquire) == FREE && self.is_ready(member) && self.hold(member) {
                // It may have been run in between, and wait for something else now.
                match member.waits.load(Ordering::Relaxed) {
                    JOINED if carrier != 0 => {}
                    HOME => {}
                    _ => return Some(number),
                }
                member.state.store(FREE, Ordering::Release);
            }
        }
        None
    }

    /// Takes a member that was free; `false` if somebody else has.
    #[inline(always)]
    fn hold(&self, member: &Member) -> bool {
        let hold = || member.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok();
        self.alone.by_itself(|| member.state.store(HELD, Ordering::Relaxed)).is_some() || hold()
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
    pub fn waits(&self, member: usize, until: Until) {
        if let Some(member) = self.members.get(member) {
            let (waits, word) = until.words();
            member.waits.store(waits, Ordering::Relaxed);
            member.word.store(word, Ordering::Relaxed);
        }
    }

    /// Sets a held member free: its carrier has changed to another one.
    #[inline(always)]
    pub fn set_free(&self, member: usize) {
        if let Some(member) = self.members.get(member) {
            member.state.store(FREE, Ordering::Release);
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
            member.state.load(Ordering::Acquire) == FREE
                && counts(member.waits.load(Ordering::Relaxed))
                && self.is_ready(member)
        })
    }

    /// A carrier has found nothing to do. Looks once more and then sleeps for at most `limit_ms` milliseconds
    /// until there may be something; returns what `look` found, if anything.
    #[cold]
    pub fn nap<T>(&self, sleep: &impl Sleep, limit_ms: u32, look: impl Fn() -> Option<T>) -> Option<T> {
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let seen = self.news.0.load(Ordering::SeqCst);
        in_order();
        let found = look();
        if found.is_none() {
            sleep.sleep(&self.news.0, seen, limit_ms);
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        found
    }

    /// Something was changed before. Either we see here that a carrier is about to sleep, or it sees the
    /// change.
    #[inline(always)]
    pub fn tell(&self, sleep: &impl Sleep) {
        in_order();
        if self.asleep.load(Ordering::SeqCst) != 0 {
            self.news.0.fetch_add(1, Ordering::SeqCst);
            sleep.wake_all(&self.news.0);
        }
    }

    /// After a fork, in the child: no other thread is there, so nobody is run but the caller. If that is a
    /// member it will wait for ever at the next barrier, as it would with threads of the runtime's.
    pub fn after_fork(&self) {
        for member in &self.members {
            member.state.store(DONE, Ordering::Relaxed);
        }
        self.home.store(0, Ordering::Relaxed);
        self.alone.after_fork();
        self.uncancel();
        self.open.0.store(0, Ordering::Relaxed);
        self.aboard.store(0, Ordering::Relaxed);
        self.listening.store(0, Ordering::Relaxed);
        self.tasks.0.store(0, Ordering::Relaxed);
        self.asleep.store(0, Ordering::Relaxed);
    }
}

impl<const MOST: usize> Default for Crew<MOST> {
    fn default() -> Self {
        Crew::new()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "scheduler_tests.rs"]
mod tests;
