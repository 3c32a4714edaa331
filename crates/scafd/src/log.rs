//! Log lines on standard error, under systemd with journald's level numbers. A line that clients can cause
//! goes through a [`Limiter`].

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much a line matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// The daemon cannot go on.
    Error,
    /// Something is wrong.
    Warning,
    /// Normal operation.
    Info,
}

static WARNINGS: AtomicU64 = AtomicU64::new(0);

/// Warnings and errors that this process has written.
pub fn warnings() -> u64 {
    WARNINGS.load(Ordering::Relaxed)
}

/// Writes one line.
pub fn line(level: Level, text: impl Display) {
    static JOURNAL: OnceLock<bool> = OnceLock::new();
    let journal = *JOURNAL.get_or_init(|| std::env::var_os("JOURNAL_STREAM").is_some());
    if level != Level::Info {
        WARNINGS.fetch_add(1, Ordering::Relaxed);
    }
    let prefix = match (level, journal) {
        (Level::Error, true) => "<3>",
        (Level::Warning, true) => "<4>",
        (Level::Info, true) => "<6>",
        (Level::Error, false) => "scafd: error: ",
        (Level::Warning, false) => "scafd: warning: ",
        (Level::Info, false) => "scafd: ",
    };
    let _ = writeln!(std::io::stderr().lock(), "{prefix}{text}");
}

/// Logs at [`Level::Info`].
macro_rules! info {
    ($($text:tt)*) => { $crate::log::line($crate::log::Level::Info, format_args!($($text)*)) };
}
/// Logs at [`Level::Warning`].
macro_rules! warning {
    ($($text:tt)*) => { $crate::log::line($crate::log::Level::Warning, format_args!($($text)*)) };
}
pub(crate) use {info, warning};

/// Writes one line a second and counts the others.
#[derive(Debug, Default)]
pub struct Limiter {
    last: Option<Instant>,
    dropped: u64,
}

impl Limiter {
    /// Writes a warning, unless there was one within the last second.
    pub fn warn(&mut self, text: impl Display) {
        match self.pass(Instant::now()) {
            Some(0) => line(Level::Warning, text),
            Some(dropped) => {
                line(Level::Warning, format_args!("{text} ({dropped} such lines left out before)"))
            }
            None => {}
        }
    }

    fn pass(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.duration_since(last) < Duration::from_secs(1)) {
            self.dropped += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.dropped))
    }
}

/// Users with a limit of their own; all others share one.
const MOST_USERS: usize = 64;

/// A [`Limiter`] for each user, so that no user can suppress others' lines.
#[derive(Debug, Default)]
pub struct UserLimiters {
    users: BTreeMap<u32, Limiter>,
    rest: Limiter,
}

impl UserLimiters {
    /// Writes a warning that the user `uid` causes, unless there was one within the last second.
    pub fn warn(&mut self, uid: u32, text: impl Display) {
        let known = self.users.contains_key(&uid) || self.users.len() < MOST_USERS;
        let limiter = if known { self.users.entry(uid).or_default() } else { &mut self.rest };
        limiter.warn(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_passes_and_the_others_are_counted() {
        let start = Instant::now();
        let mut limiter = Limiter::default();
        assert_eq!(limiter.pass(start), Some(0));
        assert_eq!(limiter.pass(start + Duration::from_millis(10)), None);
        assert_eq!(limiter.pass(start + Duration::from_millis(999)), None);
        assert_eq!(limiter.pass(start + Duration::from_secs(1)), Some(2));
    }
}
