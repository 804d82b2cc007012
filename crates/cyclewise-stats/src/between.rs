//! How much a figure changes from run to run, and what two records of it can say.
//!
//! A run has its own address layout, its own pages and its own hour of a shared machine. None of that varies within it, so
//! the interval of one run says how well that run is known, and not how well the next one is predicted. The figures of k
//! runs, each in its own process, are k independent observations. They are positive and differ by factors, so they are
//! summarized by their logarithms: geometric mean, and Student's t with k − 1 degrees of freedom.
//!
//! # One run
//! One run has no variance between runs. What it can show is how far blocks of its own rounds lie apart: [`block_range`]
//! is the range of the medians of ten consecutive blocks. A block is a tenth of a run and varies more with the state
//! of the machine than a run does, which errs on the wide side; what stays the same during a run (the address layout) it
//! cannot show, which is why a record of one run says that it has one.
//!
//! # References
//! - A. Georges, D. Buytaert, L. Eeckhout, "Statistically Rigorous Java Performance Evaluation", OOPSLA 2007, section 3.3:
//!   invocations are the unit of replication.
//! - T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013: variance at each level.
//! - T. Mytkowicz, A. Diwan, M. Hauswirth, P. F. Sweeney, "Producing Wrong Data Without Doing Anything Obviously Wrong!",
//!   ASPLOS 2009: what a layout changes.

use super::median::middle;
use super::moments::Moments;
use super::ttest::welch;
use super::{Interval, student};
use serde::{Deserialize, Serialize};

/// A positive figure over several runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BetweenRuns {
    /// Runs that have the figure.
    pub runs: usize,
    /// The geometric mean of the runs' figures.
    pub value: f64,
    /// 95 % interval of the value, by Student's t over the logarithms.
    pub ci95: Interval,
}

/// Consecutive blocks of a run: enough for a range, and each long enough to have a median.
const BLOCKS: usize = 10;

/// The fewest samples in a block.
const FEWEST_IN_BLOCK: usize = 3;

/// The fewest samples of a run that has blocks.
pub const BLOCKED: usize = BLOCKS * FEWEST_IN_BLOCK;

/// A positive figure over several runs; no interval for one run. `None` for none, or for a figure that is not positive.
pub fn between_runs(figures: &[f64]) -> Option<BetweenRuns> {
    let moments = Moments::of_samples(&logarithms(figures)?)?;
    let reach = student::quantile(0.95, moments.n as f64 - 1.0) * moments.variance_of_mean().sqrt();
    Some(BetweenRuns {
        runs: moments.n,
        value: moments.mean.exp(),
        ci95: if moments.n < 2 {
            [None; 2]
        } else {
            exponentials(moments.mean, reach)
        },
    })
}

/// The ratio of a figure between two sets of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunRatio {
    /// Geometric mean of the first over that of the second.
    pub ratio: f64,
    /// Its 95 % interval, by the variance between runs.
    pub ci95: Interval,
    /// Two-sided p that the true ratio is 1.
    pub p: f64,
}

/// The ratio of `other`'s runs to `base`'s, by Welch's t over the logarithms. With one run on one side, that run is assumed
/// to vary as the other side's do. `None` with one run on each side (there is no variance between runs then), and for
/// figures that are not positive.
pub fn ratio_between_runs(other: &[f64], base: &[f64]) -> Option<RunRatio> {
    let (other, base) = (logarithms(other)?, logarithms(base)?);
    if let Some(t) = welch(&other, &base) {
        return Some(RunRatio {
            ratio: t.difference.exp(),
            ci95: exponentials(t.difference, (t.ci95[1] - t.ci95[0]) / 2.0),
            p: t.p,
        });
    }
    let (one, several) = (Moments::of_samples(&other)?, Moments::of_samples(&base)?);
    let difference = one.mean - several.mean;
    let known = if one.n > 1 { one } else { several };
    if one.n.min(several.n) != 1 || known.n < 2 {
        return None;
    }
    // The interval of one more observation (a prediction interval).
    let se = (known.variance * (1.0 + 1.0 / known.n as f64)).sqrt();
    let df = known.n as f64 - 1.0;
    let t = if difference == 0.0 { 0.0 } else { difference / se };
    Some(RunRatio {
        ratio: difference.exp(),
        ci95: exponentials(difference, student::quantile(0.95, df) * se),
        p: student::two_sided_p(t, df),
    })
}

/// The least and the largest of the medians of ten consecutive blocks of a run. `None` for fewer than three samples a block.
pub fn block_range(samples: &[f64]) -> Option<[f64; 2]> {
    if samples.len() < BLOCKED {
        return None;
    }
    let bound = |block: usize| block * samples.len() / BLOCKS;
    let blocks = (0..BLOCKS).filter_map(|block| median(&samples[bound(block)..bound(block + 1)]));
    Some(blocks.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], m| {
        [low.min(m), high.max(m)]
    }))
}

fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    middle(&sorted)
}

fn logarithms(figures: &[f64]) -> Option<Vec<f64>> {
    figures
        .iter()
        .map(|x| (*x > 0.0 && x.is_finite()).then(|| x.ln()))
        .collect()
}

fn exponentials(centre: f64, reach: f64) -> Interval {
    [centre - reach, centre + reach].map(|x| Some(x.exp()).filter(|x| x.is_finite() && *x > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::column;
    use crate::tests::rates::rate;

    #[test]
    fn runs_are_summarized_by_their_logarithms() {
        let b = between_runs(&[1.0, 2.0, 4.0]).unwrap();
        assert!((b.value - 2.0).abs() < 1e-12);
        // ln 2 is the standard deviation, t(0.975, 2) = 4.3027: the interval is 2 · 2^±(4.3027 / √3).
        let reach = 2_f64.powf(4.302_652_729_749_462 / 3_f64.sqrt());
        let [low, high] = b.ci95.map(Option::unwrap);
        assert!(
            (low - 2.0 / reach).abs() < 1e-6 && (high - 2.0 * reach).abs() < 1e-6,
            "{low} {high}"
        );
        assert_eq!(between_runs(&[3.0]).unwrap().ci95, [None; 2]);
        assert_eq!(between_runs(&[]), None);
        assert_eq!(between_runs(&[1.0, -1.0]), None);
    }

    #[test]
    fn a_difference_between_runs_needs_a_variance_between_runs() {
        assert_eq!(ratio_between_runs(&[2.0], &[1.0]), None);
        let several = ratio_between_runs(&[2.0, 2.02, 1.98], &[1.0, 1.01, 0.99]).unwrap();
        assert!((several.ratio - 2.0).abs() < 1e-3 && several.p < 1e-3, "{several:?}");
        let one = ratio_between_runs(&[2.0], &[1.0, 1.01, 0.99]).unwrap();
        let other_way = ratio_between_runs(&[1.0, 1.01, 0.99], &[2.0]).unwrap();
        assert!(one.p < 0.01 && (one.p - other_way.p).abs() < 1e-12, "{one:?}");
        assert!((one.ratio * other_way.ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn variance_between_runs_is_not_taken_for_a_difference() {
        // Each run has its own level; the runs of both sides are drawn alike.
        let claimed = rate(2000, 31, |s| {
            let a = column(5, || (0.05 * s.normal()).exp());
            let b = column(5, || (0.05 * s.normal()).exp());
            ratio_between_runs(&a, &b).unwrap().p < 0.05
        });
        assert!((0.02..0.07).contains(&claimed), "{claimed}");
        let one = rate(2000, 32, |s| {
            let a = column(1, || (0.05 * s.normal()).exp());
            let b = column(5, || (0.05 * s.normal()).exp());
            ratio_between_runs(&a, &b).unwrap().p < 0.05
        });
        assert!((0.03..0.07).contains(&one), "{one}");
    }

    #[test]
    fn blocks_show_the_states_of_a_run() {
        let steady: Vec<f64> = (0..100).map(|i| 1.0 + f64::from(i % 3) * 0.001).collect();
        let [low, high] = block_range(&steady).unwrap();
        assert!(high - low < 0.002);
        let states: Vec<f64> = (0..100).map(|i| if i < 30 { 1.0 } else { 1.3 }).collect();
        assert_eq!(block_range(&states), Some([1.0, 1.3]));
        assert_eq!(block_range(&[1.0; 29]), None);
    }
}
