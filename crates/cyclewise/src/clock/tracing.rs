//! Time stamps of tracing-subscriber's lines by the process's clock. Feature `tracing`.
//!
//! [`WallTime`] writes the wall clock to the nanosecond, [`Uptime`] the time since a moment. Both read the clock where the line is
//! written, load-ordered, so the stamps of lines that follow from one another do not go back on whichever threads they are
//! written, except where the wall clock is set back.
//!
//! ```
//! use cyclewise::clock::tracing::WallTime;
//!
//! let subscriber = tracing_subscriber::fmt().with_timer(WallTime::new()).finish();
//! # drop(subscriber);
//! ```

use super::instant::Instant;
use super::unix::WallClock;
use core::fmt;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// The wall clock as RFC 3339 has it, in UTC: `2026-11-23T08:42:22.123456789Z`.
///
/// Follows a wall clock that is set, 100 ms later at most ([`WallClock`]).
#[derive(Debug, Default)]
pub struct WallTime(WallClock);

impl WallTime {
    /// A timer for `with_timer`.
    #[must_use]
    pub const fn new() -> Self {
        Self(WallClock::new())
    }
}

impl FormatTime for WallTime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write_utc(writer, self.0.now())
    }
}

/// Seconds since a moment, as tracing-subscriber's own `Uptime` writes them.
///
/// ```
/// use cyclewise::clock::tracing::Uptime;
///
/// let subscriber = tracing_subscriber::fmt().with_timer(Uptime::new()).finish();
/// # drop(subscriber);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Uptime(Instant);

impl Uptime {
    /// A timer for `with_timer`, whose zero is now.
    #[expect(clippy::new_without_default, reason = "it is a reading of a clock")]
    #[must_use]
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl From<Instant> for Uptime {
    /// A timer whose zero is this.
    fn from(zero: Instant) -> Self {
        Self(zero)
    }
}

impl FormatTime for Uptime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let time = self.0.elapsed();
        write!(writer, "{:4}.{:09}s", time.as_secs(), time.subsec_nanos())
    }
}

fn write_utc(writer: &mut impl fmt::Write, unix_ns: u64) -> fmt::Result {
    let (seconds, ns) = (unix_ns / 1_000_000_000, unix_ns % 1_000_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    write!(
        writer,
        "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ns:09}Z"
    )
}

/// The date so many days after 1970-01-01.
///
/// Years are counted from 1 March 1600 here: leap days are then the last days of a year, of four years, of a century but the fourth.
/// References: ISO 8601; the proleptic Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // From 1600-03-01 to 1970-01-01.
    let days = days + 135_080;
    let (eras, day) = (days / 146_097, days % 146_097);
    // The last day of a cycle belongs to the year, four years or century that it ends.
    let centuries = (day / 36_524).min(3);
    let day = day - centuries * 36_524;
    let (fours, day) = (day / 1461, day % 1461);
    let years = (day / 365).min(3);
    let day = day - years * 365;
    // Months from March on have 31, 30, 31, 30, 31 days, over and over: 153 in five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = 1600 + 400 * eras + 100 * centuries + 4 * fours + years;
    if month < 10 {
        (year, month + 3, day)
    } else {
        (year + 1, month - 9, day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn utc(unix_ns: u64) -> String {
        let mut text = String::new();
        write_utc(&mut text, unix_ns).unwrap();
        text
    }

    #[test]
    fn known_times_are_written() {
        assert_eq!(utc(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(utc(951_782_399_999_999_999), "2000-02-28T23:59:59.999999999Z");
        assert_eq!(utc(951_782_400_000_000_001), "2000-02-29T00:00:00.000000001Z");
        assert_eq!(utc(4_107_542_400_000_000_000), "2100-03-01T00:00:00.000000000Z");
        assert_eq!(utc(u64::MAX), "2554-07-21T23:34:33.709551615Z");
    }

    /// Every day of 600 years, counted one by one.
    #[test]
    fn each_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..600 * 366 {
            assert_eq!(date(days), (year, month, day), "{days}");
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }
}
