//! `--fail-on slower:5%`: whether rows are slower by more than a limit, are not, or cannot be told. One rule for the harness and for
//! comparisons of records.
//!
//! | row | rule |
//! |---|---|
//! | beyond | its verdict is slower, and its whole 95 % interval is beyond the limit |
//! | within | its verdict is faster or the same, or its whole interval is within the limit |
//! | open | neither: it may be slower by more, or not |

use crate::error::{Error, Result};
use crate::record::{Interval, Unit, Verdict, bounds};
use std::fmt;
use std::str::FromStr;

/// The share of the base's time by which a row may be slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowerLimit(f64);

impl FromStr for SlowerLimit {
    type Err = String;

    fn from_str(rule: &str) -> std::result::Result<Self, String> {
        let percent = rule.trim().strip_prefix("slower:").and_then(|p| p.strip_suffix('%'));
        let percent = percent.and_then(|p| p.trim().parse().ok());
        match percent.filter(|p: &f64| p.is_finite() && *p >= 0.0) {
            Some(percent) => Ok(Self(percent / 100.0)),
            None => Err(format!("{rule:?} is not a rule; write slower:5%")),
        }
    }
}

impl fmt::Display for SlowerLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", 100.0 * self.0)
    }
}

#[derive(Clone, Debug)]
pub struct LimitedRow {
    /// How it is called in a message.
    pub name: String,
    /// Its unit, which says whether more is slower.
    pub unit: Unit,
    pub verdict: Verdict,
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub ci95: Interval,
}

impl SlowerLimit {
    /// Checks rows; `advice` says how those that cannot be told could be.
    ///
    /// # Errors
    /// Exit 1: rows are beyond the limit. Exit 3: none is, and of some it cannot be told. The message has the rows and their number.
    pub fn check(self, rows: &[LimitedRow], advice: &str) -> Result<()> {
        let (mut beyond, mut open) = (Vec::new(), Vec::new());
        for row in rows {
            // Of operations a second, fewer are slower.
            let [near, far] = match (row.unit.more_is_faster(), bounds(row.ci95)) {
                (false, ends) => ends,
                (true, [low, high]) => [1.0 / high, 1.0 / low],
            };
            let most = 1.0 + self.0;
            match row.verdict {
                Verdict::Faster | Verdict::Same => {}
                Verdict::Slower if near > most => beyond.push(row),
                // An unknown bound is within nothing.
                _ if far <= most => {}
                _ => open.push(row),
            }
        }
        let told = format!(
            "{} of {} variants may be slower by more than {self}, or not: {}; {advice}",
            open.len(),
            rows.len(),
            shown(&open)
        );
        match (beyond.is_empty(), open.is_empty()) {
            (true, true) => Ok(()),
            (true, false) => Err(Error::unsupported(told)),
            (false, _) => {
                let slower = format!("slower by more than {self}: {}", shown(&beyond));
                Err(Error::check(if open.is_empty() {
                    slower
                } else {
                    format!("{slower}; {told}")
                }))
            }
        }
    }
}

/// Rows that are named in a message; the table has the others.
const NAMED: usize = 20;

fn shown(rows: &[&LimitedRow]) -> String {
    let known = |ends: [f64; 2]| match ends {
        [low, high] if low.is_finite() && high.is_finite() => format!("[{low:.3}, {high:.3}]"),
        _ => "[no interval]".to_string(),
    };
    let named = rows.iter().take(NAMED);
    let mut text: Vec<String> = named
        .map(|r| format!("{}: {:.3} {}", r.name, r.ratio, known(bounds(r.ci95))))
        .collect();
    if rows.len() > NAMED {
        text.push(format!("and {} more", rows.len() - NAMED));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    /// What a limit of 2 % says of a row with this verdict and interval.
    fn of(unit: Unit, verdict: Verdict, ci95: [f64; 2]) -> Option<Status> {
        let row = LimitedRow {
            name: "a".to_string(),
            unit,
            verdict,
            ratio: ci95[0].midpoint(ci95[1]),
            ci95: ci95.map(|bound| Some(bound).filter(|b| b.is_finite())),
        };
        SlowerLimit(0.02).check(&[row], "").err().map(|e| e.status)
    }

    #[test]
    fn a_limit_fails_what_is_slower_by_more_and_tells_what_may_be() {
        let times = |verdict, ci95| of(Unit::TicksPerOp, verdict, ci95);
        assert_eq!(times(Verdict::Slower, [1.04, 1.06]), Some(Status::CheckFailed));
        assert_eq!(times(Verdict::Slower, [1.005, 1.015]), None, "by less");
        assert_eq!(
            times(Verdict::Slower, [1.01, 1.09]),
            Some(Status::Unsupported),
            "by more, or not"
        );
        assert_eq!(times(Verdict::Faster, [0.8, 0.95]), None);
        assert_eq!(times(Verdict::Same, [0.999, 1.001]), None);
        assert_eq!(times(Verdict::Undecided, [0.9, 1.3]), Some(Status::Unsupported));
        assert_eq!(
            times(Verdict::Undecided, [1.1, 1.3]),
            Some(Status::Unsupported),
            "a floor hides it"
        );
        assert_eq!(
            times(Verdict::Undecided, [0.99, 1.01]),
            None,
            "it is not slower by more, whatever it is"
        );
        let none = [f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(times(Verdict::None, none), Some(Status::Unsupported));
        // Of operations a second, fewer are slower.
        let rates = |verdict, ci95| of(Unit::OpsPerSecond, verdict, ci95);
        assert_eq!(rates(Verdict::Slower, [0.89, 0.91]), Some(Status::CheckFailed));
        assert_eq!(rates(Verdict::Undecided, [0.8, 1.01]), Some(Status::Unsupported));
        assert_eq!(rates(Verdict::Undecided, [0.99, 1.01]), None);
        assert_eq!(rates(Verdict::Faster, [1.1, 1.3]), None);
    }

    #[test]
    fn rows_are_counted_and_named_in_one_line() {
        let row = |name: &str, verdict, ci95: Interval| LimitedRow {
            name: name.to_string(),
            unit: Unit::Seconds,
            verdict,
            ratio: 2.0,
            ci95,
        };
        let mut rows = vec![
            row("slow", Verdict::Slower, [Some(1.9), Some(2.1)]),
            row("open", Verdict::None, [None; 2]),
            row("same", Verdict::Same, [Some(0.99), Some(1.01)]),
        ];
        let of = |rows: &[LimitedRow]| "slower:5%".parse::<SlowerLimit>().unwrap().check(rows, "measure more");
        assert_eq!(
            of(&rows).unwrap_err().message,
            "slower by more than 5 %: slow: 2.000 [1.900, 2.100]; 1 of 3 variants may be slower by more than 5 %, or not: \
             open: 2.000 [no interval]; measure more"
        );
        rows.remove(0);
        let open = of(&rows).unwrap_err();
        assert!(
            open.status == Status::Unsupported && open.message.starts_with("1 of 2 variants"),
            "{open}"
        );
        assert_eq!(of(&rows[1..]), Ok(()));
    }

    #[test]
    fn rules_are_read_and_others_refused() {
        assert_eq!("slower:2.5%".parse(), Ok(SlowerLimit(0.025)));
        for text in [
            "",
            "slower",
            "slower:5",
            "faster:5%",
            "slower:-1%",
            "slower:x%",
            "slower:inf%",
            "5%",
        ] {
            assert_says!(text.parse::<SlowerLimit>().unwrap_err(), "slower:5%");
        }
    }
}
