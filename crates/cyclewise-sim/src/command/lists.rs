//! Parses the command line's lists: thread counts, retry limits, relax policies, a shard, and what is said of a machine.

use crate::from_matrix::Anchor;
use crate::record::Shard;
use crate::{Relax, Workload};

/// The most thread counts in one range.
const LONGEST: usize = 65_536;

/// The most pauses of `exponential` without a number; the same as the library's policy.
const EXPONENTIAL: u32 = 64;

/// A list of thread counts, as the value of one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts(pub Vec<u32>);

/// A list of retry limits; `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits(pub Vec<Option<u32>>);

/// A list of relax policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relaxes(pub Vec<Relax>);

/// Parses `1,2,4`, `1..224` (inclusive), `1..224:8` (with a step), and comma-separated combinations.
///
/// # Errors
/// A message that says what is wrong.
pub(crate) fn counts(text: &str) -> Result<Counts, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let part = part.trim();
        let number = |text: &str| {
            let n: u32 = text
                .trim()
                .parse()
                .map_err(|_| format!("{part:?} is neither a positive number nor a range such as 1..224 or 1..224:8"))?;
            if n == 0 {
                return Err("0 is not a thread count; counts start at 1".to_owned());
            }
            Ok(n)
        };
        let Some((first, rest)) = part.split_once("..") else {
            all.push(number(part)?);
            continue;
        };
        let (last, step) = match rest.split_once(':') {
            Some((last, step)) => (number(last)?, number(step)?),
            None => (number(rest)?, 1),
        };
        let first = number(first)?;
        if first > last {
            return Err(format!("{part:?} ends before it begins"));
        }
        if (last - first) / step >= LONGEST as u32 {
            return Err(format!("{part:?} has more than {LONGEST} counts; use larger steps"));
        }
        all.extend((first..=last).step_by(step as usize));
    }
    all.sort_unstable();
    all.dedup();
    Ok(Counts(all))
}

/// Parses retry limits, for example `15,100,none`.
///
/// # Errors
/// A message that says what is wrong.
pub(crate) fn limits(text: &str) -> Result<Limits, String> {
    let one = |part: &str| match part.trim() {
        "none" | "unbounded" => Ok(None),
        number => match number.parse() {
            Ok(n) => Ok(Some(n)),
            Err(_) => Err(format!("{number:?} is neither a number nor `none`")),
        },
    };
    let mut all = text.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
    // No limit sorts last.
    all.sort_by_key(|limit| limit.map_or(u64::MAX, u64::from));
    all.dedup();
    Ok(Limits(all))
}

/// Parses relax policies, for example `none,pause,exponential:256`.
///
/// # Errors
/// A message that says what is wrong.
pub(crate) fn relaxes(text: &str) -> Result<Relaxes, String> {
    let one = |part: &str| match part.trim().split_once(':') {
        None => match part.trim() {
            "none" => Ok(Relax::None),
            "pause" => Ok(Relax::Pause),
            "exponential" => Ok(Relax::Exponential { max: EXPONENTIAL }),
            other => Err(format!(
                "{other:?} is not a relax policy; write none, pause, exponential or exponential:MAX"
            )),
        },
        Some(("exponential", max)) => match max.parse() {
            Ok(max) if max > 0 => Ok(Relax::Exponential { max }),
            _ => Err(format!("{part:?}: the maximum must be a positive number")),
        },
        Some(_) => Err(format!("{part:?}: only exponential takes a number")),
    };
    let mut all: Vec<Relax> = Vec::new();
    for part in text.split(',') {
        let relax = one(part)?;
        if !all.contains(&relax) {
            all.push(relax);
        }
    }
    Ok(Relaxes(all))
}

/// Parses a clock in gigahertz.
///
/// # Errors
/// A message that says what is wrong.
pub(crate) fn clock(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(ghz) if (0.1..=10.0).contains(&ghz) => Ok(ghz),
        _ => Err(format!("{text:?} is not a clock of 0.1 to 10 GHz")),
    }
}

/// Parses a contended row, for example `fetch-add:8=22.1`.
///
/// # Errors
/// A message that says what is wrong.
pub(crate) fn anchor(text: &str) -> Result<Anchor, String> {
    let form = || format!("{text:?} is not WORKLOAD:THREADS=NS, such as fetch-add:8=22.1");
    let (what, ns) = text.split_once('=').ok_or_else(form)?;
    let (workload, threads) = what.split_once(':').ok_or_else(form)?;
    let workload: Workload = workload
        .parse()
        .map_err(|_| format!("{workload:?} is not a workload; `cyclewise simulate list` lists all"))?;
    let threads: u32 = threads.parse().map_err(|_| form())?;
    if threads < 2 {
        return Err(format!("{text:?} is not contended; give a row of two or more threads"));
    }
    match ns.parse::<f64>() {
        Ok(ns) if (0.01..=1e6).contains(&ns) => Ok(Anchor { workload, threads, ns }),
        _ => Err(format!("{ns:?} is not a time from 0.01 to 1000000 nanoseconds")),
    }
}

/// Parses a shard, for example `2/8`.
///
/// # Errors
/// A message that says what is wrong.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let parsed = text
        .split_once('/')
        .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    match parsed {
        Some((index, count)) if index >= 1 && index <= count => Ok(Shard { index, count }),
        Some((index, count)) => Err(format!(
            "shard {index} of {count} does not exist; shards start at 1/{}",
            count.max(1)
        )),
        None => Err(format!("{text:?} is not a shard; write for example 1/8")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_single_ranges_and_steps() {
        assert_eq!(counts("4,1,2,2").unwrap().0, [1, 2, 4]);
        assert_eq!(counts("1..4").unwrap().0, [1, 2, 3, 4]);
        assert_eq!(counts("1..20:8,28").unwrap().0, [1, 9, 17, 28]);
        for (bad, why) in [
            ("", "neither"),
            ("0", "start at 1"),
            ("1..", "neither"),
            ("4..2", "ends before"),
            ("1..4:0", "start at 1"),
            ("x", "neither"),
            ("-3", "neither"),
            ("1..4294967295", "larger steps"),
        ] {
            let error = counts(bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn limits_end_with_none() {
        assert_eq!(limits("none,100,15,15").unwrap().0, [Some(15), Some(100), None]);
        assert_eq!(limits("0").unwrap().0, [Some(0)]);
        assert!(limits("many").unwrap_err().contains("`none`"));
    }

    #[test]
    fn relax_policies_parse_and_print() {
        let all = relaxes("none,pause,exponential,exponential:7,pause").unwrap().0;
        let names: Vec<String> = all.iter().map(Relax::to_string).collect();
        assert_eq!(names, ["none", "pause", "exponential:64", "exponential:7"]);
        assert_eq!(relaxes(&names.join(",")).unwrap().0, all);
        for bad in ["wait", "exponential:0", "pause:3", ""] {
            assert!(relaxes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shards_count_from_one() {
        assert_eq!(shard("2/8").unwrap(), Shard { index: 2, count: 8 });
        for bad in ["0/8", "9/8", "0/0", "2", "a/b"] {
            assert!(shard(bad).is_err(), "{bad}");
        }
    }
}
