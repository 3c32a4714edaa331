use rustix::time::{ClockId, clock_gettime};

pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

pub fn seconds(start_ns: u64, end_ns: u64) -> f64 {
    end_ns.saturating_sub(start_ns) as f64 * 1e-9
}

/// Now, in UTC, as 2026-01-31T12:00:00Z.
pub fn date() -> String {
    iso8601(clock_gettime(ClockId::Realtime).tv_sec)
}

fn iso8601(unix: i64) -> String {
    let (days, second) = (unix.div_euclid(86_400), unix.rem_euclid(86_400));
    // Years counted from March 1st of the year 0 have their leap day last, and 400 of them have 146,097 days.
    let from_march = days + 719_468;
    let era = from_march.div_euclid(146_097);
    let day = from_march.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + carry;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_year_ends() {
        for (unix, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(iso8601(unix), text);
        }
    }
}
