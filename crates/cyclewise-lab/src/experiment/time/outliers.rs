//! Warnings about runs that are unlike the others: a slow first run, and outliers.
//!
//! The median and its interval do not move by them, but a reader who compares means elsewhere, or who asks for the first run, wants to know.
//!
//! # References
//! B. Iglewicz, D. C. Hoaglin, "How to Detect and Handle Outliers", 1993: the modified z-score, by the median absolute deviation. Its
//! usual limit is 3.5; ten here, as in hyperfine, because times have longer tails than a normal distribution.

use crate::record::{Experiment, Unit, Variant, Warning};
use crate::stats;

/// Robust standard deviations beyond the median from which on a run is unlike the others …
const FAR_DEVIATIONS: f64 = 10.0;
/// … and the share of the median that it must be away at least: of runs that are alike to a microsecond, anything else would be far.
const FAR_SHARE: f64 = 0.1;
/// The standard deviation of normal values over their median absolute deviation.
const NORMAL_MAD: f64 = 1.4826;
/// The fewest runs of which one is told from the others.
const FEWEST: usize = 5;

/// What to say of an experiment's runs.
pub(crate) fn warnings(e: &Experiment) -> Vec<Warning> {
    let rows = e.variants.iter().filter(|_| e.unit == Unit::Seconds);
    rows.flat_map(of_row).map(Warning::Other).collect()
}

fn of_row(v: &Variant) -> Vec<String> {
    let Some(median) = stats::median(v.samples.iter().copied()).filter(|_| v.samples.len() >= FEWEST) else {
        return Vec::new();
    };
    let deviation = stats::median(v.samples.iter().map(|s| (s - median).abs())).unwrap_or(0.0);
    let limit = (FAR_DEVIATIONS * NORMAL_MAD * deviation).max(FAR_SHARE * median);
    let far = |sample: &f64| sample - median > limit;
    // The first of those that were kept is the first that ran, unless that one was rejected.
    let is_first = v.samples.first().is_some_and(far) && !v.rejected_rounds.contains(&0);
    let later: Vec<f64> = v
        .samples
        .iter()
        .skip(usize::from(is_first))
        .copied()
        .filter(far)
        .collect();
    let first = is_first.then(|| {
        format!(
            "the first run of `{}` took {:.1} times the median: files were not in memory yet, or it makes something once; --warmup 1 \
             leaves such a run out, and --prepare brings every run to the same state",
            v.name,
            v.samples[0] / median
        )
    });
    let others = (!later.is_empty()).then(|| {
        format!(
            "{} of {} runs of `{}` took up to {:.1} times the median: other work ran, or its own time varies; the median is not moved by \
             them, a mean is",
            later.len(),
            v.samples.len(),
            v.name,
            later.iter().copied().fold(0.0, f64::max) / median
        )
    });
    first.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[f64]) -> Vec<String> {
        let row = Variant {
            name: "make".to_string(),
            n: samples.len(),
            samples: samples.to_vec(),
            ..Variant::default()
        };
        let e = Experiment {
            unit: Unit::Seconds,
            variants: vec![row],
            ..Experiment::default()
        };
        warnings(&e).into_iter().map(String::from).collect()
    }

    const EVEN: [f64; 10] = [0.9, 0.91, 0.9, 0.89, 0.9, 0.92, 0.9, 0.88, 0.91, 0.9];

    #[test]
    fn a_slow_first_run_is_told_with_what_to_do() {
        let mut samples = EVEN.to_vec();
        samples[0] = 9.0;
        let said = of(&samples);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("first run of `make` took 10.0 times") && said[0].contains("--warmup 1"),
            "{said:?}"
        );
    }

    #[test]
    fn late_runs_are_counted_and_runs_that_are_alike_are_not_warned_about() {
        let mut samples = EVEN.to_vec();
        (samples[4], samples[7]) = (1.8, 2.7);
        let said = of(&samples);
        assert!(
            said.len() == 1 && said[0].starts_with("2 of 10 runs of `make` took up to 3.0 times"),
            "{said:?}"
        );
        assert_eq!(of(&EVEN), [""; 0]);
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, 1.05]), [""; 0], "alike, and one is 5 % away");
        assert_eq!(of(&[1.0, 9.0, 1.0, 1.0]), [""; 0], "too few to tell");
        assert_eq!(of(&[]), [""; 0]);
    }
}
