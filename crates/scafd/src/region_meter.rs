//! From the rows of a program's report page to what its regions did between two ticks.
//!
//! The rows are the program's to write ([`crate::estimate`]), so what is impossible counts for nothing.
//! Regions come one after the other: those that ended since the last tick took no longer than the time since
//! then and one region that was running at it.

use crate::observe::clock::Tsc;
use scaf_policy::observed::Runs;
use scaf_proto::rows::{Key, RowCopy};
use std::collections::BTreeMap;

/// What short regions may claim beyond that, in seconds: they are reported 61 at a time.
const SLACK_S: f64 = 0.002;
const DRIFT: f64 = 1.05;
/// Between readings further apart than this, in seconds, counters may have wrapped around.
const MOST_S: f64 = 60.0;

/// The last reading of a program's rows.
#[derive(Clone, Debug)]
pub struct RegionMeter {
    attached: u64,
    last: u64,
    rows: BTreeMap<Key, RowCopy>,
}

impl RegionMeter {
    /// A meter that starts at the time stamp `now`.
    pub fn new(now: u64) -> RegionMeter {
        RegionMeter { attached: now, last: now, rows: BTreeMap::new() }
    }

    /// Evaluates a reading made at tick `now`; the program has had its DoP, at most `most`, for `steady_s`
    /// seconds. Gives the regions of which runs ended since the last reading, without runs that began before
    /// the DoP changed.
    pub fn read(
        &mut self,
        now: u64,
        (steady_s, most): (f64, u32),
        rows: impl Iterator<Item = RowCopy>,
        tsc: &Tsc,
    ) -> Vec<Runs> {
        let dt_s = tsc.seconds(now.saturating_sub(self.last));
        let age_s = tsc.seconds(now.saturating_sub(self.attached));
        self.last = now;
        let mut ended = Vec::new();
        let before = std::mem::take(&mut self.rows);
        for row in rows {
            let earlier = before.get(&row.key).copied();
            if row.is_torn() {
                self.rows.extend(earlier.map(|earlier| (row.key, earlier)));
                continue;
            }
            self.rows.insert(row.key, row);
            let since = row.since(earlier);
            if since.runs > 0 && since.work > 0 && (1..=most).contains(&row.key.dop()) {
                let (runs, count) = (since.runs as f64, since.work as f64);
                let wall_s = tsc.seconds(since.wall);
                ended.push(Runs { region: row.key.region(), dop: row.key.dop(), runs, count, wall_s });
            }
        }
        let each_s = |runs: &Runs| runs.wall_s / runs.runs;
        let all_s: f64 = ended.iter().map(|runs| runs.wall_s).sum();
        let longest_s = ended.iter().map(each_s).fold(0.0, f64::max);
        if dt_s > MOST_S || longest_s > age_s || all_s > DRIFT * dt_s + longest_s + SLACK_S {
            return Vec::new();
        }
        ended.retain(|runs| each_s(runs) <= steady_s);
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_proto::rows::Rows;

    const S: u64 = 1_000_000_000;

    fn meter() -> (RegionMeter, Box<Rows>, Tsc) {
        // SAFETY: rows consist of atomics only, for which zero is a value.
        let rows = Box::new(unsafe { std::mem::zeroed::<Rows>() });
        (RegionMeter::new(0), rows, Tsc::with_rate(1.0))
    }

    #[test]
    fn what_ended_between_two_readings() {
        let (mut meter, rows, tsc) = meter();
        let (one, two) = (Key::new(4096, 1), Key::new(4096, 2));
        rows.add(0, one, 10, S / 2, 0);
        let seen = meter.read(S, (1.0, 64), rows.read(), &tsc);
        assert_eq!(seen, [Runs { region: 4096, dop: 1, runs: 10.0, count: 10.0, wall_s: 0.5 }]);
        rows.add(0, two, 5, S / 8, 0);
        let seen = meter.read(2 * S, (1.0, 64), rows.read(), &tsc);
        assert_eq!(seen, [Runs { region: 4096, dop: 2, runs: 5.0, count: 5.0, wall_s: 0.125 }]);
        assert_eq!(meter.read(3 * S, (1.0, 64), rows.read(), &tsc), []);
    }

    #[test]
    fn a_loop_is_told_by_its_iterations_and_left_for_the_next_time_while_it_is_written() {
        let (mut meter, rows, tsc) = meter();
        let key = Key::of_loop(4096, 2);
        rows.add(0, key, 2, S / 2, 1_000);
        let seen = meter.read(S, (1.0, 64), rows.read(), &tsc);
        assert_eq!(seen, [Runs { region: 4096, dop: 2, runs: 2.0, count: 1_000.0, wall_s: 0.5 }]);
    }

    #[test]
    fn a_region_that_began_before_its_dop_changed_says_nothing() {
        let (mut meter, rows, tsc) = meter();
        rows.add(0, Key::new(4096, 1), 1, S / 2, 0);
        rows.add(1, Key::new(8192, 1), 10, S / 10, 0);
        let seen = meter.read(S, (0.3, 64), rows.read(), &tsc);
        assert_eq!(seen.iter().map(|runs| runs.region).collect::<Vec<_>>(), [8192]);
    }

    #[test]
    fn more_time_than_there_was_counts_for_nothing() {
        let (mut meter, rows, tsc) = meter();
        rows.add(0, Key::new(4096, 2), 1_000, 3 * S, 0);
        assert_eq!(meter.read(S, (1.0, 64), rows.read(), &tsc), []);
        rows.add(0, Key::new(4096, 2), 1, 10 * S, 0);
        assert_eq!(meter.read(5 * S, (5.0, 64), rows.read(), &tsc), []);
        rows.add(0, Key::new(4096, 2), 1, 10 * S, 0);
        assert_eq!(meter.read(12 * S, (12.0, 64), rows.read(), &tsc).len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_rows_give_positive_finite_numbers(
            added in proptest::collection::vec(
                (0usize..1 << 47, 0u32..70_000, 0u64..1 << 24, 0u64..1 << 40),
                0..50,
            ),
            now in 1u64..1 << 62,
        ) {
            let (mut meter, rows, tsc) = meter();
            for (address, dop, runs, wall) in added {
                rows.add(0, Key::new(address, dop), runs, wall, 0);
                rows.add(0, Key::of_loop(address, dop), runs, wall, wall);
            }
            for runs in meter.read(now, (1e9, 64), rows.read(), &tsc) {
                proptest::prop_assert!(runs.count > 0.0 && (1..=64).contains(&runs.dop));
                proptest::prop_assert!(runs.wall_s >= 0.0 && runs.wall_s.is_finite());
            }
        }
    }
}
