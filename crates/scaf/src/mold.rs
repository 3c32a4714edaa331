//! Starts a program that can't follow a grant well with as many threads as it would be granted now, by
//! `OMP_NUM_THREADS`: with `scaf run --mold`, and where the daemon knows that its own spinning threads would
//! slow it (`crates/scafd/src/daemon/spinning.rs`). It never grows beyond that.

use scafd::control::Snapshot;

/// OpenMP's variable for the number of threads.
pub const VARIABLE: &str = "OMP_NUM_THREADS";

/// Threads to start with: its part of the capacity by weight, within `min` and `max`. `None` if it is alone,
/// or if the user's setting (`set`) or the `own` PUs that it may use are no more than that.
pub fn threads(
    snapshot: &Snapshot,
    weight: f64,
    (min, max): (u32, Option<u32>),
    (set, own): (Option<&str>, u32),
) -> Option<u32> {
    let of_others = f64::from(snapshot.others.programs);
    let there: f64 = snapshot.programs.iter().map(|program| program.weight).sum::<f64>() + of_others;
    if there <= 0.0 {
        return None;
    }
    let part = f64::from(snapshot.capacity) * weight / (there + weight);
    let share = (part as u32).max(min).max(1).min(max.unwrap_or(u32::MAX).max(1));
    let outermost = set.and_then(|set| set.split(',').next()?.trim().parse::<u32>().ok());
    (outermost.unwrap_or(own) > share).then_some(share)
}

/// The variable's value for so many threads. A list has a number for each level: those within stay.
pub fn setting(threads: u32, set: Option<&str>) -> String {
    match set.and_then(|set| set.split_once(',')) {
        Some((_, within)) => format!("{threads},{within}"),
        None => threads.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ps::tests::{program, snapshot};

    fn mold(programs: usize, capacity: u32, set: Option<&str>) -> Option<u32> {
        let programs = (0..programs).map(|_| program()).collect();
        threads(&Snapshot { capacity, ..snapshot(programs) }, 1.0, (1, None), (set, 64))
    }

    #[test]
    fn it_is_an_equal_part() {
        assert_eq!(mold(1, 8, None), Some(4));
        assert_eq!(mold(2, 8, None), Some(2));
        assert_eq!(mold(20, 8, None), Some(1));
        let two = snapshot(vec![program()]);
        assert_eq!(threads(&Snapshot { capacity: 8, ..two.clone() }, 3.0, (1, None), (None, 64)), Some(6));
        assert_eq!(threads(&Snapshot { capacity: 8, ..two.clone() }, 1.0, (6, None), (None, 64)), Some(6));
        assert_eq!(threads(&Snapshot { capacity: 8, ..two }, 1.0, (1, Some(3)), (None, 64)), Some(3));
    }

    #[test]
    fn alone_and_where_the_user_asks_for_less_nothing_is_set() {
        assert_eq!(mold(0, 8, None), None);
        let one = snapshot(vec![program()]);
        assert_eq!(threads(&Snapshot { capacity: 64, ..one }, 1.0, (1, None), (None, 2)), None);
        assert_eq!(mold(1, 8, Some("2")), None);
        assert_eq!(mold(1, 8, Some(" 6,2")), Some(4));
        assert_eq!(mold(1, 8, Some("many")), Some(4));
        assert_eq!((setting(4, Some("6,2,1")), setting(4, Some("6"))), ("4,2,1".into(), "4".into()));
    }
}
