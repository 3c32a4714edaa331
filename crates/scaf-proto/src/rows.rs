//! The rows of a report page: what the runs of each region took, at each DoP that occurred. A region that
//! runs for long has *marks*: its barriers, from one to the next, which tell its speed before it ends. Where
//! a region is a loop whose entry point tells its iterations, they are counted, too: time per iteration
//! varies less than time per run. While there are several masters none writes: their teams' sizes are not the
//! program's DoP. A row's runs and ticks are one word, so that they belong together, and wrap around: only
//! differences between readings less than a minute apart mean something.

use crate::sync::{AtomicU64, Ordering};

/// Rows of a page. Pairs of a region and a DoP beyond that are left out.
pub const ROWS: usize = 255;
/// Bits of a sum that are ticks; the others are runs. Six minutes at 3 GHz, and 16 million regions.
const TICK_BITS: u32 = 40;
const TICKS: u64 = (1 << TICK_BITS) - 1;
const ADDRESS_BITS: u32 = 48;
const MOST: u32 = (1 << (63 - ADDRESS_BITS)) - 1;
const COUNTS: u64 = 1 << 63;
/// Lower bits of a row's iterations that number its runs, to tell whether both belong together.
const RUN_BITS: u32 = 20;
const RUNS: u64 = (1 << RUN_BITS) - 1;

/// Which region at which DoP; what a row is found by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key(u64);

impl Key {
    /// The region whose outlined function is at `address`, on `dop` contexts.
    #[inline(always)]
    pub fn new(address: usize, dop: u32) -> Key {
        let dop = if dop < MOST { dop } else { MOST };
        Key(address as u64 & ((1 << ADDRESS_BITS) - 1) | u64::from(dop) << ADDRESS_BITS)
    }

    /// The same for the region's marks: no function is in the upper half of the address space.
    #[inline(always)]
    pub fn marks(address: usize, dop: u32) -> Key {
        Key(Key::new(address, dop).0 | 1 << (ADDRESS_BITS - 1))
    }

    /// The same for a region that is a loop: its row counts iterations.
    #[inline(always)]
    pub fn of_loop(address: usize, dop: u32) -> Key {
        Key(Key::new(address, dop).0 | COUNTS)
    }

    /// Which region, or which region's marks: the same number at each DoP.
    pub fn region(self) -> u64 {
        self.0 & ((1 << ADDRESS_BITS) - 1)
    }

    /// The address behind a number that [`Key::region`] gave, and whether it was that of marks.
    pub fn of_region(region: u64) -> (u64, bool) {
        let marks = 1 << (ADDRESS_BITS - 1);
        (region & (marks - 1), region & marks != 0)
    }

    /// The DoP, at most 32,767.
    pub fn dop(self) -> u32 {
        (self.0 >> ADDRESS_BITS) as u32 & MOST
    }
}

/// The runs of one region at one DoP.
#[repr(C)]
pub struct Row {
    key: AtomicU64,
    sum: AtomicU64,
    /// Iterations, and the lower bits of the number of their runs.
    work: AtomicU64,
}

/// A row as it was at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowCopy {
    /// Which region at which DoP.
    pub key: Key,
    sum: u64,
    work: u64,
}

/// What a row tells of the time between two readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Since {
    /// Runs that ended.
    pub runs: u64,
    /// Ticks from their entries to their ends.
    pub wall: u64,
    /// Their iterations, where those are counted; else as many as there were runs.
    pub work: u64,
}

impl RowCopy {
    /// What ended since an earlier reading of the row (`None`: since there was nothing in it).
    pub fn since(self, earlier: Option<RowCopy>) -> Since {
        let (sum, work) = earlier.map_or((0, 0), |earlier| (earlier.sum, earlier.work));
        let runs = (self.sum >> TICK_BITS).wrapping_sub(sum >> TICK_BITS) & (u64::MAX >> TICK_BITS);
        let iterations = (self.work >> RUN_BITS).wrapping_sub(work >> RUN_BITS) & (u64::MAX >> RUN_BITS);
        let work = if self.key.0 & COUNTS == 0 { runs } else { iterations };
        Since { runs, wall: self.sum.wrapping_sub(sum) & TICKS, work }
    }

    /// Whether it was read while its writer was at it.
    pub fn is_torn(self) -> bool {
        self.key.0 & COUNTS != 0 && (self.sum >> TICK_BITS ^ self.work) & RUNS != 0
    }
}

/// All rows. A region that finds no free one isn't reported.
#[repr(C)]
pub struct Rows([Row; ROWS]);

impl Rows {
    /// Master: adds runs, their ticks and iterations. `hint` is what this returned before, or anything.
    #[inline(always)]
    pub fn add(&self, hint: usize, key: Key, runs: u64, wall: u64, iterations: u64) -> usize {
        let at = match self.0.get(hint) {
            Some(row) if row.key.load(Ordering::Relaxed) == key.0 => hint,
            _ => self.find(key),
        };
        if let Some(row) = self.0.get(at) {
            let before = row.sum.load(Ordering::Relaxed);
            let (ended, ticks) = (before & !TICKS, before & TICKS);
            let ended = ended.wrapping_add(runs << TICK_BITS);
            if key.0 & COUNTS != 0 {
                let work = (row.work.load(Ordering::Relaxed) & !RUNS).wrapping_add(iterations << RUN_BITS);
                row.work.store(work | ended >> TICK_BITS & RUNS, Ordering::Relaxed);
            }
            row.sum.store(ended | (ticks.wrapping_add(wall) & TICKS), Ordering::Relaxed);
        }
        at
    }

    #[cold]
    fn find(&self, key: Key) -> usize {
        for (at, row) in self.0.iter().enumerate() {
            let taken = row.key.load(Ordering::Relaxed);
            if taken == key.0 {
                return at;
            }
            if taken == 0 {
                row.key.store(key.0, Ordering::Release);
                return at;
            }
        }
        ROWS
    }

    /// Daemon: all rows that are taken.
    pub fn read(&self) -> impl Iterator<Item = RowCopy> + '_ {
        self.0.iter().filter_map(|row| {
            let key = row.key.load(Ordering::Acquire);
            let (sum, work) = (row.sum.load(Ordering::Relaxed), row.work.load(Ordering::Relaxed));
            (key != 0).then_some(RowCopy { key: Key(key), sum, work })
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn empty() -> Rows {
        Rows(
            [const { Row { key: AtomicU64::new(0), sum: AtomicU64::new(0), work: AtomicU64::new(0) } }; ROWS],
        )
    }

    #[test]
    fn each_region_has_a_row_for_each_dop() {
        let rows = empty();
        let (a, b) = (Key::new(0x1000, 1), Key::new(0x1000, 2));
        let hint = rows.add(0, a, 1, 100, 0);
        assert_eq!(rows.add(hint, b, 1, 60, 0), 1);
        assert_eq!(rows.add(1, a, 61, 6_100, 0), 0);
        let found: Vec<RowCopy> = rows.read().collect();
        assert_eq!(
            found.iter().map(|row| (row.key.region(), row.key.dop())).collect::<Vec<_>>(),
            [(0x1000, 1), (0x1000, 2)]
        );
        assert_eq!(found[0].since(None), Since { runs: 62, wall: 6_200, work: 62 });
        assert_eq!(found[1].since(None), Since { runs: 1, wall: 60, work: 1 });
    }

    #[test]
    fn a_loops_row_counts_iterations_and_shows_when_it_is_being_written() {
        let rows = empty();
        let key = Key::of_loop(0x1000, 3);
        assert_eq!((key.region(), key.dop()), (0x1000, 3));
        rows.add(0, key, 2, 100, 2_000);
        let copy = rows.read().next().unwrap();
        assert!(!copy.is_torn());
        assert_eq!(copy.since(None), Since { runs: 2, wall: 100, work: 2_000 });
        rows.0[0].work.store(3 | 2_700 << RUN_BITS, Ordering::Relaxed);
        assert!(rows.read().next().unwrap().is_torn());
    }

    #[test]
    fn a_regions_number_says_where_it_is_and_whether_it_is_its_marks() {
        for (key, marks) in [(Key::new(0x7fff_1234_5678, 9), false), (Key::marks(0x7fff_1234_5678, 9), true)]
        {
            assert_eq!(Key::of_region(key.region()), (0x7fff_1234_5678, marks));
        }
    }

    #[test]
    fn a_full_table_takes_no_more_and_breaks_nothing() {
        let rows = empty();
        for region in 0..ROWS + 10 {
            rows.add(ROWS, Key::new(0x1000 + region, 2), 1, 1, 1);
        }
        assert_eq!(rows.read().count(), ROWS);
        assert_eq!(rows.add(3, Key::new(1, 1), 1, 1, 1), ROWS);
    }

    proptest::proptest! {
        #[test]
        fn differences_survive_wrapping(
            (start, before) in (proptest::num::u64::ANY, proptest::num::u64::ANY),
            runs in 0u64..1 << 24, wall in 0u64..1 << 40, work in 0u64..1 << 44,
        ) {
            let rows = empty();
            let key = Key::of_loop(4096, 3);
            let at = rows.add(0, key, 0, 0, 0);
            rows.0[at].sum.store(start, Ordering::Relaxed);
            rows.0[at].work.store(before & !RUNS | start >> TICK_BITS & RUNS, Ordering::Relaxed);
            let before = rows.read().next();
            rows.add(at, key, runs, wall, work);
            let now = rows.read().next().unwrap();
            proptest::prop_assert!(!now.is_torn());
            proptest::prop_assert_eq!(now.since(before), Since { runs, wall, work });
        }
    }
}
