//! A program's row: user times of both sides, and their difference with its interval.
//!
//! # References
//! The interval is the sign test's: Conover, *Practical Nonparametric Statistics*, 3rd edition, section 3.2, for the median.

use serde_json::Value;
use std::fmt;

/// The user times of the rounds, in seconds: with LOCK and without.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Times(Vec<[f64; 2]>);

impl Times {
    /// The rounds of the record in which both sides have a sample. Their variants are in the order of the command line.
    ///
    /// # Errors
    /// One line, where the record has not two variants with user times.
    pub(super) fn of_record(record: &Value) -> Result<Self, String> {
        let variants = &record["experiments"][0]["variants"];
        let [Some(locked), Some(elided)] = [0, 1].map(|side| rounds(&variants[side])) else {
            return Err("the record has no user times of two commands; is `cyclewise` of another version?".to_owned());
        };
        let both = locked.iter().filter_map(|(round, locked)| {
            let elided = elided.iter().find(|(other, _)| other == round)?;
            Some([*locked, elided.1])
        });
        Ok(Self(both.collect()))
    }
}

/// A variant's user times, each with its round: a sample that was rejected leaves a gap.
fn rounds(variant: &Value) -> Option<Vec<(u64, f64)>> {
    let samples = variant["metrics"]["user"]["samples"].as_array()?;
    let rejected: Vec<u64> = variant["rejected_rounds"]
        .as_array()
        .map(|rounds| rounds.iter().filter_map(Value::as_u64).collect())
        .unwrap_or_default();
    let kept = (0..).filter(|round| !rejected.contains(round));
    kept.zip(samples)
        .map(|(round, value)| Some((round, value.as_f64()?)))
        .collect()
}

/// What is printed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) program: String,
    pub(super) elided_by: &'static str,
    /// Medians, in seconds.
    pub(super) medians: [f64; 2],
    /// The quartiles with LOCK, in seconds: how far apart a few runs of the program are.
    pub(super) quartiles: [f64; 2],
    /// The median of the differences of rounds, in percent of the time with LOCK.
    pub(super) difference: f64,
    /// The 95 % interval; none where there are too few rounds for one.
    pub(super) interval: Option<[f64; 2]>,
    pub(super) n: usize,
}

/// The names of a row's columns.
pub(super) const HEADER: &str = "program\telided_by\tlocked_user_s\telided_user_s\tdifference_percent\tci95_low\tci95_high\tn\tlocked_quartile_1\tlocked_quartile_3";

impl Row {
    /// The row of these times; none where there is no round.
    pub(super) fn of(program: &str, elided_by: &'static str, times: &Times) -> Option<Self> {
        let rounds = &times.0;
        let differences = sorted(rounds.iter().map(|[locked, elided]| 100.0 * (elided - locked) / locked));
        let locked = sorted(rounds.iter().map(|round| round[0]));
        Some(Self {
            program: program.to_owned(),
            elided_by,
            medians: [median(&locked)?, median(&sorted(rounds.iter().map(|round| round[1])))?],
            quartiles: [(locked.len() - 1) / 4, locked.len() - 1 - (locked.len() - 1) / 4].map(|at| locked[at]),
            difference: median(&differences)?,
            interval: rank(rounds.len()).map(|rank| [differences[rank], differences[rounds.len() - 1 - rank]]),
            n: rounds.len(),
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [locked, elided] = self.medians;
        write!(
            f,
            "{}\t{}\t{locked:.4}\t{elided:.4}\t{:.2}\t",
            self.program, self.elided_by, self.difference
        )?;
        match self.interval {
            Some([low, high]) => write!(f, "{low:.2}\t{high:.2}")?,
            None => write!(f, "-\t-")?,
        }
        let [first, third] = self.quartiles;
        write!(f, "\t{}\t{first:.4}\t{third:.4}", self.n)
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len().checked_sub(1)? / 2;
    Some((sorted[middle] + sorted[sorted.len() / 2]) / 2.0)
}

/// The place of the interval's low end among `n` sorted values: the last before which less than 2.5 % of binomial(n, 1/2) lies.
fn rank(n: usize) -> Option<usize> {
    let (mut place, mut below, mut term) = (0, 0.0, 0.5_f64.powi(i32::try_from(n).ok()?));
    while below + term <= 0.025 {
        below += term;
        term *= (n - place) as f64 / (place + 1) as f64;
        place += 1;
    }
    place.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranks_are_those_of_the_sign_test() {
        // Conover's table of the binomial distribution: P(X ≤ 0) of 6 is 0.0156, P(X ≤ 5) of 20 is 0.0207.
        assert_eq!([5, 6, 20].map(rank), [None, Some(0), Some(5)]);
    }

    #[test]
    fn a_row_is_of_the_differences_of_rounds() {
        // Each round is slower than the one before, and without LOCK by a tenth faster: a difference of medians alone is blurred.
        let times = Times(
            (0..7)
                .map(|round| [1.0 + f64::from(round), 0.9 * (1.0 + f64::from(round))])
                .collect(),
        );
        let row = Row::of("x", "mode", &times).unwrap();
        assert_eq!(
            row.to_string(),
            "x\tmode\t4.0000\t3.6000\t-10.00\t-10.00\t-10.00\t7\t2.0000\t6.0000"
        );
        let few = Row::of("x", "mode", &Times(vec![[1.0, 1.1]; 5])).unwrap();
        assert_eq!(
            few.to_string(),
            "x\tmode\t1.0000\t1.1000\t10.00\t-\t-\t5\t1.0000\t1.0000"
        );
        assert_eq!(HEADER.split('\t').count(), few.to_string().split('\t').count());
        assert_eq!(Row::of("x", "mode", &Times(Vec::new())), None);
    }

    #[test]
    fn a_rejected_round_has_no_partner() {
        let variant = |samples: &[f64], rejected: &[u64]| json!({"metrics": {"user": {"samples": samples}}, "rejected_rounds": rejected});
        let record = |locked, elided| json!({"experiments": [{"variants": [locked, elided]}]});
        let all = record(variant(&[1.0, 2.0], &[]), variant(&[3.0, 4.0], &[]));
        assert_eq!(Times::of_record(&all), Ok(Times(vec![[1.0, 3.0], [2.0, 4.0]])));
        let gap = record(variant(&[1.0, 2.0, 3.0], &[]), variant(&[4.0, 5.0], &[1]));
        assert_eq!(Times::of_record(&gap), Ok(Times(vec![[1.0, 4.0], [3.0, 5.0]])));
        assert!(Times::of_record(&json!({})).unwrap_err().contains("no user times"));
    }
}
