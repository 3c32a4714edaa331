//! When runtimes that follow the DoP themselves are notified: of a smaller one at once, because another
//! program waits for the contexts; of a larger one a few times a second at most, because making threads
//! costs.

/// Least time between a notification and one of a larger DoP, in milliseconds.
const REST_MS: u64 = 200;

/// The last notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DopNotifier {
    dop: u32,
    at_ms: u64,
}

/// When a notification is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Not at all: they know this DoP.
    Known,
    /// At once.
    Now,
    /// In so many milliseconds, unless it changes by then.
    In(u32),
}

impl DopNotifier {
    /// No notification so far.
    pub const fn new() -> DopNotifier {
        DopNotifier { dop: 0, at_ms: 0 }
    }

    /// When one of this DoP is due. `now_ms` is in milliseconds since any fixed time.
    pub fn due(&self, dop: u32, now_ms: u64) -> Due {
        let rest = (self.at_ms + REST_MS).saturating_sub(now_ms);
        match self.dop {
            notified if notified == dop => Due::Known,
            notified if dop < notified || notified == 0 || rest == 0 => Due::Now,
            _ => Due::In(rest.min(REST_MS) as u32),
        }
    }

    /// They were notified of this DoP.
    pub fn notified(&mut self, dop: u32, now_ms: u64) {
        *self = DopNotifier { dop, at_ms: now_ms };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_dop_is_notified_at_once_and_a_larger_one_when_some_time_has_passed() {
        let mut notifier = DopNotifier::new();
        assert_eq!(notifier.due(4, 5), Due::Now);
        notifier.notified(4, 5);
        assert_eq!(notifier.due(4, 6), Due::Known);
        assert_eq!(notifier.due(1, 6), Due::Now);
        notifier.notified(1, 6);
        assert_eq!(notifier.due(2, 56), Due::In(150));
        assert_eq!(notifier.due(1, 56), Due::Known);
        assert_eq!(notifier.due(2, 206), Due::Now);
    }

    #[test]
    fn a_grant_that_changes_all_the_time_grows_at_most_five_times_a_second() {
        let (mut notifier, mut grown, mut last) = (DopNotifier::new(), 0, 0);
        for now_ms in 0..10_000 {
            let dop = 1 + now_ms as u32 * 7 % 4;
            if notifier.due(dop, now_ms) == Due::Now {
                notifier.notified(dop, now_ms);
                grown += u32::from(dop > last);
                last = dop;
            }
        }
        assert!((20..=51).contains(&grown), "{grown}");
    }
}
