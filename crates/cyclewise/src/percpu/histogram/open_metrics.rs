//! [`OpenMetrics`]: a histogram's text.
//!
//! # References
//! OpenMetrics 1.0 (IETF draft-richih-opsawg-openmetrics), "Histogram" and "ABNF".

use super::cells::EXPONENTS;
use super::snapshot::Snapshot;
use core::fmt::{self, Write};
use core::ops::RangeInclusive;

/// Displays a [`Snapshot`] as OpenMetrics has histograms, without the `# EOF` that ends an exposition.
#[derive(Clone, Debug)]
pub struct OpenMetrics<'a> {
    snapshot: &'a Snapshot,
    name: &'a str,
    labels: &'a [(&'a str, &'a str)],
    exponents: RangeInclusive<i32>,
}

impl Snapshot {
    /// The text of a histogram in OpenMetrics, whose `le` are the powers of two with these exponents, from -32 to 64: the same series at each
    /// time, with exact counts. `_sum` is the middle of [`sum`](Self::sum).
    ///
    /// `labels` are names and values, the latter of any text.
    ///
    /// ```
    /// use cyclewise::percpu::Histogram;
    ///
    /// let sizes = Histogram::new();
    /// sizes.record_u64(1024);
    /// let text = sizes.snapshot().open_metrics("sizes_bytes", &[("disk", "a")], 9..=10).to_string();
    /// assert!(text.contains("sizes_bytes_bucket{disk=\"a\",le=\"1024.0\"} 1\n"));
    /// ```
    #[must_use]
    pub fn open_metrics<'a>(
        &'a self,
        name: &'a str,
        labels: &'a [(&'a str, &'a str)],
        exponents: RangeInclusive<i32>,
    ) -> OpenMetrics<'a> {
        OpenMetrics {
            snapshot: self,
            name,
            labels,
            exponents,
        }
    }
}

impl OpenMetrics<'_> {
    /// A sample of the metric, with a bound or without.
    fn sample(
        &self,
        f: &mut fmt::Formatter<'_>,
        suffix: &str,
        bound: Option<f64>,
        value: impl fmt::Display,
    ) -> fmt::Result {
        write!(f, "{}_{suffix}", self.name)?;
        let mut before = '{';
        for (name, text) in self.labels {
            write!(f, "{before}{name}=\"")?;
            text.chars().try_for_each(|c| escaped(f, c))?;
            f.write_char('"')?;
            before = ',';
        }
        match bound {
            Some(f64::INFINITY) => write!(f, "{before}le=\"+Inf\"}}")?,
            Some(bound) => write!(f, "{before}le=\"{bound:?}\"}}")?,
            None if before == ',' => f.write_char('}')?,
            None => {}
        }
        writeln!(f, " {value}")
    }
}

/// A character of a label's value.
fn escaped(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '\n' => f.write_str("\\n"),
        '"' => f.write_str("\\\""),
        '\\' => f.write_str("\\\\"),
        c => f.write_char(c),
    }
}

impl fmt::Display for OpenMetrics<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# TYPE {} histogram", self.name)?;
        let (lowest, highest) = EXPONENTS;
        let exponents = *self.exponents.start().max(&lowest)..=*self.exponents.end().min(&highest);
        for exponent in exponents {
            // 2^exponent, whose bits are its exponent's.
            let bound = f64::from_bits(((1023 + i64::from(exponent)) as u64) << 52);
            self.sample(f, "bucket", Some(bound), self.snapshot.up_to(exponent))?;
        }
        let count = self.snapshot.count();
        self.sample(f, "bucket", Some(f64::INFINITY), count)?;
        self.sample(f, "count", None, count)?;
        self.sample(f, "sum", None, format_args!("{:?}", self.snapshot.sum().middle()))
    }
}
