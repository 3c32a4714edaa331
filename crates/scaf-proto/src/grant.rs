//! The grant page: what the daemon allows a program. Written by the daemon, mapped read-only by the client. A
//! region's entry reads the grant, one 64-bit word ([`Word`]), and the [`Order`] beside it. A forked
//! child takes its own affinity from the masks ([`Masks::own`]).

use crate::child_starts::Moves;
use crate::experiment::Order;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::{MAGIC, MASK_WORDS, VERSION, seq};

/// The grant in one word: DoP, flags, number of inspected modules, epoch. Zero, as on a page that was never
/// written, means *unmanaged*: the program runs as without scaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Word(u64);

impl Word {
    /// The program is to run exactly as without scaf.
    pub const UNMANAGED: Word = Word(0);
    const MANAGED: u64 = 1 << 16;

    /// A grant of `dop` contexts (1 to 65,535; 0 is taken for 1).
    pub fn managed(dop: u16) -> Word {
        Word(Self::MANAGED | u64::from(dop.max(1)))
    }

    /// Sets how many of the modules that the client met have been inspected.
    pub fn with_inspected(self, modules: u8) -> Word {
        Word((self.0 & !(0xff << 24)) | (u64::from(modules) << 24))
    }

    /// Numbers the grant; the number grows with every change and wraps around.
    pub fn with_epoch(self, epoch: u32) -> Word {
        Word((self.0 & 0xffff_ffff) | (u64::from(epoch) << 32))
    }

    /// Degree of parallelism granted, in contexts; `None` while the program is unmanaged.
    #[inline(always)]
    pub fn dop(self) -> Option<u32> {
        (self.0 & Self::MANAGED != 0).then_some((self.0 & 0xffff) as u32)
    }

    /// How many of the modules that the client met, in the order it met them, have been inspected.
    #[inline(always)]
    pub fn inspected(self) -> u32 {
        (self.0 >> 24 & 0xff) as u32
    }

    /// Number of the decision; it grows, and may wrap.
    #[inline(always)]
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Flags of a [`Word`]: how each is read and set, and its bit.
macro_rules! flags {
    ($($(#[$doc:meta])* $get:ident, $set:ident, $bit:ident: $at:literal;)+) => {
        impl Word {$(
            #[doc = concat!("The bit of [`Self::", stringify!($get), "`].")]
            pub const $bit: u64 = 1 << $at;

            $(#[$doc])*
            #[inline(always)]
            pub fn $get(self) -> bool {
                self.0 & Self::$bit != 0
            }

            #[doc = concat!("Sets [`Self::", stringify!($get), "`].")]
            pub fn $set(self, set: bool) -> Word {
                Word(if set { self.0 | Self::$bit } else { self.0 & !Self::$bit })
            }
        )+}
    };
}

flags! {
    /// Whether regions of inspected modules, whose code doesn't depend on a team's size, may be resized.
    resizable, with_resizable, RESIZE: 17;
    /// Whether the daemon has narrowed the program's affinity.
    folded, with_folded, FOLDED: 18;
    /// Whether the program's threads spin on memory: a team larger than the grant waits for itself.
    spins, with_spins, SPINS: 19;
    /// Whether nothing that the code of inspected modules' regions can reach forbids to gather their teams.
    gathers, with_gathers, GATHERS: 20;
    /// Whether contexts are lent during a serial phase: the client reports when it enters a region.
    lent, with_lent, LENT: 21;
    /// Whether some of the contexts are borrowed: the kernel is too slow to spread a team over them.
    borrowed, with_borrowed, BORROWED: 22;
}

/// A set of PUs by operating-system index.
pub type Mask = [u64; MASK_WORDS];

/// How many PUs are in it.
pub fn count(mask: &Mask) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

/// A program's PUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masks {
    /// Those granted.
    pub granted: Mask,
    /// The affinity that the program would have without scaf.
    pub own: Mask,
}

/// The page itself. All fields belong to the daemon.
#[cfg_attr(loom, derive(Default))]
#[repr(C, align(64))]
pub struct GrantPage {
    magic: AtomicU32,
    version: AtomicU32,
    word: AtomicU64,
    /// See [`Order`]; beside the word, because each region looks at both.
    experiment: AtomicU64,
    seq: AtomicU64,
    granted: [AtomicU64; MASK_WORDS],
    own: [AtomicU64; MASK_WORDS],
    /// What threads may have; see [`GrantPage::record`].
    recorded: [[AtomicU64; MASK_WORDS]; RECORDED],
    /// Until when the grant holds, in nanoseconds of CLOCK_MONOTONIC.
    lease: AtomicU64,
    /// The number of marks, plus one; 0 if they aren't known.
    marked: AtomicU64,
    /// Where loops that spin on memory can be made to yield.
    marks: [[AtomicU64; 2]; MARKS],
    moves: Moves,
}

/// Affinities set by the daemon that the page lists. `seq` doesn't guard them.
pub const RECORDED: usize = if cfg!(loom) { 1 } else { 10 };

/// Most spinning loops that the page lists.
pub const MARKS: usize = if cfg!(loom) { 2 } else { 64 };

impl GrantPage {
    /// Where on the page the word is, in bytes.
    #[cfg(not(loom))]
    pub const WORD_AT: usize = core::mem::offset_of!(GrantPage, word);

    /// Daemon: stamps a zeroed page. Until then a client takes it for foreign.
    pub fn stamp(&self) {
        self.version.store(VERSION, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// Client: whether the page is one of this version.
    pub fn is_current(&self) -> bool {
        self.magic.load(Ordering::Acquire) == MAGIC && self.version.load(Ordering::Relaxed) == VERSION
    }

    /// Daemon: publishes a grant. The masks come first, so that a client that sees the word finds them.
    pub fn publish(&self, word: Word, masks: &Masks) {
        let write = seq::begin(&self.seq);
        store(&self.granted, &masks.granted);
        store(&self.own, &masks.own);
        seq::end(&self.seq, write);
        self.word.store(word.0, Ordering::Release);
    }

    /// Daemon: these are all affinities that threads have of the daemon's, or are about to have; of more than
    /// [`RECORDED`] the first. Written before any thread is moved, and without touching what stands here
    /// still, so that a client whose daemon was killed at any moment knows what to take back.
    pub fn record(&self, masks: &[Mask]) {
        let masks = &masks[..masks.len().min(RECORDED)];
        for mask in masks {
            if !self.recorded.iter().any(|place| load(place) == *mask)
                && let Some(place) = self.place(masks)
            {
                store(place, mask);
            }
        }
    }

    /// A free place, or one of an earlier mask that isn't among `masks`.
    fn place(&self, masks: &[Mask]) -> Option<&[AtomicU64; MASK_WORDS]> {
        let free = self.recorded.iter().find(|place| count(&load(place)) == 0);
        free.or_else(|| self.recorded.iter().find(|place| !masks.contains(&load(place))))
    }

    /// Client: whether a thread's affinity is the daemon's.
    pub fn is_daemons(&self, mask: &Mask) -> bool {
        count(mask) > 0 && self.recorded.iter().any(|place| load(place) == *mask)
    }

    /// Client: whether any thread may have one of the daemon's.
    pub fn has_narrowed(&self) -> bool {
        self.recorded.iter().any(|place| count(&load(place)) > 0)
    }

    /// Whether threads are being narrowed.
    pub fn moves(&self) -> &Moves {
        &self.moves
    }

    /// Client: the grant as it is now.
    #[inline(always)]
    pub fn word(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }

    /// The futex on which clients sleep until the grant changes: the word's half with the epoch. The client
    /// needs read access only; only the kernel reads through the address.
    #[cfg(not(loom))]
    pub fn futex_word(&self) -> *const u32 {
        let halves = self.word.as_ptr().cast_const().cast::<u32>();
        halves.wrapping_add(usize::from(cfg!(target_endian = "little")))
    }

    /// Daemon: the region that a serial experiment is wanted of.
    pub fn order(&self, order: Order) {
        self.experiment.store(order.bits(), Ordering::Relaxed);
    }

    /// Client: the region that a serial experiment is wanted of.
    #[inline(always)]
    pub fn ordered(&self) -> Order {
        Order::from_bits(self.experiment.load(Ordering::Relaxed))
    }

    /// Daemon: renews the lease until then (CLOCK_MONOTONIC, ns).
    pub fn renew(&self, until_ns: u64) {
        self.lease.store(until_ns, Ordering::Relaxed);
    }

    /// Client: whether the lease has expired, because the daemon is stopped or hangs.
    pub fn is_expired(&self, now_ns: u64) -> bool {
        now_ns > self.lease.load(Ordering::Relaxed)
    }

    /// Daemon: lists the marks of all loops that spin on memory (`scaf_team::arch::spin_marks`), if all that
    /// need one have one. Too many are none.
    pub fn set_marks(&self, marks: Option<&[[u64; 2]]>) {
        let marks = marks.filter(|marks| marks.len() <= MARKS);
        for (place, mark) in self.marks.iter().zip(marks.unwrap_or(&[])) {
            place.iter().zip(mark).for_each(|(cell, word)| cell.store(*word, Ordering::Relaxed));
        }
        self.marked.store(marks.map_or(0, |marks| marks.len() as u64 + 1), Ordering::Release);
    }

    /// Client: the marks. Valid only while all modules have been inspected ([`Word::inspected`]).
    pub fn marks(&self) -> Option<impl Iterator<Item = [u64; 2]>> {
        let count = self.marked.load(Ordering::Acquire).checked_sub(1)?;
        let read = |place: &[AtomicU64; 2]| place.each_ref().map(|word| word.load(Ordering::Relaxed));
        Some(self.marks.iter().take(count as usize).map(read))
    }

    /// Client: the masks; `None` if the daemon was stopped in the middle of writing them.
    pub fn masks(&self) -> Option<Masks> {
        seq::read(&self.seq, || Masks { granted: load(&self.granted), own: load(&self.own) })
    }
}

fn store(to: &[AtomicU64; MASK_WORDS], from: &Mask) {
    for (cell, value) in to.iter().zip(from) {
        cell.store(*value, Ordering::Relaxed);
    }
}

fn load(from: &[AtomicU64; MASK_WORDS]) -> Mask {
    core::array::from_fn(|i| from[i].load(Ordering::Relaxed))
}

#[cfg(not(loom))]
const _: () = {
    assert!(size_of::<GrantPage>() <= crate::PAGE_BYTES);
    assert!(core::mem::offset_of!(GrantPage, word) == 8);
    assert!(core::mem::offset_of!(GrantPage, seq) == 24);
    assert!(core::mem::offset_of!(GrantPage, granted) == 32);
    assert!(core::mem::offset_of!(GrantPage, own) == 32 + 8 * MASK_WORDS);
};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_zeroed_page_is_unmanaged_and_foreign() {
        let page: GrantPage = zeroed();
        assert!(!page.is_current());
        assert_eq!(page.word().dop(), None);
        assert_eq!((page.word().inspected(), page.word().resizable()), (0, false));
    }

    #[test]
    fn a_word_keeps_its_parts_apart() {
        let word = Word::managed(u16::MAX).with_inspected(255).with_folded(true).with_epoch(u32::MAX);
        assert!(
            !word.spins() && word.with_spins(true).spins() && word.with_spins(true).with_spins(false) == word
        );
        assert!(!word.lent() && word.with_lent(true).lent());
        assert_eq!(word.with_lent(true).with_lent(false), word);
        assert!(!word.borrowed() && word.with_borrowed(true).borrowed());
        assert_eq!(word.with_borrowed(true).with_borrowed(false), word);
        assert!(!word.gathers() && word.with_gathers(true).gathers());
        assert_eq!(word.with_gathers(true).with_gathers(false), word);
        assert!(!word.resizable() && word.with_resizable(true).resizable());
        assert_eq!(word.with_resizable(true).with_resizable(false), word);
        assert_eq!(
            (word.dop(), word.inspected(), word.folded(), word.epoch()),
            (Some(65_535), 255, true, u32::MAX)
        );
        let word = Word::managed(0).with_epoch(7);
        assert_eq!((word.dop(), word.inspected(), word.folded(), word.epoch()), (Some(1), 0, false, 7));
    }

    #[test]
    fn what_was_published_is_read_back() {
        let page: GrantPage = zeroed();
        page.stamp();
        let masks = Masks { granted: [1; MASK_WORDS], own: [3; MASK_WORDS] };
        page.publish(Word::managed(2), &masks);
        assert!(page.is_current());
        assert_eq!(page.masks(), Some(masks));
    }

    #[test]
    fn recorded_affinities_stay_until_they_are_replaced() {
        let page: GrantPage = zeroed();
        let mask = |number: u64| -> Mask { [number; MASK_WORDS] };
        assert!(!page.has_narrowed() && !page.is_daemons(&mask(0)));
        page.record(&[mask(1), mask(2)]);
        page.record(&[mask(2), mask(3)]);
        assert!(page.has_narrowed() && [1, 2, 3].iter().all(|number| page.is_daemons(&mask(*number))));
        let many: Vec<Mask> = (10..50).map(mask).collect();
        page.record(&many);
        let all: Vec<u64> = (1..50).filter(|number| page.is_daemons(&mask(*number))).collect();
        assert_eq!(all, (10..10 + RECORDED as u64).collect::<Vec<_>>());
        assert!(!page.is_daemons(&mask(0)));
    }

    #[test]
    fn the_bell_changes_with_each_grant() {
        let page: GrantPage = zeroed();
        let masks = Masks { granted: [1; MASK_WORDS], own: [3; MASK_WORDS] };
        page.publish(Word::managed(2).with_epoch(0xfeed_f00d), &masks);
        // SAFETY: the address is inside `page`, aligned for u32, and no other thread writes.
        assert_eq!(unsafe { *page.futex_word() }, 0xfeed_f00d);
    }

    #[test]
    fn a_grant_holds_until_its_lease_is_over() {
        let page: GrantPage = zeroed();
        assert!(page.is_expired(1));
        page.renew(7);
        assert!(!page.is_expired(7) && page.is_expired(8));
    }

    #[test]
    fn marks_are_listed_all_or_none() {
        let page: GrantPage = zeroed();
        let listed = || page.marks().map(Iterator::collect::<Vec<_>>);
        assert_eq!(listed(), None);
        let many: Vec<[u64; 2]> = (1..=MARKS as u64).map(|at| [at, at]).collect();
        page.set_marks(Some(&many));
        assert_eq!(listed().as_ref(), Some(&many));
        page.set_marks(Some(&[[7, 8]]));
        assert_eq!(listed(), Some(vec![[7, 8]]));
        page.set_marks(Some(&[]));
        assert_eq!(listed(), Some(vec![]));
        page.set_marks(Some(&[many, vec![[1, 2]]].concat()));
        assert_eq!(listed(), None);
    }

    fn zeroed() -> GrantPage {
        // SAFETY: the page consists of atomics and integers only, for which zero is a value.
        unsafe { core::mem::zeroed() }
    }
}
